"""The web page and the HTTP service of `butfor serve`."""
