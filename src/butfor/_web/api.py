"""The JSON API of one workspace; worker processes compute the answers about the model."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi import Path as InPath
from starlette.responses import Response
from starlette.types import Receive

from butfor import Budget
from butfor._web import answers, tasks
from butfor._web.answers import Answer
from butfor._web.health import liveness_of, readiness_of, state_of
from butfor._web.limits import MOST_ROWS, Limits
from butfor._web.overview import Query as TableQuery
from butfor._web.problems import MEDIA_TYPE, TITLES, Problem
from butfor._web.schemas import (
    AlternativesRequest,
    BaseRequest,
    CompareRequest,
    ExplainRequest,
    RowsQuery,
    ScoreRequest,
)
from butfor._web.worker_pool import ClientGone, Lane, WorkerPool
from butfor._web.workspace import Workspace

RowNumber = Annotated[int, InPath(ge=0, lt=2**31, description="The number of the row, from 0.")]
NamePart = Annotated[str, Query(max_length=1000, description="A part of the name.")]
HowMany = Annotated[int, Query(ge=1, le=MOST_ROWS, description="How many at most.")]
POSTED = (400, 401, 403, 404, 409, 413, 415, 422, 500, 502, 503, 504)
GOTTEN = (401, 403, 409, 422, 500)
TAKEN = {"text": "texts", "items": "rows of numbers", "record": "records"}
"""What a model reads that is asked about each of these."""
CLIENT_GONE = 499
"""The status of the response to a client that has disconnected; nobody reads it."""


@dataclass(eq=False)
class Service:
    """A workspace, the processes that ask its model, and the limits of a request."""

    workspace: Workspace
    pool: WorkerPool
    limits: Limits
    explainer: Path = Path()
    """The file from which the processes load the explainer; set when the app starts."""

    def question(self, body: BaseRequest, include: list[Any] | None = None) -> tasks.Question:
        """Return what a process must know of a request; raise if this workspace cannot answer it."""
        workspace, limits = self.workspace, self.limits
        if not workspace.can_explain:
            raise Problem(409, "these are the results of a batch, without a model that could be asked.")
        if body.n_keys() > limits.items:
            raise Problem(413, f"items, protected and removed may hold {limits.items:,} together.")
        if body.n_characters() > limits.text:
            raise Problem(413, f"text may have {limits.text:,} characters, got {body.n_characters():,}.")
        wanted = {"texts": "text", "items": "items", "records": "record"}[workspace.kind]
        for other in ("text", "items", "record"):
            if other != wanted and getattr(body, other) is not None:
                raise Problem(
                    422, f"{other} must not be given, as the model reads {TAKEN[wanted]}: give {wanted}."
                )
        return tasks.Question(
            explainer=self.explainer,
            row=(body.text if body.record is None else body.record)
            if body.row is None
            else self.row(body.row),
            items=body.items,
            protected=tuple(body.protected),
            wording=tasks.Wording(workspace.subject, workspace.decision),
            include=tuple(include or ()),
        )

    def row(self, number: int) -> Any:
        """Return a row of the data as an Explainer takes it."""
        if self.workspace.data is None:
            raise Problem(409, "row must not be given, as this server has no data: give text or items.")
        self.require_row(number)
        return self.workspace.data.at(number)

    def require_row(self, number: int) -> None:
        """Raise unless there is such a row."""
        if number >= self.workspace.n_rows:
            raise Problem(404, f"there is no row {number}: rows go from 0 to {self.workspace.n_rows - 1}.")

    def require_rows(self) -> None:
        """Raise if the workspace has no rows."""
        if self.workspace.overview is None:
            raise Problem(409, "this server has no data: give text or items to api/explain.")

    def budget(self, max_size: int | None, max_seconds: float | None) -> Budget:
        """Return the budget that a request asks for, capped by the limits of the server."""
        limits = self.limits
        return Budget(
            min(max_size or limits.max_size, limits.max_size),
            min(max_seconds or limits.max_seconds, limits.max_seconds),
        )

    async def answer(
        self, lane: Lane, request: Request, seconds: float, task: Callable[..., bytes], *arguments: Any
    ) -> Response:
        """Have a process compute the answer; give up if the client disconnects."""
        gone = asyncio.ensure_future(_wait_until_gone(request.receive))
        try:
            content = await lane.call(gone, seconds + self.limits.grace, task, *arguments)
        except ClientGone:
            return Response(status_code=CLIENT_GONE)
        finally:
            gone.cancel()
        return Response(content, media_type="application/json")


def routes(service: Service) -> APIRouter:
    """Return the routes of a workspace's API."""
    router = APIRouter()
    _add_model_routes(router, service)
    _add_row_routes(router, service)
    _add_health_routes(router, service)
    return router


