"""XGBoost's models are read as the functions that they are."""

import json
import warnings

import numpy as np
import pytest
import xgboost
from scipy import sparse
from tree_walk import (
    assert_sound,
    classes_of,
    probabilities_of,
    rows_on_thresholds,
    sparse_numbers,
    squared_error,
    walked_outputs,
    walked_probabilities,
)

from butfor.models.formula.families.xgboost import read_xgboost
from butfor.models.formula.preprocessing import Preprocessing

SMALL = {
    "n_estimators": 8,
    "max_depth": 4,
    "min_child_weight": 0.1,
    "n_jobs": 1,
    "random_state": 0,
    "verbosity": 0,
}
DART = {"booster": "dart", "rate_drop": 0.4, "skip_drop": 0.2}


def fit(X, y, model=xgboost.XGBClassifier, fit_options=None, **options):
    return model(**{**SMALL, **options}).fit(X, y, **(fit_options or {}))


def train(X, y, n_rounds=6, **options):
    options = {"max_depth": 4, "nthread": 1, "verbosity": 0, **options}
    return xgboost.train(options, xgboost.DMatrix(X, y, nthread=1), n_rounds)


def read(model, method="predict_proba"):
    return read_xgboost(model, method, Preprocessing())


def questions(network, X):
    """Return rows of every form: as fitted, dense, and on thresholds, stored and absent zeros apart."""
    at = rows_on_thresholds(network.affine_maps[0].trees, X)
    at = np.where(np.abs(at) < 1e30, at, 0.0)
    # A threshold is the last number that goes left; this is the one that XGBoost itself has.
    following = np.nextafter(at.astype(np.float32), np.float32(np.inf)).astype(np.float64)
    return X[:60], X[:60].toarray(), at, sparse.csr_matrix(at), np.where(at == 0, 0, following), -at


def assert_reads(model, X):
    """Compare what was read with the model itself, on all rows in question."""
    network = read(model)
    (tree_map,) = network.affine_maps
    assert network.kind == "tree ensemble"
    assert tree_map.absent_is_missing
    assert tree_map.precision == np.float32
    assert_sound(tree_map.trees)
    for rows in questions(network, X):
        outputs, margins = walked_outputs(network, rows), asked(model, rows, margin=True)
        np.testing.assert_allclose(outputs, margins.reshape(outputs.shape), rtol=2e-6, atol=3e-6)
        probabilities = probabilities_of(network, outputs)
        np.testing.assert_allclose(probabilities, asked(model, rows), rtol=2e-5, atol=1e-7)
    return network


def asked(model, rows, margin=False):
    """Return the model's own margins or probabilities."""
    if isinstance(model, xgboost.XGBClassifier):
        return model.predict(rows, output_margin=True) if margin else model.predict_proba(rows)
    answers = model.inplace_predict(rows, predict_type="margin" if margin else "value")
    return answers if margin or answers.ndim == 2 else np.column_stack([1 - answers, answers])


@pytest.mark.parametrize("kind", ["bits", "counts", "reals"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"tree_method": "exact"},
        {"tree_method": "exact", "gamma": 2.0},
        {"tree_method": "approx", "scale_pos_weight": 3.0},
        {"grow_policy": "lossguide", "max_depth": 0, "max_leaves": 9},
        {"num_parallel_tree": 3, "subsample": 0.7},
        {"base_score": 0.2},
        {"objective": "reg:logistic"},
        DART,
        {**DART, "num_parallel_tree": 2, "base_score": 0.7},
        {"model": xgboost.XGBRFClassifier},
    ],
    ids=lambda options: " ".join(map(str, options.values())) or "default",
)
def test_two_classes(kind, options):
    X = sparse_numbers(1, kind)
    assert_reads(fit(X, classes_of(X, 2), **options), X)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"objective": "multi:softmax"},
        {"base_score": 0.3},
        {"model": xgboost.XGBRFClassifier},
        {"num_parallel_tree": 2, **DART},
    ],
    ids=str,
)
def test_many_classes(options):
    X = sparse_numbers(3, "reals")
    network = assert_reads(fit(X, classes_of(X, 4, 4), **options), X)
    assert network.softmax
    assert len(network.affine_maps[0].bias) == 4


