"""A small transformer, trained here on messages: nothing is downloaded. It needs `make models`."""

import time
from typing import Any

import numpy as np

from benchmarks.deletion import MEMORY, texts_at_hand

LAYERS, WIDTH, LONGEST, WORDS = 2, 128, 64, 4_000
USUAL_WIDTH = 768
"""The width of BERT and DistilBERT."""
EPOCHS, BATCH = 3, 64
LEARNING_RATES = {WIDTH: 5e-4, USUAL_WIDTH: 1e-4}
SPECIAL = {"pad": "[PAD]", "unk": "[UNK]", "cls": "[CLS]", "sep": "[SEP]", "mask": "[MASK]"}


def is_at_hand() -> bool:
    """Return whether the libraries are installed."""
    try:
        import torch  # noqa: F401
        import transformers  # noqa: F401
    except ImportError:
        return False
    return True


def messages(fold: int = 0) -> tuple[str, list[str], Any]:
    """Return the name, the texts and the labels of SMS spam, or of the inbox that ships.

    Each fold has them in another order, so that models are trained and tried on others.
    """
    known = texts_at_hand()
    name = next(iter(known))
    texts, labels = known[name]()
    order = np.random.default_rng(fold).permutation(len(texts)) if fold else np.arange(len(texts))
    return name, [texts[i] for i in order], np.array(labels).astype(int)[order]


@MEMORY.cache  # type: ignore[untyped-decorator]
def trained(width: int = WIDTH, fold: int = 0) -> tuple[Any, Any]:
    """Return a transformer of two layers and its tokenizer, trained on the first 80 % of the messages."""
    import torch

    _, texts, labels = messages(fold)
    n = len(texts) * 4 // 5
    tokenizer = _tokenizer(texts[:n])
    model = _untrained(len(tokenizer), width).train()
    optimiser = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATES[width])
    order = np.random.default_rng(0)
    for _ in range(EPOCHS):
        for some in np.array_split(order.permutation(n), n // BATCH):
            given = tokenizer([texts[i] for i in some], padding=True, truncation=True, return_tensors="pt")
            loss = model(**given, labels=torch.as_tensor(labels[some])).loss
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
    return model.eval(), tokenizer


def _untrained(n_tokens: int, width: int) -> Any:
    """Return a transformer with random weights."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification

    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=n_tokens,
        hidden_size=width,
        num_hidden_layers=LAYERS,
        num_attention_heads=width // 64,
        intermediate_size=4 * width,
        max_position_embeddings=LONGEST,
        id2label={0: "ham", 1: "spam"},
        label2id={"ham": 0, "spam": 1},
    )
    return BertForSequenceClassification(config).eval()


def _tokenizer(texts: list[str]) -> Any:
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    own = Tokenizer(models.WordPiece(unk_token=SPECIAL["unk"]))
    own.normalizer, own.pre_tokenizer = normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer()
    special = list(SPECIAL.values())
    trainer = trainers.WordPieceTrainer(vocab_size=WORDS, special_tokens=special, show_progress=False)
    own.train_from_iterator(texts, trainer)
    own.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    names = {f"{name}_token": token for name, token in SPECIAL.items()}
    return PreTrainedTokenizerFast(tokenizer_object=own, model_max_length=LONGEST, **names)


def spam(n_words: int, fold: int = 0) -> list[str]:
    """Return the first words of test messages, where the transformer takes them for spam, in random order."""
    from butfor import Explainer

    _, texts, _ = messages(fold)
    test = [text.split()[:n_words] for text in texts[len(texts) * 4 // 5 :]]
    starts = [" ".join(words) for words in test if len(words) >= 3]
    model, tokenizer = trained(fold=fold)
    _, classes = Explainer(model, encoder=tokenizer).decide(starts)
    chosen = [text for text, index in zip(starts, classes, strict=True) if index == 1]
    return [chosen[i] for i in np.random.default_rng(0).permutation(len(chosen))]


class Stopwatch:
    """A model that notes how long it computes."""

    def __init__(self, model: Any) -> None:
        self.model, self.seconds, self.n_texts = model, 0.0, 0
        self.config, self.training, self.parameters = model.config, False, model.parameters

    def __call__(self, **given: Any) -> Any:
        """Call the model."""
        began = time.perf_counter()
        outputs = self.model(**given)
        self.seconds += time.perf_counter() - began
        self.n_texts += len(given["input_ids"])
        return outputs


def share_in_model(n_texts: int, width: int) -> dict[str, Any]:
    """Explain texts side by side; return how long a text takes, and the share that the model computes."""
    from butfor import Explainer

    model, tokenizer = trained(width)
    watch = Stopwatch(model)
    explainer = Explainer(watch, encoder=tokenizer)
    _, texts, _ = messages()
    some = texts[len(texts) * 4 // 5 :][:n_texts]
    explainer.explain(some[0])
    watch.seconds, watch.n_texts = 0.0, 0
    began = time.perf_counter()
    whys = list(explainer.with_options(search="thrifty").explain_many(some))
    seconds = time.perf_counter() - began
    return {
        "width": width,
        "texts": len(whys),
        "found": sum(map(bool, whys)),
        "seconds_a_text": seconds / len(whys),
        "scored_a_text": watch.n_texts / len(whys),
        "share_in_model": watch.seconds / seconds,
    }
