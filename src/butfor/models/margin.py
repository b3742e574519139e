"""The margin: one number for more than two classes that tells whether the decision stands."""

from dataclasses import dataclass

import numpy as np

from butfor.models.arrays import FloatArray, IntArray


@dataclass(frozen=True)
class Margin:
    """How far the decided class is ahead of the best other one; with a target, how far the target is behind.

    The margin to a target is the score of the best other class minus the target's. In both cases the decision
    has flipped, to any other class or to the target, where the margin is below zero.
    """

    own: int
    """The index of the class that the model decides for."""
    target: int | None = None
    """The index of the class to which the decision must flip; None: to any other."""

    def of(self, outputs: FloatArray) -> FloatArray:
        """Return the margin for each point, from the outputs of all classes (points × classes).

        >>> outputs = np.array([[0.5, 0.3, 0.2]])
        >>> Margin(own=0).of(outputs).round(2), Margin(own=0, target=2).of(outputs).round(2)
        (array([0.2]), array([0.3]))
        """
        which = self.own if self.target is None else self.target
        ahead = outputs[:, which] - np.delete(outputs, which, axis=1).max(axis=1)
        return np.asarray(ahead if self.target is None else -ahead)

    def turned(self, outputs: FloatArray, classes: IntArray) -> FloatArray:
        """Return the margin, moved to the side of zero on which the model decides.

        It is then below zero exactly where the decision has flipped. Where classes are equal, `classes` tells
        for which of them the model decides.
        """
        margin = self.of(outputs)
        flipped = classes != self.own if self.target is None else classes == self.target
        margin[flipped & (margin >= 0)] = -np.finfo(np.float64).smallest_subnormal
        margin[~flipped & (margin < 0)] = 0.0
        return margin

    def differences(self, n_classes: int) -> FloatArray:
        """Return, for each rival class, the weights that make a difference of two classes of the outputs.

        The result is rivals × classes. The decision flips to any other class where one of the differences is
        below zero, and to the target where all of them are.
        """
        which = self.own if self.target is None else self.target
        differences = np.zeros((n_classes, n_classes))
        differences[:, which] = 1.0
        differences[np.arange(n_classes), np.arange(n_classes)] -= 1.0
        return np.delete(differences if self.target is None else -differences, which, axis=0)
