"""What a worker is asked about the threads of its copy of a model; quick to import, as every worker does."""

import ctypes
from functools import partial

from butfor._processes.one_thread import limit_threads
from butfor._processes.sharing import shared


class Forum:
    """A model of a user, with a parameter that means something else."""

    def __init__(self, n_threads, model):
        self.n_threads, self.model = n_threads, model
        self.score = partial(self.called, model.predict_proba)

    @staticmethod
    def called(predict, X):
        return predict(X)[:, 1]


def limited(path, note):
    """Load a model, limit its threads, and return it."""
    thing = shared(path)
    limit_threads(thing)
    return thing


def threads(path, note):
    """Return how many threads the libraries of a worker may use."""
    limited(path, note)
    from lightgbm.basic import _LIB
    from threadpoolctl import threadpool_info

    most = ctypes.c_int(0)
    _LIB.LGBM_GetMaxThreads(ctypes.byref(most))
    return most.value, {pool["num_threads"] for pool in threadpool_info()}


def copy_of(folder, note):
    """Return the model of a worker of a batch, after it was loaded."""
    from butfor.batch.shipping import unpacked

    return unpacked(folder)._engine.model.scorer.model
