"""Errors as JSON problems (RFC 9457), never as tracebacks or HTML."""

import asyncio
import json
import logging
from collections.abc import Mapping
from typing import Any

from fastapi.exceptions import RequestValidationError
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from butfor._render.words import shortened
from butfor._web.logs import log_event, place_of
from butfor.errors import ButforError, InputError

TITLES = {
    400: "Bad request",
    401: "Token needed",
    403: "Not from here",
    404: "Not found",
    405: "Method not allowed",
    409: "Not possible here",
    413: "Too large",
    415: "Not JSON",
    422: "Bad value",
    500: "Internal error",
    502: "The model failed",
    503: "Busy",
    504: "The model hung",
}
"""The title of each status."""
MEANINGS = {
    400: "The body could not be read, or there is not exactly one Host header.",
    401: "The server wants its token: Authorization: Bearer …, or the address that it printed.",
    403: "The request came from a page of another site, or to a name that is not this server's.",
    404: "There is no such row, or nothing at this address.",
    405: "The address takes another method.",
    409: "It cannot be done here: there is no model to ask, there are no rows, or the results of a batch are "
    "not those that the server loaded.",
    413: "The body, the text or the list of items is too large.",
    415: "The body is not declared as application/json.",
    422: "A value is not what it must be; detail names it.",
    500: "Something went wrong in butfor itself.",
    502: "The model failed on this row, or its process ended. Other requests are not affected.",
    503: "All processes are busy and the queue is full, or the server ends. Retry-After says when to ask "
    "again.",
    504: "The model did not answer in time and was stopped. Other requests are not affected.",
}
"""The meaning of each status, for the documentation page."""
LONGEST_DETAIL = 2_000
RETRY_SECONDS = 2
"""When a client that was refused may try again."""
MEDIA_TYPE = "application/problem+json"


class Problem(Exception):  # noqa: N818 - it is an answer
    """An error answer: its status, and a detail that says what the client can do."""

    def __init__(self, status: int, detail: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.headers = dict(headers or {})

    def response(self) -> Response:
        """Return the HTTP response.

        >>> Problem(404, "there is no row 7.").response().body
        b'{"type": "about:blank", "title": "Not found", "status": 404, "detail": "there is no row 7."}'
        """
        body = {
            "type": "about:blank",
            "title": TITLES.get(self.status, "Error"),
            "status": self.status,
            "detail": shortened(self.detail, LONGEST_DETAIL),
        }
        return Response(json.dumps(body), self.status, self.headers, media_type=MEDIA_TYPE)


def problem_of(error: ButforError) -> Problem:
    """Return the problem of an error of butfor: 422 for bad input, 502 for a failed model or search.

    >>> problem_of(InputError("row must be finite.")).status
    422
    """
    return Problem(422 if isinstance(error, InputError) else 502, str(error))


def answer_problems(app: Starlette) -> None:
    """Register exception handlers, so that the app answers every exception with a problem."""

    async def of_problem(_: Request, problem: Any) -> Response:
        return problem.response()  # type: ignore[no-any-return]

    async def of_butfor(_: Request, error: Any) -> Response:
        return problem_of(error).response()

    async def of_http(_: Request, error: Any) -> Response:
        return Problem(error.status_code, _http_detail(error), error.headers).response()

    async def of_validation(_: Request, error: Any) -> Response:
        return Problem(422, validation_detail(error.errors())).response()

    async def of_anything(_: Request, error: Exception) -> Response:
        return internal().response()

    app.add_exception_handler(Problem, of_problem)
    app.add_exception_handler(ButforError, of_butfor)
    app.add_exception_handler(HTTPException, of_http)
    app.add_exception_handler(RequestValidationError, of_validation)
    app.add_exception_handler(Exception, of_anything)


def internal() -> Problem:
    """Return the problem of an unexpected error, without any of its content."""
    return Problem(500, "something went wrong in butfor itself; its log says where.")


def validation_detail(errors: Any) -> str:
    """Return the first error of a validation in words, without the value that was sent.

    >>> error = {"loc": ("body", "max_size"), "msg": "Input should be a valid integer", "type": "int_type"}
    >>> validation_detail([error])
    'max_size: input should be a valid integer.'

    Only the field is named: deeper locations hold names of types, and keys that the client sent.
    """
    error = errors[0]
    if error["type"] == "json_invalid":
        return "the body must be JSON: " + str(error.get("ctx", {}).get("error", error["msg"])) + "."
    places = [str(place) for place in error["loc"] if place not in ("body", "query", "path")][:1]
    message = str(error["msg"]).removeprefix("Value error, ").rstrip(".")
    name = ".".join(places)
    return f"{name}: {message[:1].lower()}{message[1:]}." if name else f"{message}."


def _http_detail(error: HTTPException) -> str:
    if error.status_code == 404:
        return "there is nothing at this address; docs lists all there is."
    if error.status_code == 405:
        return "this address takes another method; docs lists them."
    return str(error.detail)


class Shield:
    """Catches unexpected exceptions; logs their type and place, never their message."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Run the app; answer with a problem if it raises before it has begun to answer."""
        started = False

        async def watched(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self._app(scope, receive, watched)
        except asyncio.CancelledError:  # the server shuts down
            if scope["type"] != "http":
                raise
            if not started:
                await Problem(503, "the server ends.").response()(scope, receive, send)
        except Exception as error:
            if scope["type"] != "http":
                raise
            log_event(logging.ERROR, "internal error", error=type(error).__name__, at=place_of(error))
            if not started:
                await internal().response()(scope, receive, send)
