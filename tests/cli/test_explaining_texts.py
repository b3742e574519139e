"""`butfor explain` on texts, groups, costs and classes, held against the models themselves."""

import json
import re
from html import unescape

import joblib
import numpy as np
import pyarrow as pa
import pytest
import skops.io
from pyarrow import parquet
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.svm import SVC, LinearSVC
from typer.testing import CliRunner

from butfor import Explainer, Explanation
from butfor._cli import app
from butfor._cli.printing import excerpt
from butfor.datasets import load_inbox

pytestmark = pytest.mark.xdist_group("text models")  # fitted once for all of them

INBOX = load_inbox()
LABELS = np.array(INBOX.target_names)[INBOX.y]
SPAM = make_pipeline(TfidfVectorizer(), LogisticRegression(C=10)).fit(INBOX.texts, LABELS)
TOPICS = make_pipeline(CountVectorizer(), LogisticRegression()).fit(INBOX.texts[:200], INBOX.topics[:200])
COUNTS = SPAM[0].transform(INBOX.texts)
PRIZE = "FREE prize! Call now to claim your free gift card"


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    skops.io.dump(SPAM, folder / "spam.skops")
    skops.io.dump(TOPICS, folder / "topics.skops")
    skops.io.dump(SPAM[1], folder / "rows.skops")
    sparse.save_npz(folder / "X.npz", COUNTS)
    (folder / "names.txt").write_text("\n".join(SPAM[0].get_feature_names_out()), encoding="utf-8")
    return folder


