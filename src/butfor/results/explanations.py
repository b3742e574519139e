"""Explanations of many rows, and what they have in common."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import count, islice
from statistics import median
from typing import Any, overload

from butfor._extras import optional
from butfor._render.html import wrapped
from butfor._render.summary import glance, summary_card, summary_sentences
from butfor._render.words import NOUNS, check_at_most, is_contradicted
from butfor.errors import ButforError, InputError
from butfor.results.explanation import Explanation, Unit, thawed

FIRST_COLUMNS = (
    "status",
    "decision",
    "features",
    "decision_without",
    "size",
    "proven",
    "score",
    "score_without",
)
"""The columns of a frame that people read first."""
OTHER_COLUMNS = (
    *(name for name in Explanation.__dataclass_fields__ if name not in FIRST_COLUMNS),
    "score_drop",
)


class Explanations(Sequence[Explanation]):
    """The explanations of many rows, in order; a sequence that counts, draws and shows itself.

    Rows that failed are not in the sequence, so that a loop over it needs no exceptions of its own.

    Parameters
    ----------
    explanations : iterable of Explanation or ButforError
        Explanations, with errors in the place of rows that failed, as `explain_many(X, errors="keep")` yields
        them.
    rows : iterable of int, optional
        The row number of each; if not given, the numbers that `errors` leaves free.
    errors : mapping from int to str, optional
        Messages of rows that failed and are not in `explanations`, by row number.

    Examples
    --------
    >>> from butfor import Explainer
    >>> explainer = Explainer(lambda X: X.sum(axis=1), threshold=1.5, feature_names=["free", "prize", "call"])
    >>> whys = Explanations(map(explainer.explain, [[1, 1, 0], [1, 1, 1], [1, 0, 0]]), errors={1: "no score"})
    >>> len(whys), whys.rows, whys.features()["free"]
    (3, (0, 2, 3), 2)
    >>> print(whys)
    4 rows: 2 explained, 1 proven to have no answer, 1 failed.
    Answers have 1 to 2 features, 1.5 in the median; 2 of 2 are proven smallest.
    Most often part of an answer: 'free' (2), 'prize' (1).
    """

    def __init__(
        self,
        explanations: "Iterable[Explanation | ButforError]",
        *,
        rows: Iterable[int] | None = None,
        errors: Mapping[int, str] | None = None,
    ) -> None:
        outcomes = tuple(explanations)
        known = dict(errors or {})
        numbers = tuple(_free_rows(known, len(outcomes)) if rows is None else rows)
        _check(outcomes, numbers, known)
        pairs = list(zip(numbers, outcomes, strict=True))
        self._explanations = tuple(why for why in outcomes if isinstance(why, Explanation))
        self.errors = known | {row: str(why) for row, why in pairs if isinstance(why, ButforError)}
        """Messages of rows that failed, by row number."""
        self.rows = tuple(row for row, why in pairs if isinstance(why, Explanation))
        """The row number of each explanation."""

    def __len__(self) -> int:
        return len(self._explanations)

    @overload
    def __getitem__(self, index: int) -> Explanation: ...

    @overload
    def __getitem__(self, index: slice) -> "Explanations": ...

    def __getitem__(self, index: int | slice) -> "Explanation | Explanations":
        if isinstance(index, slice):
            return Explanations(self._explanations[index], rows=self.rows[index])
        return self._explanations[index]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Explanations):
            return NotImplemented
        mine, theirs = ((each._explanations, each.rows, each.errors) for each in (self, other))
        return mine == theirs

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<Explanations: {summary_sentences(self.summary())[0]}>"

    def __str__(self) -> str:
        return "\n".join(summary_sentences(self.summary()))

    def _repr_html_(self) -> str:
        return wrapped(summary_card(self.summary(), self.errors, glance(self.rows, self)))

    @property
    def found(self) -> "Explanations":
        """The explanations that found an answer."""
        which = [i for i, why in enumerate(self) if why]
        return Explanations([self[i] for i in which], rows=[self.rows[i] for i in which])

    def features(self) -> Counter[str]:
        """Return in how many answers each feature is.

        Returns
        -------
        collections.Counter
            Numbers of answers by name, the most frequent first.
        """
        counts = Counter(name for why in self for name in dict.fromkeys(why.features))
        return Counter(dict(counts.most_common()))

    def sizes(self) -> Counter[int]:
        """Return the number of answers of each size.

        Returns
        -------
        collections.Counter
            Numbers of answers by size, the smallest first.
        """
        return Counter(sorted(why.size for why in self if why))

    def statuses(self) -> Counter[str]:
        """Return the number of rows of each status.

        Returns
        -------
        collections.Counter
            Numbers of rows by status: found, none, budget; and error for those that failed.
        """
        counts = Counter({"found": 0, "none": 0, "budget": 0, "error": len(self.errors)})
        counts.update(why.status for why in self)
        return counts

    @property
    def share_proven(self) -> float:
        """The share of answers that are proven smallest; 0 where there are none."""
        found = [why.proven_minimum for why in self if why]
        return sum(found) / len(found) if found else 0.0

    def summary(self, *, at_most: int = 20) -> dict[str, Any]:
        """Return everything that is shown of these explanations as plain values, ready for JSON.

        Parameters
        ----------
        at_most : int, default 20
            How many of the most frequent features are listed; `n_features` in the result counts all.

        Returns
        -------
        dict
        """
        check_at_most(at_most)
        features, sizes = self.features(), [why.size for why in self if why]
        return {
            "n_rows": len(self) + len(self.errors),
            "unit": self._unit(),
            "statuses": dict(self.statuses()),
            "smallest": min(sizes, default=0),
            "median_size": float(median(sizes)) if sizes else 0.0,
            "largest": max(sizes, default=0),
            "n_proven": sum(why.proven_minimum for why in self),
            "n_contradicted": sum(map(is_contradicted, self)),
            "costs": any(why.costs for why in self),
            "sizes": [list(pair) for pair in self.sizes().items()],
            "n_features": len(features),
            "features": [list(pair) for pair in features.most_common(at_most)],
            "seconds": sum(why.seconds for why in self),
        }

    def _unit(self) -> Unit:
        units = {why.unit for why in self}
        return units.pop() if len(units) == 1 else "feature"

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return each explanation as plain values, ready for JSON.

        Returns
        -------
        list of dict
            The fields of each explanation, and its row number under "row".
        """
        return [{"row": row, **why.to_dict()} for row, why in zip(self.rows, self, strict=True)]

    def to_frame(self, *, all_columns: bool = False) -> Any:
        """Return a pandas DataFrame with one row an explanation; its index holds the row numbers.

        Its columns are those that people read first: the status, the decision, the features without which it
        flips and to what, their number, whether that is proven smallest, and both scores. Rows that failed
        are left out, so that numbers stay numbers. Needs pandas: `pip install "butfor[frame]"`.

        Parameters
        ----------
        all_columns : bool, default False
            Add a column for every other field of `Explanation`, and `score_drop`.

        Returns
        -------
        pandas.DataFrame

        Examples
        --------
        >>> from butfor import Explainer
        >>> explainer = Explainer(lambda X: X.sum(axis=1), threshold=1.5, class_names=["no", "yes"])
        >>> print(explainer.explain_many([[1, 1], [1, 0]]).collect().to_frame().to_string())
            status decision     features decision_without  size  proven  score  score_without
        row
        0    found      yes  [feature 0]               no     1    True    2.0            1.0
        1     none       no           []               no     0   False    1.0            1.0
        """
        pandas = optional("pandas", extra="frame")
        names = [*FIRST_COLUMNS, *(OTHER_COLUMNS if all_columns else ())]
        values = [{name: _cell(why, name) for name in names} for why in self]
        return pandas.DataFrame(values, columns=names, index=pandas.Index(self.rows, name="row"))

    def plot(self, *, at_most: int = 20) -> Any:
        """Draw the most frequent features and the sizes of the answers.

        Needs matplotlib: `pip install "butfor[plot]"`.

        Parameters
        ----------
        at_most : int, default 20
            How many features are drawn.

        Returns
        -------
        matplotlib Figure
        """
        check_at_most(at_most)
        plots = optional("butfor._render.plots", extra="plot")
        features, sizes = self.features().most_common(at_most), list(self.sizes().items())
        return plots.plot_summary(features, sizes, NOUNS[self._unit()])


def _cell(why: Explanation, column: str) -> Any:
    """Return what a column of the frame holds of an explanation: lists instead of tuples, as from files."""
    return thawed(why.proven_minimum if column == "proven" else getattr(why, column))


def _check(outcomes: Sequence[Any], rows: Sequence[int], errors: Mapping[int, str]) -> None:
    for position, why in enumerate(outcomes):
        if not isinstance(why, Explanation | ButforError):
            raise InputError(
                f"explanations must hold Explanation objects, got {why!r} at {position}: rows that failed go "
                "into errors, by row number."
            )
    if len(rows) != len(outcomes):
        raise InputError(
            f"rows must have a number for each of the {len(outcomes):,} explanations, got {len(rows):,}."
        )
    both = set(rows) & set(errors)
    if both:
        raise InputError(f"rows must not hold rows that failed, got {sorted(both)} in errors too.")


def _free_rows(errors: Mapping[int, str], n_rows: int) -> Iterable[int]:
    return islice((row for row in count() if row not in errors), n_rows)
