"""Lanes of workers: queues, clients that go away, processes that end."""

import asyncio
import os
import signal
import time

import pytest

from butfor.web.crew import ClientGone, Lane
from butfor.web.problems import Problem


def echo(value, seconds, note):
    time.sleep(seconds)
    return value


def die(note):
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
        calls = [lane.call(present(), 60, echo, value, 0.001 * (value % 3)) for value in values]
        assert await asyncio.gather(*calls) == values
        assert (lane.n_busy, lane.n_waiting) == (0, 0)

    run(work)


def test_a_full_queue_refuses_and_says_when_to_come_again(run):
    async def work(lane):
        calls = [lane.call(present(), 60, echo, i, 0.0 if i else 0.3) for i in range(41)]
        calls = [asyncio.ensure_future(call) for call in calls]
        await asyncio.sleep(0.05)
        assert (lane.n_busy, lane.n_waiting) == (1, 40)
        with pytest.raises(Problem) as refused:
            await lane.call(present(), 60, echo, 41, 0)
        assert refused.value.status == 503
        assert int(refused.value.headers["Retry-After"]) > 0
        assert await asyncio.gather(*calls) == list(range(41))

    run(work)


def test_a_client_that_goes_frees_the_worker_or_the_queue(run):
    async def work(lane):
        gone, gone_too = present(), present()
        running = asyncio.ensure_future(lane.call(gone, 600, echo, 0, 500))
        waiting = asyncio.ensure_future(lane.call(gone_too, 600, echo, 1, 500))
        await asyncio.sleep(0.3)
        began = time.monotonic()
        gone_too.set_result(None)
        with pytest.raises(ClientGone):
            await waiting
        assert lane.n_waiting == 0
        gone.set_result(None)
        with pytest.raises(ClientGone):
            await running
        assert await lane.call(present(), 60, echo, "free again", 0) == "free again"
        assert time.monotonic() - began < 5

    run(work)


def test_a_request_that_is_cancelled_frees_the_worker(run):
    async def work(lane):
        running = asyncio.ensure_future(lane.call(present(), 600, echo, 0, 500))
        await asyncio.sleep(0.3)
        running.cancel()
        assert await lane.call(present(), 60, echo, "free again", 0) == "free again"

    run(work)


@pytest.mark.parametrize(("task", "patience", "status"), [((die,), 60, 502), ((echo, 0, 500), 0.3, 504)])
def test_a_lost_worker_is_started_again_before_anybody_asks(run, task, patience, status):
    async def work(lane):
        with pytest.raises(Problem) as lost:
            await lane.call(present(), patience, *task)
        assert lost.value.status == status
        began = time.monotonic()
        while lane.n_busy:
            assert time.monotonic() - began < 30
            await asyncio.sleep(0.05)
        assert lane._workers[0].pid is not None
        assert await lane.call(present(), 60, echo, 5, 0) == 5

    run(work)


class SlowToSend:
    """Takes a moment on its way to the process."""

    def __reduce__(self):
        time.sleep(0.3)
        return str, ()


def test_a_client_that_goes_before_the_call_has_been_sent_does_not_keep_the_worker(run):
    async def work(lane):
        gone = present()
        asyncio.get_running_loop().call_later(0.1, gone.set_result, None)
        began = time.monotonic()
        with pytest.raises(ClientGone):
            await lane.call(gone, 60, echo, SlowToSend(), 30)
        assert await lane.call(present(), 60, echo, "next", 0) == "next"
        assert time.monotonic() - began < 10

    run(work)


def test_a_process_that_dies_while_it_waits_costs_no_request(run):
    async def work(lane):
        dead = lane._workers[0].pid
        os.kill(dead, signal.SIGKILL)
        while lane._workers[0].pid is not None:
            await asyncio.sleep(0.01)
        assert await lane.call(present(), 60, echo, "here", 0) == "here"
        assert lane._workers[0].pid != dead

    run(work)
