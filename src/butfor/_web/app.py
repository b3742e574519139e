"""The ASGI app: one or more workspaces, each under its path, behind one guard."""

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.types import ASGIApp

from butfor import __version__
from butfor._processes.cores import cpu_count
from butfor._web.access import Access, Routed
from butfor._web.api import Service, as_json, routes
from butfor._web.generation import Generation
from butfor._web.guard import Guard
from butfor._web.health import PATHS, liveness_of, readiness_of, state_of
from butfor._web.limits import Limits
from butfor._web.metrics import Metrics
from butfor._web.pages import pages
from butfor._web.problems import Problem, Shield, answer_problems
from butfor._web.reloading import Current, Reloader
from butfor._web.traffic import Traffic
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
    reserve: int = 0,
    open_health: bool = False,
    metrics: Metrics | None = None,
    traffic: Traffic | None = None,
    reloader: Reloader | None = None,
) -> ASGIApp:
    """Return the app of some workspaces: a single one at the root, several each under its name.

    `hosts` are host names that requests may use, besides localhost. `jobs` is the number of processes that
    search, by default one a core; `reserve` is how many more there are for others, once one client keeps
    those busy. `open_health` lets probes ask without the token. `metrics` count, `traffic` says whether the
    server drains, and `reloader` replaces the workspaces. The processes start with the app's lifespan and end
    with it.
    """
    if not workspaces or len({workspace.name for workspace in workspaces}) < len(workspaces):
        raise InputError("workspaces must be one or more, each with a name of its own.")
    limits, metrics, traffic = limits or Limits(), metrics or Metrics(), traffic or Traffic()
    jobs, reloader = jobs or cpu_count(), reloader or Reloader()

    def generation_of(workspaces: Sequence[Workspace]) -> Generation:
        pool = WorkerPool(jobs=jobs, limits=limits, reserve=reserve, metrics=metrics)
        return Generation(workspaces, pool, limits.upkeep)

    current = Current(generation_of(workspaces), metrics)
    services = [Service(current, number, limits, traffic, reloader) for number in range(len(workspaces))]

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        try:
            current.begin()
            reloader.open(current, generation_of)
            yield
        finally:
            reloader.close()
            current.generation.close()

    app = Starlette(routes=[_reload_route(reloader, services, token), *_mounts(services)], lifespan=lifespan)
    app.router.redirect_slashes = False
    answer_problems(app)
    open_paths = PATHS if open_health else ()
    shielded = Shield(Routed(app))
    guard = Guard(shielded, hosts=hosts, token=token, most_bytes=limits.body, open_paths=open_paths)
    return Access(guard, traffic, metrics)


def _reload_route(reloader: Reloader, services: Sequence[Service], token: str | None) -> Route:
    """Return the route by which those who have the token have the model loaded again."""

    async def reload(request: Request) -> Response:
        if token is None:
            raise Problem(403, "a server without a token reloads nothing on request: send it SIGHUP.")
        await reloader.reload()
        return as_json({"models": {each.workspace.name: each.workspace.version for each in services}})

    return Route("/reload", reload, methods=["POST"])


def _mounts(services: Sequence[Service]) -> list[BaseRoute]:
    """Return the routes of all workspaces, each under its path."""
    if len(services) == 1:
        return [Mount("/", workspace_app(services[0], services))]
    first = services[0].workspace.name

    found: list[BaseRoute] = [Route("/", _redirect_to(f"{first}/"))]
    about = {"/health": state_of, "/health/live": liveness_of, "/health/ready": readiness_of}
    found += [Route(path, _told(function, services[0])) for path, function in about.items()]
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
    app.include_router(pages(service, services, app))
    return app


def _told(
    function: Callable[[Service], Awaitable[dict[str, Any]]], service: Service
) -> Callable[[Request], Awaitable[Response]]:
    """Return an endpoint that answers with what a function returns about a service."""

    async def tell(_: Request) -> Response:
        return as_json(await function(service))

    return tell


def _redirect_to(place: str) -> Callable[[Request], Awaitable[Response]]:
    """Return an endpoint that redirects to a relative address, which holds under any prefix."""

    async def redirect(_: Request) -> Response:
        return Response(None, 303, {"Location": place})

    return redirect
