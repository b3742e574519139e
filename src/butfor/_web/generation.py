"""A generation: what is served between two reloads, from the model's file to the processes that read it."""

import asyncio
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from butfor._processes.sharing import sharing
from butfor._web.metrics import Metrics
from butfor._web.upkeep import Upkeep
from butfor._web.worker_pool import WorkerPool
from butfor._web.workspace import Workspace
from butfor.errors import ButforError

SECONDS_BETWEEN_LOOKS = 0.05


class Generation:
    """Workspaces, the files from which processes load their explainers, and these processes."""

    def __init__(self, workspaces: Sequence[Workspace], pool: WorkerPool, upkeep: Upkeep) -> None:
        self.workspaces = list(workspaces)
        self.pool = pool
        self.explainers = [Path()] * len(self.workspaces)
        """The file of each workspace's explainer; set once it is shared."""
        self._upkeep = upkeep
        self._stack = ExitStack()

    def share(self) -> None:
        """Write the explainers to files for the processes; know the versions of the models."""
        for number, workspace in enumerate(self.workspaces):
            if workspace.explainer is not None:
                self.explainers[number] = self._stack.enter_context(sharing(workspace.explainer))
            _ = workspace.version  # takes a while if the model is large

    def start(self) -> None:
        """Start the processes that answer requests."""
        self._stack.callback(self.pool.close)
        asked = zip(self.workspaces, self.explainers, strict=True)
        self.pool.open([path for workspace, path in asked if workspace.can_explain])

    def fill(self, metrics: Metrics) -> None:
        """Begin to score and explain all rows in the background."""
        self._stack.callback(self.stop_filling)
        for workspace, explainer in zip(self.workspaces, self.explainers, strict=True):
            workspace.open(explainer, self._upkeep, metrics)

    def stop_filling(self) -> None:
        """Stop the work in the background."""
        for workspace in self.workspaces:
            workspace.close()

    def publish(self, metrics: Metrics) -> None:
        """Have the metrics show this generation."""
        self.pool.publish(metrics)
        metrics.models.clear()
        for workspace in self.workspaces:
            metrics.models.labels(workspace.name, workspace.version).set(1)

    async def until_loaded(self) -> None:
        """Wait until all processes have loaded the explainers; raise as soon as one cannot."""
        while not self.pool.has_loaded:
            for lane in self.pool.lanes:
                if lane.start_error is not None:
                    raise ButforError(f"a process could not load the model: {lane.start_error}")
            await asyncio.sleep(SECONDS_BETWEEN_LOOKS)

    async def until_idle(self) -> None:
        """Wait until all calls have been answered."""
        while self.pool.n_calls:
            await asyncio.sleep(SECONDS_BETWEEN_LOOKS)

    def close(self) -> None:
        """End the processes, and remove the files."""
        self._stack.close()
