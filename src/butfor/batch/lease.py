"""A lease on a folder in a store: it keeps other runs out, and ends by itself where its run was killed.

A store has no locks. The lease is a file that its owner writes anew again and again. Whoever comes later
reads it, and waits: if it changes, its owner lives; if it stays the same for long enough, it has expired. So
no clocks are compared. A lease that has expired is followed by one with the next number. Stores that can
create a file only if it is not there (S3, Google Cloud Storage, Azure) let one of several owners win. With
others the file is read back, and an owner who was overwritten notices at the next renewal.
"""

import json
import logging
import os
import platform
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol
from uuid import uuid4

from butfor import InputError

LOG = logging.getLogger(__name__)
LEASE = "_lease-"
"""Prefix of the files; readers of Parquet skip them."""
SECONDS = 60.0
"""How long a lease stays the same before it has expired."""
RENEWALS = 6
"""How often it is written anew in that time."""


class Store(Protocol):
    """What a lease needs of a folder."""

    path: str

    def names(self) -> list[str]:
        """Return the names of its files."""
        ...

    def read(self, name: str) -> bytes:
        """Return the content of a file."""
        ...

    def write(self, name: str, content: Any) -> None:
        """Write a file."""
        ...

    def create(self, name: str, content: bytes) -> None:
        """Write a file that must not be there."""
        ...

    def remove(self, name: str) -> None:
        """Remove a file."""
        ...


class Lease:
    """The lease of this process on a folder, which a thread renews."""

    def __init__(self, folder: Store, name: str, owner: str) -> None:
        self.is_lost = False
        """Whether another run has the folder now."""
        self.on_lost: Callable[[], None] = lambda: None
        """Is called once where it is lost, from another thread."""
        self._folder, self._name, self._owner = folder, name, owner
        self._n_renewals = 0
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._renew_again_and_again, daemon=True)

    def begin(self) -> None:
        """Begin to renew the lease."""
        self._thread.start()

    def end(self) -> None:
        """End the lease, so that the next run need not wait."""
        self._is_over.set()
        self._thread.join()
        with suppress(OSError):  # it expires
            if not self.is_lost and self._is_ours():
                self._folder.remove(self._name)

    def renew(self) -> None:
        """Write the lease anew, unless another run has taken it."""
        if not self._is_ours():
            self.is_lost = True
            self.on_lost()
            return
        self._n_renewals += 1
        self._folder.write(self._name, _content(self._owner, self._n_renewals))

    def _is_ours(self) -> bool:
        """Return whether the newest lease is this one."""
        if _newest(self._folder) != self._name:
            return False
        return _owner_in(self._folder.read(self._name)) == self._owner

    def _renew_again_and_again(self) -> None:
        while not self.is_lost and not self._is_over.wait(SECONDS / RENEWALS):
            with suppress(OSError):  # the store may be back at the next one
                self.renew()


@contextmanager
def leased(folder: Store, *, sleep: Callable[[float], None] = time.sleep) -> Iterator[Lease]:
    """Hold a lease on a folder. Raise an InputError if another run holds one."""
    name = _require_expired(folder, sleep)
    owner = f"{uuid4().hex} {_process()}"
    lease = Lease(folder, name, owner)
    _create(folder, name, _content(owner, 0))
    for older in _all(folder):
        if older < name:
            folder.remove(older)
    lease.begin()
    try:
        yield lease
    finally:
        lease.end()


def _require_expired(folder: Store, sleep: Callable[[float], None]) -> str:
    """Wait until the newest lease has expired, if there is one; return the name of the next."""
    newest = _newest(folder)
    if newest is None:
        return _name(0)
    seen = _read(folder, newest)
    n_looks = 0 if seen is None or _has_died(seen) else RENEWALS
    if n_looks:
        LOG.warning(
            "another run may write to %s: waiting %.0f seconds for a sign of it", folder.path, SECONDS
        )
    for _ in range(n_looks):
        sleep(SECONDS / RENEWALS * 1.1)  # a little longer than its owner waits, and in all than it lasts
        if _newest(folder) != newest or _read(folder, newest) != seen:
            raise _in_use(folder)
    return _name(int(newest.removeprefix(LEASE)) + 1)


def _create(folder: Store, name: str, content: bytes) -> None:
    """Create the file of a lease; raise an InputError if another run is first."""
    try:
        folder.create(name, content)
    except OSError as error:
        if _read(folder, name) in (None, content):
            raise
        raise _in_use(folder) from error
    if _read(folder, name) != content:  # by a store that does not know how to create a file only once
        raise _in_use(folder)


def _in_use(folder: Store) -> InputError:
    return InputError(
        f"out must not be in use by another run, got {folder.path}: wait for it, or give another."
    )


def _name(number: int) -> str:
    return f"{LEASE}{number:08d}"


def _all(folder: Store) -> list[str]:
    """Return the names of all leases, the newest last."""
    return [name for name in folder.names() if name.startswith(LEASE)]


def _newest(folder: Store) -> str | None:
    return max(_all(folder), default=None)


def _read(folder: Store, name: str) -> bytes | None:
    try:
        return folder.read(name)
    except FileNotFoundError:
        return None


def _content(owner: str, n_renewals: int) -> bytes:
    return json.dumps({"owner": owner, "renewals": n_renewals}).encode()


def _owner_in(content: bytes) -> str | None:
    try:
        return str(json.loads(content)["owner"])
    except (ValueError, KeyError, TypeError):
        return None


def _has_died(content: bytes) -> bool:
    """Return whether the owner of a lease was a process of this machine that is not there any more."""
    process = (_owner_in(content) or "").partition(" ")[2]
    machine, _, number = process.rpartition(" pid ")
    if not machine or machine != _machine():
        return False
    return _started(number.partition(" ")[0]) != number.partition(" ")[2]


def _process() -> str:
    """Return words that tell this process from all others, of this machine and of others."""
    return f"{_machine()} pid {os.getpid()} {_started(str(os.getpid()))}"


def _machine() -> str:
    """Return words that tell this machine, or container, from others; empty where that is not known."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{platform.node()} {boot} {os.stat('/proc/self/ns/pid').st_ino}"
    except OSError:
        return ""


def _started(pid: str) -> str:
    """Return when a process was started, by the clock of its machine; empty where there is none such."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""