@pytest.mark.parametrize("kind", ["bits", "counts", "reals"])
def test_models_of_dense_rows(kind):
    X = sparse_numbers(5, kind)
    assert_reads(fit(X.toarray(), classes_of(X, 6)), X)


@pytest.mark.parametrize("missing", [0.0, 1.0, -1.0, 0.1])
def test_a_number_that_means_missing(missing):
    X = sparse_numbers(7, "counts")
    X.data[::5] = missing
    X.data[1::7] = -1.0
    network = assert_reads(fit(X, classes_of(X, 8), missing=missing), X)
    assert network.affine_maps[0].missing_value == np.float32(missing)
    without = read(fit(X, classes_of(X, 8)))
    assert np.isnan(without.affine_maps[0].missing_value)


def test_missing_values_go_where_the_model_sends_them():
    rng = np.random.default_rng(0)
    X = sparse_numbers(9, "reals")
    model = fit(X, classes_of(X, 10))
    rows = X[:80].toarray()
    rows[rng.random(rows.shape) < 0.4] = np.nan
    for form in (rows, sparse.csr_matrix(rows)):
        np.testing.assert_allclose(
            walked_probabilities(read(model), form), model.predict_proba(form), rtol=2e-5
        )


def test_forms_of_one_row_differ():
    X = sparse_numbers(11, "bits")
    network = read(fit(X, classes_of(X, 12)))
    walked = [walked_outputs(network, form) for form in (X[:60], X[:60].toarray())]
    assert np.abs(walked[0] - walked[1]).max() > 0.1


@pytest.mark.parametrize("options", [{}, {"max_cat_to_onehot": 1}, {"max_cat_to_onehot": 100}, DART])
def test_categories(options):
    X = sparse_numbers(13, "categories", n_rows=600)
    y = np.isin(X.toarray(), [0, 3, 5, 17, 33, 38]).sum(axis=1) % 2
    y = np.where(X.toarray()[:, 6] > 20, 1 - y, y)
    types = ["c", "c", "c", *["float"] * 5]
    for table in (X, X.toarray()):
        model = fit(table, y, feature_types=types, enable_categorical=True, **options)
        trees = assert_categories_read(model, X)
        assert 0 < (trees.categories.start >= 0).sum() < (trees.feature >= 0).sum()


def assert_categories_read(model, X):
    """Compare rows of categories, known and unknown, with the model."""
    network = read(model)
    assert_sound(network.affine_maps[0].trees)
    odd = np.array(
        [-7.0, -1.0, 0.5, 2.9, 2.99999999, 31.0, 32.0, 63.0, 64.0, 1000.0, 2.0**24, 2.0**31, np.nan]
    )
    strange = np.random.default_rng(0).choice(odd, (80, X.shape[1]))
    for rows in (X[:80], X[:80].toarray(), strange, sparse.csr_matrix(strange)):
        np.testing.assert_allclose(walked_probabilities(network, rows), model.predict_proba(rows), rtol=2e-5)
    return network.affine_maps[0].trees


@pytest.mark.parametrize("options", [{}, {"num_parallel_tree": 2}, DART], ids=str)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_best_iteration_ends_the_trees(options, n_classes):
    X = sparse_numbers(15, "reals")
    y = classes_of(X, 16, n_classes)
    held_out = {"eval_set": [(X[:80], y[:80])], "verbose": False}
    more = {"n_estimators": 40, "learning_rate": 0.9, "early_stopping_rounds": 3, **options}
    model = fit(X[80:], y[80:], fit_options=held_out, **more)
    assert model.best_iteration + 1 < model.get_booster().num_boosted_rounds()
    assert_reads(model, X)
    # A booster of its own predicts with all of its trees.
    n_trees = [len(read(each).affine_maps[0].trees.roots) for each in (model, model.get_booster())]
    assert n_trees[0] < n_trees[1]
    assert_reads(model.get_booster(), X)
    assert_reads(model.get_booster()[1:3], X)
    model.get_booster().best_iteration = 1000
    assert read(model) is None


