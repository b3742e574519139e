"""fastText: supervised models, judged by their own `predict` on cut texts."""

import pytest
from small_models import SPAM, TEXTS, cut, smallest, spans_of

from butfor import Budget, Explainer, InputError

pytestmark = [pytest.mark.xdist_group("objects"), pytest.mark.filterwarnings("ignore")]
fasttext = pytest.importorskip("fasttext")


@pytest.fixture(scope="module")
def lines(tmp_path_factory):
    path = tmp_path_factory.mktemp("fasttext") / "train.txt"
    names = ["ham", "spam"]
    lines = [f"__label__{names[spam]} {text}" for text, spam in zip(TEXTS, SPAM, strict=True)]
    path.write_text("\n".join(lines * 5) + "\n")
    return str(path)


def trained(lines, **told):
    return fasttext.train_supervised(lines, lr=0.05, dim=10, epoch=50, thread=1, verbose=0, **told)


@pytest.mark.parametrize(
    "told", [{"wordNgrams": 2}, {"minn": 2, "maxn": 4}, {"loss": "ova", "wordNgrams": 2}]
)
def test_the_decision_is_that_of_predict_and_the_answer_smallest(lines, told):
    model = trained(lines, **told)
    apart = told.get("loss") == "ova"
    explainer = Explainer(model, label="spam" if apart else None, budget=Budget(max_size=3))

    def scores(text):
        (labels,), (own,) = model.predict([text], k=-1)
        return dict(zip(labels, own, strict=True))

    def decide(text):
        own = scores(text)
        return own["__label__spam"] >= 0.5 if apart else max(own, key=own.get)

    for text in TEXTS[:3]:
        why = explainer.explain(text)
        own = scores(text)["__label__spam"]
        assert why.decision == (("spam" if own >= 0.5 else "not spam") if apart else decide(text)[9:])
        assert (why.size or None) == smallest(text, spans_of(text, why.items), decide)
        if why:
            assert decide(cut(text, [place for unit in why.spans for place in unit])) != decide(text)


def test_vectors_of_words_are_no_classifier(lines):
    model = fasttext.train_unsupervised(lines, minCount=1, dim=4, epoch=1, thread=1, verbose=0)
    with pytest.raises(
        InputError, match="model must be a supervised model of fastText, got one of the kind sk"
    ):
        Explainer(model)
