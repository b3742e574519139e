"""The API, judged by Explainer itself."""

import asyncio
import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from web_client import Client
from web_toys import (
    inbox,
    inbox_workspace,
    loans,
    loans_workspace,
    moviegoers,
    moviegoers_workspace,
    trap_workspace,
)

from butfor import Budget, Explainer
from butfor._web import answers, tasks
from butfor._web.app import create_app
from butfor._web.limits import Limits
from butfor._web.manual import manual
from butfor._web.pages import example, fingerprint
from butfor._web.problems import Shield
from butfor._web.workspace import Workspace

pytestmark = pytest.mark.xdist_group("api")  # one server for all of them

LIMITS = Limits(
    max_seconds=1, text=5_000, items=50, body=20_000, grace=4, waiting_seconds=600, refused_seconds=0
)
"""Rows are tried again even if they hung: where the machine is busy, a good row may seem to hang."""
ASIDE = ("seconds", "facts")
"""Fields that differ from run to run."""


@pytest.fixture(scope="module")
def client():
    results = Workspace(
        name="results", title="Results", kind="texts", classes=("a", "b"), threshold=None, unit=("", "")
    )
    workspaces = [
        inbox_workspace(title="</script><b>"),
        moviegoers_workspace(),
        trap_workspace(),
        results,
        loans_workspace(),
    ]
    with Client(create_app(workspaces, limits=LIMITS, jobs=1)) as client:
        yield client


def posted(client, path, **body):
    answer = client.post(path, content=json.dumps(body), headers={"Content-Type": "application/json"})
    assert answer.status_code == 200, answer.text
    return answer.json()


def refused(client, path, body):
    content = body if isinstance(body, str) else json.dumps(body)
    answer = client.post(path, content=content, headers={"Content-Type": "application/json"})
    assert answer.headers["content-type"] == "application/problem+json"
    problem = answer.json()
    answers.ProblemAnswer.model_validate(problem)
    assert problem["status"] == answer.status_code
    return answer.status_code, problem["detail"]


def same(got, why):
    """Whether an answer says what an explanation says."""
    answers.ExplanationAnswer.model_validate(got)
    told = json.loads(json.dumps(why.to_dict()))
    derived = {"size": why.size, "proven": why.proven_minimum, "sentence": str(why)}
    expected = {**told, **derived}
    return {k: got[k] for k in expected if k not in ASIDE} == {
        k: v for k, v in expected.items() if k not in ASIDE
    }


def test_explains_rows_texts_and_items_as_explainer_does(client):
    of_texts, texts = inbox()
    of_rows, X = moviegoers()
    limit = {"budget": Budget(30, 1)}
    for number in range(4):
        got = posted(client, "/inbox/api/explain", row=number)
        assert same(got, of_texts.with_options(**limit).explain(texts[number]))
        got = posted(client, "/moviegoers/api/explain", row=number)
        assert same(got, of_rows.with_options(**limit).explain(X[[number]]))
    text = "Claim your free prize, call now"
    got = posted(client, "/inbox/api/explain", text=text, search="sedc", protected=["free"], max_size=3)
    told = of_texts.with_options(search="sedc", protected=["free"], budget=Budget(3, 1))
    assert same(got, told.explain(text))
    liked = list(of_rows.feature_names[:5])
    got = posted(client, "/moviegoers/api/explain", items=liked, protected=[0], max_seconds=1000)
    assert same(got, of_rows.with_options(protected=[0], **limit).explain(of_rows.row_of(liked)))
    got = posted(client, "/moviegoers/api/explain", items=dict.fromkeys(liked, 1))
    assert same(got, of_rows.with_options(**limit).explain(of_rows.row_of(liked)))


def test_answers_of_two_workspaces_are_not_mixed_up(client):
    asked = [(workspace, number) for number in range(12) for workspace in ("inbox", "moviegoers")]
    given = client.post_together(
        [(f"/{workspace}/api/explain", {"row": number}) for workspace, number in asked]
    )
    of_texts, texts = inbox()
    of_rows, X = moviegoers()
    for (workspace, number), answer in zip(asked, given, strict=True):
        why = of_texts.explain(texts[number]) if workspace == "inbox" else of_rows.explain(X[[number]])
        assert answer.json()["features"] == list(why.features)
        assert answer.json()["items"] == list(why.items)


