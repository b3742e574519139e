"""Checks of LightGBM's model files.

LightGBM believes what such a file says: of one that is cut short or mixed up, it reads beyond the end and
takes the process down. So the numbers and their counts are checked before it gets the text.
"""

import re
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

Fields = Mapping[str, str]
HEADER = (
    "num_class",
    "num_tree_per_iteration",
    "label_index",
    "max_feature_idx",
    "feature_names",
    "tree_sizes",
)
OF_SPLITS = ("split_feature", "threshold", "decision_type", "left_child", "right_child")
OF_LEAVES = ("leaf_value",)
MORE_OF_SPLITS = ("split_gain", "internal_value", "internal_weight", "internal_count")
MORE_OF_LEAVES = ("leaf_weight", "leaf_count", "leaf_const", "num_features")
CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f]")
PARAMETER = re.compile(r"\[\w+: .*\]")
END_OF_TREES = b"end of trees"


def require_lightgbm_text(text: str) -> None:
    """Raise `ValueError` unless a text has the form of a model that LightGBM has written."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)  # of older numpy, where it meets no number
        _check(text)


def _check(text: str) -> None:
    if CONTROL.search(text):
        raise ValueError("it is no plain text")
    head = text.partition("\nTree=")[0]
    header = _fields(head)
    _require_keys(header, HEADER)
    _check_header(header)
    sizes = _numbers(header["tree_sizes"], np.int64)
    if len(sizes) % int(header["num_tree_per_iteration"]):
        raise ValueError(f"{len(sizes):,} trees are no whole number of iterations")
    for tree in _trees(text.encode(), len(head.encode()), sizes.tolist()):
        _check_tree(tree, int(header["max_feature_idx"]) + 1)
    _check_parameters(text)


def _check_header(header: Fields) -> None:
    for key in ("num_class", "num_tree_per_iteration", "max_feature_idx"):
        if int(header[key]) < (0 if key == "max_feature_idx" else 1):
            raise ValueError(f"{key} is {header[key]}")
    int(header["label_index"])
    n_classes, objective = int(header["num_class"]), header.get("objective", "")
    if int(header["num_tree_per_iteration"]) != n_classes:
        raise ValueError("num_class and num_tree_per_iteration differ")
    for word in objective.split(" "):
        if word.startswith("num_class:") and int(word.removeprefix("num_class:")) != n_classes:
            raise ValueError("num_class and objective differ")
    for key in ("feature_names", "feature_infos", "monotone_constraints"):
        if key in header:
            _require_count(key, len(header[key].split(" ")), int(header["max_feature_idx"]) + 1)


def _trees(content: bytes, start: int, sizes: list[int]) -> Iterator[Fields]:
    """Yield the fields of each tree; each must begin and end where the header says."""
    while content[start : start + 1] == b"\n":
        start += 1
    for number, size in enumerate(sizes):
        tree = content[start : start + max(0, size)].decode()
        if not tree.startswith(f"Tree={number}\n") or not tree.endswith("\n\n"):
            raise ValueError(f"tree {number:,} is not where the header says")
        yield _fields(tree.strip("\n"))
        start += size
    if not content.startswith(END_OF_TREES, start):
        raise ValueError(f"the trees do not end with {END_OF_TREES.decode()!r}")


def _check_tree(tree: Fields, n_features: int) -> None:
    _require_keys(tree, ("num_leaves", "num_cat", "leaf_value", "shrinkage"))
    n_leaves, n_categorical = int(tree["num_leaves"]), int(tree["num_cat"])
    if n_leaves < 1 or n_categorical < 0:
        raise ValueError(f"num_leaves is {n_leaves} and num_cat {n_categorical}")
    float(tree["shrinkage"])
    if n_leaves > 1:
        _require_keys(tree, OF_SPLITS)
    for keys, count in ((OF_SPLITS + MORE_OF_SPLITS, n_leaves - 1), (OF_LEAVES + MORE_OF_LEAVES, n_leaves)):
        for key in keys:
            if key in tree and (tree[key] or n_leaves > 1):
                _require_count(key, len(_numbers(tree[key], np.float64)), count)
    if n_leaves > 1:
        _check_splits(tree, n_leaves, n_features)
        _check_categories(tree, n_categorical)
    if tree.get("is_linear", "0") != "0":
        _check_linear(tree, n_features)


def _check_splits(tree: Fields, n_leaves: int, n_features: int) -> None:
    features = _numbers(tree["split_feature"], np.int64)
    if features.min() < 0 or features.max() >= n_features:
        raise ValueError("split_feature names a column that is not there")
    children = np.concatenate([_numbers(tree[key], np.int64) for key in ("left_child", "right_child")])
    expected = np.concatenate([np.arange(-n_leaves, 0), np.arange(1, n_leaves - 1)])
    if not np.array_equal(np.sort(children), expected):
        raise ValueError("left_child and right_child make no tree")


def _check_categories(tree: Fields, n_categorical: int) -> None:
    """Check the sets of categories; splits refer to them by their number, which is their threshold."""
    if n_categorical:
        _require_keys(tree, ("cat_boundaries", "cat_threshold"))
        bounds = _numbers(tree["cat_boundaries"], np.int64)
        _require_count("cat_boundaries", len(bounds), n_categorical + 1)
        if bounds[0] != 0 or (np.diff(bounds) < 0).any():
            raise ValueError("cat_boundaries do not grow")
        _require_count("cat_threshold", len(_numbers(tree["cat_threshold"], np.int64)), int(bounds[-1]))
    by_category = _numbers(tree["decision_type"], np.int64) & 1 == 1
    sets = _numbers(tree["threshold"], np.float64)[by_category]
    if not ((sets >= 0) & (sets < n_categorical)).all():
        raise ValueError("a split refers to categories that are not there")


def _check_linear(tree: Fields, n_features: int) -> None:
    _require_keys(tree, ("leaf_const", "num_features", "leaf_features", "leaf_coeff"))
    total = int(_numbers(tree["num_features"], np.int64).sum())
    features = _numbers(tree["leaf_features"], np.int64)
    _require_count("leaf_features", len(features), total)
    _require_count("leaf_coeff", len(_numbers(tree["leaf_coeff"], np.float64)), total)
    if total and not 0 <= features.min() <= features.max() < n_features:
        raise ValueError("leaf_features names a column that is not there")


def _check_parameters(text: str) -> None:
    """Check the list of training parameters, which may be missing."""
    _, begin, rest = text.partition("\nparameters:")
    listed, end, _ = rest.partition("\nend of parameters\n")
    if begin and not end:
        raise ValueError("the list of parameters has no end")
    for line in filter(None, listed.split("\n")):
        if not PARAMETER.fullmatch(line):
            raise ValueError(f"{line[:40]!r} is no parameter")


def _fields(lines: str) -> Fields:
    return dict(line.partition("=")[::2] for line in lines.split("\n"))


def _numbers(text: str, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    try:
        return np.fromstring(text.strip(" "), dtype, sep=" ")
    except (ValueError, DeprecationWarning) as error:
        raise ValueError(f"{text[:20]!r} does not begin a list of numbers") from error


def _require_keys(fields: Fields, keys: tuple[str, ...]) -> None:
    for key in keys:
        if key not in fields:
            raise ValueError(f"{key} is missing")


def _require_count(key: str, count: int, expected: int) -> None:
    if count != expected:
        raise ValueError(f"{key} has {count:,} entries, not {expected:,}")
