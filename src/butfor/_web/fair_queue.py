"""The queue before some workers: first come, first served, but no client goes before those who have less."""

import asyncio
from collections import Counter
from dataclasses import dataclass, field

from butfor._processes.harness import Harness


@dataclass(eq=False)
class Ticket:
    """A place in the queue; its worker comes in time."""

    client: str
    worker: "asyncio.Future[Harness]" = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )


class FairQueue:
    """Calls that wait for workers.

    Parameters
    ----------
    at_work
        How many workers one client may have at a time.
    waiting
        How many calls may wait.
    waiting_per_client
        How many of them may be one client's.
    """

    def __init__(self, *, at_work: int, waiting: int, waiting_per_client: int) -> None:
        self._most_at_work = at_work
        self._most_waiting = waiting
        self._most_of_client = waiting_per_client
        self._tickets: list[Ticket] = []
        self._at_work: dict[Harness, str] = {}

    def __len__(self) -> int:
        return len(self._tickets)

    @property
    def is_full(self) -> bool:
        """Whether nobody else may wait."""
        return len(self._tickets) >= self._most_waiting

    def has_no_place_for(self, client: str) -> bool:
        """Return whether one more call of this client may not wait."""
        n_own = sum(ticket.client == client for ticket in self._tickets)
        return self.is_full or n_own >= self._most_of_client

    def may_begin(self, client: str) -> bool:
        """Return whether a client may have one more worker."""
        return self.n_at_work(client) < self._most_at_work

    def n_at_work(self, client: str | None = None) -> int:
        """Return how many workers a client has, or all clients."""
        return sum(client in (None, each) for each in self._at_work.values())

    def add(self, ticket: Ticket) -> None:
        """Put a call at the end of the queue."""
        self._tickets.append(ticket)

    def remove(self, ticket: Ticket) -> None:
        """Take a call out of the queue."""
        self._tickets.remove(ticket)

    def hand_over(self, worker: Harness) -> bool:
        """Hand a free worker to the next call; return whether there is one that may have it.

        The next is of the client with the fewest workers, and of its calls, or those of clients with as few,
        the oldest.
        """
        at_work = Counter(self._at_work.values())
        allowed = [ticket for ticket in self._tickets if at_work[ticket.client] < self._most_at_work]
        if not allowed:
            return False
        ticket = min(allowed, key=lambda each: at_work[each.client])
        self._tickets.remove(ticket)
        self._at_work[worker] = ticket.client
        ticket.worker.set_result(worker)
        return True

    def end(self, worker: Harness) -> None:
        """Note that a worker's call has ended."""
        self._at_work.pop(worker, None)
