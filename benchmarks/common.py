"""What the benchmarks share: a stopwatch, and the looks and the writing of figures."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from butfor import Explainer, Explanation


def timed(work: Callable[..., Any], *arguments: Any, **options: Any) -> tuple[Any, float]:
    """Do the work; give its result and the seconds that it took."""
    began = time.perf_counter()
    return work(*arguments, **options), time.perf_counter() - began


def explained(explainer: Explainer, rows: list[Any]) -> list[tuple[Explanation, float]]:
    """Explain every row, with the seconds that it took; what is made once for a model is no part of them."""
    explainer.explain(rows[0])
    return [timed(explainer.explain, row) for row in rows]


def plain_axis(axis: Any) -> None:
    """Leave nothing of the frame but two lines and a light grid."""
    axis.spines[["top", "right"]].set_visible(False)
    axis.grid(axis="y", color="#dddddd", lw=0.6)


def save_figure(figure: Any, out: Path) -> None:
    """Write a figure as SVG, the same for the same picture, and as PNG."""
    no_metadata = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    figure.savefig(out.with_suffix(".svg"), metadata=no_metadata)
    figure.savefig(out.with_suffix(".png"), dpi=150)
    print(f"written to {out}.svg and {out}.png")
