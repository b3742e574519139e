"""The whole app: desks, each under its path, behind one guard; processes live as long as it does."""

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
from butfor.errors import InputError
from butfor.sharing import share
from butfor.web.api import Service, as_json, routes
from butfor.web.crew import Crew
from butfor.web.desk import Desk
from butfor.web.guard import Guard
from butfor.web.limits import Limits
from butfor.web.pages import pages
from butfor.web.problems import Shield, answer_problems


def create_app(
    desks: Sequence[Desk],
    *,
    limits: Limits | None = None,
    token: str | None = None,
    hosts: Collection[str] = (),
    jobs: int | None = None,
) -> ASGIApp:
    """Make the app of some desks: one at the root, or each under its name.

    `hosts` are the names under which it may be asked, besides those of this machine for itself. `jobs` is how
    many processes search, one a core unless given. Processes start with the app's lifespan and end with it.
    """
    if not desks or len({desk.name for desk in desks}) < len(desks):
        raise InputError("desks must be one or more, each with a name of its own.")
    limits = limits or Limits()
    crew = Crew(jobs=jobs or os.cpu_count() or 1, most_waiting=limits.waiting)
    services = [Service(desk, crew, limits) for desk in desks]

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        with ExitStack() as stack:
            _open(services, crew, stack)
            yield

    app = Starlette(routes=_mounted(services), lifespan=lifespan)
    app.router.redirect_slashes = False
    answer_problems(app)
    return Guard(Shield(app), hosts=hosts, token=token, most_bytes=limits.body)


def _open(services: Sequence[Service], crew: Crew, stack: ExitStack) -> None:
    """Share the models, begin to fill the tables and to start the processes; all ends with the stack."""
    folder = Path(stack.enter_context(TemporaryDirectory(prefix="butfor-", ignore_cleanup_errors=True)))
    for number, service in enumerate(services):
        if service.desk.explainer is not None:
            service.explainer = share(service.desk.explainer, folder / f"explainer-{number}")
    for service in services:
        stack.callback(service.desk.close)
        service.desk.open(service.explainer)
    stack.callback(crew.close)
    crew.open([service.explainer for service in services if service.desk.can_explain])


def _mounted(services: Sequence[Service]) -> list[BaseRoute]:
    """Give each desk its path."""
    if len(services) == 1:
        return [Mount("/", desk_app(services[0], services))]
    first = services[0].desk.name

    async def health(_: Request) -> Response:
        return as_json(services[0].health())

    found: list[BaseRoute] = [Route("/", _to(f"{first}/")), Route("/health", health)]
    for service in services:
        name = service.desk.name
        found += [Route(f"/{name}", _to(f"{name}/")), Mount(f"/{name}", desk_app(service, services))]
    return found


def desk_app(service: Service, services: Sequence[Service]) -> FastAPI:
    """Make the app of one desk: its API and its pages."""
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
    app.include_router(pages(service, [each.desk for each in services], app))
    return app


def _to(place: str) -> Callable[[Request], Awaitable[Response]]:
    """Send a browser on, wherever the server is mounted."""

    async def redirect(_: Request) -> Response:
        return Response(None, 303, {"Location": place})

    return redirect
