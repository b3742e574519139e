"""A small SVG of the score before and after the removal, and the threshold."""

from html import escape
from typing import TYPE_CHECKING

from butfor._render.words import class_named, decimals, margin_noun, positive_class, printable, shortened

if TYPE_CHECKING:
    from butfor.results.explanation import Explanation

LEFT, RIGHT = 6.0, 94.0
"""The ends of the axis in per cent of the width, so that labels keep their size on any screen."""
Y_THRESHOLD, Y_LINE, Y_UPPER, Y_LOWER = 13, 30, 52, 70
CHARACTER = 2.4
"""The width of a character on a narrow screen, in per cent."""
LONGEST_CLASS = 16


def scale(why: "Explanation") -> str:
    """Return an SVG: the score now and without the evidence below the axis, the threshold above it."""
    now, without, threshold = decimals(why.score, why.score_without, why.threshold)
    if why.n_classes > 2:
        name = margin_noun(why)
        labels = (f"{name} now {now}", f"{name} without {without}", f"0: no {name}")
    else:
        labels = (f"now {now}", f"without {without}", _threshold_label(why, threshold))
    (x_now, x_without, x_threshold), ends = _places(why)
    frames = sorted((_frame(x_now, labels[0]), _frame(x_without, labels[1])))
    y_without = Y_LOWER if why and frames[0][1] + CHARACTER > frames[1][0] else Y_UPPER
    shapes = [
        f'<line class="butfor-axis" x1="{LEFT}%" x2="{RIGHT}%" y1="{Y_LINE}" y2="{Y_LINE}"/>',
        f'<line class="butfor-threshold" x1="{x_threshold}%" x2="{x_threshold}%" y1="17" y2="{Y_LINE + 9}"/>',
        _label(x_threshold, Y_THRESHOLD, labels[2]),
    ]
    if why:
        shapes += [
            f'<line class="butfor-way" x1="{x_now}%" x2="{x_without}%" y1="{Y_LINE}" y2="{Y_LINE}"/>',
            f'<circle class="butfor-after" cx="{x_without}%" cy="{Y_LINE}" r="6"/>',
            _label(x_without, y_without, labels[1]),
        ]
    shapes += [
        f'<circle class="butfor-before" cx="{x_now}%" cy="{Y_LINE}" r="5"/>',
        _label(x_now, Y_UPPER, labels[0]),
    ]
    label = escape(", ".join(labels if why else (labels[0], labels[2])))
    return (
        f'<svg class="butfor-scale" width="100%" height="{y_without + 6}" role="img" aria-label="{label}">'
        f"{ends}{''.join(shapes)}</svg>"
    )


def _threshold_label(why: "Explanation", threshold: str) -> str:
    """Return the label of the threshold, with the class that is decided from there on."""
    positive = positive_class(why)
    if not positive:
        return f"threshold {threshold}"
    return f"{class_named(positive, _short)} from {threshold} on"


def _short(name: str) -> str:
    return f"'{printable(shortened(name, LONGEST_CLASS))}'"


def _places(why: "Explanation") -> tuple[list[float], str]:
    """Return the positions of score, score_without and threshold, and the labels of the ends 0 and 1."""
    values = (why.score, why.score_without, why.threshold)
    as_probability = why.n_classes == 2 and all(0 <= value <= 1 for value in values)
    low, high = (0.0, 1.0) if as_probability else (min(values), max(values))
    width = (high - low) or 1.0
    places = [round(LEFT + (RIGHT - LEFT) * (value - low) / width, 2) for value in values]
    ends = (("0", "0%", "start"), ("1", "100%", "end")) if as_probability else ()
    written = (
        f'<text class="butfor-end" x="{x}" y="{Y_LINE + 4}" text-anchor="{anchor}">{end}</text>'
        for end, x, anchor in ends
    )
    return places, "".join(written)


def _frame(x: float, label: str) -> tuple[float, float]:
    """Return start and end of a label on a narrow screen: centred on its point, but inside the drawing."""
    width = CHARACTER * len(label)
    start = max(0.0, min(x - width / 2, 100 - width))
    return start, start + width


def _label(x: float, y: int, label: str) -> str:
    start, end = _frame(x, label)
    place, anchor = ("0", "start") if start <= 0 else ("100", "end") if end >= 100 else (f"{x}", "middle")
    return f'<text x="{place}%" y="{y}" text-anchor="{anchor}">{escape(label)}</text>'
