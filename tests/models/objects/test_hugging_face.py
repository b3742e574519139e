"""Hugging Face: pipelines and models with their tokenizers, judged by their own answers to cut texts."""

import numpy as np
import pytest
from small_models import TEXTS, cut, smallest, tokenizer, transformer

from butfor import Budget, Explainer, InputError
from butfor.batch.identity import settings_of
from butfor.models.text import units_by_tokens

pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
pytestmark = [
    pytest.mark.xdist_group("objects"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning"),
]
SOME = TEXTS[:4] + TEXTS[6:7]


def text_pipeline(**options):
    return transformers.pipeline("text-classification", model=transformer(), tokenizer=tokenizer(), **options)


def label_of(pipe):
    return lambda text: pipe(text)[0]["label"]


@pytest.mark.parametrize("text", SOME)
@pytest.mark.parametrize("removal", ["delete", "mask"])
def test_a_pipeline_is_explained_as_it_decides(text, removal):
    pipe = text_pipeline()
    why = Explainer(pipe, removal=removal, budget=Budget(max_size=3)).explain(text)
    own = pipe(text, top_k=None)
    assert why.decision == own[0]["label"]
    scores = {each["label"]: each["score"] for each in own}
    assert why.score == pytest.approx(scores["spam"], abs=1e-5)
    places = [(token.start, token.end) for token in _tokens(text)]
    spans = units_by_tokens(text, "word", places).spans
    mask = "[MASK]" if removal == "mask" else None
    if why:
        without = cut(text, [place for unit in why.spans for place in unit], mask)
        assert pipe(without)[0]["label"] == why.decision_without != why.decision
    least = smallest(text, spans, label_of(pipe), mask)
    assert (why.size or None) == least
    assert why.proven_minimum or least is None


def _tokens(text):
    encoding = tokenizer()(text)
    spans = [encoding.token_to_chars(i) for i in range(len(encoding.tokens()))]
    return [span for span in spans if span is not None]


def test_a_model_with_its_tokenizer_is_the_same():
    by_pipeline, by_parts = Explainer(text_pipeline()), Explainer(transformer(), encoder=tokenizer())
    for text in TEXTS:
        one, other = by_pipeline.explain(text), by_parts.explain(text)
        assert (one.features, one.decision) == (other.features, other.decision)
        assert one.score == pytest.approx(other.score, abs=1e-6)


def test_many_texts_are_padded_and_give_the_same_answers():
    explainer = Explainer(text_pipeline())
    alone = [explainer.explain(text) for text in TEXTS]
    together = list(explainer.explain_many(TEXTS))
    assert [why.features for why in together] == [why.features for why in alone]
    assert np.allclose([why.score for why in together], [why.score for why in alone], atol=1e-5)


def test_signs_and_symbols_are_units_and_words_stay_whole():
    why = Explainer(text_pipeline()).explain("You've won 1,000 coins!! 🙂")
    assert why.items == ("you've", "won", "1,000", "coins", "!!", "🙂")


def test_words_beyond_the_length_are_no_evidence_and_that_is_said():
    pipe = transformers.pipeline(
        "text-classification", model=transformer(), tokenizer=tokenizer(8), truncation=True
    )  # [CLS], six tokens, [SEP]
    text = "free prize now see you lunch report meeting noon"
    why = Explainer(pipe).explain(text)
    assert why.items == ("free", "prize", "now", "see", "you", "lunch")
    assert why.n_unread == 3
    assert "does not read 3 words beyond its length, which are no evidence" in str(why)
    assert set(why.features) <= set(why.items)
    if why:
        assert pipe(cut(text, [place for unit in why.spans for place in unit]))[0]["label"] != why.decision


def test_a_text_that_is_too_long_for_a_pipeline_without_truncation():
    with pytest.raises(InputError, match=r"row must be a text of at most 32 tokens, .* got 8\d\. Make"):
        Explainer(text_pipeline()).explain("free prize now call " * 20)


def test_a_tokenizer_without_a_limit_reads_all():
    why = Explainer(transformer(), encoder=tokenizer(int(1e30))).explain(TEXTS[0])
    assert why.n_unread == 0


def test_labels_that_are_decided_one_by_one():
    model = transformer(("toxic", "insult", "threat"), "multi_label_classification")
    pipe = transformers.pipeline("text-classification", model=model, tokenizer=tokenizer())
    with pytest.raises(
        InputError, match=r"label must be given, as .* decides about 3 labels at once: one of"
    ):
        Explainer(pipe)
    with pytest.raises(InputError, match=r"label must be one of 'toxic', 'insult', 'threat', got 'rude'"):
        Explainer(pipe, label="rude")
    for text in TEXTS[:3]:
        why = Explainer(pipe, label="insult", budget=Budget(max_size=3)).explain(text)
        score = {each["label"]: each["score"] for each in pipe(text, top_k=None)}["insult"]
        assert why.score == pytest.approx(score, abs=1e-5)
        assert why.decision == ("insult" if score >= 0.5 else "not insult")


def test_many_classes():
    pipe = transformers.pipeline(
        "text-classification", model=transformer(("a", "b", "c")), tokenizer=tokenizer()
    )
    explainer = Explainer(pipe)
    for text in TEXTS[:4]:
        why = explainer.explain(text)
        assert why.decision == pipe(text)[0]["label"]
        if why:
            without = cut(text, [place for unit in why.spans for place in unit])
            assert pipe(without)[0]["label"] == why.decision_without


class Shouting(transformers.TextClassificationPipeline):
    """A pipeline of the user's own, which reads texts in another way than its parts do."""

    def preprocess(self, inputs, **told):
        return super().preprocess(inputs.split("call")[0], **told)


def test_a_pipeline_of_ones_own_is_asked_itself():
    pipe = Shouting(model=transformer(), tokenizer=tokenizer(), device=-1)
    why = Explainer(pipe).explain(TEXTS[1])
    assert why.score == pytest.approx(
        {each["label"]: each["score"] for each in pipe(TEXTS[1], top_k=None)}["spam"], abs=1e-5
    )


def test_a_changed_pipeline_is_noticed_at_its_first_texts(monkeypatch):
    pipe = text_pipeline()
    asked = []

    def postprocess(outputs, *args, **told):
        asked.append(1)
        return [{"label": "ham", "score": 0.9}, {"label": "spam", "score": 0.1}]

    monkeypatch.setattr(pipe, "postprocess", postprocess)
    why = Explainer(pipe).explain(TEXTS[0])
    assert (why.score, why.decision, why.status) == (0.1, "ham", "none")
    assert len(asked) > 2


def test_refused_models():
    with pytest.raises(InputError, match=r"encoder must be given with BertForSequenceClassification, which"):
        Explainer(transformer())
    with pytest.raises(
        InputError, match=r'removal must be "delete" or "mask" for TextClassificationPipeline'
    ):
        Explainer(text_pipeline(), removal="zero")
    with pytest.raises(InputError, match="label must not be given for TextClassificationPipeline"):
        Explainer(text_pipeline(), label="spam")
    with pytest.raises(InputError, match=r"model must classify texts, got .* for regression"):
        Explainer(transformer(("score",), "regression"), encoder=tokenizer())


def test_models_for_other_tasks_are_refused():
    from transformers import BertModel

    bare = BertModel(transformer().config).eval()
    with pytest.raises(InputError, match=r"model must return a row of logits for each text, .* of BertModel"):
        Explainer(bare, encoder=tokenizer()).explain(TEXTS[0])
    with pytest.raises(InputError, match="encoder must not be given with TextClassificationPipeline, which"):
        Explainer(text_pipeline(), encoder=tokenizer())
    filling = transformers.FillMaskPipeline.__new__(transformers.FillMaskPipeline)
    filling.task = "fill-mask"
    with pytest.raises(InputError, match=r'pipeline for "text-classification", got one for "fill-mask"'):
        Explainer(filling)


def test_a_pipeline_that_returns_logits():
    pipe = text_pipeline(function_to_apply="none")
    why = Explainer(pipe).explain(TEXTS[0])
    assert why.decision == pipe(TEXTS[0])[0]["label"]
    assert 0 < why.score < 1


def test_one_score_needs_a_threshold():
    model = transformer(("spam",), None)
    with pytest.raises(
        InputError, match=r"threshold must be given, as BertForSequenceClassification returns"
    ):
        Explainer(model, encoder=tokenizer()).explain(TEXTS[0])
    pipe = transformers.pipeline("text-classification", model=model, tokenizer=tokenizer())
    why = Explainer(pipe, threshold=0.3).explain(TEXTS[0])
    assert why.score == pytest.approx(pipe(TEXTS[0])[0]["score"], abs=1e-5)


def test_training_mode_is_refused():
    model = transformer(seed=1)
    model.train()
    try:
        with pytest.raises(InputError, match=r"in evaluation mode, .* Call model.eval\(\) first"):
            Explainer(model, encoder=tokenizer())
    finally:
        model.eval()


def test_a_tokenizer_without_a_mask_or_padding():
    from copy import deepcopy

    bare = deepcopy(tokenizer())
    bare.mask_token = None
    with pytest.raises(InputError, match=r"mask_token must be given with removal=.mask., as Bert"):
        Explainer(transformer(), encoder=bare, removal="mask")
    assert Explainer(transformer(), encoder=bare, removal="mask", mask_token="...").explain(TEXTS[0])
    bare.pad_token = None
    with pytest.raises(InputError, match=r"encoder must be a tokenizer with a pad token"):
        Explainer(transformer(), encoder=bare)


def test_processes_get_their_own_copy():
    texts = TEXTS[:3]
    alone = [why.features for why in Explainer(text_pipeline()).explain_many(texts)]
    assert [why.features for why in Explainer(text_pipeline()).explain_many(texts, jobs=2)] == alone


def test_a_batch_knows_the_model_again(tmp_path):
    """The fingerprint is that of the content, before and after use, and in a copy."""
    explainer = Explainer(text_pipeline())
    first = settings_of(explainer)["model"]
    explainer.explain(TEXTS[0])
    transformer().save_pretrained(tmp_path)
    tokenizer().save_pretrained(tmp_path)
    loaded = transformers.pipeline("text-classification", model=str(tmp_path))
    assert settings_of(explainer)["model"] == settings_of(Explainer(loaded))["model"] == first
    other = transformers.pipeline("text-classification", model=transformer(seed=1), tokenizer=tokenizer())
    assert settings_of(Explainer(other))["model"] != first
