"""The JSON API of one desk: reads what is asked, has a process answer it, and sends that on as it is."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi import Path as InPath
from starlette.responses import Response
from starlette.types import Receive

from butfor import Budget, __version__
from butfor.web import answers, tasks
from butfor.web.answers import Answer
from butfor.web.crew import ClientGone, Crew, Lane
from butfor.web.desk import Desk
from butfor.web.limits import MOST_ROWS, Limits
from butfor.web.problems import MEDIA_TYPE, TITLES, Problem
from butfor.web.schemas import (
    AlternativesRequest,
    Asked,
    CompareRequest,
    ExplainRequest,
    RowsQuery,
    ScoreRequest,
)
from butfor.web.table import Query as TableQuery

RowNumber = Annotated[int, InPath(ge=0, lt=2**31, description="The number of the row, from 0.")]
NamePart = Annotated[str, Query(max_length=1000, description="A part of the name.")]
HowMany = Annotated[int, Query(ge=1, le=MOST_ROWS, description="How many at most.")]
POSTED = (400, 401, 403, 404, 409, 413, 415, 422, 500, 502, 503, 504)
GOTTEN = (401, 403, 409, 422, 500)
CLIENT_GONE = 499
"""Nobody reads this status: it is the answer to those who left."""


@dataclass(eq=False)
class Service:
    """A desk, and those who answer for it."""

    desk: Desk
    crew: Crew
    limits: Limits
    explainer: Path = Path()
    """Where the processes find the explainer, once it has been shared."""

    def inquest(self, asked: Asked, include: list[Any] | None = None) -> tasks.Inquest:
        """Give what a process must know of a request; raise where it cannot be answered here."""
        desk, limits = self.desk, self.limits
        if not desk.can_explain:
            raise Problem(409, "these are the results of a batch, without a model that could be asked.")
        if asked.n_given() > limits.items:
            raise Problem(413, f"items, protected and removed may hold {limits.items:,} together.")
        if asked.text is not None and len(asked.text) > limits.text:
            raise Problem(413, f"text may have {limits.text:,} characters, got {len(asked.text):,}.")
        if asked.text is not None and desk.kind != "texts":
            raise Problem(422, "text must not be given, as the model reads rows of numbers: give items.")
        return tasks.Inquest(
            explainer=self.explainer,
            row=asked.text if asked.row is None else self.row(asked.row),
            items=asked.items,
            protected=tuple(asked.protected),
            words=tasks.Words(desk.subject, desk.decision),
            include=tuple(include or ()),
        )

    def row(self, number: int) -> Any:
        """Give a row of the data."""
        if self.desk.given is None:
            raise Problem(409, "row must not be given, as this server has no data: give text or items.")
        self.require_row(number)
        return self.desk.given.at(number)

    def require_row(self, number: int) -> None:
        """Raise unless there is such a row."""
        if number >= self.desk.n_rows:
            raise Problem(404, f"there is no row {number}: rows go from 0 to {self.desk.n_rows - 1}.")

    def require_rows(self) -> None:
        """Raise where there are no rows."""
        if self.desk.table is None:
            raise Problem(409, "this server has no data: give text or items to api/explain.")

    def budget(self, max_size: int | None, max_seconds: float | None) -> Budget:
        """Give what a request may take, at most what the server allows."""
        limits = self.limits
        return Budget(
            min(max_size or limits.max_size, limits.max_size),
            min(max_seconds or limits.max_seconds, limits.max_seconds),
        )

    def health(self) -> dict[str, Any]:
        """Say how the server is."""
        return {"status": "ok", "version": __version__, **self.crew.health()}

    async def answer(
        self, lane: Lane, request: Request, seconds: float, task: Callable[..., bytes], *arguments: Any
    ) -> Response:
        """Have a process answer, unless the client goes first."""
        gone = asyncio.ensure_future(_gone(request.receive))
        try:
            body = await lane.call(gone, seconds + self.limits.grace, task, *arguments)
        except ClientGone:
            return Response(status_code=CLIENT_GONE)
        finally:
            gone.cancel()
        return Response(body, media_type="application/json")


def routes(service: Service) -> APIRouter:
    """Make the routes of a desk's API."""
    router = APIRouter()
    _asking(router, service)
    _listing(router, service)
    return router