def test_writes_letter_and_page_only_where_asked_and_found(client):
    plain = posted(client, "/inbox/api/explain", row=0)
    assert plain["letter"] is None
    assert plain["page"] is None
    whole = posted(client, "/inbox/api/explain", row=0, include=["letter", "page"])
    assert whole["status"] == "found"
    assert all(repr(name) in whole["letter"] for name in whole["features"][:5])
    assert whole["page"].startswith("<!doctype html>")
    nothing = posted(client, "/inbox/api/explain", text="\ud800", include=["letter", "page"])
    assert nothing["status"] != "found"
    assert nothing["letter"] is None


def test_a_letter_names_the_class_and_none_says_what_deletion_contradicts():
    explainer, texts = inbox(removal="zero")
    why = next(why for why in map(explainer.explain, texts) if why.survives_deletion)
    told = tasks.answer(why, tasks.Wording(), ["letter", "page"])
    assert told["letter"].startswith(f"Predicted '{why.decision}' because of {why.size} word")
    assert told["letter"].endswith(f", the decision would have been '{why.decision_without}'.")
    assert tasks.answer(why, tasks.Wording(decision="hidden"), ["letter"])["letter"].startswith(
        "Hidden because of "
    )
    told = tasks.answer(
        replace(why, survives_deletion=False), tasks.Wording("Sam", "hidden"), ["letter", "page"]
    )
    assert told["letter"] is None
    assert "deleted from the text itself, Sam would still be hidden." in told["sentence"]
    assert "deleted from the text itself, Sam would still be hidden." in told["page"]
    assert "the decision stays" in told["proof"]
    assert "does not hold when deleted from the text" in told["facts"]


def test_scores_by_hand_as_the_bench_does(client):
    explainer, texts = inbox()
    for number, removed in ((0, []), (0, [0]), (0, [1, 2]), (3, [0])):
        got = posted(client, "/inbox/api/score", row=number, removed=removed, units=True)
        answers.ScoreAnswer.model_validate(got)
        session = explainer.what_if(texts[number])
        trial = session.without(removed)
        for name in ("score", "score_without", "threshold", "decision", "decision_without", "flipped"):
            assert got[name] == getattr(trial, name)
        assert tuple(unit["name"] for unit in got["units"]) == session.items
        assert got["text"] == texts[number]
    why = explainer.explain(texts[0])
    got = posted(client, "/inbox/api/score", row=0, removed=list(why.places))
    assert got["flipped"]
    assert got["explanation"]["features"] == list(why.features)
    assert not got["explanation"]["proven"]
    assert got["units"] is None
    kept = posted(client, "/inbox/api/score", row=0, units=True, protected=[why.features[0]])["units"]
    assert not kept[why.places[0]]["removable"]


def test_alternatives_come_in_pages(client):
    explainer, X = moviegoers()
    limits = {"max_size": 3, "max_seconds": 1}
    whole = [why.columns for why in explainer.alternatives(X[[1]], limit=6, **limits)]
    assert len(whole) == 6
    pages = [
        posted(client, "/moviegoers/api/alternatives", row=1, skip=skip, limit=3, **limits) for skip in (0, 3)
    ]
    for page in pages:
        answers.AlternativesAnswer.model_validate(page)
    assert [tuple(why["columns"]) for page in pages for why in page["explanations"]] == whole


def test_compares_searches(client):
    explainer, texts = inbox()
    got = posted(client, "/inbox/api/compare", row=0, searches=["sedc", "certified", "random"])
    answers.CompareAnswer.model_validate(got)
    for each in got["searches"]:
        why = explainer.with_options(search=each["search"]).explain(texts[0])
        assert (each["size"], each["proven"], each["error"]) == (why.size, why.proven_minimum, None)
    everything = posted(client, "/inbox/api/compare", row=0)["searches"]
    assert len(everything) > 8
    failed = posted(client, "/traps/api/compare", items=["free", "raise"], searches=["sedc"])["searches"]
    assert failed[0]["status"] == "error"
    assert "ArithmeticError" in failed[0]["error"]


