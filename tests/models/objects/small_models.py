"""Small models of other libraries, made here: nothing is downloaded."""

import re
from functools import cache
from itertools import combinations

import numpy as np

TEXTS = [
    "You have won a free prize!! Claim it now",
    "free entry to win cash, call now",
    "win a prize: call this number now",
    "cash prize waiting, claim your free gift",
    "see you at lunch tomorrow",
    "the meeting is at noon, bring the report",
    "I will call you when I am home",
    "lunch was good, thanks for the report",
]
SPAM = np.array([1, 1, 1, 1, 0, 0, 0, 0])


@cache
def tokenizer(longest=32):
    """Give a WordPiece tokenizer, trained on a few texts."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    own = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    own.normalizer, own.pre_tokenizer = normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer()
    special = {"pad": "[PAD]", "unk": "[UNK]", "cls": "[CLS]", "sep": "[SEP]", "mask": "[MASK]"}
    trainer = trainers.WordPieceTrainer(
        vocab_size=200, special_tokens=list(special.values()), show_progress=False
    )
    own.train_from_iterator(TEXTS, trainer)
    own.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    names = {f"{name}_token": token for name, token in special.items()}
    return PreTrainedTokenizerFast(tokenizer_object=own, model_max_length=longest, **names)


@cache
def transformer(labels=("ham", "spam"), problem=None, seed=0):
    """Give a transformer of two layers with random weights, which are large enough for it to decide."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification

    torch.manual_seed(seed)
    config = BertConfig(
        vocab_size=200,
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=64,
        initializer_range=0.4,
        num_labels=len(labels),
        id2label=dict(enumerate(labels)),
        label2id={label: i for i, label in enumerate(labels)},
        problem_type=problem,
    )
    return BertForSequenceClassification(config).eval()


def smallest(text, spans, decide, mask=None, largest=3):
    """Give the size of the smallest set of spans without which `decide` says otherwise; None up to `largest`.

    The judge of texts: it cuts out the spans and asks the user's own object, text by text.
    """
    own = decide(text)
    for size in range(1, min(largest, len(spans)) + 1):
        for units in combinations(range(len(spans)), size):
            if decide(cut(text, [place for unit in units for place in spans[unit]], mask)) != own:
                return size
    return None


def spans_of(text, items):
    """Give the places of items in a text, each as a word of its own, or as the sign that it is."""
    return [
        [
            match.span()
            for match in re.finditer(
                rf"(?<!\w){re.escape(item)}(?!\w)" if item.isalnum() else re.escape(item), text, re.IGNORECASE
            )
        ]
        for item in items
    ]


def cut(text, places, mask=None):
    """Give a text without some places, with single blanks."""
    for start, end in sorted(places, reverse=True):
        text = text[:start] + ("" if mask is None else mask) + text[end:]
    return " ".join(text.split())
