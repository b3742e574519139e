"""Run the tutorials, store their output, and write them as Markdown with pictures: `make docs`.

A notebook in docs/tutorials is the source. It is run from the top, stored with its output, and written as
Markdown beside it. Markdown has no styles, so every explanation becomes a picture, taken by Chromium.
"""

import base64
import io
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from copy import deepcopy
from html import unescape
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from PIL import Image

TUTORIALS = Path(__file__).with_name("tutorials")
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
WIDTH, HEIGHT, ZOOM = 760, 1600, 2
"""The browser window in which explanations are shown, in pixels. Pictures are cropped to their content."""
TIMES = (
    (re.compile(r"\d[\d,]*\.\d+ ms|\d[\d,]*\.\d+ s\b"), "… ms"),
    (re.compile(r"seconds=[\d.e-]+"), "seconds=…"),
)
"""Times, which differ from run to run, and what replaces them."""

Notebook = nbformat.NotebookNode


def main() -> None:
    """Render all tutorials."""
    for path in sorted(TUTORIALS.glob("*.ipynb")):
        stored = nbformat.read(path, as_version=4)
        run = executed(stored)
        if outputs(run) != outputs(stored):  # if only times have changed, the file stays as it is
            nbformat.write(run, path)
            stored = run
        for name, picture in pictures(stored, path.stem):
            (TUTORIALS / name).write_bytes(picture)
        path.with_suffix(".md").write_text(markdown(stored, path.stem), encoding="utf-8")
        print(f"{path.name}: run and rendered")


def executed(notebook: Notebook) -> Notebook:
    """Return a copy of a notebook that was run from the top. A cell that fails raises."""
    copy = deepcopy(notebook)
    for cell in copy.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    client = NotebookClient(
        copy,
        timeout=120,
        kernel_name="python3",
        resources={"metadata": {"path": TUTORIALS}},
        extra_arguments=["--log-level=ERROR"],
        coalesce_streams=True,  # slow output comes in pieces
    )
    client.execute()
    for cell in copy.cells:
        cell.metadata.pop("execution", None)  # the times of the run do not belong into the file
    copy.metadata = notebook.metadata
    return copy


def outputs(notebook: Notebook) -> list[tuple[str, list[str]]]:
    """Return every cell with the words of its outputs, without times, pictures and styles."""
    return [(cell.source, [words(output) for output in cell.get("outputs", [])]) for cell in notebook.cells]


def words(output: Notebook) -> str:
    """Return the words of one output: of its HTML if it has any, since numbers are rounded there."""
    data = output.get("data", {})
    text = (
        _text_of(data["text/html"]) if "text/html" in data else data.get("text/plain", output.get("text", ""))
    )
    for pattern, instead in TIMES:
        text = pattern.sub(instead, text)
    return text


def markdown(notebook: Notebook, stem: str) -> str:
    """Return a notebook as Markdown: cells, their outputs, and links to their pictures."""
    blocks = [f"<!-- from {stem}.ipynb by `make docs` -->"]
    for number, cell in enumerate(notebook.cells):
        if cell.cell_type == "markdown":
            blocks.append(cell.source.replace(".ipynb)", ".md)"))
            continue
        blocks.append(f"```python\n{cell.source}\n```")
        for output in cell.outputs:
            name = _picture_name(stem, number)
            blocks.append(f"![{_alternative(output)}]({name})" if _is_picture(output) else _block(output))
    return "\n\n".join(blocks) + "\n"


def pictures(notebook: Notebook, stem: str) -> Iterator[tuple[str, bytes]]:
    """Yield every picture with its name: plots as they are, explanations as a browser shows them."""
    for number, cell in enumerate(notebook.cells):
        for output in cell.get("outputs", []):
            if not _is_picture(output):
                continue
            png = output.data.get("image/png")
            picture = base64.b64decode(png) if png else smaller(screenshot(output.data["text/html"]))
            yield _picture_name(stem, number), picture


def screenshot(html: str) -> bytes:
    """Return a PNG of HTML as a headless browser shows it."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        sys.exit(f"make docs needs a browser to take pictures of explanations: one of {', '.join(BROWSERS)}.")
    with tempfile.TemporaryDirectory() as folder:
        page, picture = Path(folder, "page.html"), Path(folder, "picture.png")
        style = "html { color-scheme: light } body { margin: 0; padding: 2px }"
        page.write_text(f"<!doctype html><meta charset=utf-8><style>{style}</style>{html}", encoding="utf-8")
        options = (
            "--headless",
            "--no-sandbox",  # the page is our own, and containers have no sandbox
            "--disable-gpu",
            "--hide-scrollbars",
            "--default-background-color=00000000",
            f"--force-device-scale-factor={ZOOM}",
            f"--window-size={WIDTH},{HEIGHT}",
            f"--user-data-dir={folder}/profile",
            f"--screenshot={picture}",
        )
        subprocess.run([browser, *options, page.as_uri()], check=True, capture_output=True, timeout=120)
        return picture.read_bytes()


def smaller(png: bytes) -> bytes:
    """Return a picture cropped to its content, with at most 256 colours."""
    image = Image.open(io.BytesIO(png)).convert("RGBA")
    image = image.crop(image.getchannel("A").getbbox())
    paper = Image.new("RGBA", image.size, "white")
    result = io.BytesIO()
    Image.alpha_composite(paper, image).convert("RGB").quantize(256).save(result, format="PNG", optimize=True)
    return result.getvalue()


def _picture_name(stem: str, number: int) -> str:
    return f"{stem}-{number:02d}.png"


def _is_picture(output: Notebook) -> bool:
    data = output.get("data", {})
    return "image/png" in data or 'class="butfor"' in data.get("text/html", "")


def _alternative(output: Notebook) -> str:
    """Return the alternative text of a picture."""
    sentence = re.search(r'class="butfor-sentence">(.*?)</div>', output.data.get("text/html", ""), re.DOTALL)
    if sentence is None:
        return "The plot that this cell draws" if "image/png" in output.data else "What this cell shows"
    return re.sub(r"[\[\]]", "", _text_of(sentence[1]))


def _block(output: Notebook) -> str:
    text = output.get("text") or output.data["text/plain"]
    return f"```text\n{text.rstrip()}\n```"


def _text_of(html: str) -> str:
    """Return the text of HTML that a reader sees."""
    bare = re.sub(r"<style.*?</style>|<svg.*?</svg>", " ", html, flags=re.DOTALL)
    bare = re.sub(r"</?(bdi|mark)\b[^>]*>", "", bare)  # they may be inside words
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", bare)).split())


if __name__ == "__main__":
    main()