def _add_model_routes(router: APIRouter, service: Service) -> None:
    """Add the routes whose answers need the model."""
    pool, limits = service.pool, service.limits

    @_post(router, "api/explain", answers.ExplanationAnswer)
    async def explain(body: ExplainRequest, request: Request) -> Response:
        """Find the smallest set of features without which the decision would be another."""
        question = service.question(body, body.include)
        budget = service.budget(body.max_size, body.max_seconds)
        return await service.answer(
            pool.searches, request, budget.max_seconds, tasks.explain, question, body.search, budget
        )

    @_post(router, "api/score", answers.ScoreAnswer)
    async def score(body: ScoreRequest, request: Request) -> Response:
        """Take units away by hand and see what the model decides then."""
        question = service.question(body, body.include)
        return await service.answer(
            pool.scorings, request, limits.max_seconds, tasks.score, question, body.removed, body.units
        )

    @_post(router, "api/alternatives", answers.AlternativesAnswer)
    async def alternatives(body: AlternativesRequest, request: Request) -> Response:
        """Find several explanations, none of which contains another, smallest first."""
        question = service.question(body, body.include)
        budget = service.budget(body.max_size, body.max_seconds)
        return await service.answer(
            pool.searches,
            request,
            budget.max_seconds,
            tasks.alternatives,
            question,
            budget,
            body.skip,
            body.limit,
        )

    @_post(router, "api/compare", answers.CompareAnswer)
    async def compare(body: CompareRequest, request: Request) -> Response:
        """Have several searches explain the same row, to compare them."""
        question = service.question(body)
        share = limits.max_seconds / len(body.searches)
        budget = service.budget(body.max_size, min(body.max_seconds or share, share))
        return await service.answer(
            pool.searches, request, limits.max_seconds, tasks.compare, question, body.searches, budget
        )


def _add_row_routes(router: APIRouter, service: Service) -> None:
    """Add the routes that return what is known already."""
    workspace = service.workspace

    @_get(router, "api/rows", answers.RowsAnswer)
    def rows(query: Annotated[RowsQuery, Query()]) -> Response:
        """List rows of the data with their scores, decisions and sizes of explanations."""
        service.require_rows()
        return as_json(workspace.rows(TableQuery(**query.model_dump())))

    @_get(router, "api/rows/summary", answers.SummaryAnswer)
    def summary(decision: str | None = None) -> Response:
        """Count decisions, statuses, sizes and features of all rows, or of those decided so."""
        service.require_rows()
        return as_json(workspace.summary(decision))

    @_get(router, "api/rows/{number}", answers.OneRowAnswer, 404)
    def row(number: RowNumber) -> Response:
        """Return what is known of one row, without asking the model."""
        service.require_rows()
        service.require_row(number)
        return as_json(workspace.row(number))

    @_get(router, "api/features", answers.FeaturesAnswer)
    def features(q: NamePart = "", limit: HowMany = 20) -> Response:
        """Find features by a part of their names, to build a row of items."""
        return as_json({"features": workspace.features(q, limit)})


def _add_health_routes(router: APIRouter, service: Service) -> None:
    """Add the routes that tell how the server is."""

    @_get(router, "health", answers.HealthAnswer)
    async def health() -> Response:
        """Return the state of the server: its version, its processes and how many requests wait."""
        return as_json(await state_of(service))

    @_get(router, "health/live", answers.LiveAnswer)
    async def live() -> Response:
        """Return that the server runs, whatever its processes do."""
        return as_json(await liveness_of(service))

    @_get(router, "health/ready", answers.ReadyAnswer, 503)
    async def ready() -> Response:
        """Return that requests would be answered now, after a process has answered; otherwise 503."""
        return as_json(await readiness_of(service))


def documented(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the OpenAPI descriptions of some problem statuses."""
    reference = {"$ref": "#/components/schemas/ProblemAnswer"}
    return {
        status: {"description": TITLES[status], "content": {MEDIA_TYPE: {"schema": reference}}}
        for status in statuses
    }


def _post(router: APIRouter, path: str, answer: type[Answer]) -> Callable[[Any], Any]:
    return router.post(f"/{path}", response_model=answer, responses=documented(*POSTED), tags=["model"])


def _get(router: APIRouter, path: str, answer: type[Answer], *more: int) -> Callable[[Any], Any]:
    return router.get(f"/{path}", response_model=answer, responses=documented(*GOTTEN, *more), tags=["rows"])


def as_json(content: Mapping[str, Any]) -> Response:
    """Return a JSON response."""
    return Response(tasks.written(dict(content)), media_type="application/json")


async def _wait_until_gone(receive: Receive) -> None:
    """Wait until the client disconnects."""
    while (await receive())["type"] != "http.disconnect":
        pass
