"""The searches, one a file, and the one dict of their names."""

from butfor.searches.alternatives import irreducible_sets
from butfor.searches.auto import Auto
from butfor.searches.base import Finding, Search, cost_of
from butfor.searches.certified import Certified
from butfor.searches.complete import Complete
from butfor.searches.hybrids import LimeSEDC, ShapSEDC
from butfor.searches.lin_sedc import LinSEDC
from butfor.searches.random import Random
from butfor.searches.sedc import SEDC
from butfor.searches.surrogates import LimeC, ShapC
from butfor.searches.swaps import swaps

SEARCHES: dict[str, Search] = {
    search.name: search
    for search in (
        Auto(),
        Certified(),
        SEDC(),
        LinSEDC(),
        LimeC(),
        ShapC(),
        LimeSEDC(),
        ShapSEDC(),
        Complete(),
        Random(),
    )
}

__all__ = [
    "SEARCHES",
    "SEDC",
    "Auto",
    "Certified",
    "Complete",
    "Finding",
    "LimeC",
    "LimeSEDC",
    "LinSEDC",
    "Random",
    "Search",
    "ShapC",
    "ShapSEDC",
    "cost_of",
    "irreducible_sets",
    "swaps",
]
