"""One row in a real browser: everything a reader can do to it, judged by the Explainer itself."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from butfor import Explanation
from butfor._render.words import decimals

expect = pytest.importorskip("playwright.sync_api").expect
pytestmark = pytest.mark.xdist_group("browser")

ROW = 3


@pytest.fixture
def row(page: Any, served: Any) -> Any:
    """Open a message that is taken for spam."""
    page.goto(served.at("inbox", f"#/row/{ROW}"))
    expect(page.locator(".unit.mark").first).to_be_visible()
    return page


@pytest.fixture
def workspace(served: Any) -> Any:
    return served.workspaces["inbox"]


def verdict(trial: Any) -> str:
    _, now, threshold = decimals(trial.score, trial.score_without, trial.threshold)
    said = f"The decision flips: now {trial.decision_without}" if trial.flipped else f"Still {trial.decision}"
    return f"{said} (score of spam: {now}, threshold {threshold})."


def removed(page: Any) -> set[int]:
    places = page.locator(".unit[aria-pressed=true]").evaluate_all("us => us.map((u) => u.dataset.place)")
    return set(map(int, places))


def press(page: Any, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def test_the_answer_is_on_the_page_and_in_the_text(row: Any, workspace: Any) -> None:
    """Sentence, proof, scale, and every place of the evidence, which is marked but still there."""
    why = workspace.explainer.explain(workspace.data.at(ROW))
    expect(row.locator(".sentence")).to_have_text(str(why))
    expect(row.locator(".proof")).to_contain_text("Proven")
    marked = row.locator(".unit.mark").all_inner_texts()
    assert marked == [why.text[start:end] for start, end in sorted(sum(why.spans, ()))]
    assert row.locator(".text").inner_text() == why.text
    assert removed(row) == set()
    score, threshold = decimals(why.score, why.threshold)
    label = row.locator("svg.gauge").get_attribute("aria-label")
    assert label == f"The score of spam is {score}; threshold {threshold}."


def test_taking_words_away_until_the_decision_flips(row: Any, workspace: Any) -> None:
    """Each click scores anew what is left; putting back leads back. The address tells all of it."""
    session = workspace.explainer.what_if(workspace.data.at(ROW))
    last_word = row.locator(".text .unit").last
    stood = last_word.bounding_box()
    taken: list[int] = []
    for place in workspace.explainer.explain(workspace.data.at(ROW)).places:
        taken.append(place)
        row.locator(f'.unit[data-place="{place}"]').first.click()
        expect(row.locator(".verdict")).to_have_text(verdict(session.without(taken)))
        assert removed(row) == set(taken)
        assert row.url.endswith("removed=" + "%2C".join(map(str, sorted(taken))))
    assert session.without(taken).flipped
    expect(row.locator("#announcer")).to_contain_text("The decision flips")
    row.locator(f'.unit[data-place="{taken[0]}"]').first.click()
    expect(row.locator(".verdict")).to_have_text(verdict(session.without(taken[1:])))
    assert last_word.bounding_box() == stood


def test_alternatives_undo_redo_and_reset(row: Any, workspace: Any) -> None:
    """The same explanations in the same order as the Explainer's; steps go back and forth."""
    others = list(workspace.explainer.alternatives(workspace.data.at(ROW), limit=4))
    press(row, "Smallest explanation")
    expect(row.locator(".notice")).to_have_text("Taken away: 2 words, proven smallest.")
    assert removed(row) == set(others[0].places)
    for number, why in enumerate(others[1:], start=2):
        press(row, "Another one")
        expect(row.locator(".notice")).to_have_text(f"{number} of at least 10.")
        expect(row.locator(".sentence")).to_have_text(str(why))
        assert removed(row) == set(why.places)
    for why in others[-2::-1]:
        press(row, "Undo")
        expect(row.locator(".sentence")).to_have_text(str(why))
        assert removed(row) == set(why.places)
    press(row, "Redo")
    assert removed(row) == set(others[1].places)
    press(row, "Reset")
    expect(row.locator(".verdict")).to_contain_text("As it is: spam")
    assert removed(row) == set()
    assert row.url.endswith(f"#/row/{ROW}")


