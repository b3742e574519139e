"""A model that raises, hangs or kills its process over marked rows; quick to import, as every worker does."""

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

RAISES, HANGS, KILLS = 7.0, 8.0, 9.0
"""What the model does where the first column of a row holds one of these."""


@dataclass
class MisbehavingModel:
    """Sums rows up, except for those with a mark."""

    flag: Path
    """A file that it makes before it hangs."""
    is_killed_once: bool = False
    """Whether its process is killed at the first call, as if by somebody else."""

    def __call__(self, X):
        marks = X.toarray()[:, 0]
        if self.is_killed_once and not self.flag.exists():
            self.flag.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        if KILLS in marks:
            os.kill(os.getpid(), signal.SIGKILL)
        if HANGS in marks:
            self.flag.touch()
            time.sleep(600)
        if RAISES in marks:
            raise ValueError("a row that it does not like")
        return np.asarray(X.sum(axis=1)).ravel()

    def wait_until_it_hangs(self):
        while not self.flag.exists():
            time.sleep(0.01)
