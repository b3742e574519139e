import lightgbm as lgb
import numpy as np
import pytest

from butfor._files.lightgbm_text import require_lightgbm_text

rng = np.random.default_rng(0)
X = np.column_stack([rng.integers(0, 50, 300), rng.normal(size=(300, 3))])
LABELS = np.isin(X[:, 0], [1, 4, 9, 33, 48]) ^ (X[:, 1] > 0.5)
SETTINGS = {"num_threads": 1, "verbose": -1, "min_data_in_leaf": 5, "num_leaves": 8}


def text(labels=LABELS, objective="binary", categorical=(), **others):
    data = lgb.Dataset(X, labels, categorical_feature=list(categorical), feature_name=["ä", "b", "c=d", "e"])
    return lgb.train({**SETTINGS, "objective": objective, **others}, data, 3).model_to_string()


PLAIN = text()
CATEGORICAL = text(categorical=[0], max_cat_to_onehot=1, min_data_per_group=1, cat_smooth=1)


@pytest.mark.parametrize(
    "model",
    [
        PLAIN,
        CATEGORICAL,
        text(linear_tree=True),
        text(np.zeros(300)),
        text(rng.integers(0, 3, 300), "multiclass", num_class=3),
        text(boosting="rf", bagging_freq=1, bagging_fraction=0.5),
        text(monotone_constraints=[1, 0, 0, 0]),
        text(objective=lambda scores, data: (scores - data.get_label(), np.ones(300))),
    ],
    ids=["plain", "categorical", "linear", "constant", "multiclass", "rf", "monotone", "custom"],
)
def test_what_lightgbm_writes_is_in_order(model):
    require_lightgbm_text(model)


def changed(model, key, change):
    """Return a text in which the numbers of the first tree are others, in as many characters."""
    start = model.index(f"\n{key}=") + len(key) + 2
    end = model.index("\n", start)
    value = change(model[start:end])
    assert len(value) <= end - start
    return model[:start] + value.ljust(end - start) + model[end:]


@pytest.mark.parametrize(
    ("key", "change", "said"),
    [
        ("num_class", lambda _: "0", "num_class is 0"),
        ("num_class", lambda _: "2", "num_class and num_tree_per_iteration differ"),
        ("max_feature_idx", lambda _: "4", "feature_names has 4 entries, not 5"),
        ("left_child", lambda value: value.replace("1", "0", 1), "left_child and right_child make no tree"),
        ("left_child", lambda value: value.replace("1", "9", 1), "left_child and right_child make no tree"),
        ("split_feature", lambda value: "9" + value[1:], "split_feature names a column that is not there"),
        ("threshold", lambda value: value.partition(" ")[0], "threshold has 1 entries, not 7"),
        ("leaf_value", lambda value: "x" + value[1:], "does not begin a list of numbers"),
        ("leaf_value", lambda value: value.replace(" ", "\x0b", 1), "it is no plain text"),
        ("num_leaves", lambda _: "7", "has 7 entries, not 6"),
        ("cat_boundaries", lambda value: "1" + value[1:], "cat_boundaries do not grow"),
        ("cat_threshold", lambda value: value.partition(" ")[0], "cat_threshold has 1 entries"),
        ("num_cat", lambda _: "0", "a split refers to categories that are not there"),
        ("shrinkage", lambda _: "x", "could not convert string to float"),
    ],
)
def test_numbers_that_do_not_fit(key, change, said):
    damaged = changed(CATEGORICAL, key, change)
    with pytest.raises(ValueError, match=said):
        require_lightgbm_text(damaged)


def test_parts_that_are_missing():
    for part, said in (
        ("\ntree_sizes=", "tree_sizes is missing"),
        ("\nTree=1", "tree 1 is not where the header says"),
        ("\nend of trees", "the trees do not end with 'end of trees'"),
        ("\nend of parameters", "the list of parameters has no end"),
    ):
        with pytest.raises(ValueError, match=said):
            require_lightgbm_text(PLAIN.replace(part, "\nwhatever", 1))
    with pytest.raises(ValueError, match=r"'\[boosting gbdt\]' is no parameter"):
        require_lightgbm_text(PLAIN.replace("[boosting: gbdt]", "[boosting gbdt]"))
