"""SentenceTransformers before a classifier, and models of SetFit."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from small_models import SPAM, TEXTS, cut, smallest, spans_of, tokenizer

from butfor import Budget, Explainer, InputError

pytestmark = [pytest.mark.xdist_group("objects"), pytest.mark.filterwarnings("ignore")]
pytest.importorskip("torch")
sentence_transformers = pytest.importorskip("sentence_transformers")


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    """Give a SentenceTransformer of two layers with random weights, which reads nine tokens."""
    import torch
    from sentence_transformers import models
    from transformers import BertConfig, BertModel

    torch.manual_seed(0)
    folder = str(tmp_path_factory.mktemp("encoder"))
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
    BertModel(BertConfig(vocab_size=200, initializer_range=0.4, **sizes)).save_pretrained(folder)
    tokenizer().save_pretrained(folder)
    parts = [models.Transformer(folder, max_seq_length=11), models.Pooling(16)]
    return sentence_transformers.SentenceTransformer(modules=parts, device="cpu")


@pytest.fixture(scope="module")
def classifier(encoder):
    return LogisticRegression(C=10).fit(encoder.encode(TEXTS), np.array(["ham", "spam"])[SPAM])


def test_an_encoder_and_a_classifier(encoder, classifier):
    explainer = Explainer(classifier, encoder=encoder, budget=Budget(max_size=3))

    def decide(text):
        return classifier.predict(encoder.encode([text]))[0]

    for text in TEXTS[:3]:
        why = explainer.explain(text)
        assert why.decision == decide(text)
        places = [
            (token[0], token[1])
            for token in encoder.tokenizer(text, return_offsets_mapping=True, truncation=True, max_length=11)[
                "offset_mapping"
            ]
        ]
        read = [place for place in places if place[0] < place[1]]
        last = max(end for _, end in read)
        assert all(any(start < last for start, _ in unit) for unit in why.spans)
        if why:
            assert decide(cut(text, [place for unit in why.spans for place in unit])) == why.decision_without
            assert why.proven_minimum


def test_words_beyond_the_length_of_the_encoder(encoder, classifier):
    text = "free prize now see you lunch report call win cash claim gift"
    why = Explainer(classifier, encoder=encoder).explain(text)
    assert (len(why.items), why.n_unread) == (9, 3)


def test_an_encoder_alone_is_no_model(encoder):
    with pytest.raises(
        InputError, match=r"got a SentenceTransformer, which decides nothing: Explainer\(classif"
    ):
        Explainer(encoder)


def test_a_model_of_set_fit(encoder, classifier):
    setfit = pytest.importorskip("setfit")
    model = setfit.SetFitModel(model_body=encoder, model_head=classifier, labels=["ham", "spam"])
    explainer = Explainer(model, budget=Budget(max_size=3))
    for text in TEXTS[:3]:
        why = explainer.explain(text)
        assert why.decision == model.predict([text])[0]
        spans = spans_of(text, why.items)
        assert (why.size or None) == smallest(text, spans, lambda text: model.predict([text])[0])
