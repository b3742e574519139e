"""The workers behind the API: a lane for searches, and one for scorings."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from butfor._web.bad_rows import BadRows
from butfor._web.lane import Lane
from butfor._web.limits import Limits
from butfor._web.metrics import Metrics


class WorkerPool:
    """Two lanes: one for searches, and one for scorings, which never wait for a search.

    Parameters
    ----------
    jobs
        How many workers search.
    limits
        The limits of queues and workers.
    reserve
        How many more workers search while one client keeps `jobs` of them busy.
    metrics
        What is counted.
    """

    def __init__(
        self, *, jobs: int, limits: Limits, reserve: int = 0, metrics: Metrics | None = None
    ) -> None:
        metrics, bad_rows = metrics or Metrics(), BadRows(limits.refused_seconds)
        self._reserve = reserve
        self.searches = Lane(
            jobs + reserve, limits, reserve=reserve, name="searches", metrics=metrics, bad_rows=bad_rows
        )
        self.scorings = Lane(1, limits, name="scorings", metrics=metrics, bad_rows=bad_rows)
        self._opening: asyncio.Task[None] | None = None

    @property
    def is_open(self) -> bool:
        """Whether there is a model, and so workers."""
        return self._opening is not None

    @property
    def lanes(self) -> tuple[Lane, Lane]:
        """Both lanes."""
        return self.searches, self.scorings

    @property
    def has_loaded(self) -> bool:
        """Whether all workers have been started, or there are none."""
        return self._opening is None or self._opening.done()

    @property
    def n_calls(self) -> int:
        """How many calls are at work, or wait."""
        return sum(lane.n_calls for lane in self.lanes)

    def publish(self, metrics: Metrics) -> None:
        """Have metrics show the numbers of both lanes."""
        for lane in self.lanes if self.is_open else ():
            lane.publish(metrics)

    def lane_for_scoring(self, client: str) -> Lane:
        """Return the lane of scorings, or of searches if another client keeps the only worker busy there."""
        helps = self._reserve and self.scorings.is_kept_from(client) and self.searches.is_open_to(client)
        return self.searches if helps else self.scorings

    def open(self, explainers: Sequence[Path]) -> None:
        """Begin to start the workers, for which calls wait; without a model, start none."""
        if explainers:
            self._opening = asyncio.get_running_loop().create_task(self._open(explainers))

    async def _open(self, explainers: Sequence[Path]) -> None:
        """Start the worker that a page needs first, then the others: at the same time all would be slow."""
        for lane in (self.scorings, self.searches):
            await lane.open(explainers)

    def close(self) -> None:
        """End all workers."""
        if self._opening is not None:
            self._opening.cancel()
        for lane in self.lanes:
            lane.close()

    def health(self) -> dict[str, int]:
        """Return the numbers of workers, of busy workers and of waiting calls."""
        lanes = self.lanes if self.is_open else ()
        return {
            "workers": sum(lane.n_workers for lane in lanes),
            "busy": sum(lane.n_busy for lane in lanes),
            "waiting": sum(lane.n_waiting for lane in lanes),
        }
