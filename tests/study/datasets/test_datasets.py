import importlib
import io
import sys
import tarfile
import zipfile

import numpy as np
import pytest

from butfor.datasets import load_inbox, load_moviegoers
from butfor.errors import InputError
from butfor.study.datasets import DATASETS, data_folder, split
from butfor.study.datasets.news20 import without_header, without_quotations, without_signature
from butfor.study.datasets.pair_files import binary_matrix, distinct_names
from butfor.study.datasets.text import text_data, vectorised
from butfor.study.paper import paper_datasets

PRIVATE = {"facebook", "fraud"}
SHIPS = {"inbox", "moviegoers"}
READABLE = sorted(set(DATASETS) - PRIVATE)


@pytest.fixture
def nltk_data(monkeypatch, tmp_path):
    """Let nltk find its data though the data set lies in a folder made by a test."""
    import nltk

    monkeypatch.setattr(nltk.data, "path", [*nltk.data.path, str(data_folder() / "nltk_data")])
    try:
        text_data(["some words"] * 5, [True] * 5, tmp_path)
    except InputError as missing:
        pytest.skip(str(missing))


def put(folder, path, text, encoding="utf-8"):
    target = folder / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(text.encode(encoding))


def cells(data):
    """The active features of every row, by name."""
    return [{data.feature_names[column] for column in row.indices} for row in data.X]


# What every data set says of itself


@pytest.mark.parametrize("name", DATASETS)
def test_says_what_it_is(name):
    dataset = DATASETS[name]
    assert dataset.name == name
    assert dataset.kind in ("behaviour", "text")
    assert all([dataset.target, dataset.citation, dataset.licence, dataset.homepage])
    assert 0 < dataset.share < 1
    assert name not in paper_datasets() or (
        dataset.kind == paper_datasets()[name].kind
        and dataset.share == pytest.approx(paper_datasets()[name].predicted_positive_percent / 100)
    )


def test_every_data_set_of_the_paper_is_there_and_comes_first():
    assert list(DATASETS)[:13] == list(paper_datasets())


def test_a_data_set_is_named_as_its_module():
    for name in DATASETS:
        module = importlib.import_module(f"butfor.study.datasets.{'news20' if name == '20news' else name}")
        assert module.DATASET is DATASETS[name]


def test_only_the_private_ones_cannot_be_read():
    assert {name for name, dataset in DATASETS.items() if dataset.read is None} == PRIVATE
    assert {name for name in READABLE if not DATASETS[name].files} == SHIPS


def test_no_two_data_sets_share_a_file_but_the_two_of_twitter():
    owners = {}
    for name, dataset in DATASETS.items():
        for file in dataset.files:
            owners.setdefault(file.path, set()).add(name)
    assert {frozenset(names) for names in owners.values() if len(names) > 1} == {
        frozenset({"twitter", "twitter_corrected"})
    }


@pytest.mark.parametrize("name", sorted(set(READABLE) - SHIPS))
def test_says_what_is_missing_and_how_to_get_it(name, tmp_path):
    dataset = DATASETS[name]
    with pytest.raises(InputError) as caught:
        dataset.load(tmp_path)
    said = str(caught.value)
    assert all(file.path in said for file in dataset.files)
    assert bool(dataset.downloads) != bool(dataset.steps)
    assert (f"butfor study download {name}" if dataset.downloads else dataset.steps) in said


@pytest.mark.parametrize("name", DATASETS)
def test_checksums_and_addresses_have_their_form(name):
    for download in DATASETS[name].downloads:
        assert download.url.startswith(("https://", "http://"))
    for checked in (*DATASETS[name].files, *DATASETS[name].downloads):
        assert checked.sha256 == "" or (len(checked.sha256) == 64 and int(checked.sha256, 16) >= 0)


# RowFeatures


def test_binary_matrix_counts_repeated_pairs_once_and_sorts_numbers_as_numbers():
    X, rows, features = binary_matrix([10, 9, 10, 10], ["b", "b", "a", "a"])
    assert (rows, features) == ([9, 10], ["a", "b"])
    assert X.toarray().tolist() == [[0, 1], [1, 1]]
    assert (X.format, X.dtype, X.nnz) == ("csr", np.float64, 3)