@pytest.fixture
def folder(models, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    for file in models.iterdir():
        (tmp_path / file.name).symlink_to(file)
    return tmp_path


def explain(*arguments, **options):
    return CliRunner().invoke(app, ["explain", *map(str, arguments)], **options)


def whys(*arguments, **options):
    lines = [json.loads(line) for line in explain(*arguments, "--json", **options).stdout.splitlines()]
    return [Explanation.from_dict({k: v for k, v in line.items() if k != "row"}) for line in lines]


def same(why, other):
    fields = ("features", "spans", "score", "score_without", "removal", "unit", "text", "cost", "decision")
    assert [getattr(why, field) for field in fields] == [getattr(other, field) for field in fields]


def test_a_text_is_printed_with_its_evidence_marked(folder):
    result = explain("spam.skops", "--text", PRIZE, "--text", "Hello mum, the dinner is at six")
    assert result.exit_code == 0, result.output
    why = Explainer(SPAM).explain(PRIZE)
    first, marked, facts = result.stdout.splitlines()[:3]
    assert first == f"text 0  {why}"
    spans = sorted(span for places in why.spans for span in places)
    assert re.findall(r"\[(.+?)\]", marked) == [PRIZE[start:end] for start, end in spans]
    assert re.sub(r"[\[\]]", "", marked) == " " * 8 + PRIZE
    assert "of 9 words · proven smallest" in facts
    assert ("does not hold when deleted" in facts) == (why.survives_deletion is False)
    assert "\x1b[" not in result.stdout


def test_in_a_terminal_the_evidence_is_highlighted(folder, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    assert "\x1b[1;7m[free]\x1b[0m" in explain("spam.skops", "--text", PRIZE).stdout


@pytest.mark.parametrize("removal", ["zero", "delete", "mask"])
@pytest.mark.parametrize("unit", ["word", "occurrence", "sentence"])
def test_removals_and_units(folder, removal, unit):
    text = "Call now for a free card. Your prize is free! Hello mum."
    options = {"removal": removal, "unit": unit, "mask_token": "XXX"}
    arguments = ("--removal", removal, "--unit", unit, "--mask-token", "XXX")
    (why,) = whys("spam.skops", "--text", text, *arguments)
    same(why, Explainer(SPAM, **options).explain(text))
    if why and removal == "mask":
        shown = explain("spam.skops", "--text", text, *arguments).stdout
        assert shown.startswith("text 0  With '")
        assert " masked, the decision would be 'ham'" in shown


def test_the_same_texts_from_everywhere(folder):
    texts = list(INBOX.texts[:4])
    lines = "".join(f'{n},"{text.replace(chr(34), chr(34) * 2)}"\n' for n, text in enumerate(texts))
    (folder / "a.csv").write_text(f"n,text\n{lines}", encoding="utf-8")
    parquet.write_table(pa.table({"n": range(4), "text": texts}), folder / "a.parquet")
    for n, text in enumerate(texts):
        (folder / f"{n}.txt").write_text(text, encoding="utf-8")
    expected = [Explainer(SPAM).explain(text) for text in texts]
    for given in (
        ["a.csv"],
        ["a.parquet", "--text-column", "text"],
        [f"{n}.txt" for n in range(4)],
        [part for text in texts for part in ("--text", text)],
    ):
        for why, other in zip(whys("spam.skops", *given), expected, strict=True):
            same(why, other)
    for given in (["a.csv"], ["a.parquet"]):
        same(whys("spam.skops", *given, "--row", 2)[0], expected[2])
    same(whys("spam.skops", "--text", "-", input=texts[1])[0], expected[1])
    assert explain("spam.skops", "3.txt").stdout.startswith("3.txt  ")


def test_standard_input_must_be_utf8(folder):
    result = explain("spam.skops", "--text", "-", input=b"caf\xe9")
    assert result.exit_code == 2
    assert "standard input which holds the byte 0xe9" in result.stderr


def test_missing_cells_are_reported_and_the_others_are_not_lost(folder):
    parquet.write_table(pa.table({"text": [PRIZE, None, PRIZE]}), folder / "a.parquet")
    result = explain("spam.skops", "a.parquet", "--html", "page.html")
    assert result.exit_code == 2
    assert result.stdout.count("the decision would be") == 2
    assert "error: row 1: the row must have a text in the column 'text', got none." in result.stderr
    assert "1 row failed" in (folder / "page.html").read_text(encoding="utf-8")
    lines = explain("spam.skops", "a.parquet", "--json").stdout.splitlines()
    assert "must have a text" in json.loads(lines[1])["error"]


def test_where_reading_ends_halfway_what_was_explained_is_not_lost(folder, monkeypatch):
    monkeypatch.setattr("butfor._cli.page.ROWS_SHOWN", 20)
    monkeypatch.setattr("butfor._files.inputs.csv_records.FIRST_ROWS", 10)  # that show which column it is
    (folder / "a.csv").write_text(f'text\n{PRIZE}\n{PRIZE}\n"open', encoding="utf-8")
    (folder / "b.csv").write_text("text\n" + "hi\n" * 110 + '"open', encoding="utf-8")
    assert explain("spam.skops", "a.csv").exit_code == 2
    result = explain("spam.skops", "b.csv", "--html", "page.html", "--search", "lin-sedc")
    assert result.exit_code == 2
    assert "error: DATA must be CSV" in result.stderr
    assert result.stdout.count("row ") == 110
    assert "Of 110 rows, this page holds the first 20" in (folder / "page.html").read_text("utf-8")


HOSTILE = {
    "markup": "[bold red]free[/] prize [link=x]call[/link]",
    "ansi": "\x1b[31mfree\x1b[0m prize \x9b2J call \x07",
    "directions": "\u202efree\u202c prize \u2066call",
    "fake lines": "free prize\nrow 7  But for 'mum', all is well\r\x1b[A call",
    "html": "<script>alert(1)</script> free prize <img src=x onerror=y> call",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_texts_are_shown_not_obeyed(folder, text):
    (folder / "page.csv").write_text(f'"{text}"\n"{text}"\n', encoding="utf-8", newline="")
    arguments = (
        "page.csv",
        "--threshold",
        0.01,
        "--html",
        "page.html",
        "--subject",
        text,
        "--decision",
        text,
    )
    for options in ((), ("--json",)):
        result = explain("spam.skops", *arguments, *options)
        assert result.exit_code in (0, 1), result.output
        assert all(line.isprintable() for line in result.stdout.splitlines())
        assert not re.search(r"^row 7", result.stdout, re.MULTILINE)
    (line,) = result.stdout.splitlines()
    assert json.loads(line)["text"] == text
    page = (folder / "page.html").read_text(encoding="utf-8")
    assert "<script" not in page
    assert "<img" not in page
    result = explain("spam.skops", "page.csv", "--text-column", text + "?")
    assert result.exit_code == 2
    assert all(line.isprintable() for line in result.stderr.splitlines())
    assert len(result.stderr.splitlines()) == 1


def test_markup_is_printed_as_it_stands(folder):
    shown = explain("spam.skops", "--text", HOSTILE["markup"], "--protect", "free").stdout
    assert "[bold red]free[/]" in shown.replace("[[", "[").replace("]]", "]")


def test_bytes_that_are_no_text_come_through(folder):
    text = "free \udcff prize"  # what the shell makes of a byte that is no UTF-8
    assert "\\udcff" in explain("spam.skops", "--text", text).stdout
    assert json.loads(explain("spam.skops", "--text", text, "--json").stdout)["text"] == text


def test_long_texts_are_cut_to_the_surroundings_of_the_evidence(folder):
    text = "the weather is nice " * 200 + PRIZE + " see you at dinner" * 200
    result = explain("spam.skops", "--text", text, "--threshold", 0.0001)
    assert len(result.stdout) < 3000
    assert "…" in result.stdout
    places = [("free ", True), ("x" * 500 + " ", False)] * 30
    cut = excerpt(places, around=10, places=20)
    assert cut[-1] == ("… and 10 more", False)
    assert max(len(piece) for piece, _ in cut) < 30
    shown = explain("spam.skops", "--text", f"\n\n{PRIZE}\n \n\nHello\n").stdout
    assert all(line.strip() for line in shown.splitlines())
    whole = [("short ", False), ("free", True), (" text", False)]
    assert excerpt(whole) == whole


def test_subject_and_decision_in_the_sentence(folder):
    (why,) = whys("spam.skops", "--text", PRIZE)
    arguments = ("spam.skops", "--text", PRIZE, "--subject", "Sam", "--html", "page.html")
    said = why.sentence(subject="Sam", decision="taken for spam")
    assert said in explain(*arguments, "--decision", "taken for spam").stdout
    page = unescape(re.sub("<[^>]+>", "", (folder / "page.html").read_text(encoding="utf-8")))
    assert said in page
    assert "the decision on Sam would be 'ham' instead of 'spam'" in explain(*arguments).stdout
    shown = explain(*arguments, "--class-names", "good,bad").stdout
    assert "the decision on Sam would be 'good' instead of 'bad'" in shown
    (folder / "classes.txt").write_text("good\nvery, very bad\n")
    shown = explain(*arguments, "--class-names", "classes.txt").stdout
    assert "the decision on Sam would be 'good' instead of 'very, very bad'" in shown


class Shouting:
    """A model that reads texts in its own way: the share of words in capitals."""

    classes_ = np.array(["calm", "shouting"])

    def predict_proba(self, texts):
        loud = np.array([np.mean([word.isupper() for word in text.split()] or [0]) for text in texts])
        return np.column_stack([1 - loud, loud])


def test_any_model_that_reads_texts(folder):
    joblib.dump(Shouting(), "model.joblib")
    arguments = ("model.joblib", "--trust-pickle", "--text", "FREE PRIZE CALL me now")
    assert "add --removal delete" in explain(*arguments).stderr
    (why,) = whys(*arguments, "--removal", "delete")
    assert (why.size, why.decision_without, why.removal) == (2, "calm", "delete")
    assert " · deleted from the text · " in explain(*arguments, "--removal", "delete").stdout


def test_a_flip_to_a_class(folder):
    text = INBOX.texts[0]
    own = TOPICS.predict([text])[0]
    target = next(topic for topic in TOPICS.classes_ if topic not in (own, INBOX.topics[1]))
    (why,) = whys("topics.skops", "--text", text, "--target", target)
    assert (why.decision, why.n_classes) == (own, len(TOPICS.classes_))
    same(why, Explainer(TOPICS, target=target).explain(text))
    there = explain("topics.skops", "--text", text, "--target", own)
    assert there.exit_code == 1
    assert f"The decision is '{own}' already" in there.stdout


def test_protected_words_and_costs_of_words(folder):
    (free,) = whys("spam.skops", "--text", PRIZE)
    (why,) = whys("spam.skops", "--text", PRIZE, "--protect", free.features[0])
    assert (why.n_protected, free.features[0] in why.features) == (1, False)
    (why,) = whys("spam.skops", "--text", "Call 555 now, 555 free", "--protect", "555")
    assert why.n_protected == 1  # a number in a text is a word, not a column
    mistyped = explain("spam.skops", "--text", PRIZE, "--protect", "fre")
    assert mistyped.exit_code == 0
    assert "warning: protected names what the model does not know: 'fre'" in mistyped.stderr
    (folder / "costs.csv").write_text(f"feature,cost\n{free.features[0]},9\n")
    (why,) = whys("spam.skops", "--text", PRIZE, "--costs", "costs.csv")
    assert why.costs
    same(why, Explainer(SPAM, costs={free.features[0]: 9}).explain(PRIZE))


def test_groups_and_costs_of_rows(folder):
    names = list(SPAM[0].get_feature_names_out())
    groups = {name: name[0] for name in names}
    (folder / "groups.csv").write_text("feature,group\n" + "".join(f"{n},{g}\n" for n, g in groups.items()))
    (folder / "groups.json").write_text(json.dumps([name[0] for name in names]))
    (folder / "costs.json").write_text(json.dumps({name: 1 + len(name) for name in names}))
    row = int(np.flatnonzero(SPAM[1].predict(COUNTS) == "spam")[0])
    arguments = ("rows.skops", "X.npz", "--row", row, "--names", "names.txt")
    expected = Explainer(SPAM[1], feature_names=names, groups=groups).explain(COUNTS[[row]])
    for file in ("groups.csv", "groups.json"):
        (why,) = whys(*arguments, "--groups", file)
        assert why.unit == "group"
        same(why, expected)
    (why,) = whys(*arguments, "--groups", "groups.csv", "--protect", expected.features[0])
    assert expected.features[0] not in why.features
    costs = {name: 1 + len(name) for name in names}
    expected = Explainer(SPAM[1], feature_names=names, costs=costs).explain(COUNTS[[row]])
    same(whys(*arguments, "--costs", "costs.json")[0], expected)


def test_a_group_may_be_named_by_a_number(folder):
    (folder / "groups.json").write_text(json.dumps({str(n): 1990 + n % 7 for n in range(COUNTS.shape[1])}))
    arguments = ("rows.skops", "X.npz", "--row", 0, "--groups", "groups.json")
    (why,) = whys(*arguments)
    (other,) = whys(*arguments, "--protect", why.features[0])
    assert (other.n_protected, why.features[0] in other.features) == (1, False)


def test_a_page_holds_what_a_browser_can_open(folder, monkeypatch):
    monkeypatch.setattr("butfor._cli.page.ROWS_SHOWN", 40)
    (folder / "a.csv").write_text("text\n" + f"{PRIZE}\n" * 43, encoding="utf-8")
    result = explain("spam.skops", "a.csv", "--html", "new/page.html", "--search", "sedc")
    assert result.stdout.count("the decision would be") == 43
    page = (folder / "new" / "page.html").read_text(encoding="utf-8")
    assert page.count("<article") == 41
    assert "Of 43 rows, this page holds the first 40." in page
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "")


def test_no_empty_page_stays_behind(folder):
    (folder / "a.csv").write_text("text\nhi\n")
    assert explain("spam.skops", "a.csv", "--row", 7, "--html", "page.html").exit_code == 2
    assert not (folder / "page.html").exists()
    (folder / "page.html").write_text("the page of another run")
    assert explain("spam.skops", "a.csv", "--row", 7, "--html", "page.html").exit_code == 2
    assert (folder / "page.html").read_text() == "the page of another run"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("spam.skops",), "DATA must be given, or texts with --text, and not both: got neither"),
        (("spam.skops", "a.txt", "--text", "hi"), "and not both: got both"),
        (("spam.skops", "X.npz"), "DATA must hold texts, as the model reads texts, got a matrix"),
        (("rows.skops", "--text", "hi"), "MODEL must read texts to explain texts"),
        (("spam.skops", "a.txt", "b.txt"), "DATA must be a file, got b.txt, which is not there"),
        (("spam.skops", "a.txt", "a.csv"), "DATA must be files of one kind, got text and CSV or TSV"),
        (("spam.skops", "."), "DATA must be files of one kind, got matrix and CSV or TSV"),
        (("spam.skops", "--text", "hi", "--row", 0), "--row must be left out"),
        (("spam.skops", "a.txt", "--text-column", "x"), "--text-column must be left out"),
        (("rows.skops", "X.npz", "--text-column", "x"), "--text-column must be left out"),
        (("spam.skops", "a.csv", "--text-column", "x"), "name one column of DATA ('text'), got 'x'"),
        (("spam.skops", "a.csv", "--row", 7), "--row must be from 0 to 0, the rows of DATA, got 7"),
        (("spam.skops", "--text", "hi", "--removal", "burn"), "removal must be one of zero, delete, mask"),
        (("spam.skops", "--text", "hi", "--unit", "page"), "unit must be one of word, occurrence, sentence"),
        (("spam.skops", "--text", "hi", "--target", "eggs"), "target must be one of the classes"),
        (("spam.skops", "--text", "hi", "--class-names", "a,b,c"), "class_names must have 2 names"),
        (("spam.skops", "--text", "hi", "--groups", "groups.csv"), "groups must not be given"),
        (("spam.skops", "--text", "hi", "--costs", "nowhere"), "--costs must be a file"),
        (("rows.skops", "X.npz", "--groups", "groups.csv"), "groups must hold names or columns"),
        (("spam.skops", "a.txt", "--html", "a.txt"), "--html must be a file of its own"),
        (("spam.skops", "a.txt", "--html", "."), "--html must be a file that can be written"),
    ],
)
def test_bad_input_ends_with_2_and_no_traceback(folder, arguments, message):
    (folder / "a.txt").write_text("hi")
    (folder / "a.csv").write_text("text\nhi\n")
    (folder / "groups.csv").write_text("feature,group\nnobody,x\n")
    result = explain(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert "Traceback" not in result.output
    assert result.stdout == ""
    assert (folder / "a.txt").read_text() == "hi"


@pytest.mark.parametrize(
    "vectoriser",
    [
        TfidfVectorizer(ngram_range=(1, 2), stop_words="english", min_df=2),
        CountVectorizer(binary=True, stop_words=["the"]),
        HashingVectorizer(n_features=256),
        FeatureUnion([("words", TfidfVectorizer()), ("letters", CountVectorizer(analyzer="char_wb"))]),
    ],
    ids=lambda vectoriser: type(vectoriser).__name__,
)
@pytest.mark.parametrize(
    "classifier",
    [LogisticRegression(max_iter=1000), LinearSVC(max_iter=100_000), MLPClassifier((3,), tol=0.1), SVC()],
    ids=lambda classifier: type(classifier).__name__,
)
def test_text_pipelines_load_from_skops_without_more_words(vectoriser, classifier, tmp_path):
    texts = INBOX.texts[:60]
    model = make_pipeline(vectoriser, classifier).fit(texts, LABELS[:60])
    skops.io.dump(model, tmp_path / "model.skops")
    result = explain(tmp_path / "model.skops", "--text", texts[0], "--json", "--search", "lin-sedc")
    assert result.exit_code in (0, 1), result.output
    assert json.loads(result.stdout)["decision"] == model.predict(texts[:1])[0]
