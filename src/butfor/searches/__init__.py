"""The searches, one in each file, and the dict of their names; `shared` has what several of them use."""

from butfor.searches.alternatives import irreducible_sets
from butfor.searches.auto import Auto
from butfor.searches.base import Finding, Search, check_finding, cost_of
from butfor.searches.certified import Certified
from butfor.searches.complete import Complete
from butfor.searches.lime_c import LimeC
from butfor.searches.lime_sedc import LimeSEDC
from butfor.searches.lin_sedc import LinSEDC
from butfor.searches.random import Random
from butfor.searches.sedc import SEDC
from butfor.searches.shap_c import ShapC
from butfor.searches.shap_sedc import ShapSEDC
from butfor.searches.shared.swaps import swaps
from butfor.searches.thrifty import Thrifty

SEARCHES: dict[str, Search] = {
    search.name: search
    for search in (
        Auto(),
        Certified(),
        Thrifty(),
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
    "Thrifty",
    "check_finding",
    "cost_of",
    "irreducible_sets",
    "swaps",
]
