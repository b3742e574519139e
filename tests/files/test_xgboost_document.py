import json

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb

from butfor._files.xgboost_document import require_xgboost_document

rng = np.random.default_rng(0)
FRAME = pd.DataFrame({"a": pd.Categorical(rng.integers(0, 16, 200)), "b": rng.normal(size=200)})
LABELS = FRAME["a"].isin([1, 4, 7]).to_numpy() ^ (FRAME["b"] > 0.5).to_numpy()
THREE = {"objective": "multi:softprob", "num_class": 3}


def booster(labels=LABELS, **settings):
    settings = {"objective": "binary:logistic", "nthread": 1, "max_depth": 3, **settings}
    return xgb.train(settings, xgb.DMatrix(FRAME, labels, enable_categorical=True), 3)


@pytest.mark.parametrize("form", ["json", "ubj"])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"booster": "dart", "rate_drop": 0.5},
        {"num_parallel_tree": 2, "subsample": 0.5},
        {"tree_method": "approx", "gamma": 2.5},
        {"labels": rng.integers(0, 3, 200), **THREE},
    ],
    ids=["plain", "dart", "forest", "pruned", "multi"],
)
def test_what_xgboost_writes_is_in_order(settings, form):
    require_xgboost_document(bytes(booster(**settings).save_raw(form)))


@pytest.mark.parametrize("settings", [{"booster": "gblinear"}, {"multi_strategy": "multi_output_tree"}])
def test_models_without_trees_or_with_vectors_are_in_order(settings):
    data = xgb.DMatrix(FRAME[["b"]], rng.integers(0, 3, 200))
    model = xgb.train({"nthread": 1, **THREE, **settings}, data, 2)
    require_xgboost_document(bytes(model.save_raw("ubj")))


DOCUMENT = bytes(booster().save_raw("json"))


@pytest.mark.parametrize(
    ("place", "value", "said"),
    [
        (("left_children", 0), 99, "left_children and right_children make no tree"),
        (("left_children", 0), 2, "left_children and right_children make no tree"),
        (("right_children", -1), 0, "right_children of leaves are wrong"),
        (("parents", 1), 5, "parents contradict the children"),
        (("split_indices", 0), 2, "split_indices name a column that is not there"),
        (("split_conditions",), [], "split_conditions says 0"),
        (("tree_param", "num_nodes"), "-3", "num_nodes is -3"),
        (("tree_param", "size_leaf_vector"), "-1", "size_leaf_vector -1"),
        (("id",), 7, "the trees are not numbered from 0 on"),
        (("categories_segments", 0), 10**6, "categories_segments do not fit the categories"),
        (("categories_nodes", 0), -1, "categories_nodes are not the nodes"),
        (("base_weights",), None, "TypeError"),
    ],
)
def test_numbers_that_do_not_fit(place, value, said):
    document = json.loads(DOCUMENT)
    part = document["learner"]["gradient_booster"]["model"]["trees"][0]
    for key in place[:-1]:
        part = part[key]
    part[place[-1]] = value
    with pytest.raises(ValueError, match=said):
        require_xgboost_document(json.dumps(document).encode())


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"num_trees":"3"', '"num_trees":"9"', "num_trees says 9, not 3"),
        ('"tree_info":[0,0,0]', '"tree_info":[0,0,1]', "tree_info names an output"),
        ('"iteration_indptr":[0,1,2,3]', '"iteration_indptr":[0,1,2,9]', "iteration_indptr does not fit"),
        ('"feature_names":["a","b"]', '"feature_names":["a"]', "feature_names are not as many"),
        ('"learner"', '"teacher"', "KeyError: 'learner'"),
        ("}", "", "Expecting"),
    ],
)
def test_parts_that_do_not_fit(old, new, said):
    assert old.encode() in DOCUMENT
    with pytest.raises(ValueError, match=said):
        require_xgboost_document(DOCUMENT.replace(old.encode(), new.encode()))
