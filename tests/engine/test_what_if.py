"""What-if sessions: what the model itself says of a row without some units."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline

from butfor import Explainer, InputError
from butfor.datasets import load_inbox, load_moviegoers


@pytest.fixture(scope="module")
def people():
    return load_moviegoers(n_people=300, n_films=120)


@pytest.fixture(scope="module")
def network(people):
    return MLPClassifier((20,), alpha=1.0, tol=0.002, random_state=0).fit(people.X, people.y)


def without_columns(X, columns):
    row = X.toarray()
    row[0, columns] = 0
    return sparse.csr_matrix(row)


def test_the_models_own_words(people, network):
    explainer = Explainer(network, feature_names=people.feature_names, class_names=["no", "yes"])
    rng = np.random.default_rng(0)
    flips = 0
    for number in range(40):
        row = people.X[[number]]
        session = explainer.what_if(row)
        assert session.items == tuple(people.feature_names[column] for column in row.indices)
        for _ in range(5):
            places = rng.permutation(row.nnz)[: rng.integers(0, row.nnz + 1)].tolist()
            trial = session.without(places)
            rest = without_columns(row, row.indices[places])
            said = network.predict_proba(sparse.vstack([row, rest]))[:, 1]
            assert (trial.score, trial.score_without) == pytest.approx(tuple(said), rel=1e-9)
            assert trial.flipped == ((said[0] >= 0.5) != (said[1] >= 0.5)) == (trial.explanation is not None)
            assert trial.decision_without == ("yes" if said[1] >= 0.5 else "no")
            flips += trial.flipped
    assert 10 < flips < 190


def test_an_explanation_by_hand(people, network):
    explainer = Explainer(network, feature_names=people.feature_names)
    number = next(i for i in range(300) if explainer.explain(people.X[[i]]).size == 2)
    best = explainer.explain(people.X[[number]])
    session = explainer.what_if(people.X[[number]])
    why = session.without(best.places).explanation
    assert (why.features, why.columns, why.places) == (best.features, best.columns, best.places)
    assert (why.search, why.proven_minimum, why.lower_bound, why.n_scored) == ("by hand", False, 1, 0)
    assert why.path == pytest.approx(best.path)
    assert session.without(list(best.features)).explanation.places == best.places
    assert not session.without([]).flipped


def test_texts():
    inbox = load_inbox()
    model = make_pipeline(TfidfVectorizer(), LogisticRegression(C=10)).fit(inbox.texts, inbox.y)
    text = "Rate our biscuit, get a FREE tablet! free biscuit"
    session = Explainer(model, protected=["tablet"]).what_if(text)
    assert session.text == text
    assert session.unit == "word"
    by_name = dict(zip(session.items, session.spans, strict=True))
    assert [text[start:end] for start, end in by_name["free"]] == ["FREE", "free"]
    assert session.removable == tuple(name != "tablet" for name in session.items)
    words = [name for name in session.items if name != "tablet"]
    assert session.without(words).score == pytest.approx(model.predict_proba([text])[0, 1])


@pytest.mark.parametrize(
    ("removed", "message"),
    [([3], "3 items, from 0, got 3"), (["It"], "got 'It'"), ([True], "got True"), ([1.0], "got 1.0"),
     ([-1], "got -1"), (["b"], "protected items, got 'b'"), ([1], "protected items, got 'b'")],
)  # fmt: skip
def test_what_cannot_be_removed(removed, message):
    names = ["a", "b", "c"]
    explainer = Explainer(lambda X: X.sum(axis=1), feature_names=names, threshold=2, protected=["b"])
    with pytest.raises(InputError, match=message):
        explainer.what_if([1, 1, 1]).without(removed)


def test_many_classes_and_a_target():
    inbox = load_inbox()
    model = make_pipeline(TfidfVectorizer(), LogisticRegression(C=10)).fit(inbox.texts, inbox.topics)
    explainer = Explainer(model, target="school")
    text = "Your parcel is at the door, ask the school"
    why = explainer.explain(text)
    trial = explainer.what_if(text).without(why.places)
    assert (trial.flipped, trial.decision_without) == (True, "school")
    at_target = explainer.what_if(next(text for text in inbox.texts if model.predict([text])[0] == "school"))
    assert not at_target.without(range(len(at_target.items))).flipped


def test_an_empty_row():
    session = Explainer(lambda X: X.sum(axis=1), threshold=2).what_if([0, 0])
    assert (session.items, session.without().score_without) == ((), 0.0)


def test_the_former_name_still_works():
    explainer = Explainer(lambda X: X.sum(axis=1), threshold=2)
    assert explainer.bench([1, 1]).without([0]).score_without == 1.0
