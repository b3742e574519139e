"""The looks and the writing of figures: one colour a search everywhere, two axes and a light grid."""

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil, sqrt
from pathlib import Path
from typing import Any

from matplotlib import rc_context
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from butfor.study.measures import family

COLOURS = {
    "sedc": "#3a7d44",
    "lime-c": "#b3541e",
    "shap-c": "#2f6690",
    "random": "#9a9a9a",
    "lime-sedc": "#e0a458",
    "shap-sedc": "#81b1d5",
    "certified": "#8e5ea2",
    "auto": "#222222",
    "complete": "#c2185b",
}
LEAST_SPAN = 5.0
"""Of a logarithmic axis, from its end to its beginning: less would make a mountain of a molehill."""
OTHER_COLOUR = "#7a6c5d"
"""Of a search that does not come with butfor."""


@dataclass(frozen=True, eq=False)
class Picture:
    """A figure and what is said of it."""

    name: str
    """Of its files, and the anchor of its place in a page."""
    title: str
    caption: str
    figure: Figure

    @cached_property
    def svg(self) -> str:
        """The figure as SVG: the same text for the same picture."""
        text = io.StringIO()
        no_metadata = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        with rc_context({"svg.hashsalt": self.name}):
            self.figure.savefig(text, format="svg", metadata=no_metadata, dpi=150)
        return text.getvalue()

    @property
    def inline_svg(self) -> str:
        """The SVG as a part of a page: without its head, and with ids that no other figure has."""
        svg = self.svg[self.svg.index("<svg") :]
        return re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{self.name}-", svg)

    def save(self, folder: Path) -> list[Path]:
        """Write the figure as SVG and PNG."""
        folder.mkdir(parents=True, exist_ok=True)
        svg, png = folder / f"{self.name}.svg", folder / f"{self.name}.png"
        svg.write_text(self.svg, encoding="utf-8")
        self.figure.savefig(png, dpi=150)
        return [svg, png]


def colour_of(search: str) -> str:
    """Give the colour of a search, whatever its parameters."""
    return COLOURS.get(family(search), OTHER_COLOUR)


def figure_of(n_panels: int, *, height: float, n_columns: int = 3) -> tuple[Figure, list[Any]]:
    """Make a figure of so many panels, and give them in a list."""
    n_columns = min(n_columns, n_panels)
    n_lines = ceil(n_panels / n_columns)
    width = 9.0 if n_columns > 1 else 5.0
    figure = Figure(figsize=(width, height * n_lines + 0.6), layout="constrained")
    axes = list(figure.subplots(n_lines, n_columns, squeeze=False).flat)
    for axis in axes[n_panels:]:
        axis.remove()
    for axis in axes[:n_panels]:
        plain_axis(axis)
    return figure, axes[:n_panels]


def plain_axis(axis: Any) -> None:
    """Leave nothing of the frame but two lines and a light grid."""
    axis.spines[["top", "right"]].set_visible(False)
    axis.grid(axis="y", color="#dddddd", lw=0.6)


def plain_log(axis: Any) -> None:
    """Make the x or the y axis logarithmic, with numbers that need no reading of powers."""
    if not axis.get_data_interval()[1] > 0:  # errors alone take no time, and a logarithm needs some
        return
    axis.axes.set(**{f"{axis.axis_name}scale": "log"})
    low, high = axis.get_view_interval()
    if high < LEAST_SPAN * low:
        low, high = sqrt(low * high / LEAST_SPAN), sqrt(low * high * LEAST_SPAN)
        axis.axes.set(**{f"{axis.axis_name}lim": (low, high)})
    steps = (1.0, 2.0, 5.0) if high < 60 * low else (1.0, 3.0) if high < 2000 * low else (1.0,)
    axis.set_major_locator(LogLocator(subs=steps))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}" if value >= 1 else f"{value:g}"))
    axis.set_minor_locator(NullLocator())


def plain_text(text: str) -> str:
    """Write any text so that it is drawn as it is: no formula, and no label that is meant to be hidden."""
    escaped = text.replace("$", r"\$")
    return f" {escaped}" if text.startswith("_") else escaped


def add_legend(figure: Figure, axes: Sequence[Any]) -> None:
    """Name the searches once, above all panels."""
    named: dict[str, Any] = {}
    for axis in axes:
        for line, label in zip(*axis.get_legend_handles_labels(), strict=True):
            named.setdefault(label, line)
    figure.legend(
        list(named.values()),
        list(named),
        loc="outside upper center",
        ncols=len(named),
        frameon=False,
        fontsize=9,
    )
