"""Whether the server is alive, and whether it could answer a request now."""

import asyncio
from typing import TYPE_CHECKING, Any

from butfor import __version__
from butfor._web.problems import RETRY_SECONDS, Problem

if TYPE_CHECKING:
    from butfor._web.api import Service

PATHS = ("/health/live", "/health/ready")
"""What probes ask for, which may be open to all."""


async def state_of(service: "Service") -> dict[str, Any]:
    """Return the state of the server, as GET health has it."""
    return {
        "status": "ok",
        "version": __version__,
        "model": service.workspace.version,
        "reload_error": service.reloader.failure,
        **service.pool.health(),
    }


async def liveness_of(service: "Service") -> dict[str, Any]:
    """Return that the server runs, whatever its processes do."""
    return {"status": "live"}


async def readiness_of(service: "Service") -> dict[str, Any]:
    """Return that the server is ready; raise a problem with status 503 otherwise.

    It is ready if it does not end, if a process of each lane answers or is at work, and if results are as
    they were loaded.
    """
    stored, pool = service.workspace.stored, service.pool
    if service.traffic.is_draining:
        raise _not_ready("the server ends and takes no more requests.")
    if stored is not None:
        try:
            await asyncio.to_thread(stored.require_unchanged)
        except Problem as problem:
            raise _not_ready(problem.detail) from problem
    for lane in pool.lanes if pool.is_open else ():
        reason = await lane.why_not_ready()
        if reason is not None:
            raise _not_ready(reason)
    return {"status": "ready", "detail": service.reloader.failure_in_short}


def _not_ready(reason: str) -> Problem:
    return Problem(503, reason, {"Retry-After": str(RETRY_SECONDS)})
