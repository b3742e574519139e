"""More than two classes: one number that tells whether the decision stands."""

from dataclasses import dataclass

import numpy as np

from butfor.models.base import FloatArray, IntArray


@dataclass(frozen=True)
class Lead:
    """How far a class is ahead of the best other one; with a target, how far that is behind the best other.

    Below zero the decision has flipped: to any other class, or to the target.
    """

    own: int
    target: int | None = None

    def of(self, outputs: FloatArray) -> FloatArray:
        """Give the lead for the outputs of all classes, one point a line.

        >>> outputs = np.array([[0.5, 0.3, 0.2]])
        >>> Lead(own=0).of(outputs).round(2), Lead(own=0, target=2).of(outputs).round(2)
        (array([0.2]), array([0.3]))
        """
        which = self.own if self.target is None else self.target
        ahead = outputs[:, which] - np.delete(outputs, which, axis=1).max(axis=1)
        return np.asarray(ahead if self.target is None else -ahead)

    def turned(self, outputs: FloatArray, classes: IntArray) -> FloatArray:
        """Return the lead, moved where it must be so that it is below zero exactly where the decision flips.

        Of equal classes the model decides for one, which `classes` tells.
        """
        lead = self.of(outputs)
        flipped = classes != self.own if self.target is None else classes == self.target
        lead[flipped & (lead >= 0)] = -np.finfo(np.float64).smallest_subnormal
        lead[~flipped & (lead < 0)] = 0.0
        return lead

    def differences(self, n_classes: int) -> FloatArray:
        """Give what to weigh the outputs with for each rival (rivals × classes).

        Each is a difference of two classes. The decision flips to any other class where one of them is below
        zero, and to the target where all of them are.
        """
        which = self.own if self.target is None else self.target
        differences = np.zeros((n_classes, n_classes))
        differences[:, which] = 1.0
        differences[np.arange(n_classes), np.arange(n_classes)] -= 1.0
        return np.delete(differences if self.target is None else -differences, which, axis=0)
