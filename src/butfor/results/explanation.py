"""The result: one frozen object with plain typed fields."""

from collections.abc import Iterable, Mapping
from dataclasses import MISSING, dataclass, fields
from typing import Any, Literal, Self

from butfor._extras import optional
from butfor._render import html, letters, sentences
from butfor.errors import InputError

Status = Literal["found", "none", "budget"]
Unit = Literal["feature", "group", "word", "occurrence", "sentence", "part"]
Removal = Literal["zero", "delete", "mask"]


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """The features of one row without which the model would have decided otherwise.

    `status` is "found", "none" (proven: no set of at most `max_size` features flips the decision) or
    "budget" (the search stopped before it knew; `reason` says why). An explanation that found nothing
    removes nothing: no features, size 0, `score_without` equal to `score`.

    Attributes
    ----------
    status : {"found", "none", "budget"}
        Whether a removal set was found.
    features : tuple of str
        Names of the units to remove (features, groups of them, words, …), in the order in which the search
        removed them.
    columns : tuple of int
        All columns of the data matrix that become zero; none where text is cut or masked; of a record the
        positions of the columns in which something is removed.
    weights : tuple of float
        The weights of the units, where the search ranks them: higher for more evidence; else empty.
    score, score_without : float
        The model's score of the row, and of the row without the features.
    threshold : float
        The decision is positive where the score is at least this. At the very threshold the model's own
        `predict` decides, unless the threshold was given.
    lower_bound : float
        The largest number of units that is proven to be needed; with costs, the largest cost.
    n_active, n_protected : int
        How many units of the row are active, and how many of these may not be removed.
    n_unread : int
        How many more units a text has that the model does not read, as they are beyond its length. They are
        no evidence.
    max_size : int
        The limit on the size that the search was given.
    n_scored : int
        How many removal sets the search had the model score.
    n_asked : int
        How many rows a black box was asked to score in all: the row, the removal sets, and what confirmed the
        answer. 0 where the model was evaluated by its formula.
    spent : float or None
        What that cost, where the budget has a price.
    confidence : float or None
        How sure the answer is, of a model whose scores vary: the confidence that `noise` asks for, or 1 where
        they stay within a declared tolerance. Such an answer is never proven. None for other models.
    seconds : float
        The time that the row took.
    search : str
        The name of the search.
    local_model : str
        How the model was evaluated: by its own formula ("linear", "neural network", "rbf kernel", …), or as a
        "black box", by asking it.
    reason : str
        Why the search stopped where it did; empty where it simply reached its goal.
    cost : float
        What the removed units cost together; without costs, their number.
    costs : bool
        Whether costs were given.
    path : tuple of float
        The model's score after the first 1, 2, … units are gone; the last is `score_without`.
    items : tuple of str
        Names of all active units of the row, in the row's order.
    places : tuple of int
        The position of each of the features in `items`, from 0.
    decision, decision_without : str
        The class that the model decides for, and the one without the features; empty where unknown.
    target : str
        The class to which the decision must flip, if not just any other.
    n_classes : int
        The number of classes. With more than two, the score is the margin of the predicted class over the
        other, and the threshold 0.
    text : str or None
        The text that was explained, if it was one.
    spans : tuple
        For each feature its places in the text, (start, end); empty where they are unknown.
    unit : {"feature", "group", "word", "occurrence", "sentence", "part"}
        What was removed at a time; of a record a part: a word of a text, an item of a list, the value of a
        cell, or a group of these.
    removal : {"zero", "delete", "mask"}
        What removing meant: columns become zero, or words are deleted from the text, or masked.
    survives_deletion : bool or None
        Whether a text without the words, run through the pipeline, flips, too; None where not tried.
    table : tuple
        Of a record: its columns and cells, (name, value as it is shown); empty for other rows.
    marks : tuple
        Of a record: for each feature its places in the table, (column, start, end).
    instead : tuple of str
        Of a record: for each feature what stands in its place once it is removed ("unknown", "missing", or
        a value); an empty string where nothing does, as for words and items.

    Examples
    --------
    >>> why = Explanation(status="found", features=("Die Hard", "Taxi Driver"), columns=(17, 40),
    ...     weights=(), score=0.71, score_without=0.27, threshold=0.29, lower_bound=2, n_active=34,
    ...     n_protected=0, max_size=30, n_scored=67, seconds=0.002, search="sedc", local_model="black box",
    ...     reason="")
    >>> print(why)
    But for 'Die Hard' and 'Taxi Driver', the score would be 0.27 instead of 0.71 (threshold 0.29).
    >>> print(why.sentence(subject="Sam", decision="predicted male"))
    But for 'Die Hard' and 'Taxi Driver', Sam would not be predicted male.
    >>> print(why.letter("You see this, as you liked {n} {noun}: {features}.", noun=("film", "films")))
    You see this, as you liked 2 films: 'Die Hard' and 'Taxi Driver'.
    >>> why.size, why.proven_minimum, bool(why), round(why.score_drop, 2)
    (2, True, True, 0.44)
    >>> Explanation.from_dict(why.to_dict()) == why
    True
    """

    status: Status
    features: tuple[str, ...]
    columns: tuple[int, ...]
    weights: tuple[float, ...]
    score: float
    score_without: float
    threshold: float
    lower_bound: float
    n_active: int
    n_protected: int
    max_size: int
    n_scored: int
    seconds: float
    search: str
    local_model: str
    reason: str
    cost: float = 0
    costs: bool = False
    path: tuple[float, ...] = ()
    items: tuple[str, ...] = ()
    places: tuple[int, ...] = ()
    decision: str = ""
    decision_without: str = ""
    target: str = ""
    n_classes: int = 2
    text: str | None = None
    spans: tuple[tuple[tuple[int, int], ...], ...] = ()
    unit: Unit = "feature"
    removal: Removal = "zero"
    survives_deletion: bool | None = None
    table: tuple[tuple[str, str], ...] = ()
    marks: tuple[tuple[tuple[int, int, int], ...], ...] = ()
    instead: tuple[str, ...] = ()
    n_asked: int = 0
    spent: float | None = None
    confidence: float | None = None
    n_unread: int = 0

    @property
    def size(self) -> int:
        """How many features the answer removes (the paper's switching point)."""
        return len(self.features)

    @property
    def score_drop(self) -> float:
        """How far the score falls; below zero where a negative decision was turned positive."""
        return self.score - self.score_without

    @property
    def proven_minimum(self) -> bool:
        """Whether it is proven that no smaller set (with costs: no cheaper one) flips the decision."""
        size = self.cost if self.costs else self.size
        return bool(
            is_proven(
                found=bool(self), is_sure=self.confidence is None, lower_bound=self.lower_bound, size=size
            )
        )

    def __bool__(self) -> bool:
        return self.status == "found"

    def __str__(self) -> str:
        return sentences.sentence(self)

    def _repr_html_(self) -> str:
        return html.fragment(self)

    def sentence(self, *, subject: str | None = None, decision: str | None = None, at_most: int = 10) -> str:
        """Return the explanation as a sentence for people.

        Where nothing was found, the sentence says so. Where the text with these words deleted is decided as
        before (`survives_deletion` is False), it says that, too.

        Parameters
        ----------
        subject : str, optional
            Who or what is decided upon.
        decision : str, optional
            What was decided, such as "predicted male". Without it the classes are named, where they have
            names. With neither subject nor decision the sentence is that of `print(why)`, with the scores.
        at_most : int, default 10
            How many features are named.

        Returns
        -------
        str
        """
        return sentences.sentence(self, subject=subject, decision=decision, at_most=at_most)

    def letter(
        self,
        template: str = "shown",
        *,
        subject: str | None = None,
        decision: str | None = None,
        noun: tuple[str, str] | None = None,
        at_most: int = 5,
        even_if_contradicted: bool = False,
    ) -> str:
        """Return a letter to the person concerned.

        Parameters
        ----------
        template : str, default "shown"
            "shown", "declined", "flagged" or "decided", or a text of your own. Its placeholders are
            {features}, {n}, {noun}, {them} (it or them), {subject}, {decision}, {decision_without}, {score},
            {score_without}, {threshold} and {cost}.
        subject, decision : str, optional
            As for `sentence`.
        noun : tuple of str, optional
            What one and several of the features are called, such as ("film", "films").
        at_most : int, default 5
            How many features are named.
        even_if_contradicted : bool, default False
            Write the letter even where `survives_deletion` is False, so that "without them" is not true of
            the text.

        Returns
        -------
        str

        Raises
        ------
        InputError
            Where nothing was found, so that no letter goes out without a reason; and where
            `survives_deletion` is False. Explain with `removal="delete"` then.
        """
        return letters.letter(
            self,
            template,
            subject=subject,
            decision=decision,
            noun=noun,
            at_most=at_most,
            even_if_contradicted=even_if_contradicted,
        )

    def plot(self, ax: Any = None) -> Any:
        """Draw how the score moves as the features are removed one by one, against the threshold.

        Needs matplotlib: `pip install "butfor[plot]"`.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw.

        Returns
        -------
        matplotlib Figure, or `ax` if it was given
        """
        return optional("butfor._render.plots", extra="plot").plot_path(self, ax)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON.

        Returns
        -------
        dict
            The fields by name, of which `from_dict` makes an equal explanation.
        """
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: thawed(value) for name, value in values.items()}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Return the explanation of which `to_dict` made these values.

        Parameters
        ----------
        values : mapping
            Fields by name.

        Returns
        -------
        Explanation

        Raises
        ------
        InputError
            Where a value is missing or unknown.
        """
        expected = [field.name for field in fields(cls)]
        needed = [field.name for field in fields(cls) if field.default is MISSING]
        if not set(needed) <= set(values) <= set(expected):
            raise InputError(
                f"values must have the keys {needed} and may have others of {expected}, got {list(values)}."
            )
        plain: dict[str, Any] = {name: _frozen(value) for name, value in values.items()}
        return cls(**plain)


def thawed(value: Any) -> Any:
    """Return a value with lists in the place of tuples."""
    return list(map(thawed, value)) if isinstance(value, tuple) else value


def is_proven(*, found: Any, is_sure: Any, lower_bound: Any, size: Any) -> Any:
    """Return whether no smaller answer exists: of one row, or of many in arrays; `size` may be a cost."""
    return found & is_sure & (lower_bound >= size)


def filled(shared: Mapping[str, Any], values: Iterable[tuple[str, Any]]) -> Explanation:
    """Return an explanation of what it shares with others, and of its own fields by name."""
    # The frozen object is filled directly: its constructor would take half the time of a row in a block.
    explanation = object.__new__(Explanation)
    explanation.__dict__.update(shared)
    explanation.__dict__.update(values)
    return explanation


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value
