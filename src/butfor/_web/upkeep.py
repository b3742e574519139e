"""The upkeep of workers: how much memory one may have, and when it is replaced by a fresh one."""

import re
from dataclasses import dataclass
from pathlib import Path

from butfor._checks import require_count
from butfor.errors import ButforError, InputError

STATUS = Path("/proc/self/status")
"""What Linux tells of a process."""
MIB = 2**20
FULL = 0.8
"""A worker that still has so much of its memory after a call is replaced."""


class TooLittleMemoryError(ButforError):
    """The model alone takes more memory than a worker may have."""


@dataclass(frozen=True)
class Upkeep:
    """When workers are replaced, and how much memory each may have.

    Memory is a process's own: what it shares with the others, as the arrays of the model, does not count.
    """

    max_calls: int | None = None
    """Calls after which a worker is replaced."""
    max_memory: int | None = None
    """MiB that a worker may have; a call that needs more fails."""

    def __post_init__(self) -> None:
        if self.max_calls is not None:
            require_count("--worker-calls", self.max_calls)
        if self.max_memory is not None:
            require_count("--worker-memory", self.max_memory)
            if not STATUS.exists():
                raise InputError("--worker-memory must be left out on this system: it needs Linux.")

    def due(self, pid: int, n_calls: int) -> str | None:
        """Return why a worker must be replaced after a call: "calls" or "memory"; None if it need not."""
        if self.max_calls is not None and n_calls >= self.max_calls:
            return "calls"
        if self.max_memory is not None and own_memory(pid) >= FULL * self.max_memory * MIB:
            return "memory"
        return None

    def limit_memory(self) -> None:
        """Limit the memory of this process, once it has loaded all that it needs."""
        if self.max_memory is None:
            return
        import resource

        taken, most = own_memory(), self.max_memory * MIB
        if taken >= FULL * most:
            raise TooLittleMemoryError(
                f"--worker-memory must be more than {taken / FULL / MIB:.0f}, got {self.max_memory}: the "
                f"model alone takes {taken / MIB:.0f} MiB of a process."
            )
        # The system counts addresses that are reserved, and not only memory that is used.
        reserved = _kib(STATUS.read_text(), "VmData") * 1024
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (reserved + most - taken, hard))


def own_memory(pid: int | str = "self") -> int:
    """Return the bytes that a process shares with no other; 0 if it is gone."""
    try:
        told = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    return 1024 * (_kib(told, "RssAnon") + _kib(told, "VmSwap"))


def _kib(told: str, name: str) -> int:
    """Return a number of the status of a process.

    >>> _kib("VmData:	   12 kB", "VmData"), _kib("", "VmData")
    (12, 0)
    """
    found = re.search(rf"^{name}:\s+(\d+) kB", told, re.MULTILINE)
    return int(found[1]) if found else 0
