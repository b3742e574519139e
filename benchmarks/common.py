"""What the benchmarks share: a stopwatch, and the looks and the writing of figures."""

import os
import platform
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import scipy
import sklearn

from butfor import Explainer, Explanation
from butfor.study.drawing import Picture


def machine() -> dict[str, Any]:
    """Say on what the figures were measured."""
    versions = {module.__name__: module.__version__ for module in (numpy, scipy, sklearn)}
    return {"cores": os.cpu_count(), "python": platform.python_version(), **versions}


def timed(work: Callable[..., Any], *arguments: Any, **options: Any) -> tuple[Any, float]:
    """Do the work; give its result and the seconds that it took."""
    began = time.perf_counter()
    return work(*arguments, **options), time.perf_counter() - began


def explained(explainer: Explainer, rows: list[Any]) -> list[tuple[Explanation, float]]:
    """Explain every row, with the seconds that it took; what is made once for a model is no part of them."""
    explainer.explain(rows[0])
    return [timed(explainer.explain, row) for row in rows]


def save_figure(figure: Any, out: Path) -> None:
    """Write a figure as SVG, the same for the same picture, and as PNG."""
    Picture(out.name, title="", caption="", figure=figure).save(out.parent)
    print(f"written to {out}.svg and {out}.png")
