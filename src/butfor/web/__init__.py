"""The page and the service of `butfor serve`."""
