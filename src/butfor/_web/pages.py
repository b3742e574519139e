"""The pages: the shell in which the views are drawn, its files, and the documentation of the API."""

import json
import re
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
from butfor._web.api import Service
from butfor._web.manual import described, manual
from butfor._web.problems import MEANINGS, Problem
from butfor._web.proxies import prefix_of
from butfor._web.workspace import Workspace

TYPES = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}
IMPORT = re.compile(r'from "\./(\w+\.js)";')
"""A module that another one needs; views are imported in another way, as they are asked for."""
MOST_CHOICES = 500
"""Categories of a column that a form offers, at most."""
VIEWS = ("rows", "row", "own", "all")
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


def pages(service: Service, services: Sequence[Service], app: FastAPI) -> APIRouter:
    """Make the routes of a workspace's pages."""
    router = APIRouter(include_in_schema=False)
    prefix = f"static/{fingerprint()}"

    @router.get("/")
    async def shell() -> Response:
        told = told_of(service, services)
        template = _templates().get_template("shell.html")
        content = embedded({**told, "modules": _modules()})
        first = _modules()["rows" if told["n_rows"] else "own"]
        return HTMLResponse(
            template.render(workspace=told, workspace_json=content, static=prefix, modules=first)
        )

    @router.get("/docs")
    def docs(request: Request) -> Response:
        url = request.url
        here = f"{url.scheme}://{url.netloc}{prefix_of(request.scope)}{url.path.removesuffix('docs')}"
        chapters = manual(described(app.openapi()), example(service.workspace), here)
        told = {"told": told_of(service, services), "problems": MEANINGS, "static": prefix, "address": here}
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


def told_of(service: Service, services: Sequence[Service]) -> dict[str, Any]:
    """Return what the page is about, as plain values."""
    workspace, limits = service.workspace, service.limits
    workspaces = [each.workspace for each in services]
    return {
        "name": workspace.name,
        "title": workspace.title,
        "kind": workspace.kind,
        "can_explain": workspace.can_explain,
        "n_rows": workspace.n_rows,
        "classes": list(workspace.classes),
        "threshold": workspace.threshold,
        "n_classes": workspace.n_classes,
        "searches": [{"name": name, "about": ABOUT.get(name, "")} for name in SEARCHES],
        "unit": list(workspace.unit),
        "columns": columns_of(workspace),
        "record_form": None if workspace.explainer is None else workspace.explainer.record_form,
        "limits": {
            "text": limits.text,
            "items": limits.items,
            "max_seconds": limits.max_seconds,
            "max_size": limits.max_size,
        },
        "workspaces": [
            {
                "name": each.name,
                "title": each.title,
                "href": f"../{each.name}/" if len(workspaces) > 1 else "./",
            }
            for each in workspaces
        ],
        "version": __version__,
    }


def columns_of(workspace: Workspace) -> list[dict[str, Any]]:
    """Return the columns of records by name, what they hold, and what the model knows of categories."""
    explainer = workspace.explainer
    if explainer is None or not explainer.takes_records:
        return []
    return [
        {"name": name, "kind": kind or "category", "choices": list(explainer.choices(name))[:MOST_CHOICES]}
        for name, kind in explainer.record_columns or ()
    ]


def example(workspace: Workspace) -> dict[str, Any]:
    """Return an example of a request that a workspace can answer."""
    if workspace.kind == "texts":
        return {"text": "Claim your free prize now"}
    if workspace.kind == "records" and not workspace.n_rows:
        return {"record": {column["name"]: None for column in columns_of(workspace)}}
    return {"row": 0} if workspace.n_rows else {"items": [0, 1]}


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
    """Return a name of all static files that changes with their content."""
    content = sha256()
    for name, body in sorted(_static().items()):
        content.update(name.encode() + b"\0" + body + b"\0")
    return content.hexdigest()[:12]


@cache
def _static() -> dict[str, bytes]:
    """Read all static files: a few, and small."""
    folder = files("butfor._web") / "static"
    found = [each for each in folder.iterdir() if each.name.endswith(tuple(TYPES))]
    return {each.name: each.read_bytes() for each in found}


@cache
def _modules() -> dict[str, list[str]]:
    """Return the modules that each view needs: they are fetched together, not as one asks for the next."""
    return {view: sorted(_needed("app.js", f"{view}.js")) for view in VIEWS}


def _needed(*names: str) -> set[str]:
    """Return modules with all that they import, and what that imports."""
    needed: set[str] = set()
    found = list(names)
    while found:
        name = found.pop()
        if name not in needed:
            needed.add(name)
            found += IMPORT.findall(_static()[name].decode())
    return needed


def _file(name: str, caching: str) -> Response:
    if name not in _static():
        raise Problem(404, "there is no such file.")
    kind = TYPES[name[name.rindex(".") :]]
    return Response(_static()[name], media_type=kind, headers={"Cache-Control": caching})


@cache
def _templates() -> Environment:
    return Environment(
        loader=PackageLoader("butfor._web"), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
