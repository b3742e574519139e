"""Local models: a model seen from one row, as a function of the removal set."""
