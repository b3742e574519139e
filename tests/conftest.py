import os
import sys
from pathlib import Path

import pytest

# Two processes of tests on two cores, each with two threads in every product of matrices, wait for each
# other most of the time. The processes of pytest-xdist and those that tests start inherit this.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# Modules that several tests share are imported by their bare names; their assertions report values, too.
MODULES = sorted(Path(__file__).parent.rglob("*.py"))
sys.path[:0] = dict.fromkeys(str(path.parent) for path in MODULES)
pytest.register_assert_rewrite(*(path.stem for path in MODULES if not path.stem.startswith("test_")))

from profiles import load_profile  # noqa: E402

load_profile()


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


@pytest.fixture(scope="module", params=["compiled", "plain"])
def both_loops(request):
    """Loops over trees, once compiled and once in numpy: both must pass what a module tests."""
    from loops import loops

    with loops(request.param):
        yield


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands still until it is told to move: `clock.seconds += 1`."""
    from butfor import explainer
    from butfor._engine import alternatives, many_rows, one_row, side_by_side, what_if
    from butfor.models import scorer
    from butfor.models.local import asking, black_box, deadline

    class Clock:
        seconds = 0.0

        def monotonic(self):
            return self.seconds

    clock = Clock()
    engine = (alternatives, what_if, many_rows, explainer, one_row, side_by_side)
    for module in (*engine, deadline, asking, black_box, scorer):
        monkeypatch.setattr(module, "time", clock)
    return clock
