import shutil
import zipfile

import pytest

from tools import dist


def wheel(path, **files):
    """Write a wheel with these files, and return its path."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(f"butfor/{name}.py", text)
        archive.writestr("butfor-1.0.dist-info/RECORD", "")
    return path


def test_wheels_must_be_equal(tmp_path):
    one, same = wheel(tmp_path / "a.whl", x="1", y="2"), wheel(tmp_path / "b.whl", y="2", x="1")
    dist.require_same_content(one, same)
    with pytest.raises(
        dist.DistError, match=r"another wheel than the tree does: butfor/x\.py, butfor/z\.py$"
    ):
        dist.require_same_content(one, wheel(tmp_path / "c.whl", x="0", y="2", z="3"))


def test_a_wheel_holds_what_is_tracked(tmp_path):
    built = wheel(tmp_path / "a.whl", x="1")
    dist.require_tracked_files(built, {"butfor/x.py"})
    with pytest.raises(dist.DistError, match=r"a\.whl lacks: butfor/y\.py$"):
        dist.require_tracked_files(built, {"butfor/x.py", "butfor/y.py"})
    with pytest.raises(dist.DistError, match=r"holds what git does not track: butfor/x\.py$"):
        dist.require_tracked_files(built, set())


@pytest.mark.skipif(not (dist.ROOT / ".git").exists(), reason="needs a clone")
def test_tracked_files_are_those_of_the_package():
    tracked = dist.tracked_files()
    assert {"butfor/__init__.py", "butfor/py.typed", "butfor/_render/fragment.css"} <= tracked
    assert not [name for name in tracked if name.endswith(".d.ts")]


def test_addresses_must_be_set_before_a_release(monkeypatch, capsys):
    def stop():
        raise dist.DistError("built")

    monkeypatch.setattr(dist, "build", stop)
    monkeypatch.setattr(dist, "project", lambda: {"urls": {"Source": "https://example.org/butfor"}})
    with pytest.raises(dist.DistError, match="set them before a release"):
        dist.main(["--release"])
    with pytest.raises(dist.DistError, match="built"):
        dist.main([])
    assert "set them before a release" in capsys.readouterr().out
    monkeypatch.setattr(dist, "project", lambda: {"urls": {"Source": "https://host.test/butfor"}})
    with pytest.raises(dist.DistError, match="built"):
        dist.main(["--release"])


def test_spark_is_tried_on_request_and_needs_java(monkeypatch, capsys):
    assert "spark" not in dist._options([]).extras
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(SystemExit):
        dist._options(["--spark"])
    assert "there is no java on the path" in capsys.readouterr().err


def test_a_command_that_fails_raises_with_what_it_prints():
    with pytest.raises(dist.DistError, match="ended with 1"):
        dist.run("git", "no-such-command")
