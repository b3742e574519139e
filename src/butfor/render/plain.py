"""Explanations in a line of plain text."""

from butfor.explanation import Explanation


def facts(why: Explanation) -> str:
    """Say in one line how large the answer is, whether it is proven smallest, and what it cost."""
    cost = f"{why.search} · {why.n_scored:,} scorings · {why.seconds * 1000:.1f} ms"
    if not why:
        return f"{why.n_active:,} active features · {cost}"
    proof = "proven smallest" if why.proven_minimum else f"at least {why.lower_bound:,} needed"
    return f"{why.size:,} of {why.n_active:,} active features · {proof} · {cost}"
