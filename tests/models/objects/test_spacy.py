"""spaCy: text categorizers, judged by `doc.cats` of cut texts."""

import pytest
from small_models import SPAM, TEXTS, cut, smallest

from butfor import Budget, Explainer, InputError

pytestmark = [
    pytest.mark.xdist_group("objects"),
    pytest.mark.filterwarnings("ignore"),
]
spacy = pytest.importorskip("spacy")


@pytest.fixture(scope="module", params=["textcat", "textcat_multilabel"])
def nlp(request):
    from spacy.training import Example

    spacy.util.fix_random_seed(0)
    nlp = spacy.blank("en")
    nlp.add_pipe(request.param)
    examples = [
        Example.from_dict(nlp.make_doc(text), {"cats": {"ham": float(not spam), "spam": float(spam)}})
        for text, spam in zip(TEXTS, SPAM, strict=True)
    ]
    nlp.initialize(lambda: examples)
    for _ in range(30):
        nlp.update(examples)
    return nlp


def test_the_decision_is_that_of_the_scores_and_the_answer_smallest(nlp):
    apart = nlp.has_pipe("textcat_multilabel")
    explainer = Explainer(nlp, label="spam" if apart else None, budget=Budget(max_size=3))

    def decide(text):
        cats = nlp(text).cats
        return cats["spam"] >= 0.5 if apart else max(cats, key=cats.get)

    for text in TEXTS[:3] + TEXTS[4:5]:
        why = explainer.explain(text)
        assert why.score == pytest.approx(nlp(text).cats["spam"], abs=1e-5)
        spans = [(token.idx, token.idx + len(token.text)) for token in nlp.make_doc(text)]
        assert "!!" in why.items or "!!" not in text
        by_name = {}
        for start, end in spans:
            by_name.setdefault(text[start:end].lower(), []).append((start, end))
        if "!" in by_name:  # signs that stand together are one unit
            by_name["!!"] = [(text.index("!!"), text.index("!!") + 2)]
            del by_name["!"]
        assert (why.size or None) == smallest(text, list(by_name.values()), decide)
        if why:
            assert decide(cut(text, [place for unit in why.spans for place in unit])) != decide(text)


def test_refused_pipelines(nlp):
    empty = spacy.blank("en")
    empty.add_pipe("sentencizer")
    with pytest.raises(InputError, match="with a text categorizer, got a pipeline of spaCy with sentencizer"):
        Explainer(empty)
    if nlp.has_pipe("textcat_multilabel"):
        with pytest.raises(InputError, match=r"label must be given, as doc\.cats decides about 2 labels"):
            Explainer(nlp)
    else:
        with pytest.raises(InputError, match=r"label must not be given for doc\.cats"):
            Explainer(nlp, label="spam")


def test_processes():
    nlp = spacy.blank("en")
    nlp.add_pipe("textcat").add_label("ham")
    nlp.get_pipe("textcat").add_label("spam")
    nlp.initialize()
    explainer = Explainer(nlp)
    alone = [explainer.explain(text).features for text in TEXTS[:2]]
    assert [why.features for why in explainer.explain_many(TEXTS[:2], jobs=2)] == alone