def test_distinct_names():
    assert distinct_names([1, 2, 3, 4], {1: "A", 2: "B", 3: "A"}) == ("A [1]", "B", "A [3]", "4")


# Behaviour


def test_movielens_100k(tmp_path):
    put(tmp_path, "ml-100k/u.data", "10\t2\t3\t881250949\n9\t2\t1\t891717742\n10\t11\t5\t878887116\n")
    put(tmp_path, "ml-100k/u.user", "9|24|M|other|85711\n10|53|F|writer|V1G4L\n11|23|F|none|1\n")
    films = (
        "2|Misérables, Les (1995)|01-Jan-1995||http://x|0|1\n5|Never rated|||x|1|0\n11|Big (1988)|||x|0|0\n"
    )
    put(tmp_path, "ml-100k/u.item", films, encoding="latin-1")
    data = DATASETS["movielens_100k"].load(tmp_path)

    assert data.feature_names == ("Misérables, Les (1995)", "Big (1988)")
    assert data.X.toarray().tolist() == [[1, 0], [1, 1]]  # people 9 and 10; 11 rated nothing
    assert data.y.tolist() == [0, 1]


def test_movielens_1m(tmp_path):
    put(tmp_path, "ml-1m/ratings.dat", "1::1193::5::978300760\n10::661::3::978302109\n2::661::4::978301968\n")
    put(tmp_path, "ml-1m/users.dat", "1::F::1::10::48067\n2::M::56::16::70072\n10::F::25::15::55117\n")
    films = "661::Déjà: Vu (1997)::Drama\n1193::Cuckoo (1975)::Drama|War\n3000::Unseen::Comedy\n"
    put(tmp_path, "ml-1m/movies.dat", films, encoding="latin-1")
    data = DATASETS["movielens_1m"].load(tmp_path)

    assert cells(data) == [{"Cuckoo (1975)"}, {"Déjà: Vu (1997)"}, {"Déjà: Vu (1997)"}]
    assert data.y.tolist() == [1, 0, 1]  # people 1, 2 and 10: as numbers, not as text


def test_ecommerce(tmp_path):
    put(
        tmp_path,
        "pakdd2015/trainingData.csv",
        "u20,2014-11-14 00:02:14,2014-11-14 00:02:20,A1/B1/C1/D7/\n"
        "u10,2014-12-12 14:12:05,2014-12-12 14:12:06,A1/B1/C1/D7/;A2/B2/C2/D3/;A1/B1/C1/D7/\n",
    )
    put(tmp_path, "pakdd2015/trainingLabels.csv", "male\r\nfemale\r\n")
    data = DATASETS["ecommerce"].load(tmp_path)

    assert data.feature_names == ("D3", "D7")
    assert data.X.toarray().tolist() == [[0, 1], [1, 1]]  # in the order of the file, as the labels are
    assert data.y.tolist() == [1, 0]


def test_deezer(tmp_path):
    put(tmp_path, "deezer_europe/deezer_europe_features.json", '{"10": [5, 30], "2": [30], "3": []}')
    put(tmp_path, "deezer_europe/deezer_europe_target.csv", "id,target\n2,1\n3,1\n10,0\n")
    data = DATASETS["deezer"].load(tmp_path)

    assert cells(data) == [{"artist 30"}, {"artist 5", "artist 30"}]  # 2 and 10; 3 likes nobody
    assert data.y.tolist() == [1, 0]


