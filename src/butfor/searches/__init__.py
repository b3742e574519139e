"""The searches, one a file, and the one dict of their names."""

from butfor.searches.alternatives import irreducible_sets
from butfor.searches.auto import Auto
from butfor.searches.base import Finding, Search, removal_sets
from butfor.searches.certified import Certified
from butfor.searches.complete import Complete
from butfor.searches.lin_sedc import LinSEDC
from butfor.searches.random import Random
from butfor.searches.sedc import SEDC

SEARCHES: dict[str, Search] = {
    search.name: search for search in (Auto(), Certified(), SEDC(), LinSEDC(), Complete(), Random())
}

__all__ = [
    "SEARCHES",
    "SEDC",
    "Auto",
    "Certified",
    "Complete",
    "Finding",
    "LinSEDC",
    "Random",
    "Search",
    "irreducible_sets",
    "removal_sets",
]
