"""Draw docs/images/proof-*.svg, the pictures of docs/concepts/proofs.md: `python docs/proof_pictures.py`."""

from itertools import combinations
from math import comb
from pathlib import Path
from typing import Any

import numpy as np

from butfor import Explainer
from butfor._demo import moviegoers_demos
from butfor.datasets import load_moviegoers

IMAGES = Path(__file__).with_name("images")
ROW, WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 5, 760, 420, 70, 80, 330
STYLE = """
.paper { fill: #faf9f6; stroke: #dedad1 } .title { font: 600 15px system-ui, sans-serif; fill: #1c1b19 }
.label { font: 14px system-ui, sans-serif; fill: #1c1b19; text-anchor: middle } .left { text-anchor: start }
.axis { stroke: #8a857a } .threshold { stroke: #1c1b19; stroke-width: 2; stroke-dasharray: 6 4 }
.sets { fill: #d9d4c8 } .flips { fill: #1d6fb3 } .bound { stroke: #b3471d; stroke-width: 4 }
.out { fill: #f2cdbb } .found { fill: #bcd9f2 }
.open { fill: #faf9f6; stroke: #8a857a; stroke-dasharray: 4 3 }
"""


def main() -> None:
    """Draw both pictures."""
    people = load_moviegoers()
    demo = moviegoers_demos(people)[0]
    explainer = Explainer(demo.model, **demo.options)
    (IMAGES / "proof-bound.svg").write_text(bounds(explainer, demo.rows[ROW]), encoding="utf-8")
    (IMAGES / "proof-sizes.svg").write_text(sizes(), encoding="utf-8")


def bounds(explainer: Explainer, row: Any) -> str:
    """Return a picture of the scores of all sets of each size, and of the bound that lies below them."""
    size = explainer.explain(row).size
    local = explainer.local_model(row)
    n = local.n_features
    shapes = [f'<path class="axis" d="M{LEFT} {TOP - 20}V{BOTTOM}H{WIDTH - 30}" fill="none"/>']
    for score in (0.25, 0.5, 0.75, 1.0):
        shapes.append(f'<text class="label" x="{LEFT - 24}" y="{_y(score) + 5:.1f}">{score:.2f}</text>')
    for k in range(size + 1):
        x = LEFT + 95 + 160 * k
        scores = local.reported(local.scores(_sets(n, k)))
        low, high = scores.min(), scores.max()
        middle = min(high, max(low, 0.5))
        shapes.append(_box("sets", x, middle, high) + (_box("flips", x, low, middle) if low < 0.5 else ""))
        if 0 < k < size:
            minima = (each.bound for region in local.regions(k) for each in region.minorants())
            (bound,) = local.reported(np.array([max(minima) + local.threshold]))
            y = _y(bound)
            shapes.append(f'<path class="bound" d="M{x - 45} {y:.1f}h90"/>')
        removed = f"{k} of {n} films" if k else "all films there"
        sets = f"{comb(n, k):,} set{'s' if k else ''}"
        shapes.append(f'<text class="label" x="{x}" y="{BOTTOM + 24}">{removed}</text>')
        shapes.append(f'<text class="label" x="{x}" y="{BOTTOM + 44}">{sets}</text>')
    line = f'<path class="threshold" d="M{LEFT} {_y(0.5):.1f}H{WIDTH - 30}"/>'
    key = (
        f'<path class="bound" d="M{LEFT} {HEIGHT - 22}h40"/><text class="label left" x="{LEFT + 50}" '
        f'y="{HEIGHT - 17}">lower bound</text>'
        f'<rect class="sets" x="{LEFT + 170}" y="{HEIGHT - 30}" width="40" height="16"/>'
        f'<text class="label left" x="{LEFT + 220}" y="{HEIGHT - 17}">scores of all sets</text>'
        f'<rect class="flips" x="{LEFT + 390}" y="{HEIGHT - 30}" width="40" height="16"/>'
        f'<text class="label left" x="{LEFT + 440}" y="{HEIGHT - 17}">sets that flip the decision</text>'
    )
    title = f"Removing fewer than {size} films never takes the score below the threshold"
    return _svg(title, "".join(shapes) + line + key, HEIGHT)


def sizes() -> str:
    """Return a picture of what an answer says that is proven, and one that is not."""
    shapes = []
    for y, text, first_open, found in (
        (90, "size 3, lower bound 3: proven minimum", 3, 3),
        (210, "size 5, lower bound 3: not proven; the smallest answer has 3, 4 or 5", 3, 5),
    ):
        shapes.append(f'<text class="label left" x="{LEFT}" y="{y - 14}">{text}</text>')
        for k in range(1, 7):
            kind = "out" if k < first_open else "found" if k == found else "open" if k < found else ""
            if kind:
                box = f'x="{LEFT + 110 * (k - 1)}" y="{y}" width="104" height="50" rx="6"'
                word = {"out": "ruled out", "found": "found", "open": "unknown"}[kind]
                x = LEFT + 110 * (k - 1) + 52
                shapes.append(
                    f'<rect class="{kind}" {box}/><text class="label" x="{x}" y="{y + 22}">{k}</text>'
                )
                shapes.append(f'<text class="label" x="{x}" y="{y + 41}">{word}</text>')
    return _svg("What the size and the lower bound of an answer say", "".join(shapes), 290)


def _sets(n: int, k: int) -> Any:
    """Return all removal sets of k of n units."""
    removed = np.zeros((comb(n, k), n), dtype=bool)
    for one, units in zip(removed, combinations(range(n), k), strict=True):
        one[list(units)] = True
    return removed


def _y(score: float) -> float:
    return BOTTOM - (BOTTOM - TOP) * float(score)


def _box(kind: str, x: int, low: float, high: float) -> str:
    height = max(_y(low) - _y(high), 3)
    return f'<rect class="{kind}" x="{x - 32}" y="{_y(high):.1f}" width="64" height="{height:.1f}"/>'


def _svg(title: str, shapes: str, height: int) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
        f'aria-label="{title}">'
        f'<style>{STYLE}</style><rect class="paper" width="{WIDTH}" height="{height}" rx="14"/>'
        f'<text class="title" x="30" y="38">{title}</text>{shapes}</svg>\n'
    )


if __name__ == "__main__":
    main()
