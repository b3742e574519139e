"""What the benchmarks share: a stopwatch, and the writing of figures."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


def timed(work: Callable[..., Any], *arguments: Any, **options: Any) -> tuple[Any, float]:
    """Do the work; give its result and the seconds that it took."""
    began = time.perf_counter()
    return work(*arguments, **options), time.perf_counter() - began


def save_figure(figure: Any, out: Path) -> None:
    """Write a figure as SVG, the same for the same picture, and as PNG."""
    no_metadata = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    figure.savefig(out.with_suffix(".svg"), metadata=no_metadata)
    figure.savefig(out.with_suffix(".png"), dpi=150)
    print(f"written to {out}.svg and {out}.png")
