"""What maintainers run before a release."""