def test_bookcrossing(tmp_path):
    ages = {1: 29, 2: 30, 3: 10, 4: 90, 5: 45, 6: 9, 7: 91, 8: None}
    people = "".join(
        f'"{reader}";"köln; \\"n/a\\", germany";' + (f'"{age}"\r\n' if age else "NULL\r\n")
        for reader, age in ages.items()
    )
    # Five credible readers for X and Y, but for Z only together with those of no credible age.
    pairs = [(reader, isbn) for reader in range(1, 6) for isbn in "XYX"]
    pairs += [(reader, "Z") for reader in (1, 2, 6, 7, 8)] + [(6, "X")]
    ratings = "".join(f'"{reader}";"{isbn}";"0"\r\n' for reader, isbn in pairs)
    books = '"X";"Das \\"Fräulein\\" &amp; ich; ein Roman";"A";"2001";"P";"s";"m";"l"\r\n'
    with zipfile.ZipFile(tmp_path / "BX-CSV-Dump.zip", "w") as archive:
        archive.writestr("BX-Users.csv", ('"User-ID";"Location";"Age"\r\n' + people).encode("latin-1"))
        archive.writestr("BX-Books.csv", ('"ISBN";"Book-Title"\r\n' + books).encode("latin-1"))
        archive.writestr("BX-Book-Ratings.csv", '"User-ID";"ISBN";"Book-Rating"\r\n' + ratings)
    data = DATASETS["bookcrossing"].load(tmp_path)

    assert data.feature_names == ('Das "Fräulein" &amp; ich; ein Roman', "Y")
    assert data.X.toarray().tolist() == [[1, 1]] * 5
    assert data.y.tolist() == [1, 0, 1, 0, 0]


def test_moviegoers(tmp_path):
    data, people = DATASETS["moviegoers"].load(tmp_path), load_moviegoers()
    assert (data.X != people.X).nnz == 0
    assert (data.y.tolist(), data.feature_names) == (people.y.tolist(), people.feature_names)


# Text


def test_tfidf_learns_from_the_training_rows_only():
    from sklearn.feature_extraction.text import TfidfVectorizer

    _, test = split(10)
    texts = ["hidden words" if row in test else "plain words" for row in range(10)]
    data = vectorised(texts, texts, [True] * 10, TfidfVectorizer(min_df=2))
    assert data.feature_names == ("plain", "words")
    assert data.X.shape == (10, 2)
    assert data.X[test].toarray().tolist() == [[0, 1]] * len(test)


def test_inbox_needs_no_nltk(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "nltk", None)
    data, inbox = DATASETS["inbox"].load(tmp_path), load_inbox()
    assert data.documents == inbox.texts
    assert data.y.tolist() == inbox.y.tolist()
    assert data.X.shape == (len(inbox.texts), len(data.feature_names))
    assert {"invoice", "prize"} <= set(data.feature_names)
    assert not {"the", "and", "example"} & set(data.feature_names)
    for row in range(5):
        words = inbox.texts[row].lower()
        assert all(name in words for name in cells(data)[row])


def test_says_how_to_get_nltk(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "nltk", None)
    with pytest.raises(InputError, match=r"\[study\]"):
        text_data(["some words"] * 5, [True] * 5, tmp_path)


def test_says_how_to_get_the_data_of_nltk(tmp_path, monkeypatch):
    import nltk

    def nothing(*_, **__):
        raise LookupError("punkt_tab not found")

    monkeypatch.setattr(nltk, "word_tokenize", nothing)
    with pytest.raises(InputError, match=r"python -m nltk\.downloader punkt_tab stopwords wordnet"):
        text_data(["some words"] * 5, [True] * 5, tmp_path)


@pytest.mark.usefixtures("nltk_data")
@pytest.mark.xdist_group("words")  # which takes seconds to load
def test_text_is_lower_cased_lemmatised_and_freed_of_stop_words(tmp_path):
    documents = ["The Dogs' dinner was at the CHURCHES, wasn't it?"] * 5
    data = text_data(documents, [True, False, True, False, False], tmp_path)
    assert data.feature_names == ("church", "dinner", "dog")
    assert data.X.toarray() == pytest.approx(np.full((5, 3), 1 / np.sqrt(3)))
    assert data.y.tolist() == [1, 0, 1, 0, 0]
    assert data.documents == tuple(documents)


