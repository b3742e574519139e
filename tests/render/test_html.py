import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from importlib.resources import files

import pytest
from examples import ALL, COSTLY, FILMS, FOUND, NOTHING, SPAM, SPORTS
from hypothesis import given
from hypothesis import strategies as st

from butfor import Explanation
from butfor._render import bars, card, fragment, page
from butfor._render.words import printable
from butfor.results.explanations import Explanations
from butfor.results.ranked import Ranked

ALLOWED = {
    "div": {"class", "dir", "tabindex"},
    "style": set(),
    "article": {"class"},
    "h3": {"class"},
    "mark": {"class"},
    "bdi": {"class"},
    "ul": {"class"},
    "li": set(),
    "details": {"class"},
    "summary": set(),
    "table": {"class"},
    "caption": set(),
    "thead": set(),
    "tbody": set(),
    "tr": set(),
    "th": {"scope"},
    "td": {"dir"},
    "small": set(),
    "svg": {"class", "width", "height", "role", "aria-label", "aria-hidden"},
    "line": {"class", "x1", "x2", "y1", "y2"},
    "circle": {"class", "cx", "cy", "r"},
    "rect": {"class", "x", "width", "height"},
    "text": {"class", "x", "y", "text-anchor"},
}
PAGE = {
    "html": {"lang"},
    "head": set(),
    "meta": {"charset", "name", "content"},
    "title": set(),
    "body": {"class"},
    "main": set(),
    "h1": set(),
    "h2": set(),
}
HOSTILE = [
    "<script>alert(1)</script>",
    "\"'><img src=x onerror=alert(1)>",
    "' onmouseover='alert(1)",
    "</style></title></textarea></svg><script>alert(1)</script>",
    "<!--", "-->", "<![CDATA[", "]]>", "&lt;b&gt; &amp; &#60; &notin; &", "<", "</", "<a", "{}%s{0}",
    "javascript:alert(1)",
    "\u202eevil\u202c \u2067iso\u2069 \u200f",
    "שלום עולם", "عَرَبِيّ",
    "w" * 100_000,
    "👩‍👩‍👧‍👦 🏳️‍🌈",
    "e" + "\u0301" * 50,
    "line\nline\ttab",
    " ",
]  # fmt: skip


class Outline(HTMLParser):
    """Hold HTML against what is allowed, and collect the texts by the class of the element they are in."""

    def __init__(self, html, allowed=ALLOWED):
        super().__init__()
        self.allowed, self.open, self.tags, self.texts = allowed, [], [], {}
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        assert tag in self.allowed, tag
        assert {name for name, _ in attributes} <= self.allowed[tag], attributes
        self.tags.append(tag)
        if tag != "meta":
            self.open.append((tag, dict(attributes).get("class", tag)))

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop()[0] == tag

    def handle_comment(self, data):
        raise AssertionError(f"a comment: {data}")

    def unknown_decl(self, data):
        raise AssertionError(f"a declaration: {data}")

    def handle_data(self, data):
        for _, kind in self.open:
            self.texts[kind] = self.texts.get(kind, "") + data


@pytest.mark.parametrize("why", ALL)
def test_a_fragment_stands_by_itself(why):
    html = fragment(why)
    outline = Outline(html)
    assert html == why._repr_html_()
    assert html.startswith('<div class="butfor"><style>')
    assert "http" not in html
    assert "url(" not in html
    assert outline.texts["butfor-sentence"] == str(why)
    assert outline.tags.count("circle") == 1 + bool(why)


