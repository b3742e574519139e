"""Pipeline steps in front of a classifier: those that work feature by feature, and what may follow them."""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from butfor.models.arrays import BoolArray, FloatArray, IntArray
from butfor.models.counted import Counted, CountedText, NoFormula
from butfor.models.formula.operators import Operator
from butfor.models.row import Row
from butfor.models.row_kind import RowKind
from butfor.models.scorer import without_name_warnings
from butfor.models.tables import storable_values

Columns = npt.NDArray[np.integer[Any]]


@dataclass(frozen=True, eq=False)
class Point:
    """A row as the classifier behind the steps sees it, and what the removal of each feature changes."""

    columns: Columns
    values: FloatArray
    moving: Columns
    """The columns of the removable features."""
    before: FloatArray
    """Their values now."""
    after: FloatArray
    """Their values once removed."""
    dtype: np.dtype[Any]
    """The dtype in which the classifier gets the values; here they are in double precision."""
    moves_apart: bool
    """Whether `moving` differs from `columns`."""
    bundle_of: IntArray | None
    """The number of the bundle of each removable feature. None: each is a bundle of its own."""
    n_bundles: int

    def by_bundle(self, changes: FloatArray) -> FloatArray:
        """Add up numbers of the removable features, bundle by bundle."""
        if self.bundle_of is None:
            return changes
        return np.bincount(self.bundle_of, changes, minlength=self.n_bundles).astype(np.float64)


class Entries(NamedTuple):
    """Some columns of a row, and their values."""

    columns: Columns
    values: FloatArray


class Active(NamedTuple):
    """The active features of a row as the classifier behind the steps sees them."""

    columns: Columns
    values: FloatArray
    is_there: BoolArray
    """Which of them it sees: a selection may have dropped a feature, or a step made it an absent entry."""
    dtype: np.dtype[Any]
    """The dtype in which the classifier gets the values; here they are in double precision."""


@dataclass(frozen=True, eq=False)
class Taken:
    """Takes some columns of a row, as a ColumnTransformer does for each of its members."""

    columns: Columns
    n_features: int

    @property
    def positions(self) -> Columns:
        """The position of each column among those that are taken; -1 if it is not."""
        positions = np.full(self.n_features, -1, dtype=np.intp)
        positions[self.columns] = np.arange(len(self.columns))
        return positions

    def transform(self, X: Any) -> Any:
        """Return these columns."""
        return X.iloc[:, self.columns] if hasattr(X, "iloc") else X[:, self.columns]


