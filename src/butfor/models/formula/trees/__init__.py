"""Sums of decision trees: their nodes in flat arrays, and what one row leaves open of them."""