@pytest.mark.parametrize("hostile", HOSTILE, ids=lambda text: ascii(text[:20]))
def test_nothing_from_the_user_is_html(hostile):
    why = replace(
        SPAM,
        features=(hostile, "x"),
        items=(hostile, "x", hostile),
        decision=hostile,
        decision_without=hostile,
        search=hostile[:50],
        text=f"{hostile} and {hostile}",
        spans=(((0, len(hostile)),), ()),
    )
    seen = Outline(fragment(why))
    assert seen.texts["butfor-text"] == why.text
    assert seen.texts["butfor-gone"] == hostile
    assert seen.texts["butfor-sentence"] == str(why)
    assert "from where the text does not tell: 'x'" in seen.texts["butfor-notes"]
    listed = Outline(fragment(replace(why, text=None, n_classes=3)))
    assert printable(hostile[:199]) in listed.texts["butfor-gone"]
    assert listed.tags.count("li") == 3
    whole = Outline(page(hostile, [(hostile, [card(why, heading=hostile)])]), ALLOWED | PAGE)
    assert whole.texts["h1"] == whole.texts["h2"] == whole.texts["butfor-heading"] == hostile
    assert whole.texts["title"] == hostile
    Outline(Ranked([(hostile, 1.0), (hostile, -2.0)])._repr_html_())
    failed = Outline(Explanations([why], errors={1: hostile})._repr_html_())
    assert hostile in failed.texts["butfor-more"]


@given(
    st.text(st.characters(exclude_categories=["Cc", "Cs"]) | st.sampled_from("\n\t<>&\"'")).filter(
        lambda text: not re.search("[\ufdd0-\ufdef\ufffe\uffff]", text)
    ),
    st.data(),
)
def test_the_text_is_what_it_was_wherever_it_is_marked(text, data):
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    spans = tuple(zip(cuts[::2], cuts[1::2], strict=False))
    outline = Outline(fragment(replace(SPAM, features=("a",), text=text, spans=(spans,))))
    assert outline.texts.get("butfor-text", "") == text
    assert outline.texts.get("butfor-gone", "") == "".join(text[start:end] for start, end in spans)


def test_what_html_cannot_carry_is_shown():
    text = "a\x00b\ud800c\x1bd\x9fe\ufffff\r\ng\rh"
    outline = Outline(fragment(replace(SPAM, text=text, spans=())))
    assert outline.texts["butfor-text"] == r"a\x00b\ud800c\x1bd\x9fe\uffff" + "f\ng\nh"
    named = fragment(replace(FILMS, features=("\x00\ud800\u202e\ufdd0",), reason="\ud800"))
    assert named.encode()
    assert Outline(named).texts["butfor-gone"] == r"\x00\ud800\u202e\ufdd0"
    failed = fragment(replace(NOTHING, status="budget", reason="<b>\ud800\ufdd1"))
    assert failed.encode()
    assert "No answer found: <b>\\ud800\\ufdd1" in Outline(failed).texts["butfor-sentence"]


def test_names_are_isolated_so_that_none_turns_the_sentence_around():
    html = card(replace(SPORTS, features=("שלום", "עולם"), decision="ספורט"))
    for name in ("שלום", "עולם", "ספורט", "politics"):
        assert f"<bdi>&#x27;{name}&#x27;</bdi>" in html


def test_a_card_speaks_of_a_subject_and_a_decision():
    shown = card(SPAM, subject="<b>Sam</b>", decision="\ufdd0flagged")
    assert "</bdi>, &lt;b&gt;Sam&lt;/b&gt; would not be \\ufdd0flagged.</div>" in shown


def test_a_text_keeps_its_turns_of_direction_but_they_turn_nothing():
    html = card(replace(SPAM, text="a\u202eb\u2069", spans=()))
    assert html.count('<bdi class="butfor-turn">') == 2
    assert Outline(html).texts["butfor-text"] == "a\u202eb\u2069"


def test_all_places_of_the_evidence_are_marked():
    assert re.findall("<mark [^>]*>(.*?)</mark>", fragment(SPAM)) == ["FREE", "prize", "free"]


def test_items_are_listed_the_removed_ones_first():
    seen = re.findall("<li>(.*?)</li>", card(FILMS))
    assert [re.sub("<.*?>", "", each) for each in seen] == [*FILMS.features, "Alien"]
    assert ["<mark" in each for each in seen] == [True, True, True, False]


