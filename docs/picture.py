"""Draw docs/images/picture.svg, the picture in README, from a real explanation: `python docs/picture.py`."""

import re
from html import escape
from pathlib import Path

from butfor import Explanation
from butfor._demo import inbox_demo

ROW, WIDTH, CHARACTER, LINE, LEFT = 3, 760, 9.6, 30, 30


def main() -> None:
    """Explain one message of the demo and draw it."""
    why = inbox_demo().explain("auto")[ROW]
    (Path(__file__).with_name("images") / "picture.svg").write_text(draw(why), encoding="utf-8")


def draw(why: Explanation) -> str:
    """Return the SVG: the message with the evidence struck out, and the two scores on a scale below it."""
    shapes, x, y = [], float(LEFT), 78
    evidence = [span for places in why.spans for span in places]
    for match in re.finditer(r"\S+", why.text or ""):
        word = match[0]
        if x + len(word) * CHARACTER > WIDTH - LEFT:
            x, y = float(LEFT), y + LINE
        for first, stop in evidence:
            if match.start() <= first < match.end():
                start, length = x + (first - match.start()) * CHARACTER, (stop - first) * CHARACTER
                box = f'x="{start - 3:.1f}" y="{y - 19}" width="{length + 6:.1f}" height="26" rx="4"'
                strike = f'd="M{start:.1f} {y - 5}h{length:.1f}"'
                shapes.append(f'<rect class="mark" {box}/><path class="strike" {strike}/>')
        shapes.append(f'<text class="word" x="{x:.1f}" y="{y}">{escape(word)}</text>')
        x += (len(word) + 1) * CHARACTER
    return _page(shapes, why, y + 60)


def _page(shapes: list[str], why: Explanation, y: int) -> str:
    def at(score: float) -> str:
        return f"{LEFT + score * (WIDTH - 2 * LEFT):.1f}"

    scale = f'<path class="axis" d="M{LEFT} {y}H{WIDTH - LEFT}"/>'
    ends = ((why.score, why.decision, "before"), (why.score_without, why.decision_without, "after"))
    for score, name, side in ends:
        scale += f'<circle class="{side}" cx="{at(score)}" cy="{y}" r="8"/>'
        scale += f'<text class="label" x="{at(score)}" y="{y - 16}">score {score:.2f}: {name}</text>'
    threshold, title = at(why.threshold), why.sentence(subject="this message")
    scale += f'<path class="threshold" d="M{threshold} {y - 12}v24"/>'
    scale += (
        f'<text class="label" x="{threshold}" y="{y + 32}">{why.decision} from {why.threshold:.2f} on</text>'
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y + 50}" role="img" '
        f'aria-label="{escape(str(why))}"><style>{_STYLE}</style>'
        f'<rect class="paper" width="{WIDTH}" height="{y + 50}" rx="14"/>'
        f'<text class="title" x="{LEFT}" y="38">{escape(title)}</text>{"".join(shapes)}{scale}</svg>\n'
    )


_STYLE = """
.paper { fill: #faf9f6; stroke: #dedad1 } .title { font: 600 14px system-ui, sans-serif; fill: #1c1b19 }
.word { font: 16px ui-monospace, "DejaVu Sans Mono", monospace; fill: #1c1b19; white-space: pre }
.mark { fill: #ffd9a8 } .strike { stroke: #5c2b00; stroke-width: 2 }
.label { font: 14px system-ui, sans-serif; fill: #1c1b19; text-anchor: middle }
.axis { stroke: #dedad1; stroke-width: 5; stroke-linecap: round }
.threshold { stroke: #1c1b19; stroke-width: 2; stroke-dasharray: 4 3 }
.before { fill: #b3471d } .after { fill: #1d6fb3 }
"""

if __name__ == "__main__":
    main()
