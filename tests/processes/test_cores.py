"""How many cores there are, seen from control groups in a made-up tree of files."""

import math

import pytest

from butfor._processes import cores


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """Return a function that makes the files of a machine with eight cores, and returns where they are."""
    monkeypatch.setattr(cores, "_bound", lambda: 8)

    def make(groups, **files):
        (tmp_path / "proc/self").mkdir(parents=True)
        (tmp_path / "proc/self/cgroup").write_text(groups)
        for name, content in files.items():
            place = tmp_path / "sys/fs/cgroup" / name.replace("__", "/")
            place = place.with_name(place.name.replace("cpu_", "cpu."))
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(content)
        return tmp_path

    return make


@pytest.mark.parametrize(
    ("groups", "files", "expected"),
    [
        ("0::/\n", {"cpu_max": "max 100000\n"}, 8),
        ("0::/\n", {"cpu_max": "200000 100000\n"}, 2),
        ("0::/\n", {"cpu_max": "150000 100000\n"}, 2),
        ("0::/\n", {"cpu_max": "10000 100000\n"}, 1),
        ("0::/\n", {"cpu_max": "9900000 100000\n"}, 8),
        ("0::/a/b\n", {"a__cpu_max": "300000 100000", "a__b__cpu_max": "max 100000"}, 3),
        ("0::/outside/only\n", {"cpu_max": "400000 100000"}, 4),
        ("0::/\n", {"cpu_max": "what is this"}, 8),
        ("0::/\n", {}, 8),
        ("4:cpu,cpuacct:/\n", {"cpu__cpu_cfs_quota_us": "200000", "cpu__cpu_cfs_period_us": "100000"}, 2),
        (
            "4:cpu,cpuacct:/x\n0::/\n",
            {"cpu,cpuacct__x__cpu_cfs_quota_us": "500000", "cpu,cpuacct__x__cpu_cfs_period_us": "100000"},
            5,
        ),
        ("4:cpu:/\n", {"cpu__cpu_cfs_quota_us": "-1", "cpu__cpu_cfs_period_us": "100000"}, 8),
        ("4:cpuset:/\n", {"cpuset__cpu_cfs_quota_us": "1", "cpuset__cpu_cfs_period_us": "1"}, 8),
    ],
)
def test_quotas_of_control_groups_count(machine, groups, files, expected):
    assert cores.cpu_count(machine(groups, **files)) == expected


def test_a_system_without_control_groups_has_no_quota(tmp_path):
    assert cores.quota(tmp_path) == math.inf
    assert cores.cpu_count(tmp_path) == cores._bound()


def test_cores_that_this_process_is_not_bound_to_do_not_count(tmp_path, monkeypatch):
    monkeypatch.setattr(cores.os, "sched_getaffinity", lambda _: {0, 5, 7}, raising=False)
    monkeypatch.delattr(cores.os, "process_cpu_count", raising=False)
    assert cores.cpu_count(tmp_path) == 3