def test_lists_rows_and_features(client):
    rows = client.get("/inbox/api/rows", params={"per_page": 5, "sort": "-number"}).json()
    answers.RowsAnswer.model_validate(rows)
    assert [row["number"] for row in rows["rows"]] == [11, 10, 9, 8, 7]
    answers.SummaryAnswer.model_validate(client.get("/inbox/api/rows/summary").json())
    row = client.get("/inbox/api/rows/3").json()
    answers.OneRowAnswer.model_validate(row)
    assert row["text"] == inbox()[1][3]
    found = client.get("/moviegoers/api/features", params={"q": "the", "limit": 3}).json()
    answers.FeaturesAnswer.model_validate(found)
    names = moviegoers()[0].feature_names
    assert [names[each["column"]] for each in found["features"]] == [
        each["name"] for each in found["features"]
    ]
    for path in ("/health", "/inbox/health"):
        answers.HealthAnswer.model_validate(client.get(path).json())


def test_records_are_explained_scored_and_listed_as_their_tables(client):
    explainer, records = loans()
    limited = explainer.with_options(budget=Budget(30, 1))
    for number in range(4):
        got = posted(client, "/loans/api/explain", row=number)
        assert same(got, limited.explain(records[number]))
        assert posted(client, "/loans/api/explain", record=records[number])["features"] == got["features"]
    scored = posted(client, "/loans/api/score", record=records[0], removed=[0], units=True)
    answers.ScoreAnswer.model_validate(scored)
    session = explainer.what_if(records[0])
    assert [unit["name"] for unit in scored["units"]] == list(session.items)
    assert scored["table"] == json.loads(json.dumps(session.table))
    assert scored["score_without"] == session.without([0]).score_without
    for unit in scored["units"]:
        for column, start, end in unit["marks"]:
            assert scored["table"][column][1][start:end].lower() in unit["name"]
    row = client.get("/loans/api/rows/2").json()
    answers.OneRowAnswer.model_validate(row)
    assert row["record"] == records[2]
    found = client.get("/loans/api/rows", params={"q": records[3]["purpose"][:30]}).json()
    assert 3 in [each["number"] for each in found["rows"]]


