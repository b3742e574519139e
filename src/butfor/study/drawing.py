"""The style of figures, and how they are written: one colour for each search, two axes, a light grid."""

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
"""Smallest ratio of the ends of a logarithmic axis. A shorter axis would exaggerate small differences."""
OTHER_COLOUR = "#7a6c5d"
"""The colour of a search that does not come with butfor."""


@dataclass(frozen=True, eq=False)
class Picture:
    """A figure with its title and caption."""

    name: str
    """The name of its files, and its anchor in a page."""
    title: str
    caption: str
    figure: Figure

    @cached_property
    def svg(self) -> str:
        """The figure as SVG. The same picture has the same text."""
        text = io.StringIO()
        no_metadata = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        with rc_context({"svg.hashsalt": self.name}):
            self.figure.savefig(text, format="svg", metadata=no_metadata, dpi=150)
        return text.getvalue()

    @property
    def inline_svg(self) -> str:
        """The SVG to include in a page: without its XML header, with ids that no other figure has."""
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
    """Return the colour of a search, whatever its parameters."""
    return COLOURS.get(family(search), OTHER_COLOUR)


def figure_of(n_panels: int, *, height: float, n_columns: int = 3) -> tuple[Figure, list[Any]]:
    """Return a figure with this number of panels, and the list of its panels."""
    n_columns = min(n_columns, n_panels)
    n_grid_rows = ceil(n_panels / n_columns)
    width = 9.0 if n_columns > 1 else 5.0
    figure = Figure(figsize=(width, height * n_grid_rows + 0.6), layout="constrained")
    axes = list(figure.subplots(n_grid_rows, n_columns, squeeze=False).flat)
    for axis in axes[n_panels:]:
        axis.remove()
    for axis in axes[:n_panels]:
        plain_axis(axis)
    return figure, axes[:n_panels]


def plain_axis(axis: Any) -> None:
    """Show only the left and bottom edges of the frame, and a light grid."""
    axis.spines[["top", "right"]].set_visible(False)
    axis.grid(axis="y", color="#dddddd", lw=0.6)


def plain_log(axis: Any) -> None:
    """Make the x or the y axis logarithmic, with plain numbers instead of powers of ten."""
    if not axis.get_data_interval()[1] > 0:  # without positive values there is no logarithm
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
    """Escape a text so that matplotlib draws it as it is, not as a formula or a hidden label."""
    escaped = text.replace("$", r"\$")
    return f" {escaped}" if text.startswith("_") else escaped


def add_legend(figure: Figure, axes: Sequence[Any]) -> None:
    """Add one legend for all panels, above them."""
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