def test_all_alternatives_come_to_an_end(page: Any, served: Any) -> None:
    """Of a row with few of them, the page says when all have been shown."""
    workspace = served.workspaces["inbox"]
    texts = (workspace.data.at(number) for number in range(workspace.n_rows))
    number, n = next(
        (number, n)
        for number, text in enumerate(texts)
        if 2 <= (n := len(list(workspace.explainer.alternatives(text, limit=9)))) < 9
    )
    page.goto(served.at("inbox", f"#/row/{number}"))
    for i in range(2, n + 1):
        press(page, "Another one")
        expect(page.locator(".notice")).to_contain_text(f"{i} of {n}.")
    expect(page.locator(".notice")).to_contain_text("No more: all of at most 30 words have been shown.")
    press(page, "Another one")
    expect(page.locator(".notice")).to_have_text(f"2 of {n}, from the start again.")


def test_what_is_never_used_is_locked_until_it_is_allowed_again(row: Any, workspace: Any) -> None:
    """By the evidence's own button, and for the word that has the focus."""
    why = workspace.explainer.explain(workspace.data.at(ROW))
    first = why.features[0]
    press(row, f"never use {first}")
    other = workspace.explainer.with_options(protected=[first]).explain(workspace.data.at(ROW))
    expect(row.locator(".sentence")).to_have_text(str(other))
    locked = row.locator(f'.unit[data-place="{why.places[0]}"]').first
    expect(locked).to_have_attribute("aria-disabled", "true")
    locked.click(force=True)
    assert removed(row) == set()
    word = row.locator(f'.unit[data-place="{other.places[0]}"]').first
    word.focus()
    press(row, f"Never use “{other.features[0]}”")
    both = workspace.explainer.with_options(protected=[first, other.features[0]]).explain(
        workspace.data.at(ROW)
    )
    expect(row.locator(".sentence")).to_have_text(str(both))
    row.reload()
    expect(row.locator(".sentence")).to_have_text(str(both))
    expect(locked).to_have_text(first)
    press(row, f"allow again {other.features[0]}")
    expect(row.locator(".sentence")).to_have_text(str(other))


def test_searches_side_by_side(row: Any, workspace: Any) -> None:
    """Sizes, features and proofs are the Explainer's; the set of any search can be taken."""
    press(row, "Compare searches")
    expect(row.locator(".compare .note")).to_contain_text("searches compared.")
    for search in ("auto", "sedc", "lin-sedc"):
        why = workspace.explainer.with_options(search=search).explain(workspace.data.at(ROW))
        line = row.locator(".searches tbody tr").filter(
            has=row.get_by_role("button", name=search, exact=True)
        )
        assert line.locator(".size").inner_text() == f"smallest {why.size}"
        assert line.locator(".features").inner_text() == ", ".join(why.features)
        assert line.locator("td").nth(4).inner_text().startswith("yes" if why.proven_minimum else "no")
    press(row, "sedc")
    expect(row.locator(".notice")).to_have_text("What sedc takes away.")
    assert removed(row) == set(why.places)


def test_exports_are_of_what_is_on_the_page(new_page: Any, served: Any, workspace: Any) -> None:
    """The answer, then a set by hand; where nothing flips there is none, and it says why."""
    page = new_page(permissions=["clipboard-read", "clipboard-write"])
    page.goto(served.at("inbox", f"#/row/{ROW}"))
    why = workspace.explainer.explain(workspace.data.at(ROW))
    expect(page.locator(".export-sentence")).to_have_text(str(why))
    assert copied(page, "Copy sentence") == str(why)
    assert f"'{why.features[0]}'" in copied(page, "Copy letter")
    saved = Explanation.from_dict(json.loads(downloaded(page, "Download JSON")))
    assert (saved.features, saved.spans, saved.path) == (why.features, why.spans, why.path)
    whole = downloaded(page, "Download page")
    assert whole.startswith("<!doctype html>")
    assert "<script" not in whole
    assert why.features[0] in whole
    page.locator(f'.unit[data-place="{why.places[0]}"]').first.click()
    expect(page.locator(".export-sentence")).to_contain_text("the decision stays")
    assert page.get_by_role("button", name="Copy letter").is_disabled()
    by_hand = workspace.explainer.what_if(workspace.data.at(ROW)).without(sorted({*why.places, 0}))
    for place in (*why.places[1:], 0):
        page.locator(f'.unit[data-place="{place}"]').first.click()
    expect(page.locator(".export-sentence")).to_have_text(str(by_hand.explanation))
    assert Explanation.from_dict(json.loads(downloaded(page, "Download JSON"))).search == "by hand"
    link = copied(page, "Copy link")
    page.goto("about:blank")
    page.goto(link)
    expect(page.locator(".verdict")).to_have_text(verdict(by_hand))
    assert removed(page) == {*why.places, 0}


