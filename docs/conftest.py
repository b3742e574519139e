"""Pages whose examples need models that are made for them: tests/docs/test_other_libraries.py runs them."""

collect_ignore = ["other-libraries.md"]
