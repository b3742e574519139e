"""Leases keep runs apart where there are no locks."""

import json
import os
from uuid import uuid4

import pytest

from butfor import InputError
from butfor.batch import lease as leases
from butfor.batch.folder import Folder
from butfor.batch.lease import LEASE, RENEWALS, leased


@pytest.fixture
def folder():
    return Folder(f"memory://{uuid4().hex}")


def of_another_machine(folder, name=f"{LEASE}00000000", owner="x elsewhere pid 1 1"):
    folder.write(name, json.dumps({"owner": owner, "renewals": 0}).encode())


class Sleeper:
    """Counts how often somebody sleeps, and does something then."""

    def __init__(self, then=lambda: None):
        self.times, self.then = 0, then

    def __call__(self, seconds):
        self.times += 1
        self.then()


def test_a_folder_is_held_and_given_back(folder):
    with leased(folder) as lease:
        assert folder.names() == [f"{LEASE}00000000"]
        lease.renew()
        assert json.loads(folder.read(f"{LEASE}00000000"))["renewals"] == 1
    assert (folder.names(), lease.is_lost) == ([], False)


def test_a_lease_that_changes_is_that_of_a_run(folder):
    of_another_machine(folder)
    sleep = Sleeper(lambda: folder.write(f"{LEASE}00000000", uuid4().bytes))
    with (
        pytest.raises(InputError, match="out must not be in use by another run"),
        leased(folder, sleep=sleep),
    ):
        pass
    assert (sleep.times, folder.names()) == (1, [f"{LEASE}00000000"])


def test_a_lease_that_stays_as_it_is_has_expired(folder, caplog):
    of_another_machine(folder)
    sleep = Sleeper()
    with leased(folder, sleep=sleep):
        assert folder.names() == [f"{LEASE}00000001"]
    assert (sleep.times, folder.names()) == (RENEWALS, [])
    assert "waiting 60 seconds for a sign of it" in caplog.text


def test_nobody_waits_for_a_process_of_this_machine_that_is_gone(folder, monkeypatch):
    if not leases._machine():
        pytest.skip("needs /proc")
    of_another_machine(
        folder, owner=f"x {leases._machine()} pid {os.getpid()} 1"
    )  # its number was used again
    with leased(folder, sleep=Sleeper(pytest.fail)):
        pass
    of_another_machine(folder, owner=f"x {leases._process()}")
    sleep = Sleeper()
    with leased(folder, sleep=sleep):  # this process lives, but says nothing
        pass
    assert sleep.times == RENEWALS


def test_of_two_that_come_at_once_one_wins(folder):
    create, tried = folder.create, []

    def late(name, content):
        if not tried:
            tried.append(name)
            of_another_machine(folder, name)
        create(name, content)

    folder.create = late
    with pytest.raises(InputError, match="in use by another run"), leased(folder):
        pass
    assert folder.names() == [f"{LEASE}00000000"]  # that of the other


def test_a_store_that_cannot_create_a_file_only_once(folder):
    def overwritten(name, content):
        folder.write(name, content)
        of_another_machine(folder, name)

    folder.create = overwritten
    with pytest.raises(InputError, match="in use by another run"), leased(folder):
        pass


@pytest.mark.parametrize("name", [f"{LEASE}00000000", f"{LEASE}00000001"], ids=["overwritten", "followed"])
def test_an_owner_notices_that_another_run_took_over(folder, name):
    told = []
    with leased(folder) as lease:
        lease.on_lost = lambda: told.append("lost")
        of_another_machine(folder, name)
        lease.renew()
        assert (lease.is_lost, told) == (True, ["lost"])
    assert name in folder.names()


def test_a_store_that_does_not_know_how_to_create(folder, monkeypatch):
    def refuses(path, content, mode="overwrite"):
        raise TypeError("unexpected argument")

    monkeypatch.setattr(folder._store[0], "pipe_file", refuses, raising=False)
    with leased(folder):
        assert folder.names() == [f"{LEASE}00000000"]
