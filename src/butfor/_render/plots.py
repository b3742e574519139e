"""Plots of explanations; importing this module needs matplotlib."""

import io
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any
from unicodedata import category

from matplotlib import rcParams
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, fontManager, get_font
from matplotlib.ticker import MaxNLocator

from butfor._render.words import (
    active,
    class_named,
    counted,
    decimals,
    is_contradicted,
    is_positive,
    margin_noun,
    printable,
    score_of,
    shortened,
)

if TYPE_CHECKING:
    from butfor.results.explanation import Explanation

FOR, AGAINST, FAINT = "#b3471d", "#1d6fb3", "#8a857b"
LONGEST_LABEL = 40
LONGEST_LINE = 68
MOST_LABELS = 60
"""Steps that are labelled with names, at most; more steps are numbered."""
FALLBACK_FONTS = (
    "Noto Sans",
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",
    "Noto Sans SC",
    "Noto Sans JP",
    "Noto Sans KR",
    "Microsoft YaHei",
    "Yu Gothic",
    "Malgun Gothic",
    "PingFang SC",
    "Hiragino Sans",
    "Arial Unicode MS",
    "WenQuanYi Zen Hei",
    "Noto Emoji",
    "Segoe UI Symbol",
    "Segoe UI Emoji",
    "Apple Symbols",
    "Symbola",
)
"""Fonts for characters that matplotlib's own font lacks; used if they are installed."""


class NotebookFigure(Figure):
    """A figure that a notebook shows even if pyplot was never imported."""

    def _repr_png_(self) -> bytes:
        png = io.BytesIO()
        self.savefig(png, format="png", dpi=110)
        return png.getvalue()


def plot_path(why: "Explanation", ax: Any = None) -> Any:
    """Plot the score as the features of an answer are removed one by one."""
    scores = [why.score, *(why.path if len(why.path) == why.size else (why.score_without,))]
    labels = _steps(why, len(scores) - 1)
    figure, axis = _figure_and_axis(ax, height=1.3 + 0.32 * min(len(scores), MOST_LABELS))
    steps = range(len(scores))
    axis.plot(scores, steps, color=FAINT, lw=1.5, zorder=2)
    flipped = [(score >= why.threshold) != is_positive(why) for score in scores]
    flipped[0], flipped[-1] = False, bool(why)  # at the threshold itself the model decides
    for colour, face, wanted in ((FOR, FOR, False), (AGAINST, "white", True)):
        at = [step for step in steps if flipped[step] == wanted]
        axis.plot([scores[step] for step in at], at, "o", color=colour, mfc=face, mew=2, ms=8, zorder=3)
    axis.set_ylim(len(scores) - 0.4, -0.6)
    axis.margins(x=0.12)
    _draw_threshold(axis, why)
    if len(scores) - 1 <= MOST_LABELS:
        axis.set_yticks(list(steps), labels=labels, **_text_options())
    else:
        axis.yaxis.set_major_locator(MaxNLocator(integer=True))
        axis.set_ylabel("removed")
    axis.set_xlabel(_x_label(why), **_text_options())
    return figure or axis


def plot_bars(names: Sequence[str], values: Sequence[float], ax: Any = None, *, xlabel: str) -> Any:
    """Plot a bar for each name, the first on top."""
    figure, axis = _figure_and_axis(ax, height=1.0 + 0.28 * max(len(names), 1))
    colours = [AGAINST if value < 0 else FOR for value in values]
    axis.barh(range(len(names)), values, color=colours, height=0.7)
    axis.set_yticks(range(len(names)), labels=[label_of(name) for name in names], **_text_options())
    axis.set_ylim(max(len(names), 1) - 0.4, -0.6)
    axis.axvline(0, color=FAINT, lw=1)
    axis.set_xlabel(xlabel)
    return figure or axis


