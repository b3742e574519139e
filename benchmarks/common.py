"""What the benchmarks share: timing, a description of the machine, and writing figures."""

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
    """Return a description of the machine and the versions of libraries."""
    versions = {module.__name__: module.__version__ for module in (numpy, scipy, sklearn)}
    return {"cores": os.cpu_count(), "python": platform.python_version(), **versions}


def timed(work: Callable[..., Any], *arguments: Any, **options: Any) -> tuple[Any, float]:
    """Call a function; return its result and the seconds that it took."""
    began = time.perf_counter()
    return work(*arguments, **options), time.perf_counter() - began


def explained(explainer: Explainer, rows: list[Any]) -> list[tuple[Explanation, float]]:
    """Explain every row; return the explanations with their seconds.

    One row is explained before, so that work that is done once for a model does not count.
    """
    explainer.explain(rows[0])
    return [timed(explainer.explain, row) for row in rows]


def save_figure(figure: Any, out: Path) -> None:
    """Write a figure as SVG and as PNG."""
    Picture(out.name, title="", caption="", figure=figure).save(out.parent)
    print(f"written to {out}.svg and {out}.png")
