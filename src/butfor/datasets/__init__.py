"""Three small data sets that need no download: of texts, of behaviour, and of records."""

from butfor.datasets.applications import Applications, load_applications
from butfor.datasets.inbox import Inbox, load_inbox
from butfor.datasets.moviegoers import Moviegoers, load_moviegoers

__all__ = ["Applications", "Inbox", "Moviegoers", "load_applications", "load_inbox", "load_moviegoers"]
