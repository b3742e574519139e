"""Who is next: first come, first served, but no client before those who have less."""

import asyncio

import pytest

from butfor._web.fair_queue import FairQueue, Ticket


@pytest.fixture
def loop():
    loop = asyncio.new_event_loop()
    yield loop
    loop.close()


def handed_over(loop, queue, clients, n_workers):
    """Have clients wait in this order; return to whom workers go, which are named by numbers."""
    tickets = [Ticket(client, loop.create_future()) for client in clients]
    for ticket in tickets:
        queue.add(ticket)
    given = {}
    for worker in range(n_workers):
        if not queue.hand_over(worker):
            break
        (given[worker],) = (each for each in tickets if each.worker.done() and each.worker.result() == worker)
    return [given[worker].client for worker in sorted(given)]


def test_clients_take_turns(loop):
    queue = FairQueue(at_work=9, waiting=9, waiting_per_client=9)
    assert handed_over(loop, queue, "aaabbc", 6) == list("abcaba")
    assert (len(queue), queue.n_at_work("a"), queue.n_at_work()) == (0, 3, 6)
    queue.end(0)
    assert (queue.n_at_work("a"), queue.n_at_work()) == (2, 5)


def test_a_share_is_kept_from_each_client(loop):
    queue = FairQueue(at_work=2, waiting=9, waiting_per_client=9)
    assert handed_over(loop, queue, "aaaa", 3) == ["a", "a"]
    assert not queue.may_begin("a")
    assert queue.may_begin("b")
    late = Ticket("b", loop.create_future())
    queue.add(late)
    assert queue.hand_over("the third")
    assert late.worker.result() == "the third"
    queue.end(0)
    assert queue.hand_over(0)  # to a again
    assert not queue.hand_over(9)
    assert len(queue) == 1


def test_no_client_fills_the_queue(loop):
    queue = FairQueue(at_work=1, waiting=4, waiting_per_client=3)
    tickets = [Ticket("a", loop.create_future()) for _ in range(3)]
    for ticket in tickets:
        queue.add(ticket)
    assert queue.has_no_place_for("a")
    assert not queue.has_no_place_for("b")
    assert not queue.is_full
    queue.add(Ticket("b", loop.create_future()))
    assert queue.is_full
    assert queue.has_no_place_for("c")
    queue.remove(tickets[0])
    assert not queue.has_no_place_for("a")
