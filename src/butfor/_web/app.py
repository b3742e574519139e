"""The ASGI app: one or more workspaces, each under its path, behind one guard."""

import os
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from fastapi import FastAPI
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.types import ASGIApp

from butfor import __version__
from butfor._processes.sharing import share
from butfor._web.api import Service, as_json, routes
from butfor._web.guard import Guard
from butfor._web.limits import Limits
from butfor._web.pages import pages
from butfor._web.problems import Shield, answer_problems
from butfor._web.worker_pool import WorkerPool
from butfor._web.workspace import Workspace
from butfor.errors import InputError


def create_app(
    workspaces: Sequence[Workspace],
    *,
    limits: Limits | None = None,
    token: str | None = None,
    hosts: Collection[str] = (),
    jobs: int | None = None,
) -> ASGIApp:
    """Return the app of some workspaces: a single one at the root, several each under its name.

    `hosts` are host names that requests may use, besides localhost. `jobs` is the number of processes that
    search, by default one a core. The processes start with the app's lifespan and end with it.
    """
    if not workspaces or len({workspace.name for workspace in workspaces}) < len(workspaces):
        raise InputError("workspaces must be one or more, each with a name of its own.")
    limits = limits or Limits()
    pool = WorkerPool(jobs=jobs or os.cpu_count() or 1, most_waiting=limits.waiting)
    services = [Service(workspace, pool, limits) for workspace in workspaces]

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        with ExitStack() as stack:
            _open(services, pool, stack)
            yield

    app = Starlette(routes=_mounts(services), lifespan=lifespan)
    app.router.redirect_slashes = False
    answer_problems(app)
    return Guard(Shield(app), hosts=hosts, token=token, most_bytes=limits.body)


def _open(services: Sequence[Service], pool: WorkerPool, stack: ExitStack) -> None:
    """Share the models, start to explain all rows, start the processes; the stack closes all of it."""
    folder = Path(stack.enter_context(TemporaryDirectory(prefix="butfor-", ignore_cleanup_errors=True)))
    for number, service in enumerate(services):
        if service.workspace.explainer is not None:
            service.explainer = share(service.workspace.explainer, folder / f"explainer-{number}")
    for service in services:
        stack.callback(service.workspace.close)
        service.workspace.open(service.explainer)
    stack.callback(pool.close)
    pool.open([service.explainer for service in services if service.workspace.can_explain])


def _mounts(services: Sequence[Service]) -> list[BaseRoute]:
    """Return the routes of all workspaces, each under its path."""
    if len(services) == 1:
        return [Mount("/", workspace_app(services[0], services))]
    first = services[0].workspace.name

    async def health(_: Request) -> Response:
        return as_json(services[0].health())

    found: list[BaseRoute] = [Route("/", _redirect_to(f"{first}/")), Route("/health", health)]
    for service in services:
        name = service.workspace.name
        found += [
            Route(f"/{name}", _redirect_to(f"{name}/")),
            Mount(f"/{name}", workspace_app(service, services)),
        ]
    return found


def workspace_app(service: Service, services: Sequence[Service]) -> FastAPI:
    """Return the app of one workspace: its API and its pages."""
    app = FastAPI(
        title="butfor",
        version=__version__,
        description="Why did the model decide so? The smallest evidence without which it would not have.",
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    answer_problems(app)
    app.include_router(routes(service))
    app.include_router(pages(service, [each.workspace for each in services], app))
    return app


def _redirect_to(place: str) -> Callable[[Request], Awaitable[Response]]:
    """Return an endpoint that redirects to a relative address, which holds under any prefix."""

    async def redirect(_: Request) -> Response:
        return Response(None, 303, {"Location": place})

    return redirect
