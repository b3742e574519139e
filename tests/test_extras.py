import sys

import pytest
from examples import FOUND

from butfor import InputError
from butfor.results.explanations import Explanations
from butfor.results.ranked import Ranked


@pytest.mark.parametrize(
    ("module", "extra", "ask"),
    [
        ("matplotlib", "plot", FOUND.plot),
        ("matplotlib", "plot", Ranked([("a", 1.0)]).plot),
        ("matplotlib", "plot", Explanations([FOUND]).plot),
        ("pandas", "frame", Ranked([("a", 1.0)]).to_frame),
        ("pandas", "frame", Explanations([FOUND]).to_frame),
    ],
)
def test_what_is_missing_is_named_with_the_way_to_get_it(module, extra, ask, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.delitem(sys.modules, "butfor._render.plots", raising=False)
    with pytest.raises(InputError, match=rf'pip install "butfor\[{extra}\]"'):
        ask()
