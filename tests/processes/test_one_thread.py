"""Workers use one thread each: settings of the worker's copy, never of the user's model."""

import json
import logging

import numpy as np
import pytest
from lightgbm import LGBMClassifier
from models_with_threads import Forum, copy_of, limited, threads
from sklearn.ensemble import RandomForestClassifier, VotingClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from xgboost import XGBClassifier

from butfor import Explainer, InputError
from butfor._processes.harness import Harness
from butfor._processes.one_thread import unlimited_libraries
from butfor._processes.sharing import share
from butfor._processes.worker import Worker
from butfor.batch import run_batch
from butfor.batch.chunks import load
from butfor.batch.shipping import pack

RNG = np.random.default_rng(0)
X = (RNG.random((40, 4)) < 0.5).astype(float)
Y = X[:, 0].astype(int)
FOREST = RandomForestClassifier(3, n_jobs=2, random_state=0).fit(X, Y)
LIGHT = LGBMClassifier(n_estimators=2, verbose=-1).fit(X, Y)


@pytest.fixture
def worker():
    worker = Worker()
    yield worker
    worker.close()


@pytest.fixture
def in_worker(worker, tmp_path):
    return lambda thing: worker.call(limited, share(thing, tmp_path / type(thing).__name__))


def test_parts_of_a_model(in_worker):
    votes = VotingClassifier([("a", FOREST), ("b", make_pipeline(LIGHT))], n_jobs=-1).fit(X, Y)
    copy = in_worker(votes)
    assert (copy.n_jobs, copy.estimators_[0].n_jobs, copy.estimators_[1][-1].n_jobs) == (1, 1, 1)
    assert (votes.n_jobs, votes.estimators_[0].n_jobs, votes.estimators_[1][-1].n_jobs) == (-1, 2, None)


def test_the_booster_of_xgboost(in_worker):
    model = XGBClassifier(n_estimators=2).fit(X, Y)
    copy = in_worker(model)
    settings = json.loads(copy.get_booster().save_config())["learner"]["generic_param"]
    assert (copy.n_jobs, settings["nthread"]) == (1, "1")
    assert model.n_jobs is None


def test_what_only_sounds_like_threads_stays(in_worker):
    words = CountVectorizer().fit(["n_jobs and thread_count and nthread n_jobs"])
    copy = in_worker(make_pipeline(words, LogisticRegression(n_jobs=3)))
    assert copy[0].vocabulary_ == words.vocabulary_
    assert copy[1].n_jobs == 1
    forum = in_worker(Forum(300, FOREST))
    assert (forum.n_threads, forum.model.n_jobs, forum.score.args[0].__self__.n_jobs) == (300, 1, 1)


def test_libraries_of_the_process(worker, tmp_path):
    assert worker.call(threads, share(LIGHT, tmp_path / "thing")) == (1, {1})


def test_the_copy_of_a_batch(tmp_path):
    pack(Explainer(LIGHT), str(tmp_path / "packed"))
    harness = Harness(load, str(tmp_path / "packed"))
    try:
        assert harness.call(copy_of, str(tmp_path / "packed"), patience=60).n_jobs == 1
    finally:
        harness.close()
    assert LIGHT.n_jobs is None


class Session:
    __module__ = "onnxruntime.capi"

    def __call__(self, X):
        return X.sum(axis=1)


def test_it_is_said_where_threads_cannot_be_limited(tmp_path, caplog):
    assert unlimited_libraries([FOREST, {"of": Session()}]) == ["ONNX Runtime"]
    said = "threads of ONNX Runtime cannot be limited"
    for jobs, engine, is_said in ((2, "here", False), (1, "local", False), (2, "local", True)):
        caplog.clear()
        explainer = Explainer(Session(), threshold=1)
        with (
            caplog.at_level(logging.WARNING, logger="butfor.batch.run"),
            pytest.raises(InputError, match=r"nowhere\.npz"),  # what is said comes before the rows are read
        ):
            run_batch(explainer, tmp_path / "nowhere.npz", tmp_path / "out", jobs=jobs, engine=engine)
        assert (said in caplog.text) == is_said
