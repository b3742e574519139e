import sys
from pathlib import Path

import pytest
from hypothesis import settings

for folder in (".", "models"):  # so that every test can import toys and the catalogue of models
    sys.path.insert(0, str(Path(__file__).parent / folder))

settings.register_profile("butfor", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("butfor")


def pytest_collection_modifyitems(items):
    """Put groups that stay in one process first, so that nobody waits for them at the end."""
    items.sort(key=lambda item: item.get_closest_marker("xdist_group") is None)


@pytest.fixture(scope="session")
def moviegoers():
    from butfor.datasets import load_moviegoers

    return load_moviegoers()


@pytest.fixture(scope="session")
def club_model(moviegoers):
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression().fit(moviegoers.X, moviegoers.y)


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands still until it is told to move: `clock.seconds += 1`."""
    from butfor import alternatives, bench, blocks, explainer, inquiry
    from butfor.models import base, black_box, scorer

    class Clock:
        seconds = 0.0

        def monotonic(self):
            return self.seconds

    clock = Clock()
    for module in (alternatives, bench, blocks, explainer, inquiry, base, black_box, scorer):
        monkeypatch.setattr(module, "time", clock)
    return clock
