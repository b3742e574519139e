"""The pages: the shell in which the views are drawn, its files, and the documentation of the API."""

import json
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any

from fastapi import APIRouter, FastAPI
from jinja2 import Environment, PackageLoader
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from butfor import SEARCHES, __version__
from butfor.web.api import Service
from butfor.web.desk import Desk
from butfor.web.manual import described, manual
from butfor.web.problems import MEANINGS, Problem

TYPES = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}
FOREVER = "public, max-age=31536000, immutable"
"""For files whose address changes with their content."""
ABOUT = {
    "auto": "the best that fits the model",
    "certified": "proves that its answer is the smallest",
    "sedc": "best first, feature by feature",
    "lin-sedc": "by contributions, for linear models",
    "lime-c": "by LIME's weights",
    "shap-c": "by SHAP values",
    "lime-sedc": "LIME's weights, then best first",
    "shap-sedc": "SHAP values, then best first",
    "complete": "every set, smallest first",
    "random": "features at random",
}
"""The searches in a few words each."""


def pages(service: Service, desks: Sequence[Desk], app: FastAPI) -> APIRouter:
    """Make the routes of a desk's pages."""
    router = APIRouter(include_in_schema=False)
    prefix = f"static/{fingerprint()}"

    @router.get("/")
    async def shell() -> Response:
        told = told_of(service, desks)
        template = _templates().get_template("shell.html")
        return HTMLResponse(
            template.render(desk=told, desk_json=embedded(told), static=prefix, modules=_modules())
        )

    @router.get("/docs")
    def docs(request: Request) -> Response:
        url = request.url
        here = f"{url.scheme}://{url.netloc}{url.path.removesuffix('docs')}"
        chapters = manual(described(app.openapi()), example(service.desk), here)
        told = {"told": told_of(service, desks), "problems": MEANINGS, "static": prefix, "address": here}
        return HTMLResponse(_templates().get_template("docs.html").render(chapters=chapters, **told))

    @router.get("/openapi.json")
    def openapi() -> Response:
        return Response(json.dumps(described(app.openapi())), media_type="application/json")

    @router.get("/static/{name}")
    async def changing_file(name: str) -> Response:
        return _file(name, "no-cache")

    @router.get("/static/{version}/{name}")
    async def file(version: str, name: str) -> Response:
        return _file(name, FOREVER if version == fingerprint() else "no-cache")

    return router


def told_of(service: Service, desks: Sequence[Desk]) -> dict[str, Any]:
    """Tell the page what it is about."""
    desk, limits = service.desk, service.limits
    return {
        "name": desk.name,
        "title": desk.title,
        "kind": desk.kind,
        "can_explain": desk.can_explain,
        "n_rows": desk.n_rows,
        "classes": list(desk.classes),
        "threshold": desk.threshold,
        "n_classes": desk.n_classes,
        "searches": [{"name": name, "about": ABOUT.get(name, "")} for name in SEARCHES],
        "unit": list(desk.unit),
        "limits": {
            "text": limits.text,
            "items": limits.items,
            "max_seconds": limits.max_seconds,
            "max_size": limits.max_size,
        },
        "desks": [
            {"name": each.name, "title": each.title, "href": f"../{each.name}/" if len(desks) > 1 else "./"}
            for each in desks
        ],
        "version": __version__,
    }


def example(desk: Desk) -> dict[str, Any]:
    """Give something to ask about that a desk can answer."""
    if desk.kind == "texts":
        return {"text": "Claim your free prize now"}
    return {"row": 0} if desk.n_rows else {"items": [0, 1]}


def embedded(content: Any) -> Markup:
    r"""Write JSON that may stand inside a script element: nothing in it can end that.

    >>> print(embedded({"title": "</script>&"}))
    {"title": "\u003c/script\u003e\u0026"}
    """
    written = json.dumps(content)
    for character in "<>&":
        written = written.replace(character, f"\\u{ord(character):04x}")
    return Markup(written)


@cache
def fingerprint() -> str:
    """Give a name for all static files as they are: with another content it is another."""
    content = sha256()
    for name, body in sorted(_static().items()):
        content.update(name.encode() + b"\0" + body + b"\0")
    return content.hexdigest()[:12]


@cache
def _static() -> dict[str, bytes]:
    """Read all static files: a few, and small."""
    folder = files("butfor.web") / "static"
    found = [each for each in folder.iterdir() if each.name.endswith(tuple(TYPES))]
    return {each.name: each.read_bytes() for each in found}


@cache
def _modules() -> list[str]:
    """Name the modules of all views: they are fetched at once, not as one finds that it needs another."""
    return sorted(name for name in _static() if name.endswith(".js") and name != "docs.js")


def _file(name: str, caching: str) -> Response:
    if name not in _static():
        raise Problem(404, "there is no such file.")
    kind = TYPES[name[name.rindex(".") :]]
    return Response(_static()[name], media_type=kind, headers={"Cache-Control": caching})


@cache
def _templates() -> Environment:
    return Environment(
        loader=PackageLoader("butfor.web"), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