@pytest.mark.usefixtures("nltk_data")
@pytest.mark.xdist_group("words")  # which takes seconds to load
def test_airline(tmp_path):
    lines = [
        '5.7E+17,positive,1,"@Delta lovely crew, ""thanks""\nagain ❤"',
        "5.7E+17,neutral,0.6,lovely crew",
        "5.7E+17,negative,1,crew thanks",
    ]
    content = "tweet_id,airline_sentiment,confidence,text\n" + "\n".join(lines * 3) + "\n"
    put(tmp_path, "airline/Tweets.csv", content)
    data = DATASETS["airline"].load(tmp_path)

    assert data.documents[:2] == ('@Delta lovely crew, "thanks"\nagain ❤', "lovely crew")
    assert data.y.tolist() == [1, 0, 0] * 3
    assert cells(data)[:2] == [{"delta", "lovely", "crew", "thanks"}, {"lovely", "crew"}]


@pytest.mark.usefixtures("nltk_data")
@pytest.mark.xdist_group("words")  # which takes seconds to load
@pytest.mark.parametrize(
    ("name", "positive"), [("twitter", [1, 0, 0, 0, 0]), ("twitter_corrected", [1, 1, 0, 0, 0])]
)
def test_twitter(name, positive, tmp_path):
    answers = ["Yes", "Y", "No", "N/A", ""]
    content = "".join(f'"warm, café {answer[:1].lower()}",{answer},1\r\n' for answer in answers * 2)
    path = "twitter_climate/1377884570_tweet_global_warming.csv"
    put(tmp_path, path, "tweet,existence,existence.confidence\r\n" + content, encoding="latin-1")
    data = DATASETS[name].load(tmp_path)

    assert data.documents[:2] == ("warm, café y", "warm, café y")
    assert data.y.tolist() == positive * 2
    assert data.feature_names == ("café", "warm")


@pytest.mark.usefixtures("nltk_data")
@pytest.mark.xdist_group("words")  # which takes seconds to load
def test_sms_spam(tmp_path):
    content = 'ham\tOk "lar... joking\nspam\tWIN cash\x85 now £££\n' * 5
    put(tmp_path, "sms_spam/SMSSpamCollection", content)
    data = DATASETS["sms_spam"].load(tmp_path)

    assert data.documents[:2] == ('Ok "lar... joking', "WIN cash\x85 now £££")
    assert data.y.tolist() == [0, 1] * 5
    assert data.X.shape == (10, len(data.feature_names))


POST = """From: someone@example.org
ReadRow: Re: faith

In article <1@x> other@example.org writes:
> quoted faith
| quoted too
my own words
are here

--
signature
"""


@pytest.mark.parametrize(
    "post",
    [POST, "no header", "From: a\n\n\n", "A: b\n\n---\nall below", "A: b\n\nx\n\n> y\n\nz: said:\n--\n"],
)
def test_posts_are_stripped_as_by_scikit_learn(post):
    from sklearn.datasets import _twenty_newsgroups as judge

    assert without_header(post) == judge.strip_newsgroup_header(post)
    body = without_header(post)
    assert without_signature(body) == judge.strip_newsgroup_footer(body)
    assert without_quotations(body) == judge.strip_newsgroup_quoting(body)


@pytest.mark.usefixtures("nltk_data")
@pytest.mark.xdist_group("words")  # which takes seconds to load
def test_20news(tmp_path):
    names = [
        f"20news-bydate-{part}/{group}/{number}"
        for part in ("train", "test")
        for group in ("sci.space", "alt.atheism")
        for number in range(4)
    ]
    with tarfile.open(tmp_path / "20news-bydate.tar.gz", "w:gz") as archive:
        folder = tarfile.TarInfo("20news-bydate-train")
        folder.type = tarfile.DIRTYPE
        archive.addfile(folder)
        for name in names:
            word = "altwörds" if "atheism" in name else "sciwörds"
            content = POST.replace("words", word).encode("latin-1")
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    data = DATASETS["20news"].load(tmp_path)

    assert len(data.documents) == 16
    assert data.y.sum() == 8
    assert data.feature_names == ("altwörds", "sciwörds")
    for document, atheism in zip(data.documents, data.y, strict=True):
        assert document == f"my own {'alt' if atheism else 'sci'}wörds\nare here\n"
