"""How many cores this process may use: fewer than the machine has, where somebody limits it.

The system may bind a process to some cores (its affinity), and containers and services may have a share of
the time of all cores (a quota of their control group). Quotas hold for a group and all groups below it.
"""

import math
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path


def cpu_count(root: Path = Path("/")) -> int:
    """Return how many processes can work at the same time; `root` is where the system's files are."""
    cores = quota(root)
    return _bound() if math.isinf(cores) else max(1, min(_bound(), math.ceil(cores)))


def quota(root: Path = Path("/")) -> float:
    """Return how many cores the control groups of this process may use; infinity if there is no limit."""
    return min(_quotas(root), default=math.inf)


def _bound() -> int:
    """Return the number of cores that this process may run on."""
    if hasattr(os, "process_cpu_count"):  # Python 3.13
        return os.process_cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _quotas(root: Path) -> Iterator[float]:
    """Yield the quotas of all control groups that this process is in."""
    mounted = root / "sys/fs/cgroup"
    with suppress(OSError):
        for line in (root / "proc/self/cgroup").read_text().splitlines():
            _, controllers, group = line.split(":", 2)
            if not controllers:  # version 2
                for folder in _folders(mounted, group):
                    yield _share(folder / "cpu.max")
            elif "cpu" in controllers.split(","):  # version 1
                for folder in _folders(mounted / controllers, group) + _folders(mounted / "cpu", group):
                    yield _share(folder / "cpu.cfs_quota_us", folder / "cpu.cfs_period_us")


def _folders(mounted: Path, group: str) -> list[Path]:
    """Return the folder of a group, and those of the groups above it.

    In a container the group may be named as outside of it, while its files are where groups are mounted.
    """
    folder = mounted / group.strip("/")
    return [each for each in (folder, *folder.parents) if each.is_relative_to(mounted) and each.is_dir()]


def _share(*files: Path) -> float:
    """Return a quota in cores: time that the group may use, by the period for which it may; or infinity."""
    try:
        allowed, period = " ".join(file.read_text() for file in files).split()
        return int(allowed) / int(period) if int(allowed) > 0 else math.inf
    except (OSError, ValueError):  # there is no such file, or it says "max"
        return math.inf
