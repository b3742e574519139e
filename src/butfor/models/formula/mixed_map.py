"""Affine functions of rows that are divided by their norms, and of texts of which words are cut."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from butfor.models.arrays import BoolArray, FloatArray, IntArray
from butfor.models.counted import Conditions, Counted, CountedText, NoFormula
from butfor.models.formula.affine import (
    AffineMap,
    LinearMap,
    LocalAffine,
    SquaredDistances,
    precision_at,
)
from butfor.models.formula.preprocessing import Columns, Entries, Point, Preprocessing
from butfor.models.formula.ratios import Ratios, Tables, of_norm
from butfor.models.formula.trees.growing import words_for
from butfor.models.formula.trees.local_leaves import LocalLeaves
from butfor.models.row import Row

MOST_IN_ORDER = 500
"""So many units at most are put in the order of their largest values."""
MOST_WORDS = 8_000_000
"""So large are leaves at most, in words of 64 units: some 100,000 pairs of a text of 5,000 distinct words."""
SMALLEST = 1e-12
"""Values below this are so small that scikit-learn may not divide by their norm."""


@dataclass(frozen=True, eq=False)
class MixedMap:
    """Sums of affine functions of one or several rows, each divided by its norm or not, + bias."""

    members: tuple[LinearMap, ...]
    """For each branch the functions of its row before the division, without a bias."""
    norms: tuple[str | None, ...]
    """The norm of each branch."""
    bias: FloatArray
    filled: FloatArray
    """Branches × functions: what a branch adds besides, unless all its values are zero."""

    def at(self, row: Row | CountedText) -> LocalAffine:
        """Evaluate them at one row, as functions of the removal set."""
        pairs = zip(self.members, self.norms, strict=True)
        branches = [_at_row(*each, row) if isinstance(row, Row) else _at_text(*each, row) for each in pairs]
        n, normed = len(self.bias), [norm is not None for norm in self.norms]
        first_norm, n_raw = len(branches) * n, len(branches) * n + sum(normed)
        n_units = row.n_bundles if isinstance(row, Row) else row.n_units
        now, floor, drops = (np.zeros((shape, n_raw)) for shape in (1, 1, n_units))
        values = [np.zeros((len(branch.at_leaves), n_raw)) for branch in branches]
        for number, branch in enumerate(branches):
            places = [*range(number * n, (number + 1) * n)]
            if normed[number]:
                places.append(first_norm + sum(normed[:number]))
            now[:, places], floor[:, places], drops[:, places] = branch.now, branch.floor, branch.drops
            values[number][:, places] = branch.at_leaves
        ratios = Ratios(
            self.norms,
            self.bias,
            self.filled,
            np.stack([branch.sizes for branch in branches]),
            _tables_side_by_side([branch.tables for branch in branches]),
        )
        is_normal = all(branch.smallest >= SMALLEST for branch in branches)
        return LocalAffine(
            now=now[0] if is_normal else np.full_like(now[0], np.nan),
            own=drops,
            size=ratios.size,
            precision=4 * max(branch.precision for branch in branches),
            leaves=_leaves([branch.conditions for branch in branches], values, n_units),
            ratios=ratios,
            floor=floor[0],
            cut=None if isinstance(row, Row) else Cut(self, row),
        )

    def rescaled(self, scale: float, shift: float) -> "MixedMap":
        """Return scale · function + shift."""
        return replace(
            self,
            members=tuple(member.rescaled(scale, 0.0) for member in self.members),
            bias=scale * self.bias + shift,
            filled=scale * self.filled,
        )

    def grain(self, row: Row | CountedText) -> float:
        """Return zero: quotients are rounded."""
        return 0.0


@dataclass(frozen=True, eq=False)
class Cut:
    """Sets of which the text itself must be read: so many words in a row that the counts say nothing."""

    mixed_map: MixedMap
    row: CountedText

    @property
    def window(self) -> int | None:
        """Up to how many units a set may remove in any case; None: there is no limit."""
        return self.row.window

    def beyond(self, removed: BoolArray) -> BoolArray:
        """Return which removal sets these are."""
        return self.row.beyond(removed)

    def beyond_with_each(self, removed: BoolArray) -> BoolArray:
        """Return the same for one removal set together with each further unit."""
        return self.row.beyond_with_each(removed)

    def functions(self, removed: BoolArray) -> FloatArray:
        """Return the functions for removal sets, from what the vectorisers count in the cut texts."""
        mixed_map, parts, norms = self.mixed_map, [], []
        for member, norm in zip(mixed_map.members, mixed_map.norms, strict=True):
            X = sparse.csr_array(member.steps.transformed(self.row.recounted(member.steps.source, removed)))
            part = X @ member.weights
            parts.append(part.toarray() if sparse.issparse(part) else part)
            if norm is not None:
                X.data = of_norm(norm, X.data)
                norms.append(X.sum(axis=1).reshape(-1, 1))
        nothing = np.zeros_like(mixed_map.filled)
        ratios = Ratios(mixed_map.norms, mixed_map.bias, mixed_map.filled, sizes=nothing)
        return ratios.value(np.concatenate([*parts, *norms], axis=1))


def linear_map(weights: Any, bias: FloatArray, steps: Preprocessing, strength: Any = None) -> AffineMap:
    """Return the functions x · weights + bias of what the steps make of a row."""
    if steps.keeps_features_apart and not steps.reads_texts:
        return LinearMap(weights, bias, steps, strength)
    members, norms, bias = [], [], np.asarray(bias, dtype=np.float64)
    sizes = abs(weights) if strength is None else strength
    dtype = _coarsest(weights.dtype, steps)
    for branch, own, added, own_sizes in _pulled(weights, sizes, steps):
        bias = bias + added
        members.append(LinearMap(own, np.zeros(len(bias)), branch.feature_by_feature, own_sizes, dtype))
        norms.append(branch.norm)
    if norms == [None] and not steps.reads_texts:
        return replace(members[0], bias=bias)
    return MixedMap(tuple(members), tuple(norms), bias, np.zeros((len(norms), len(bias))))


def distances(
    vectors: Any, gamma: float, squared_norms: FloatArray, steps: Preprocessing
) -> AffineMap | None:
    """Return −γ · |x − s|² for each vector s, of what the steps make of a row; None if it is no such sum.

    The square of a row that was divided by its l2 norm is one, unless the row is empty.
    """
    if steps.keeps_features_apart or (steps.has_points and steps.reads_texts):
        return SquaredDistances(vectors, gamma, squared_norms, steps)
    branches = steps.branches or (steps,)
    if steps.operators or any(each.norm != "l2" or each.operators for each in branches):
        return None
    products = linear_map(2 * gamma * vectors, -gamma * squared_norms, steps)
    assert isinstance(products, MixedMap)
    return replace(products, filled=np.full((len(branches), len(squared_norms)), -gamma))


def _coarsest(dtype: Any, steps: Preprocessing) -> np.dtype[Any]:
    """Return the least precise dtype of some weights and of the affine functions before them."""
    known = [np.dtype(dtype), *(operator.dtype for operator in steps.operators)]
    known += [_coarsest(dtype, branch) for branch in steps.branches]
    return min(known, key=lambda each: each.itemsize)


def _pulled(
    weights: Any, sizes: Any, steps: Preprocessing
) -> Iterator[tuple[Preprocessing, Any, FloatArray, Any]]:
    """Yield each branch, with weights of its columns, what they add to the bias, and sizes of the terms."""
    bias = np.zeros(weights.shape[1])
    for operator in reversed(steps.operators):
        weights, added = operator.pulled(weights)
        bias, sizes = bias + added, operator.pulled_sizes(sizes)
    if not steps.branches:
        yield steps, weights, bias, sizes
        return
    first = 0
    for number, branch in enumerate(steps.branches):
        own = slice(first, first + branch.n_outputs)
        first += branch.n_outputs
        for inner, inner_weights, added, inner_sizes in _pulled(weights[own], sizes[own], branch):
            yield inner, inner_weights, added + (bias if number == 0 else 0.0), inner_sizes


class LocalBranch(NamedTuple):
    """The raw functions of one branch at a row: parts, then the norm if there is one, then counts."""

    now: FloatArray
    floor: FloatArray
    drops: FloatArray
    at_leaves: FloatArray
    """Leaves × functions."""
    conditions: Conditions
    tables: Tables
    columns: Columns
    """The columns that may have a value."""
    sizes: FloatArray
    """Bounds on the absolute terms of the parts, behind the norm."""
    smallest: float
    """The least absolute value."""
    precision: float


def _at_row(member: LinearMap, norm: str | None, row: Row | CountedText) -> LocalBranch:
    point = member.steps.point(row)
    local, left = member.at_point(point), _left_over(point)
    now, floor, drops = local.now, member.value_of(left), local.drops
    conditions, at_leaves = Conditions((), np.zeros(0, dtype=np.intp)), np.zeros((0, 1))
    if norm == "max":
        now, floor = np.append(now, 0.0), np.append(floor, 0.0)
        drops = np.column_stack([drops, np.zeros(len(drops))])
        conditions, at_leaves = _largest(point, left)
    elif norm is not None:
        now = np.append(now, of_norm(norm, point.values).sum())
        floor = np.append(floor, of_norm(norm, left.values).sum())
        changes = of_norm(norm, point.before) - of_norm(norm, point.after)
        drops = np.column_stack([drops, point.by_bundle(changes)])
    columns = np.union1d(point.columns, point.moving)
    return LocalBranch(
        now,
        floor,
        drops,
        np.hstack([np.zeros((len(at_leaves), len(now) - 1)), at_leaves]),
        conditions,
        _no_tables(len(local.now), len(drops)),
        columns,
        local.size if norm is None else _sizes(member, columns, norm),
        1.0 if norm is None else float(np.abs(point.values).min(initial=1.0)),
        # Behind a norm the model has values that are rounded once more.
        local.precision if norm is None else max(local.precision, precision_at(point, point.dtype)),
    )


def _largest(point: Point, left: Entries) -> tuple[Conditions, FloatArray]:
    """Return the largest absolute value of a row as a tree: that of the first unit, by size, that is left."""
    if point.after.any():
        raise NoFormula
    largest, bundle_of = np.zeros(point.n_bundles), point.bundle_of
    np.maximum.at(largest, np.arange(len(largest)) if bundle_of is None else bundle_of, np.abs(point.before))
    least = float(np.abs(left.values).max(initial=0.0))
    order = np.argsort(-largest, kind="stable")
    order = order[largest[order] > least]
    if len(order) > MOST_IN_ORDER:
        raise NoFormula
    removed = [(int(unit), True) for unit in order]
    literals = [(*removed[:at], (int(unit), False)) for at, unit in enumerate(order)]
    values = np.append(largest[order], least)
    return Conditions((*literals, tuple(removed)), np.zeros(len(values), dtype=np.intp)), values[
        :, np.newaxis
    ]


def _at_text(member: LinearMap, norm: str | None, row: CountedText) -> LocalBranch:
    """Evaluate a branch at a text: columns of one unit as in a row, then those of leaves, then the others."""
    counted = row.counted(member.steps.source)
    whole = _at_row(member, norm, row)
    if not len(counted.conditions.tree) and not len(counted.several.columns):
        return whole
    if norm == "max":
        raise NoFormula
    entries = member.steps.values_of(counted, counted.at_leaves.columns, counted.at_leaves.counts)
    on_leaves = sparse.csr_array(
        (entries.values, (counted.at_leaves.leaves, np.arange(len(entries.values)))),
        shape=(len(counted.conditions.tree), len(entries.values)),
    )
    at_leaves = on_leaves @ member.weights_of(entries.columns)
    if norm is not None:
        on_leaves.data = of_norm(norm, on_leaves.data)
        at_leaves = np.column_stack([at_leaves, on_leaves.sum(axis=1)])
    several, numbers = counted.several, _numbers(member, counted)
    weights = member.weights_of(numbers.columns)
    # What is a multiple of the count goes into the parts; tables are left for the norm and for all others.
    straight = np.zeros((len(weights), len(whole.now)))
    straight[:, : weights.shape[1]] = numbers.slopes[:, np.newaxis] * weights
    has_table = np.flatnonzero((numbers.slopes == 0) | (norm is not None))
    tables = Tables(
        np.zeros(len(has_table), dtype=np.intp),
        several.now[has_table],
        several.low[has_table],
        several.high[has_table],
        numbers.numbers[has_table],
        np.where(numbers.slopes[has_table, np.newaxis] == 0, weights[has_table], 0.0),
        several.changes[:, has_table],
        several.at_leaves[:, has_table],
    )
    here = tables.number(np.arange(len(tables)), tables.now)
    constant = np.zeros(len(whole.now))
    constant[: weights.shape[1]] = here @ tables.weights
    if norm is not None:
        constant[-1] = of_norm(norm, here).sum()
    changes = several.changes @ straight
    on_none = several.now @ straight  # with what leaves add to the whole text, which they add themselves
    on_none -= several.at_leaves[_reached_by_none(counted.conditions)].sum(axis=0) @ straight
    columns = np.unique(np.concatenate([whole.columns, entries.columns, numbers.columns]))
    n_more = len(entries.columns) + len(numbers.columns)
    values = np.concatenate([entries.values, numbers.numbers.ravel()])
    if norm is None:
        strength = np.abs(entries.values) @ abs(member.weights_of(entries.columns))
        sizes = whole.sizes + strength + np.abs(numbers.numbers).max(axis=1, initial=0.0) @ abs(weights)
    else:
        sizes = _sizes(member, columns, norm)
    return LocalBranch(
        whole.now + on_none + constant,
        whole.floor + on_none - changes.sum(axis=0) + constant,
        whole.drops + changes,
        at_leaves + several.at_leaves @ straight,
        counted.conditions,
        tables,
        columns,
        sizes,
        min(whole.smallest, float(np.abs(values[values != 0]).min(initial=1.0))),
        whole.precision * (1 + n_more / (16 + len(counted.single.columns))),
    )


def _reached_by_none(conditions: Conditions) -> IntArray:
    """Return the leaves that the whole text reaches."""
    reached = [not any(must for _, must in literals) for literals in conditions.literals]
    return np.flatnonzero(reached)


class Numbers(NamedTuple):
    """What the steps make of the counts of columns that are counted in several places."""

    columns: Columns
    numbers: FloatArray
    """Columns × counts, from the least one on; the last number is repeated."""
    slopes: FloatArray
    """What one more adds, where that is always the same; otherwise zero."""


def _numbers(member: LinearMap, counted: Counted) -> Numbers:
    several = counted.several
    n_counts = (several.high - several.low).astype(np.intp) + 1
    steps = np.arange(n_counts.max(initial=1))
    counts = np.minimum(several.low[:, np.newaxis] + steps, several.high[:, np.newaxis])
    real = counts != 0
    columns = np.broadcast_to(several.columns[:, np.newaxis], counts.shape)
    entries = member.steps.values_of(counted, columns[real], counts[real])
    numbers = np.zeros(counts.shape)
    numbers[real] = entries.values
    moved = np.zeros(len(several.columns), dtype=np.intp)
    moved[np.nonzero(real)[0]] = entries.columns
    with np.errstate(divide="ignore", invalid="ignore"):
        slopes = np.where(real, numbers / counts, np.nan)
    first = np.nanmax(slopes, axis=1, initial=-np.inf)
    is_straight = np.all(
        np.isnan(slopes) | (np.abs(slopes - first[:, np.newaxis]) <= 1e-14 * np.abs(slopes)), axis=1
    )
    return Numbers(moved, numbers, np.where(is_straight & np.isfinite(first), first, 0.0))


def _left_over(point: Point) -> Entries:
    """Return what is left of a row once all removable features are removed."""
    moves = (point.before != 0) | (point.after != 0)  # a dropped feature has the column of another
    stays = ~np.isin(point.columns, point.moving[moves])
    return Entries(
        np.concatenate([point.columns[stays], point.moving]),
        np.concatenate([point.values[stays], point.after]),
    )


def _sizes(member: LinearMap, columns: Columns, norm: str) -> FloatArray:
    """Bound the sums of the absolute terms behind the norm: by Cauchy and Schwarz, for l2."""
    terms = abs((member.weights if member.strength is None else member.strength)[columns])
    terms = terms.toarray() if sparse.issparse(terms) else np.asarray(terms)
    if norm == "l1":
        return np.asarray(terms.max(axis=0, initial=0.0))
    if norm == "max":
        return np.asarray(terms.sum(axis=0, dtype=np.float64))
    return np.asarray(np.sqrt((terms.astype(np.float64) ** 2).sum(axis=0)))


def _no_tables(n: int, n_units: int) -> Tables:
    nothing = np.zeros(0)
    empty = sparse.csr_array((n_units, 0)), sparse.csr_array((0, 0))
    return Tables(
        np.zeros(0, dtype=np.intp), nothing, nothing, nothing, np.zeros((0, 1)), np.zeros((0, n)), *empty
    )


def _tables_side_by_side(members: Sequence[Tables]) -> Tables | None:
    """Join the tables of branches, each with its own leaves; None where there are none."""
    if not any(len(member) for member in members):
        return None
    width = max(member.numbers.shape[1] for member in members)
    padded = [np.pad(each.numbers, ((0, 0), (0, width - each.numbers.shape[1])), "edge") for each in members]
    return Tables(
        np.repeat(np.arange(len(members)), [len(member) for member in members]),
        np.concatenate([member.now for member in members]),
        np.concatenate([member.low for member in members]),
        np.concatenate([member.high for member in members]),
        np.concatenate(padded),
        np.concatenate([member.weights for member in members]),
        sparse.hstack([member.changes for member in members], format="csr"),
        sparse.block_diag([member.at_leaves for member in members], format="csr"),
    )


def _leaves(conditions: Sequence[Conditions], values: list[FloatArray], n_units: int) -> LocalLeaves | None:
    """Return the leaves of all branches, each with its own trees."""
    literals = [each for of_branch in conditions for each in of_branch.literals]
    if not literals:
        return None
    n_words = words_for(n_units)
    if len(literals) * n_words > MOST_WORDS:
        raise NoFormula
    leaf = np.repeat(np.arange(len(literals)), [len(each) for each in literals])
    units, is_must = (
        np.array([literal for each in literals for literal in each], dtype=np.int64).reshape(-1, 2).T
    )
    bits = np.uint64(1) << (units % 64).astype(np.uint64)
    must, care = (np.zeros((len(literals), n_words), dtype=np.uint64) for _ in range(2))
    np.bitwise_or.at(care, (leaf, units // 64), bits)
    np.bitwise_or.at(must, (leaf, units // 64), np.where(is_must != 0, bits, np.uint64(0)))
    trees: list[IntArray] = []
    n_trees = 0
    for of_branch in conditions:
        trees.append(of_branch.tree + n_trees)
        n_trees += int(of_branch.tree.max(initial=-1)) + 1
    return LocalLeaves(must, care, np.concatenate(values), np.concatenate(trees), n_units)