@pytest.mark.parametrize("objective", ["binary:logistic", "reg:logistic", "multi:softprob"])
def test_boosters(objective, tmp_path):
    X = sparse_numbers(17, "reals")
    y = classes_of(X, 18, 3 if objective == "multi:softprob" else 2)
    more = {"num_class": 3} if objective == "multi:softprob" else {}
    booster = train(X, y, objective=objective, **more)
    assert_reads(booster, X)
    booster.save_model(tmp_path / "model.json")
    again = xgboost.XGBClassifier()
    again.load_model(tmp_path / "model.json")
    assert_reads(again, X)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("base_score", ["3E-1", "[3E-1]", "5E-1"])
def test_models_of_older_versions(base_score, n_classes, tmp_path):
    X = sparse_numbers(19, "counts")
    state = json.loads(fit(X, classes_of(X, 20, n_classes)).get_booster().save_raw("json"))
    state["learner"]["learner_model_param"]["base_score"] = base_score
    del state["learner"]["gradient_booster"]["model"]["cats"]
    state["version"] = [2, 1, 0]
    (tmp_path / "model.json").write_text(json.dumps(state))
    booster = xgboost.Booster(model_file=tmp_path / "model.json")
    assert_reads(booster, X)


def test_pruned_nodes_are_left_out():
    X = sparse_numbers(21, "reals")
    model = fit(X, classes_of(X, 22), tree_method="exact", gamma=2.0, max_depth=6)
    state = json.loads(model.get_booster().save_raw("json"))
    members = state["learner"]["gradient_booster"]["model"]["trees"]
    assert sum(int(member["tree_param"]["num_deleted"]) for member in members) > 0
    assert_reads(model, X)


@pytest.mark.parametrize("updater", ["refresh", "prune"])
def test_models_that_were_trained_again(updater):
    X = sparse_numbers(27, "reals")
    y = classes_of(X, 28)
    first = fit(X, y, fit_options={"base_margin": np.ones(len(y))})
    second = fit(X, 1 - y, fit_options={"xgb_model": first}, n_estimators=2)
    assert_reads(second, X)
    update = {"process_type": "update", "updater": updater, "gamma": 1.0, "objective": "binary:logistic"}
    table = xgboost.DMatrix(X, 1 - y, nthread=1)
    assert_reads(
        xgboost.train({"nthread": 1, "verbosity": 0, **update}, table, 4, xgb_model=first.get_booster()), X
    )


def test_trees_of_one_leaf():
    X = sparse_numbers(23, "reals")
    trees = assert_reads(fit(X, classes_of(X, 24), gamma=1e6), X).affine_maps[0].trees
    assert (trees.feature < 0).all()


X_REFUSED = sparse_numbers(25, "reals")
Y_REFUSED = classes_of(X_REFUSED, 26)
Y_MANY = classes_of(X_REFUSED, 26, 3)


@pytest.mark.parametrize(
    "options",
    [
        {"booster": "gblinear"},
        {"objective": "binary:logitraw"},
        {"objective": "binary:hinge"},
        {"objective": "reg:squarederror"},
        {"objective": squared_error},
        {"n_estimators": 0},
        {"base_score": 1e-9},
    ],
)
def test_refused(options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert read(fit(X_REFUSED, Y_REFUSED, **options)) is None


def test_refused_with_many_outputs():
    assert (
        read(fit(X_REFUSED.toarray(), Y_MANY, multi_strategy="multi_output_tree", tree_method="hist")) is None
    )
    both = np.column_stack([Y_REFUSED, Y_MANY > 0])
    assert read(fit(X_REFUSED.toarray(), both)) is None


@pytest.mark.parametrize(
    "objective", ["multi:softmax", "binary:logitraw", "binary:hinge", "reg:squarederror"]
)
def test_refused_boosters(objective):
    many = objective.startswith("multi")
    more = {"num_class": 3} if many else {}
    assert read(train(X_REFUSED, Y_MANY if many else Y_REFUSED, objective=objective, **more)) is None


def test_refused_with_two_outputs():
    assert read(train(X_REFUSED, Y_REFUSED, objective="multi:softprob", num_class=2)) is None


def test_refused_with_categories_of_a_frame():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": X_REFUSED.toarray()[:, 1], "b": Y_MANY})
    assert read(fit(frame.astype({"b": "category"}), Y_REFUSED, enable_categorical=True)) is None
    assert read(fit(frame, Y_REFUSED)) is not None


def test_refused_methods():
    model = fit(X_REFUSED, Y_REFUSED)
    assert read(model, "decision_function") is None
    assert read(model, "predict") is None
