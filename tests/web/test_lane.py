"""Lanes of workers: queues, clients that go away, processes that end."""

import asyncio
import os
import signal
import threading
import time
from dataclasses import replace

import pytest

from butfor._web.access import RequestRecord
from butfor._web.lane import ClientGone, Lane
from butfor._web.limits import Limits
from butfor._web.metrics import Metrics
from butfor._web.problems import Problem
from butfor._web.upkeep import Upkeep


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


def die_when_told(begun, told, note):
    """Write down that it began; end the process once there is a file."""
    with begun.open("a") as file:
        file.write("begun\n")
    wait_for(told, note)
    os._exit(3)


def need_too_much(note):
    raise MemoryError


def of(client):
    """A request of a client."""
    return RequestRecord(client=client)


def counted(of_lane, name, **labels):
    """The value of a metric of a lane."""
    return of_lane._metrics.registry.get_sample_value(f"butfor_{name}_total", labels) or 0


@pytest.fixture(scope="module")
def run():
    """Run a test against an open lane of one worker."""
    loop = asyncio.new_event_loop()
    lane = Lane(1, Limits(waiting=40))
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
        lane = Lane(1, Limits(waiting=40))
        await lane.open([])
        running = asyncio.ensure_future(lane.call(present(), 600, hang, tmp_path / "running"))
        await until((tmp_path / "running").exists)
        lane.close()
        with pytest.raises(Problem, match="was closed") as closed:
            await running
        assert closed.value.status == 502
        assert lane._workers[0].pid is None

    run(work)


@pytest.mark.parametrize(
    ("task", "patience", "status", "cause"), [(die, 60, 502, "exit"), (hang, 0.3, 504, "hang")]
)
def test_a_lost_worker_is_started_again_before_anybody_asks(
    run, tmp_path, caplog, task, patience, status, cause
):
    async def work(lane):
        before, first = counted(lane, "worker_restarts", lane="searches", cause=cause), lane._workers[0].pid
        with pytest.raises(Problem) as lost:
            await lane.call(present(), patience, task, tmp_path / "flag", request=RequestRecord("id-1"))
        assert lost.value.status == status
        await until(lambda: not lane.n_busy)
        assert lane._workers[0].pid is not None
        assert await lane.call(present(), 60, echo, 5) == 5
        assert counted(lane, "worker_restarts", lane="searches", cause=cause) == before + 1
        (record,) = (each for each in caplog.records if each.message == "worker lost")
        assert record.fields == {"lane": "searches", "cause": cause, "worker": first, "request_id": "id-1"}

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


def test_a_process_that_dies_while_it_waits_costs_no_request(run, caplog):
    async def work(lane):
        dead = lane._workers[0].pid
        os.kill(dead, signal.SIGKILL)
        while lane._workers[0].pid is not None:
            await asyncio.sleep(0.01)
        assert await lane.call(present(), 60, echo, "here") == "here"
        assert lane._workers[0].pid != dead
        (record,) = (each for each in caplog.records if each.message == "worker lost")
        assert record.fields == {"lane": "searches", "cause": "idle", "worker": dead}

    run(work)


def test_a_call_waits_no_longer_than_it_may(run, tmp_path, monkeypatch):
    async def work(lane):
        monkeypatch.setattr(lane, "_limits", replace(lane._limits, waiting_seconds=0.05))
        running = asyncio.ensure_future(lane.call(present(), 60, wait_for, tmp_path / "flag"))
        await until(lambda: lane.n_busy)
        with pytest.raises(Problem, match=r"busy for 0\.05 seconds") as refused:
            await lane.call(present(), 60, echo, 1)
        assert (refused.value.status, refused.value.headers) == (503, {"Retry-After": "2"})
        assert lane.n_waiting == 0
        assert counted(lane, "requests_refused", reason="waited_too_long") == 1
        (tmp_path / "flag").touch()
        assert await running == "flag"

    run(work)


def test_a_call_that_needs_too_much_memory_fails_alone(run):
    async def work(lane):
        with pytest.raises(Problem, match="more memory than a process may have") as failed:
            await lane.call(present(), 60, need_too_much)
        assert failed.value.status == 502
        assert await lane.call(present(), 60, echo, 1) == 1

    run(work)


def test_workers_are_replaced_after_so_many_calls(run, monkeypatch):
    async def work(lane):
        monkeypatch.setattr(lane, "_limits", replace(lane._limits, upkeep=Upkeep(max_calls=2)))
        monkeypatch.setitem(lane._n_calls, lane._workers[0], 0)
        pids = []
        for value in range(3):
            assert await lane.call(present(), 60, echo, value) == value
            pids.append(lane._workers[0].pid)
            await until(lambda: not lane.n_busy)
        pids.append(lane._workers[0].pid)
        assert pids[0] == pids[1] != pids[2] == pids[3]
        assert counted(lane, "worker_restarts", lane="searches", cause="calls") == 1

    run(work)


def test_six_requests_for_a_bad_row_keep_no_other_client_waiting(tmp_path):
    async def work():
        metrics = Metrics()
        lane = Lane(2, Limits(waiting=8), reserve=1, metrics=metrics)
        lane.publish(metrics)
        await lane.open([])
        begun, told = tmp_path / "begun", tmp_path / "told"
        bad = [
            lane.call(present(), 60, die_when_told, begun, told, request=of("a"), row="x") for _ in range(6)
        ]
        bad = [asyncio.ensure_future(call) for call in bad]
        try:
            await until(begun.exists)
            assert await lane.call(present(), 60, echo, "b", request=of("b"), row="y") == "b"
            assert not any(call.done() for call in bad)
            assert (lane.n_busy, lane.n_waiting, lane.n_calls) == (1, 5, 6)
            assert metrics.registry.get_sample_value("butfor_queue_length", {"lane": "searches"}) == 5
            with pytest.raises(Problem, match="wait already"):  # a share of the queue is left to others, too
                await asyncio.gather(*(lane.call(present(), 60, echo, 1, request=of("a")) for _ in range(2)))
            told.touch()
            outcomes = await asyncio.gather(*bad, return_exceptions=True)
            assert {outcome.status for outcome in outcomes} == {502}
            assert sum("It is not tried again" in outcome.detail for outcome in outcomes) == 5
            assert begun.read_text() == "begun\n"  # it has cost one process
            with pytest.raises(Problem, match="It is not tried again"):
                await lane.call(present(), 60, echo, "x", request=of("b"), row="x")
        finally:
            lane.close()

    asyncio.run(asyncio.wait_for(work(), 60))
