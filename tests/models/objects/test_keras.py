"""Keras: models on rows, judged by brute force over what they return."""

import os

import numpy as np
import pytest
from brute_force import minimum

from butfor import Explainer, InputError

pytestmark = [pytest.mark.xdist_group("objects"), pytest.mark.filterwarnings("ignore")]
pytest.importorskip("torch")
os.environ.setdefault("KERAS_BACKEND", "torch")
keras = pytest.importorskip("keras")
layers = keras.layers
N = 9
MODELS = {
    "one score": (
        lambda: [layers.Dense(6, activation="tanh"), layers.Dense(1, activation="sigmoid")],
        0.5,
        True,
    ),
    "logits": (lambda: [layers.Dense(6), layers.ReLU(), layers.Dropout(0.5), layers.Dense(2)], None, True),
    "probabilities": (
        lambda: [layers.Dense(5, activation="relu", use_bias=False), layers.Dense(3, activation="softmax")],
        None,
        True,
    ),
    "swish": (lambda: [layers.Dense(5, activation="swish"), layers.Dense(2)], None, False),
}


@pytest.mark.parametrize("name", MODELS)
def test_answers_are_smallest(name):
    make, threshold, is_read = MODELS[name]
    keras.utils.set_random_seed(1)
    model = keras.Sequential([layers.Input((N,)), *make()])
    model.set_weights([2 * numbers for numbers in model.get_weights()])
    explainer = Explainer(model, threshold=threshold)

    def decide(rows):
        out = model.predict(np.asarray(rows), verbose=0)
        return (out[:, 0] >= threshold).astype(int) if threshold else out.argmax(axis=1)

    for row in (np.random.default_rng(0).random((4, N)) < 0.7).astype(float):
        why = explainer.explain(row)
        active = np.flatnonzero(row)

        def flips(sets, row=row, active=active):
            rows = [np.where(np.isin(np.arange(N), active[list(units)]), 0, row) for units in sets]
            return decide(rows) != decide([row])[0]

        least, _ = minimum(flips, len(active))
        assert (why.size or None) == least
        assert why.local_model == ("neural network" if is_read else "black box")
        assert why.proven_minimum or not why


def test_other_shapes_are_refused():
    model = keras.Sequential([layers.Input((4, 3)), layers.Flatten(), layers.Dense(2)])
    with pytest.raises(
        InputError, match=r"model must take rows and return a score for each class, got a model"
    ):
        Explainer(model)
