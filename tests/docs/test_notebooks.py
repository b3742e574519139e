"""The tutorials run, say what is stored with them, and are the pages that are shown."""

import base64
import io
import re
import runpy
from copy import deepcopy
from pathlib import Path

import nbformat
import pytest
from PIL import Image

DOCS = Path(__file__).parents[2] / "docs"
TUTORIALS = DOCS / "tutorials"
SCRIPT = runpy.run_path(str(DOCS / "render_tutorials.py"))
NOTEBOOKS = sorted(TUTORIALS.glob("*.ipynb"))


def read(path):
    return nbformat.read(path, as_version=4)


def test_there_are_three():
    assert [path.stem for path in NOTEBOOKS] == ["behaviour", "table", "text"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
class TestNotebook:
    def test_it_runs_and_says_what_is_stored(self, path):
        stored = read(path)
        run = SCRIPT["executed"](stored)
        for (source, now), (_, before) in zip(SCRIPT["outputs"](run), SCRIPT["outputs"](stored), strict=True):
            assert now == before, f"make docs, as this cell now says something else:\n{source}"

    def test_every_cell_is_stored_with_the_number_of_its_run(self, path):
        numbers = [cell.execution_count for cell in read(path).cells if cell.cell_type == "code"]
        assert numbers == list(range(1, len(numbers) + 1))

    def test_the_page_is_the_notebook(self, path):
        page = path.with_suffix(".md").read_text(encoding="utf-8")
        assert page == SCRIPT["markdown"](read(path), path.stem), "make docs"

    def test_every_picture_is_there_and_none_is_left_over(self, path):
        page = path.with_suffix(".md").read_text(encoding="utf-8")
        linked = re.findall(r"!\[.+?\]\((.+?)\)", page)
        assert len(linked) > 5
        assert sorted(linked) == sorted(each.name for each in TUTORIALS.glob(f"{path.stem}-*.png"))
        for name in linked:
            with Image.open(TUTORIALS / name) as picture:
                assert picture.width > 600
                assert picture.getcolors(2) is None, f"{name} is empty"

    def test_plots_are_those_of_the_notebook(self, path):
        n_plots = 0
        for number, cell in enumerate(read(path).cells):
            for output in cell.get("outputs", []):
                if "image/png" in output.get("data", {}):
                    n_plots += 1
                    picture = (TUTORIALS / f"{path.stem}-{number:02d}.png").read_bytes()
                    assert picture == base64.b64decode(output.data["image/png"])
        assert n_plots >= 3

    def test_nothing_went_wrong_and_nothing_tells_where_it_ran(self, path):
        outputs = [output for cell in read(path).cells for output in cell.get("outputs", [])]
        assert not [output for output in outputs if output.get("name") == "stderr"]
        assert not re.search(r"/(home|root|tmp|usr|work|Users)/", path.read_text(encoding="utf-8"))


def test_a_picture_is_cut_to_what_is_in_it():
    image = Image.new("RGBA", (40, 30))
    image.paste((179, 71, 29, 255), (5, 6, 25, 16))
    png = io.BytesIO()
    image.save(png, format="PNG")
    with Image.open(io.BytesIO(SCRIPT["smaller"](png.getvalue()))) as cut:
        assert cut.size == (20, 10)
        assert cut.convert("RGB").getcolors() == [(200, (179, 71, 29))]


def test_times_do_not_count_but_words_do():
    said = "But for <bdi>'free'</bdi>, 19 scorings · 20.2 ms"
    card = f'<div class="butfor"><style>a {{ b: c }}</style>{said}</div>'
    output = nbformat.v4.new_output("display_data", {"text/html": card, "text/plain": "Explanation(…)"})
    slower, other, restyled = deepcopy(output), deepcopy(output), deepcopy(output)
    slower.data["text/html"] = card.replace("20.2 ms", "1,020.7 ms")
    other.data["text/html"] = card.replace("free", "prize")
    restyled.data["text/html"] = card.replace("b: c", "b: d")
    words = SCRIPT["words"]
    assert words(output) == words(slower) == words(restyled) == "But for 'free', 19 scorings · … ms"
    assert words(other) != words(output)


def test_a_missing_browser_is_named(monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(SystemExit, match="needs a browser to take pictures of explanations: one of chromium"):
        SCRIPT["screenshot"]("<p>hello</p>")