def _asking(router: APIRouter, service: Service) -> None:
    """Add what asks the model."""
    crew, limits = service.crew, service.limits

    @_post(router, "api/explain", answers.ExplanationAnswer)
    async def explain(asked: ExplainRequest, request: Request) -> Response:
        """Find the smallest set of features without which the decision would be another."""
        about = service.inquest(asked, asked.include)
        budget = service.budget(asked.max_size, asked.max_seconds)
        return await service.answer(
            crew.searches, request, budget.max_seconds, tasks.explain, about, asked.search, budget
        )

    @_post(router, "api/score", answers.ScoreAnswer)
    async def score(asked: ScoreRequest, request: Request) -> Response:
        """Take units away by hand and see what the model decides then."""
        about = service.inquest(asked, asked.include)
        return await service.answer(
            crew.scorings, request, limits.max_seconds, tasks.score, about, asked.removed, asked.units
        )

    @_post(router, "api/alternatives", answers.AlternativesAnswer)
    async def alternatives(asked: AlternativesRequest, request: Request) -> Response:
        """Find several explanations, none of which contains another, smallest first."""
        about = service.inquest(asked, asked.include)
        budget = service.budget(asked.max_size, asked.max_seconds)
        return await service.answer(
            crew.searches,
            request,
            budget.max_seconds,
            tasks.alternatives,
            about,
            budget,
            asked.skip,
            asked.limit,
        )

    @_post(router, "api/compare", answers.CompareAnswer)
    async def compare(asked: CompareRequest, request: Request) -> Response:
        """Have several searches explain the same row, to compare them."""
        about = service.inquest(asked)
        share = limits.max_seconds / len(asked.searches)
        budget = service.budget(asked.max_size, min(asked.max_seconds or share, share))
        return await service.answer(
            crew.searches, request, limits.max_seconds, tasks.compare, about, asked.searches, budget
        )


def _listing(router: APIRouter, service: Service) -> None:
    """Add what is known already."""
    desk = service.desk

    @_get(router, "api/rows", answers.RowsAnswer)
    def rows(query: Annotated[RowsQuery, Query()]) -> Response:
        """List rows of the data with their scores, decisions and sizes of explanations."""
        service.require_rows()
        return as_json(desk.rows(TableQuery(**query.model_dump())))

    @_get(router, "api/rows/summary", answers.SummaryAnswer)
    def summary(decision: str | None = None) -> Response:
        """Count decisions, statuses, sizes and features of all rows, or of those decided so."""
        service.require_rows()
        return as_json(desk.summary(decision))

    @_get(router, "api/rows/{number}", answers.OneRowAnswer, 404)
    def row(number: RowNumber) -> Response:
        """Give what is known of one row, without asking the model."""
        service.require_rows()
        service.require_row(number)
        return as_json(desk.row(number))

    @_get(router, "api/features", answers.FeaturesAnswer)
    def features(q: NamePart = "", limit: HowMany = 20) -> Response:
        """Find features by name, to put items together."""
        return as_json({"features": desk.features(q, limit)})

    @_get(router, "health", answers.HealthAnswer)
    async def health() -> Response:
        """Say how the server is."""
        return as_json(service.health())


def documented(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Describe problems for the API's own description."""
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
    """Answer with JSON."""
    return Response(tasks.written(dict(content)), media_type="application/json")


async def _gone(receive: Receive) -> None:
    """Wait until the client is gone."""
    while (await receive())["type"] != "http.disconnect":
        pass