@dataclass(frozen=True, eq=False)
class Preprocessing:
    """A sequence of transformers, each of which maps single features to single features, or drops them.

    Behind them the row may be divided by its norm, and behind that come affine functions of the whole row.
    """

    transformers: tuple[Any, ...] = ()
    norm: str | None = None
    """The norm by which the row is divided behind the transformers: "l1", "l2" or "max"; None: it is not."""
    source: int = -1
    """The number of the vectoriser whose counts are sent through the transformers; −1 for rows of numbers."""
    operators: tuple[Operator, ...] = ()
    """Affine functions of the whole row, one after the other, behind the norm."""
    branches: tuple["Preprocessing", ...] = ()
    """Steps side by side, each with columns of its own, in front of the operators; then nothing else is."""
    n_outputs: int = 0
    """Of a branch: the number of its columns."""

    @property
    def keeps_features_apart(self) -> bool:
        """Whether each output depends on one input."""
        return self.norm is None and not self.operators and not self.branches

    @property
    def has_points(self) -> bool:
        """Whether each output depends on one input, be it in branches."""
        apart = self.norm is None and not self.operators
        return apart and all(branch.has_points for branch in self.branches)

    @property
    def reads_texts(self) -> bool:
        """Whether it starts with the counts of vectorisers."""
        return self.source >= 0 or any(branch.reads_texts for branch in self.branches)

    @property
    def feature_by_feature(self) -> "Preprocessing":
        """The transformers alone."""
        return Preprocessing(self.transformers, source=self.source)

    def transformed(self, X: Any) -> Any:
        """Send rows through the transformers."""
        return self._transform(X, np.zeros(0, dtype=np.intp))[0]

    def followed_by(self, operator: Operator) -> "Preprocessing":
        """Return the same steps with one more affine function behind them."""
        return replace(self, operators=(*self.operators, operator))

    def with_sources_from(self, first: int) -> "Preprocessing":
        """Return the same steps, whose sources are numbered from a number on."""
        source = self.source + first if self.source >= 0 else self.source
        return replace(
            self, source=source, branches=tuple(each.with_sources_from(first) for each in self.branches)
        )

    def as_branch(self, n_outputs: int, weight: float) -> "Preprocessing":
        """Return the same steps as a member of a union: the number of its columns, and its weight."""
        scale = Operator(weight * sparse.eye_array(n_outputs, format="csr"), np.zeros(n_outputs))
        return replace(self if weight == 1 else self.followed_by(scale), n_outputs=n_outputs)

    def point(self, row: Row | CountedText) -> Point:
        """Send the row through the transformers themselves, so that their arithmetic is the model's own."""
        if not isinstance(row, Row):
            return self._point_of_counts(row.counted(self.source), row.n_units)
        if not self.transformers:
            values = _in_double(row.values)
            before = values[row.removable]
            apart = len(before) < len(row.columns)
            columns = row.columns[row.removable]
            after = np.zeros(len(before))
            bundles = row.bundle_of, row.n_bundles
            return Point(row.columns, values, columns, before, after, row.values.dtype, apart, *bundles)
        everything = np.ones((1, row.n_units), dtype=bool)
        X = row.without(np.concatenate([~everything, everything]))
        moving = row.columns[row.removable]
        return self._point_between(row.kind.of(X), moving, row.bundle_of, row.n_bundles)

    def plain(self, row: Row | CountedText) -> Row:
        """Return a row as it is, and the counts of a text as a row, if its columns go with single units."""
        return row if isinstance(row, Row) else row.as_row(self.source)

    def plain_point(self, row: Row | CountedText) -> Point:
        """Return the point of a row, or of cells; raise `NoFormula` unless outputs go with single units."""
        if isinstance(row, Row) or row.is_text:
            return self.point(self.plain(row))
        return self.point_of_cells(row)

    def point_of_cells(self, row: CountedText) -> Point:
        """Return a point of all outputs; raise `NoFormula` if one of them depends on several units."""
        if self.branches:
            return _side_by_side(self, [branch.point_of_cells(row) for branch in self.branches])
        counted = row.counted(self.source)
        if len(counted.conditions.tree) or len(counted.several.columns):
            raise NoFormula
        return self._point_of_counts(counted, row.n_units)

    def _point_of_counts(self, counted: Counted, n_units: int) -> Point:
        single = counted.single
        counts = np.stack([single.kept, single.removed])
        X = _sparse(counts, single.columns, counted)
        moves = single.units >= 0
        return self._point_between(X, single.columns[moves], single.units[moves], n_units)

    def _point_between(self, X: Any, moving: Columns, bundle_of: IntArray | None, n_bundles: int) -> Point:
        """Return the point between two rows, of which the second has lost all removable features."""
        X, kept, moving = self._transform(X, moving)
        now, after = (_nonzeros(X, number) for number in (0, 1))
        return Point(
            *now,
            moving,
            np.where(kept, _lookup(now, moving), 0),
            np.where(kept, _lookup(after, moving), 0),
            X.dtype,
            moves_apart=True,
            bundle_of=bundle_of,
            n_bundles=n_bundles,
        )

    def values_of(self, counted: Counted, columns: Columns, counts: FloatArray) -> Entries:
        """Return the columns and values that the transformers make of single counts, one each."""
        if not len(columns):
            return Entries(columns, counts)
        X = sparse.csr_matrix(
            (counts.astype(counted.dtype), columns, np.arange(len(columns) + 1)),
            shape=(len(columns), counted.n_columns),
        )
        Z, kept, moved = self._transform(X, np.asarray(columns))
        if not sparse.issparse(Z):
            raise NoFormula
        values = np.zeros(len(columns))
        row_of = np.repeat(np.arange(len(columns)), np.diff(Z.indptr))
        own = Z.indices == moved[row_of]
        np.add.at(values, row_of[own], Z.data[own])
        if not own.all():  # a step has filled other columns: zero is not zero any more
            raise NoFormula
        return Entries(moved, np.where(kept, values, 0.0))

    def active(self, row: Row) -> Active:
        """Return the row's active features as the classifier sees them."""
        if not self.transformers:
            everything = np.ones(len(row.columns), dtype=bool)
            return Active(row.columns, _in_double(row.values), everything, row.values.dtype)
        X, kept, columns = self._transform(row.kind.of(row.whole()), row.columns)
        if not sparse.issparse(X):
            X = np.asarray(X)
            return Active(columns, _in_double(X[0, columns]), kept, X.dtype)
        stored = _nonzeros(X, 0)
        return Active(columns, _lookup(stored, columns), kept & np.isin(columns, stored[0]), X.dtype)

    def absent(self, row: Row) -> FloatArray:
        """Return the values of inactive features as the classifier sees them: one for all or for each."""
        if not self.transformers:
            return np.zeros(1)
        nothing = row.kind.container((1, row.n_features), dtype=row.values.dtype)
        X, _, _ = self._transform(row.kind.of(nothing), row.columns)
        return np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64).ravel()

    def in_place(self, X: Any, kind: RowKind) -> Any:
        """Send rows through the transformers; return None unless each entry and each zero stays in place."""
        if not self.transformers:
            return X
        with without_name_warnings():
            Z, zero = kind.of(X), kind.of(type(X)((1, X.shape[1]), dtype=X.dtype))
            for transformer in self.transformers:
                Z, zero = transformer.transform(Z), transformer.transform(zero)
        if Z.shape != X.shape or (zero.count_nonzero() if sparse.issparse(zero) else np.any(zero)):
            return None
        if not sparse.issparse(Z):
            row_of = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
            values = storable_values(np.asarray(Z)[row_of, X.indices])
            return type(X)((values, X.indices, X.indptr), shape=X.shape)
        if Z.format != "csr":
            return None
        in_place = np.array_equal(Z.indptr, X.indptr) and np.array_equal(Z.indices, X.indices)
        return Z if in_place else None

    def _transform(self, X: Any, moving: Columns) -> tuple[Any, BoolArray, Columns]:
        kept = np.ones(len(moving), dtype=bool)
        with without_name_warnings():
            for transformer in self.transformers:
                try:
                    X = transformer.transform(X)
                except Exception as error:  # the model itself is asked, and reports it
                    raise NoFormula from error
                if isinstance(transformer, Taken):
                    positions = transformer.positions
                elif hasattr(transformer, "get_support"):
                    support = transformer.get_support()
                    positions = np.where(support, np.cumsum(support) - 1, -1)
                else:
                    continue
                kept &= positions[moving] >= 0
                moving = np.maximum(positions[moving], 0)
        return (X.to_numpy() if hasattr(X, "to_numpy") else X), kept, moving