@pytest.mark.parametrize(
    ("path", "body", "status", "said"),
    [
        ("/inbox/api/explain", {}, 422, "exactly one of row, text, items and record must be given, got none"),
        ("/inbox/api/explain", {"row": 1, "text": "a"}, 422, "got row and text"),
        ("/inbox/api/explain", {"row": True}, 422, "row"),
        ("/inbox/api/explain", {"row": -1}, 422, "row: input should be greater than or equal to 0."),
        ("/inbox/api/explain", {"row": 12}, 404, "no row 12: rows go from 0 to 11"),
        ("/inbox/api/explain", {"row": 1, "max_size": 0}, 422, "max_size"),
        ("/inbox/api/explain", {"row": 1, "max_seconds": "1"}, 422, "max_seconds"),
        ("/inbox/api/explain", {"row": 1, "search": "best"}, 422, "search: must be one of auto"),
        ("/inbox/api/explain", {"row": 1, "serach": "sedc"}, 422, "serach"),
        ("/inbox/api/explain", {"row": 1, "include": ["pdf"]}, 422, "include"),
        ("/inbox/api/explain", {"text": "a" * 5_001}, 413, "5,000 characters"),
        ("/inbox/api/explain", {"text": "a" * 20_001}, 413, "20,000 bytes"),
        ("/inbox/api/explain", {"items": ["a"]}, 422, "items"),
        ("/inbox/api/score", {"row": 0, "removed": [5_000]}, 422, "removed"),
        ("/inbox/api/score", {"row": 0, "removed": ["nowhere"]}, 422, "removed"),
        ("/inbox/api/score", {"row": 0, "removed": [0] * 51}, 413, "50"),
        ("/inbox/api/alternatives", {"row": 0, "limit": 101}, 422, "limit"),
        ("/inbox/api/compare", {"row": 0, "searches": []}, 422, "searches"),
        ("/moviegoers/api/explain", {"text": "a"}, 422, "text"),
        ("/moviegoers/api/explain", {"items": ["no such film"]}, 422, "no such film"),
        ("/moviegoers/api/explain", {"items": {"no such film": 1}}, 422, "no such film"),
        ("/moviegoers/api/explain", {"items": [2**30]}, 422, "items"),
        ("/moviegoers/api/explain", {"row": 0, "protected": ["no such film"]}, 422, "protected"),
        (
            "/inbox/api/explain",
            {"record": {"a": 1}},
            422,
            "record must not be given, as the model reads texts",
        ),
        ("/loans/api/explain", {"text": "a"}, 422, "text must not be given, as the model reads records"),
        ("/loans/api/explain", {"items": ["a"]}, 422, "items must not be given, as the model reads records"),
        ("/loans/api/explain", {"record": {"sector": "taxi"}}, 422, "lacks 'channel', 'years', 'purpose'"),
        ("/loans/api/explain", {"record": {"purpose": "a" * 5_001}}, 413, "5,000 characters"),
        ("/loans/api/explain", {"row": 0, "protected": ["sectr"]}, 422, "perhaps 'sector' is meant"),
        ("/traps/api/explain", {"row": 0}, 409, "no data"),
        ("/results/api/explain", {"text": "a"}, 409, "without a model"),
        ("/traps/api/explain", {"items": ["free", "raise"]}, 502, "ArithmeticError"),
        ("/inbox/api/nothing", {}, 404, "docs"),
        ("/health", {}, 405, "method"),
    ],
)
def test_what_cannot_be_done_is_a_problem(client, path, body, status, said):
    got, detail = refused(client, path, body)
    assert got == status, detail
    assert said in detail


@pytest.mark.parametrize(
    "body",
    ['{"row": NaN}', '{"items": {"It": Infinity}}', "[", "[" * 9999, "null", ""],
)
def test_bodies_that_are_hardly_json(client, body):
    status, _ = refused(client, "/inbox/api/explain", body)
    assert status in (400, 422)


def test_gets_that_cannot_be_answered(client):
    for path, status in (
        ("/inbox/api/rows?per_page=201", 422),
        ("/inbox/api/rows?sort=best", 422),
        ("/inbox/api/rows?order=size", 422),
        ("/inbox/api/rows/12", 404),
        ("/inbox/api/rows/-1", 422),
        ("/traps/api/rows", 409),
        ("/traps/api/rows/summary", 409),
        ("/inbox/api/explain", 405),
        ("/inbox/static/../api.py", 404),
        ("/inbox/static/x/%2e%2e%2fapi.py", 404),
    ):
        answer = client.get(path)
        assert (path, answer.status_code) == (path, status)
        assert answer.headers["content-type"] == "application/problem+json"


def test_a_model_that_dies_or_hangs_costs_its_request_only(client):
    for path, trap, status in (("explain", "crash", 502), ("score", "hang", 504)):
        got, detail = refused(client, f"/traps/api/{path}", {"items": ["free", trap]})
        assert got == status, detail
        assert posted(client, f"/traps/api/{path}", items=["free", "prize"])["score"] == 3.0


def test_the_shell_holds_hostile_titles(client):
    page = client.get("/inbox/").text
    assert "</script><b>" not in page
    told = page.partition('type="application/json">')[2].partition("</script>")[0]
    assert json.loads(told)["title"] == "</script><b>"
    assert [workspace["href"] for workspace in json.loads(told)["workspaces"]][:2] == [
        "../inbox/",
        "../moviegoers/",
    ]
    assert client.get("/", follow_redirects=False).headers["location"] == "inbox/"
    assert client.get("/inbox", follow_redirects=False).headers["location"] == "inbox/"


