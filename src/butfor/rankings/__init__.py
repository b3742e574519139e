"""Rankings: from a local model to one weight per active feature, higher for more evidence."""

from butfor.rankings.removal import removal_weights

__all__ = ["removal_weights"]