def copied(page: Any, button: str) -> str:
    press(page, button)
    expect(page.locator(".export [role=status]")).to_contain_text("is copied")
    return str(page.evaluate("() => navigator.clipboard.readText()"))


def downloaded(page: Any, button: str) -> str:
    with page.expect_download() as waiting:
        press(page, button)
    return Path(waiting.value.path()).read_text(encoding="utf-8")


def test_without_leave_to_copy_there_is_a_text_to_select(page: Any, served: Any, workspace: Any) -> None:
    page.add_init_script("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    page.goto(served.at("inbox", f"#/row/{ROW}"))
    press(page, "Copy sentence")
    field = page.get_by_label("The sentence, to copy")
    expect(field).to_be_focused()
    assert field.input_value() == str(workspace.explainer.explain(workspace.data.at(ROW)))


def test_with_keys_alone(row: Any, workspace: Any) -> None:
    """One Tab leads into the text and one out of it; arrows, Home and End move, Enter and Space take away."""
    focused = row.locator(":focus")
    row.get_by_role("button", name="Reset").focus()
    row.keyboard.press("Tab")
    if "Never use" in focused.inner_text():
        row.keyboard.press("Tab")
    units = row.locator(".text .unit")
    words = units.all_inner_texts()
    assert focused.inner_text() == words[0]
    row.keyboard.press("ArrowRight")
    row.keyboard.press("ArrowRight")
    assert focused.inner_text() == words[2]
    row.keyboard.press("End")
    assert focused.inner_text() == words[-1]
    row.keyboard.press("Space")
    last = int(focused.get_attribute("data-place"))
    trial = workspace.explainer.what_if(workspace.data.at(ROW)).without([last])
    expect(row.locator(".verdict")).to_have_text(verdict(trial))
    row.keyboard.press("u")
    assert removed(row) == set()
    row.keyboard.press("Shift+U")
    assert removed(row) == {last}
    row.keyboard.press("Control+z")
    assert removed(row) == set()
    row.keyboard.press("Home")
    row.keyboard.press("Enter")
    assert len(removed(row)) == 1
    row.keyboard.press("Tab")
    assert "unit" not in (focused.get_attribute("class") or "")


def test_a_failing_call_is_told_where_it_happened(row: Any, workspace: Any) -> None:
    """The rest stays usable, and trying again works."""
    problem = {"type": "about:blank", "title": "Busy", "status": 503, "detail": "Try again in 2 seconds."}
    refuse = {"status": 503, "content_type": "application/problem+json", "body": json.dumps(problem)}
    row.route("**/api/score", lambda route: route.fulfill(**refuse))
    word = row.locator(".text .unit").first
    word.click()
    expect(row.get_by_role("alert")).to_contain_text("Try again in 2 seconds.")
    row.unroute("**/api/score")
    press(row, "Try again")
    place = int(word.get_attribute("data-place"))
    trial = workspace.explainer.what_if(workspace.data.at(ROW)).without([place])
    expect(row.locator(".verdict")).to_have_text(verdict(trial))
    expect(row.get_by_role("alert")).to_have_count(0)


def test_a_slow_search_can_be_stopped(page: Any, served: Any) -> None:
    """What takes long shows how long, and ends when a reader says so; words can be taken away meanwhile."""
    waiting: list[Any] = []
    page.route("**/api/explain", lambda route: waiting.append(route))
    page.goto(served.at("inbox", f"#/row/{ROW}"))
    line = page.locator(".progress-line")
    expect(line).to_contain_text(re.compile(r"Searching…\s*[\d.]+ s"))
    page.locator(".text .unit").first.click()
    expect(page.locator(".taken")).to_contain_text("1 of")
    line.get_by_role("button", name="Stop").click()
    expect(page.locator(".sentence")).to_contain_text("Press Smallest explanation")
    expect(line).to_have_count(0)


def test_rows_before_and_after_are_those_of_the_list(page: Any, served: Any) -> None:
    """In the order in which the reader saw them, over the ends of pages too."""
    workspace = served.explained("inbox")
    page.goto(served.at("inbox", "#/rows?sort=-score"))
    page.locator("table.rows tbody tr:not(.skeleton) a").nth(1).click()
    scores, _ = workspace.explainer.decide(workspace.data.some(range(workspace.n_rows)))
    order = sorted(range(workspace.n_rows), key=lambda number: -scores[number])
    expect(page.locator("h1")).to_contain_text(f"Row {order[1]}")
    page.get_by_role("link", name="Next").click()
    expect(page.locator("h1")).to_contain_text(f"Row {order[2]}")
    page.go_back()
    expect(page.locator("h1")).to_contain_text(f"Row {order[1]}")
    page.get_by_role("link", name="Previous").click()
    expect(page.locator("h1")).to_contain_text(f"Row {order[0]}")
    page.goto(served.at("inbox", "#/rows?sort=-score&page=2"))
    page.locator(f'a[data-number="{order[50]}"]').click()
    page.get_by_role("link", name="Previous").click()
    expect(page.locator("h1")).to_contain_text(f"Row {order[49]}")


def test_what_deletion_contradicts_is_said_and_has_no_letter(page: Any, served: Any, workspace: Any) -> None:
    """An answer and a set by hand that hold for the model's columns alone."""
    why = workspace.explainer.explain(workspace.data.at(ROW))
    told = {"sentence": f"{why} But it stays.", "survives_deletion": False, "letter": None}

    def contradicted(route: Any) -> None:
        answer = route.fetch()
        body = answer.json()
        found = body if "status" in body else body["explanation"]
        if found:
            found.update(told)
        route.fulfill(response=answer, json=body)

    page.route("**/api/explain", contradicted)
    page.route("**/api/score", contradicted)
    page.goto(served.at("inbox", f"#/row/{ROW}"))
    expect(page.locator(".export-sentence")).to_have_text(told["sentence"])
    expect(page.locator(".export")).to_contain_text("No letter: with the same deleted from the text itself")
    assert page.get_by_role("button", name="Copy letter").is_disabled()
    assert page.get_by_role("button", name="Copy sentence").is_enabled()
    press(page, "Smallest explanation")
    expect(page.locator(".verdict")).to_contain_text("But with the same deleted from the text itself, the")


def test_no_such_row(page: Any, served: Any) -> None:
    page.goto(served.at("inbox", "#/row/999999"))
    expect(page.get_by_role("alert").first).to_contain_text("no row 999999")
    page.goto(served.at("inbox", f"#/row/{ROW}?removed=4000"))
    expect(page.locator(".notice")).to_contain_text("cannot be taken away here")


def test_stored_results_are_shown_without_a_model(page: Any, served: Any, workspace: Any) -> None:
    """Evidence in its places, the sentence and the JSON; nothing to press that would need the model."""
    why = workspace.explainer.explain(workspace.data.at(ROW))
    told = {"size": why.size, "proven": True, "sentence": str(why), "proof": "", "facts": ""}
    stored = {**why.to_dict(), **told, "items": list(why.features), "letter": None, "page": None}
    answer = {"number": ROW, "id": ROW, "text": why.text, "explanation": stored, "error": None}

    def without_model(route: Any) -> None:
        shell = route.fetch()
        route.fulfill(response=shell, body=re.sub(r'("can_explain": ?)true', r"\1false", shell.text()))

    page.route("**/inbox/", without_model)
    page.route(f"**/api/rows/{ROW}", lambda route: route.fulfill(json={**answer, "decision": "spam"}))
    page.goto(served.at("inbox", f"#/row/{ROW}"))
    expect(page.locator(".stored")).to_contain_text("without the model")
    expect(page.locator(".sentence")).to_have_text(str(why))
    places = sorted(sum(why.spans, ()))
    assert page.locator(".unit.mark").all_inner_texts() == [why.text[start:end] for start, end in places]
    assert page.locator("[aria-pressed]").count() == 0
    assert page.get_by_role("button", name="Copy letter").count() == 0
    assert json.loads(downloaded(page, "Download JSON"))["features"] == list(why.features)