def plot_summary(
    features: Sequence[tuple[str, int]], sizes: Sequence[tuple[int, int]], noun: tuple[str, str]
) -> Any:
    """Plot how many answers hold each feature, and how many answers have each size."""
    figure = NotebookFigure(figsize=(9, 1.4 + 0.28 * max(len(features), 6)), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(3, 2))
    for axis in (left, right):
        _plain(axis)
    names, counts = [name for name, _ in features], [n for _, n in features]
    plot_bars(names, counts, left, xlabel=f"answers with this {noun[0]}")
    left.xaxis.set_major_locator(MaxNLocator(integer=True))
    right.bar([size for size, _ in sizes], [n for _, n in sizes], color=AGAINST, width=0.8)
    right.set(xlabel=f"{noun[1]} in the answer", ylabel="answers")
    for axis in (right.xaxis, right.yaxis):
        axis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    return figure


def label_of(name: str) -> str:
    """Return a name that can be drawn: short, on one line, without characters that no font has."""
    fonts = _fonts(tuple(_families()))
    return "".join(
        c if any(font.get_char_index(ord(c)) for font in fonts) else "" if _is_mark(c) else "□"
        for c in printable(shortened(name, LONGEST_LABEL))
    )


def _is_mark(character: str) -> bool:
    """Return whether a character only modifies others, so that it can be left out."""
    return category(character) in ("Mn", "Me", "Cf")


def _steps(why: "Explanation", n_steps: int) -> list[str]:
    whole = f"all {counted(why.n_active, active(why.unit))}"
    if n_steps == why.size:
        return [whole, *(f"− {label_of(name)}" for name in why.features)]
    return [whole, f"without {why.size:,} of them"][: n_steps + 1]


def _draw_threshold(axis: Any, why: "Explanation") -> None:
    """Draw the threshold, and shade the side of the other decision."""
    (threshold,) = decimals(why.threshold)
    axis.axvline(why.threshold, color="black", lw=1.2, ls="--", zorder=1)
    written = f"no {margin_noun(why)}" if why.n_classes > 2 else f"threshold {threshold}"
    axis.annotate(
        written,
        (why.threshold, 1.0),
        xycoords=("data", "axes fraction"),
        xytext=(0, 3),
        textcoords="offset points",
        ha="center",
        va="bottom",
        fontsize="small",
    )
    low, high = axis.get_xlim()
    shaded = (low, why.threshold) if is_positive(why) else (why.threshold, high)
    axis.axvspan(*shaded, color=AGAINST, alpha=0.08, lw=0, zorder=0)
    axis.set_xlim(low, high)


def _x_label(why: "Explanation") -> str:
    what = score_of(why, _quoted)
    if why.n_classes > 2:
        what = "gap to the wanted class" if why.target else "lead over the other class"
    shaded = "another decision"
    if why.decision and why.decision_without:
        shaded = (
            f"{class_named(why.decision_without, _quoted)} instead of {class_named(why.decision, _quoted)}"
        )
    but = "\nin the model's columns alone: deleted from the text, the decision stays"
    space = " " if len(what) + len(shaded) < LONGEST_LINE else "\n"
    return f"{what}{space}(shaded: {shaded}){but * is_contradicted(why)}"


def _quoted(name: str) -> str:
    return f"'{label_of(name)}'"


def _figure_and_axis(ax: Any, *, height: float) -> tuple[Any, Any]:
    """Return None and the user's axes, or a new figure and its axes; the figure is not part of pyplot."""
    if ax is not None:
        return None, ax
    figure = NotebookFigure(figsize=(6.4, height), layout="constrained")
    axis = figure.subplots()
    _plain(axis)
    return figure, axis


def _plain(axis: Any) -> None:
    axis.spines[["top", "right"]].set_visible(False)
    axis.tick_params(axis="y", length=0)


def _text_options() -> dict[str, Any]:
    """Return text options: dollar signs start no formula, and fallback fonts draw missing characters."""
    return {"parse_math": False, "usetex": False, "fontfamily": _families()}


def _families() -> list[str]:
    installed = set(fontManager.get_font_names())
    return [*rcParams["font.family"], *(font for font in FALLBACK_FONTS if font in installed)]


@cache
def _fonts(families: tuple[str, ...]) -> list[Any]:
    return [get_font(findfont(FontProperties(family=[family]))) for family in families]
