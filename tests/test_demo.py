from html.parser import HTMLParser

from typer.testing import CliRunner

from butfor import SEARCHES
from butfor._cli import app


class Outline(HTMLParser):
    """Check that tags are balanced, and collect what the page refers to."""

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.references = [], [], []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.references += [value for name, value in attributes if name in ("src", "href")]
        if tag not in ("meta",):
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_demo_prints_and_writes_a_self_contained_page(tmp_path):
    page = tmp_path / "new folder" / "demo.html"
    result = CliRunner().invoke(app, ["demo", "--out", str(page)])
    assert result.exit_code == 0, result.output
    for search in SEARCHES:
        assert result.stdout.count(f"│ {search} ") == 2
    assert result.stdout.count("• But for '") == 12
    assert "• But for 'ghost story'," in result.stdout  # the planted cause, as a group
    assert "2 of 13 words" in result.stdout
    assert "[pay]" in result.stdout.lower()  # in the text
    outline = Outline()
    outline.feed(page.read_text(encoding="utf-8"))
    assert outline.open == []
    assert outline.tags.count("article") == 44 + 3  # a summary each
    assert outline.tags.count("mark") >= 20
    assert outline.references == []
    assert "script" not in outline.tags
