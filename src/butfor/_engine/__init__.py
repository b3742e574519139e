"""How rows are explained: the one path from what a user passes to an Explanation."""
