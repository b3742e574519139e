"""What worker processes do before their first call."""

import pytest

from butfor._processes.sharing import share, shared
from butfor._web import filling, tasks
from butfor._web.upkeep import Upkeep


class Noted(Upkeep):
    """Upkeep that limits nothing, and notes that it should have."""

    def limit_memory(self):
        seen.append("memory")


seen = []


@pytest.mark.parametrize(("module", "argument"), [(tasks, lambda path: [path]), (filling, lambda path: path)])
def test_processes_limit_threads_and_memory_once_they_have_loaded(module, argument, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "limit_threads", seen.append)
    monkeypatch.setattr(filling.os, "nice", lambda _: None)
    path = share({"a": "model"}, tmp_path / "model")
    seen.clear()
    load = tasks.load if module is tasks else filling._load
    load(argument(path), Noted(), note=None)
    assert seen == [{"a": "model"}, "memory"]
    assert seen[0] is shared(path)
