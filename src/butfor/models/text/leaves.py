"""One vectoriser of a model: how it reads a text, and where its columns stand in the row."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from butfor.errors import InputError
from butfor.models.arrays import IntArray
from butfor.models.text.spans import words_of

_REMEMBERED = 2**14
"""How many results for short pieces of text are cached, since tokenizers may be slow."""


@dataclass(frozen=True, eq=False)
class Leaf:
    """A fitted CountVectorizer, TfidfVectorizer or HashingVectorizer, or a subclass of one.

    All reading goes through its own `build_analyzer`, `build_preprocessor` and `build_tokenizer`.
    """

    vectoriser: Any
    columns: IntArray
    """The position of each of its columns in the row; -1 if a later step drops it."""
    cleaning: tuple[Any, ...] = ()
    """Transformers from texts to texts that come before it."""

    def __post_init__(self) -> None:
        source = getattr(self.vectoriser, "input", "content")
        if source != "content":
            name = type(self.vectoriser).__name__
            raise InputError(
                f"model must take texts as strings, got a {name} with input={source!r}. "
                "Call set_params(input='content') on it."
            )

    def __getstate__(self) -> dict[str, Any]:
        # Without the cached functions, which cannot be pickled.
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @property
    def kind(self) -> str:
        """What its grams are made of: "word", "char", "char_wb", or "own" for a callable analyzer."""
        analyzer = self.vectoriser.analyzer
        return analyzer if isinstance(analyzer, str) else "own"

    @property
    def sizes(self) -> tuple[int, int]:
        """The smallest and the largest size of its n-grams."""
        smallest, largest = self.vectoriser.ngram_range
        return smallest, largest

    def clean(self, text: str) -> str:
        """Return the text as the vectoriser gets it."""
        for transformer in self.cleaning:
            text = next(iter(transformer.transform([text])))
        return text

    def analyze(self, text: str) -> list[Any]:
        """Return all grams of a text, in the vectoriser's own order."""
        return list(self._analyzer(self.clean(text)))

    def preprocess(self, text: str) -> Any:
        """Return the text as the tokenizer gets it."""
        return self._preprocessor(self.clean(text))

    def tokenize(self, preprocessed: Any) -> list[Any]:
        """Return all tokens of a preprocessed text, including stop words."""
        return list(self._tokenizer(preprocessed))

    def read(self, text: str) -> list[Any]:
        """Return all tokens of a text."""
        return self.tokenize(self.preprocess(text))

    @cached_property
    def analyze_piece(self) -> Callable[[str], list[str] | None]:
        """`analyze` for short pieces, cached; None where it fails."""
        return _remembering(self.analyze)

    @cached_property
    def tokenize_piece(self) -> Callable[[str], list[str] | None]:
        """`tokenize` for short pieces, cached; None where it fails."""
        return _remembering(self.tokenize)

    @cached_property
    def read_piece(self) -> Callable[[str], list[str] | None]:
        """`read` for short pieces, cached; None where it fails."""
        return _remembering(self.read)

    @cached_property
    def words_of_piece(self) -> Callable[[str], list[str] | None]:
        """The words of preprocessed short pieces, cached; None where it fails."""
        return _remembering(self._words)

    def _words(self, piece: str) -> list[str]:
        changed = str(self.preprocess(piece))
        return [changed[start:end] for start, end in words_of(changed)]

    @cached_property
    def preprocess_piece(self) -> Callable[[str], Any]:
        """`preprocess` for short pieces, cached."""
        return lru_cache(maxsize=_REMEMBERED)(self.preprocess)

    @cached_property
    def stop_words(self) -> frozenset[Any]:
        """The tokens that are dropped before n-grams are formed."""
        return frozenset(self.vectoriser.get_stop_words() or ())

    @property
    def pattern(self) -> re.Pattern[str] | None:
        """The regular expression that finds the tokens, if the tokenizer does nothing else."""
        pattern = getattr(self._tokenizer, "__self__", None)
        plain = isinstance(pattern, re.Pattern) and self._tokenizer == pattern.findall and pattern.groups < 2
        return pattern if plain else None

    def columns_of(self, grams: Sequence[Any]) -> IntArray:
        """Return the column of each gram in the row; -1 for a gram that has none."""
        known = self.vocabulary or {gram: own[0] for gram, own in self._hashed(grams).items()}
        own = np.array([known.get(gram, -1) for gram in grams], dtype=np.intp)
        return np.where(own >= 0, self.columns[own], -1) if len(own) else own

    @property
    def vocabulary(self) -> Mapping[Any, int] | None:
        """The vectoriser's own column of each gram; None if it hashes grams."""
        return getattr(self.vectoriser, "vocabulary_", None)

    @property
    def reaches_over_words(self) -> bool:
        """Whether its grams are made of several words."""
        return self.kind == "word" and self.sizes[1] > 1

    def counted(self, gram: Any) -> tuple[int, float] | None:
        """Return the vectoriser's own column of a gram, and what the gram adds to it; or None."""
        if self.vocabulary is None:
            return self.hashed(gram)
        column = self.vocabulary.get(gram)
        return None if column is None else (column, 1.0)

    def counts(self, grams: Iterable[Any]) -> dict[int, float]:
        """Return how often grams count in the vectoriser's own columns."""
        counts: dict[int, float] = {}
        for known in map(self.counted, grams):
            if known is not None:
                counts[known[0]] = counts.get(known[0], 0.0) + known[1]
        return counts

    @cached_property
    def hashed(self) -> Callable[[Any], tuple[int, float]]:
        """The column of a gram by its hash and what the gram adds to it, cached."""
        return lru_cache(maxsize=_REMEMBERED)(lambda gram: self._hashed([gram])[gram])

    @cached_property
    def ends(self) -> frozenset[str]:
        """All ends of n-grams of words, without the n-grams themselves."""
        ends = set()
        for gram in self.vocabulary or ():
            at = str(gram).find(" ")
            while at >= 0:
                ends.add(gram[at + 1 :])
                at = gram.find(" ", at + 1)
        return frozenset(ends)

    def _hashed(self, grams: Sequence[Any]) -> dict[Any, tuple[int, float]]:
        """Return the column of each gram, hashed alone as the vectoriser hashes it, and its sign."""
        from sklearn.feature_extraction import FeatureHasher

        distinct = list(dict.fromkeys(grams))
        if not distinct:
            return {}
        hasher = FeatureHasher(
            self.vectoriser.n_features, input_type="string", alternate_sign=self.vectoriser.alternate_sign
        )
        hashed = hasher.transform([gram] for gram in distinct)
        own = zip(hashed.indices.tolist(), hashed.data.tolist(), strict=True)
        return dict(zip(distinct, own, strict=True))

    @cached_property
    def _analyzer(self) -> Callable[[str], Iterable[Any]]:
        analyzer: Callable[[str], Iterable[Any]] = self.vectoriser.build_analyzer()
        return analyzer

    @cached_property
    def _preprocessor(self) -> Callable[[str], Any]:
        preprocessor: Callable[[str], Any] = self.vectoriser.build_preprocessor()
        return preprocessor

    @cached_property
    def _tokenizer(self) -> Callable[[Any], Iterable[Any]]:
        tokenizer: Callable[[Any], Iterable[Any]] = self.vectoriser.build_tokenizer()
        return tokenizer


def _remembering(read: Callable[[str], list[Any]]) -> Callable[[str], list[str] | None]:
    @lru_cache(maxsize=_REMEMBERED)
    def read_piece(piece: str) -> list[str] | None:
        try:
            return [str(token) for token in read(piece)]
        except Exception:  # a function for whole texts may fail on a piece
            return None

    return read_piece