def _side_by_side(steps: Preprocessing, points: list[Point]) -> Point:
    """Return the points of branches as one, each with columns of its own."""
    firsts = np.cumsum([0, *(branch.n_outputs for branch in steps.branches[:-1])])
    units = [np.zeros(0, dtype=np.intp) if p.bundle_of is None else p.bundle_of for p in points]
    return Point(
        np.concatenate([point.columns + first for point, first in zip(points, firsts, strict=True)]),
        np.concatenate([point.values for point in points]),
        np.concatenate([point.moving + first for point, first in zip(points, firsts, strict=True)]),
        np.concatenate([point.before for point in points]),
        np.concatenate([point.after for point in points]),
        np.result_type(*(point.dtype for point in points)),
        moves_apart=True,
        bundle_of=np.concatenate(units),
        n_bundles=points[0].n_bundles,
    )


def _sparse(counts: FloatArray, columns: Columns, counted: Counted) -> Any:
    """Return rows of counts in some columns, as a vectoriser returns them."""
    dense = sparse.csr_matrix(counts.astype(counted.dtype))
    dense.sort_indices()
    shape = (len(counts), counted.n_columns)
    return sparse.csr_matrix((dense.data, columns[dense.indices], dense.indptr), shape=shape)


def _in_double(values: npt.NDArray[Any]) -> FloatArray:
    """Return values in double precision, in which any of them can be squared and subtracted without loss."""
    return values.astype(np.float64, copy=False)


def _nonzeros(X: Any, number: int) -> tuple[Columns, FloatArray]:
    """Return the columns and values of the non-zero entries of one matrix row."""
    row = sparse.csr_array(X[[number]] if sparse.issparse(X) else storable_values(np.asarray(X)[[number]]))
    row.sum_duplicates()
    return row.indices, _in_double(row.data)


def _lookup(nonzeros: tuple[Columns, FloatArray], columns: Columns) -> FloatArray:
    """Return the values in these columns, zero where there is none."""
    known, values = nonzeros
    if not len(known):
        return np.zeros(len(columns))
    at = np.minimum(np.searchsorted(known, columns), len(known) - 1)
    return np.where(known[at] == columns, values[at], 0)
