"""Lanes of workers: queues, clients that go away, processes that end."""

import asyncio
import os
import signal
import threading
import time

import pytest

from butfor._web.problems import Problem
from butfor._web.worker_pool import ClientGone, Lane


def echo(value, note):
    return value


def hang(flag, note):
    """Make a file, and never answer."""
    flag.touch()
    time.sleep(500)


def wait_for(flag, note):
    """Answer as soon as there is a file."""
    while not flag.exists():
        time.sleep(0.01)
    return "flag"


async def until(condition):
    """Wait until something is so; the fixture `run` says how long at most."""
    while not condition():
        await asyncio.sleep(0.01)


def die(flag, note):
    os._exit(3)


@pytest.fixture(scope="module")
def run():
    """Run a test against an open lane of one worker."""
    loop = asyncio.new_event_loop()
    lane = Lane(1, 40)
    loop.run_until_complete(lane.open([]))
    yield lambda work: loop.run_until_complete(asyncio.wait_for(work(lane), 60))
    lane.close()
    loop.close()
    assert all(worker.pid is None for worker in lane._workers)


def present():
    """A client that stays."""
    return asyncio.get_running_loop().create_future()


def test_answers_go_to_those_who_asked(run):
    async def work(lane):
        values = list(range(30))
        assert await asyncio.gather(*(lane.call(present(), 60, echo, value) for value in values)) == values
        assert (lane.n_busy, lane.n_waiting) == (0, 0)

    run(work)


def test_a_full_queue_refuses_and_says_when_to_come_again(run, tmp_path):
    async def work(lane):
        calls = [lane.call(present(), 60, wait_for, tmp_path / "flag")]
        calls += [lane.call(present(), 60, echo, i) for i in range(40)]
        calls = [asyncio.ensure_future(call) for call in calls]
        await until(lambda: lane.n_waiting == 40)
        assert lane.n_busy == 1
        with pytest.raises(Problem) as refused:
            await lane.call(present(), 60, echo, 40)
        assert refused.value.status == 503
        assert int(refused.value.headers["Retry-After"]) > 0
        (tmp_path / "flag").touch()
        assert await asyncio.gather(*calls) == ["flag", *range(40)]

    run(work)


def test_a_client_that_goes_frees_the_worker_or_the_queue(run, tmp_path):
    async def work(lane):
        gone, gone_too = present(), present()
        running = asyncio.ensure_future(lane.call(gone, 600, hang, tmp_path / "running"))
        waiting = asyncio.ensure_future(lane.call(gone_too, 600, hang, tmp_path / "waiting"))
        await until(lambda: (tmp_path / "running").exists() and lane.n_waiting)
        gone_too.set_result(None)
        with pytest.raises(ClientGone):
            await waiting
        assert lane.n_waiting == 0
        gone.set_result(None)
        with pytest.raises(ClientGone):
            await running
        assert await lane.call(present(), 60, echo, "free again") == "free again"
        assert not (tmp_path / "waiting").exists()

    run(work)


def test_a_request_that_is_cancelled_frees_the_worker(run, tmp_path):
    async def work(lane):
        running = asyncio.ensure_future(lane.call(present(), 600, hang, tmp_path / "running"))
        await until((tmp_path / "running").exists)
        running.cancel()
        assert await lane.call(present(), 60, echo, "free again") == "free again"

    run(work)


def test_a_lane_that_is_closed_answers_those_who_wait(run, tmp_path):
    async def work(_):
        lane = Lane(1, 40)
        await lane.open([])
        running = asyncio.ensure_future(lane.call(present(), 600, hang, tmp_path / "running"))
        await until((tmp_path / "running").exists)
        lane.close()
        with pytest.raises(Problem, match="was closed") as closed:
            await running
        assert closed.value.status == 502
        assert lane._workers[0].pid is None

    run(work)


@pytest.mark.parametrize(("task", "patience", "status"), [(die, 60, 502), (hang, 0.3, 504)])
def test_a_lost_worker_is_started_again_before_anybody_asks(run, tmp_path, task, patience, status):
    async def work(lane):
        with pytest.raises(Problem) as lost:
            await lane.call(present(), patience, task, tmp_path / "flag")
        assert lost.value.status == status
        await until(lambda: not lane.n_busy)
        assert lane._workers[0].pid is not None
        assert await lane.call(present(), 60, echo, 5) == 5

    run(work)


def test_a_lane_is_ready_while_it_works_and_not_when_its_queue_is_full(run, tmp_path):
    async def work(lane):
        assert await lane.why_not_ready() is None
        calls = [asyncio.ensure_future(lane.call(present(), 60, wait_for, tmp_path / "flag"))]
        await until(lambda: lane.n_busy)
        assert await lane.why_not_ready() is None
        calls += [asyncio.ensure_future(lane.call(present(), 60, echo, i)) for i in range(40)]
        await until(lambda: lane.n_waiting == 40)
        assert "queue is full" in await lane.why_not_ready()
        (tmp_path / "flag").touch()
        await asyncio.gather(*calls)
        assert await lane.why_not_ready() is None
        assert (lane.n_busy, lane.n_waiting) == (0, 0)

    run(work)


class SlowToSend:
    """Is not sent to the worker before `go_on` is set."""

    def __init__(self):
        self.is_being_sent, self.go_on = threading.Event(), threading.Event()

    def __reduce__(self):
        self.is_being_sent.set()
        self.go_on.wait()
        return str, ()


def hang_with(thing, flag, note):
    hang(flag, note)


def test_a_client_that_goes_before_the_call_has_been_sent_does_not_keep_the_worker(run, tmp_path):
    async def work(lane):
        gone, slow = present(), SlowToSend()
        call = asyncio.ensure_future(lane.call(gone, 60, hang_with, slow, tmp_path / "flag"))
        await until(slow.is_being_sent.is_set)
        gone.set_result(None)
        with pytest.raises(ClientGone):
            await call
        slow.go_on.set()
        assert await lane.call(present(), 60, echo, "next") == "next"
        assert not (tmp_path / "flag").exists()

    run(work)


def test_a_process_that_dies_while_it_waits_costs_no_request(run):
    async def work(lane):
        dead = lane._workers[0].pid
        os.kill(dead, signal.SIGKILL)
        while lane._workers[0].pid is not None:
            await asyncio.sleep(0.01)
        assert await lane.call(present(), 60, echo, "here") == "here"
        assert lane._workers[0].pid != dead

    run(work)