def test_many_items_are_folded_away():
    many = tuple(f"film {i}" for i in range(369))
    html = card(replace(FILMS, items=many + FILMS.features))
    shown, folded = html.split("<details")
    assert (shown.count("<li>"), folded.count("<li>")) == (60, 312)
    assert "<summary>and 312 more</summary>" in folded
    huge = card(replace(FILMS, items=tuple(f"film {i}" for i in range(5_000)) + FILMS.features))
    assert "<summary>and 4,943 more</summary>" in huge
    assert "<li>… and 3,943 not listed</li>" in huge
    assert huge.count("<li>") == 60 + 1000 + 1
    assert "<details" not in card(replace(FILMS, items=many[:57] + FILMS.features))


def test_answers_longer_than_the_list_are_shown_whole():
    html = card(replace(FILMS, features=tuple(f"film {i}" for i in range(80)), items=()))
    assert html.count("<mark") == 80
    assert "<details" not in html


@pytest.mark.parametrize(
    ("why", "proof"),
    [
        (SPAM, "Proven: no smaller set of words flips the decision when taken out of the model's columns."),
        (FOUND, "Not proven to be the smallest: at least 2 needed."),
        (COSTLY, "Not proven to be the cheapest: at least a cost of 4.25 is needed."),
        (replace(COSTLY, lower_bound=5.5), "Proven: no cheaper set of features flips the decision."),
    ],
)
def test_what_is_proven(why, proof):
    assert proof in Outline(card(why)).texts["butfor-notes"]


def test_nothing_found_makes_no_claim():
    assert "butfor-notes" not in card(NOTHING)


def test_what_removal_meant_and_whether_it_survives_deletion():
    assert "The decision flips too when the words are deleted" in card(SPAM)
    contradicted = Outline(card(replace(SPAM, survives_deletion=False))).texts
    assert "deleted from the text itself, the decision would still be" in contradicted["butfor-sentence"]
    assert "But when the words are deleted from the text, the decision stays" in contradicted["butfor-notes"]
    assert "the model reads the rest" in card(SPORTS)


def test_bars():
    html = bars([("a", 3.0, "3"), ("b", -1.0, "-1"), ("c", 0.0, "0")], caption="weights")
    Outline(html)
    assert re.findall(r'x="([\d.]+)%" width="([\d.]+)%"', html) == [
        ("25.00", "75.00"),
        ("0.00", "25.00"),
        ("25.00", "0.00"),
    ]
    assert Outline(bars([], caption="none")).texts["caption"] == "none"
    assert 'width="0.00%"' in bars([("a", 0.0, "0")], caption="zero")


def selectors():
    css = (files("butfor._render") / "fragment.css").read_text(encoding="utf-8")
    css = re.sub(r"/\*.*?\*/", "", css, flags=re.DOTALL).replace("@media print {", "")
    rules = re.findall(r"([^{}]+)\{[^{}]*\}", css)
    return [selector.strip() for rule in rules for selector in rule.split(",")]


def test_no_rule_reaches_beyond_the_fragment():
    assert len(selectors()) > 40
    for selector in selectors():
        assert re.search(r"(^|\s)\.butfor(\s|$)", selector), selector


def test_every_class_has_a_rule_and_every_rule_a_use():
    used = set()
    ranked = Ranked([("a", 1.0), ("b", -1.0)])._repr_html_()
    many = replace(FILMS, items=tuple(map(str, range(100))))
    turned = replace(SPAM, text="\u202e")
    for html in (
        ranked,
        Explanations(ALL)._repr_html_(),
        *(card(why, heading="row 1") for why in (*ALL, many, turned)),
    ):
        used |= {name for names in re.findall('class="([^"]*)"', html) for name in names.split()}
    ruled = {name for selector in selectors() for name in re.findall(r"\.(butfor[\w-]*)", selector)}
    assert used | {"butfor"} == ruled


@pytest.mark.parametrize("why", ALL)
def test_an_explanation_looks_the_same_after_a_journey_as_json(why):
    again = Explanation.from_dict(json.loads(json.dumps(why.to_dict())))
    assert again == why
    assert fragment(again) == fragment(why)
