"""Two small data sets that need no download: one of texts, one of behaviour."""

from butfor.datasets.inbox import Inbox, load_inbox
from butfor.datasets.moviegoers import Moviegoers, load_moviegoers

__all__ = ["Inbox", "Moviegoers", "load_inbox", "load_moviegoers"]
