"""The JSON API of one workspace; worker processes compute the answers about the model."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi import Path as InPath
from starlette.responses import Response
from starlette.types import Receive

from butfor import Budget
from butfor._web import answers, tasks
from butfor._web.access import record_of
from butfor._web.answers import Answer
from butfor._web.health import liveness_of, readiness_of, state_of
from butfor._web.lane import ClientGone, Lane
from butfor._web.limits import MOST_ROWS, Limits
from butfor._web.overview import Query as TableQuery
from butfor._web.problems import MEDIA_TYPE, TITLES, Problem
from butfor._web.reloading import Current, Reloader
from butfor._web.schemas import (
    AlternativesRequest,
    BaseRequest,
    CompareRequest,
    ExplainRequest,
    RowsQuery,
    ScoreRequest,
)
from butfor._web.traffic import Traffic
from butfor._web.worker_pool import WorkerPool
from butfor._web.workspace import Workspace
from butfor.errors import ModelError

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

    current: Current
    """The generation that is served, of which this is one workspace."""
    number: int
    limits: Limits
    traffic: Traffic
    reloader: Reloader

    @property
    def workspace(self) -> Workspace:
        """The workspace, as it is served now."""
        return self.current.generation.workspaces[self.number]

    @property
    def pool(self) -> WorkerPool:
        """The processes that answer now."""
        return self.current.generation.pool

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
            explainer=self.current.generation.explainers[self.number],
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
        require_row(self.workspace, number)
        return self.workspace.data.at(number)

    def budget(self, max_size: int | None, max_seconds: float | None) -> Budget:
        """Return the budget that a request asks for, capped by the limits of the server."""
        limits = self.limits
        return Budget(
            min(max_size or limits.max_size, limits.max_size),
            min(max_seconds or limits.max_seconds, limits.max_seconds),
        )

    async def answer(
        self,
        lane: Lane,
        request: Request,
        seconds: float,
        task: Callable[..., tasks.Reply],
        question: tasks.Question,
        *arguments: Any,
    ) -> Response:
        """Have a process compute the answer; give up if the client disconnects."""
        record, patience = record_of(request.scope), seconds + self.limits.grace
        record.model = self.workspace.version
        gone = asyncio.ensure_future(_wait_until_gone(request.receive))
        try:
            reply: tasks.Reply = await lane.call(
                gone, patience, task, question, *arguments, request=record, row=question.digest()
            )
        except ClientGone:
            return Response(status_code=CLIENT_GONE)
        except ModelError:
            self._count_searches([("error", "unproven")] if task is not tasks.score else ())
            raise
        finally:
            gone.cancel()
        self._count_searches(reply.searches)
        return Response(reply.content, media_type="application/json")

    def tell(self, request: Request, told: Callable[[Workspace], Mapping[str, Any]]) -> Response:
        """Answer with what is known of the workspace."""
        workspace = self.workspace
        record_of(request.scope).model = workspace.version
        return as_json(told(workspace))

    def _count_searches(self, searches: Iterable[tuple[str, str]]) -> None:
        for outcome, proof in searches:
            self.current.metrics.searches.labels(outcome, proof).inc()


def routes(service: Service) -> APIRouter:
    """Return the routes of a workspace's API."""
    router = APIRouter()
    _add_model_routes(router, service)
    _add_row_routes(router, service)
    _add_health_routes(router, service)
    return router


def _add_model_routes(router: APIRouter, service: Service) -> None:
    """Add the routes whose answers need the model."""
    limits = service.limits

    @_post(router, "api/explain", answers.ExplanationAnswer)
    async def explain(body: ExplainRequest, request: Request) -> Response:
        """Find the smallest set of features without which the decision would be another."""
        question = service.question(body, body.include)
        budget = service.budget(body.max_size, body.max_seconds)
        return await service.answer(
            service.pool.searches, request, budget.max_seconds, tasks.explain, question, body.search, budget
        )

    @_post(router, "api/score", answers.ScoreAnswer)
    async def score(body: ScoreRequest, request: Request) -> Response:
        """Take units away by hand and see what the model decides then."""
        question = service.question(body, body.include)
        lane = service.pool.lane_for_scoring(record_of(request.scope).client)
        return await service.answer(
            lane, request, limits.max_seconds, tasks.score, question, body.removed, body.units
        )

    @_post(router, "api/alternatives", answers.AlternativesAnswer)
    async def alternatives(body: AlternativesRequest, request: Request) -> Response:
        """Find several explanations, none of which contains another, smallest first."""
        question = service.question(body, body.include)
        budget = service.budget(body.max_size, body.max_seconds)
        return await service.answer(
            service.pool.searches,
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
            service.pool.searches, request, limits.max_seconds, tasks.compare, question, body.searches, budget
        )


def _add_row_routes(router: APIRouter, service: Service) -> None:
    """Add the routes that return what is known already."""

    @_get(router, "api/rows", answers.RowsAnswer)
    def rows(query: Annotated[RowsQuery, Query()], request: Request) -> Response:
        """List rows of the data with their scores, decisions and sizes of explanations."""
        asked = TableQuery(**query.model_dump())
        return service.tell(request, lambda served: require_rows(served).rows(asked))

    @_get(router, "api/rows/summary", answers.SummaryAnswer)
    def summary(request: Request, decision: str | None = None) -> Response:
        """Count decisions, statuses, sizes and features of all rows, or of those decided so."""
        return service.tell(request, lambda served: require_rows(served).summary(decision))

    @_get(router, "api/rows/{number}", answers.OneRowAnswer, 404)
    def row(number: RowNumber, request: Request) -> Response:
        """Return what is known of one row, without asking the model."""
        return service.tell(request, lambda served: require_row(require_rows(served), number).row(number))

    @_get(router, "api/features", answers.FeaturesAnswer)
    def features(request: Request, q: NamePart = "", limit: HowMany = 20) -> Response:
        """Find features by a part of their names, to build a row of items."""
        return service.tell(request, lambda served: {"features": served.features(q, limit)})


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


def require_rows(workspace: Workspace) -> Workspace:
    """Return the workspace; raise if it has no rows."""
    if workspace.overview is None:
        raise Problem(409, "this server has no data: give text or items to api/explain.")
    return workspace


def require_row(workspace: Workspace, number: int) -> Workspace:
    """Return the workspace; raise if it has no such row."""
    if number >= workspace.n_rows:
        raise Problem(404, f"there is no row {number}: rows go from 0 to {workspace.n_rows - 1}.")
    return workspace


def as_json(content: Mapping[str, Any]) -> Response:
    """Return a JSON response."""
    return Response(tasks.written(dict(content)), media_type="application/json")


async def _wait_until_gone(receive: Receive) -> None:
    """Wait until the client disconnects."""
    while (await receive())["type"] != "http.disconnect":
        pass
