import numpy as np

from butfor import Explainer
from butfor.rankings import removal_weights


def test_for_a_linear_model_the_weights_are_the_contributions():
    coefficients, row = np.array([2.0, -1.0, 0.5, 3.0]), np.array([1.0, 2.0, 0.0, -1.0])
    contributions = [2.0, -2.0, -3.0]
    positive = Explainer(lambda X: X @ coefficients, threshold=-10).local_model(row)
    np.testing.assert_allclose(removal_weights(positive), contributions)
    negative = Explainer(lambda X: X @ coefficients, threshold=10).local_model(row)
    np.testing.assert_allclose(removal_weights(negative), np.negative(contributions))