def test_static_files_are_cached_by_their_content(client):
    for version, cached in ((fingerprint(), True), ("other", False)):
        answer = client.get(f"/inbox/static/{version}/docs.css")
        assert answer.headers["content-type"] == "text/css; charset=utf-8"
        assert ("immutable" in answer.headers["cache-control"]) == cached


def test_the_documentation_shows_every_address_and_its_examples_work(client):
    document = client.get("/inbox/openapi.json").json()
    page = client.get("/inbox/docs").text
    assert page.count("<script") == 1  # which names the address in the examples
    for path in document["paths"]:
        assert f"http://localhost:8000/inbox{path}".partition("{")[0] in page
    for chapter in manual(document, example(inbox_workspace()), "http://localhost/inbox/"):
        if chapter.example:
            assert posted(client, f"/inbox{chapter.path}", **json.loads(chapter.example))


def test_answers_name_the_model_and_the_request(client, caplog):
    caplog.set_level("INFO", "butfor._web")
    answer = client.post("/moviegoers/api/explain", json={"row": 0}, headers={"X-Request-ID": "id-7"})
    assert (answer.status_code, answer.headers["x-request-id"]) == (200, "id-7")
    assert answer.headers["butfor-model"] == moviegoers_workspace().version
    (line,) = (each.fields for each in caplog.records if each.message == "request")
    assert (line["route"], line["status"], line["worker"] > 0) == ("/moviegoers/api/explain", 200, True)


def test_rows_are_the_same_if_their_content_is():
    first, second = moviegoers()[1][[0]], moviegoers()[1][[1]]
    of = partial(tasks.Question, Path("model"))
    assert of(first).digest() == of(first.copy(), protected=("a",), include=("letter",)).digest()
    questions = [
        of(first),
        of(second),
        of("text"),
        of("text\ud800"),
        of({"a": 1}),
        of(items=["a"]),
        of(items={"a": 1}),
    ]
    questions.append(tasks.Question(Path("another"), first))
    assert len({question.digest() for question in questions}) == len(questions)


def test_schemas_name_what_explanations_have(client):
    explained = posted(client, "/inbox/api/explain", row=0)
    assert set(answers.ExplanationAnswer.model_fields) == set(explained)


def test_a_client_that_goes_away_ends_its_search(client):
    body = json.dumps({"items": ["free", "hang"]}).encode()
    headers = {"host": "localhost", "content-type": "application/json", "content-length": str(len(body))}
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/traps/api/explain",
        "raw_path": b"/traps/api/explain",
        "query_string": b"",
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }

    async def leave_early():
        messages = [{"type": "http.request", "body": body}]

        async def receive():
            if messages:
                return messages.pop()
            await asyncio.sleep(0.2)
            return {"type": "http.disconnect"}

        async def send(message):
            sent.append(message)

        await client.app(scope, receive, send)

    sent = []
    client.run(leave_early())
    assert posted(client, "/traps/api/explain", items=["free"])["score"] == 2.0
    assert sent[0]["status"] == 499  # the client left; that the model hangs would have been found later


def test_columns_without_names_of_any_length_are_read():
    model = LogisticRegression().fit(np.eye(4), [0, 0, 0, 1])
    workspace = Workspace.of("model", "Model", Explainer(model))
    with Client(create_app([workspace], limits=LIMITS, jobs=1)) as client:
        assert posted(client, "/api/explain", items={"3": 9})["features"] == ["feature 3"]
        assert refused(client, "/api/explain", {"items": {"9" * 5_000: 1}})[0] == 422


def test_what_goes_on_when_the_server_ends_is_told_so():
    async def app(scope, receive, send):
        await asyncio.sleep(60)

    async def ended():
        said = []

        async def send(message):
            said.append(message)

        request = asyncio.ensure_future(Shield(app)({"type": "http"}, None, send))
        await asyncio.sleep(0)
        request.cancel()
        await request
        return said[0]["status"]

    assert asyncio.run(ended()) == 503
