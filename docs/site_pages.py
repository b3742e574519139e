"""Parts of the site that are not written by hand: every command and option, the HTTP API, README.

A page has `<!-- made: NAME -->` where such a part goes, up to `<!-- end -->`. What stands between the two is
for readers of the file itself. `docs/conf.py` calls `fill` for every page that Sphinx reads.
"""

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
MARKED = re.compile(r"<!-- made: (?P<name>\S+) -->\n.*?<!-- end -->\n", re.DOTALL)
LINK = re.compile(r"\]\((?![a-z]+:|#)([^)\s#]+)")
"""Where a link or a picture of Markdown leads, if not to an address or within the page."""
SIGNATURE = re.compile(r'<dl>\n((?:<dd><em class="sig-param">.*</dd>\n)+)</dl>\n')
"""The parameters of a long signature, as Sphinx writes them."""
LAST_BLANK = re.compile(r"\n\n```$", re.MULTILINE)
"""The blank line that ends the output of a doctest before the end of its block."""
SHOWN_AS = {
    "README.md": "docs/index.md",
    "CONTRIBUTING.md": "docs/development/contributing.md",
    "CHANGELOG.md": "docs/development/changes.md",
}
"""Files beside docs that are pages of the site, too."""


def fill(_: Any, page: str, source: list[str]) -> None:
    """Replace the marked parts of a page by what programs write, on Sphinx's event `source-read`."""
    filled = MARKED.sub(lambda found: made(found["name"], page), source[0])
    source[0] = LAST_BLANK.sub("\n```", filled)


def made(name: str, page: str) -> str:
    """Return a part of a page as Markdown."""
    if name in SHOWN_AS:
        return shown_at(name, f"docs/{page}.md")
    return PARTS[name]()


def shown_at(name: str, page: str) -> str:
    """Return the text of a file beside docs, with links that lead to the same places from a page."""
    folder = os.path.dirname(page)

    def moved(found: re.Match[str]) -> str:
        target = os.path.normpath(found[1])
        return f"]({os.path.relpath(SHOWN_AS.get(target, target), folder)}"

    text = (ROOT / name).read_text(encoding="utf-8")
    return LINK.sub(moved, text)


def mend_body(_: Any, __: str, ___: str, context: dict[str, Any], ____: Any) -> None:
    """Mend what Sphinx makes of docstrings.

    The parameters of a long signature become lines, not a list without terms. Two dashes become one.
    """
    if "body" in context:
        lines = SIGNATURE.sub(
            lambda found: found[1].replace("<dd>", '<span class="parameter">').replace("</dd>", "</span>"),
            context["body"],
        )
        context["body"] = re.sub(r"(?<=\)|>) -- ", " – ", lines)


def commands() -> str:
    """Return all commands with all their arguments and options, as the program knows them."""
    import typer

    from butfor._cli import app

    return "\n".join(_command(typer.main.get_command(app), "butfor"))


def _command(command: Any, name: str) -> Iterator[str]:
    """Yield the lines about a command, and about those below it."""
    shown = [each for each in command.params if each.name != "help" and not each.hidden]
    arguments = [each for each in shown if each.param_type_name == "argument"]
    words = [name, *(each.metavar if each.required else f"[{each.metavar}]" for each in arguments)]
    yield f"## {name}\n\n{_plain(command.help)}\n"
    yield f"```text\n{' '.join(words)}{' COMMAND' if hasattr(command, 'commands') else ' [OPTIONS]'}\n```\n"
    panels = dict.fromkeys(each.rich_help_panel for each in shown)
    for panel in panels:
        if panel:
            yield f"{panel}:\n"
        yield "| argument or option | means |\n|---|---|"
        yield from (_parameter(each) for each in shown if each.rich_help_panel == panel)
        yield ""
    for below, each in getattr(command, "commands", {}).items():
        if not each.hidden:
            yield from _command(each, f"{name} {below}")


def _parameter(parameter: Any) -> str:
    """Return the line of a table about one argument or option."""
    is_argument = parameter.param_type_name == "argument"
    names = [parameter.metavar] if is_argument else [*parameter.opts, *parameter.secondary_opts]
    kind = parameter.type_descriptor.annotation
    takes_value = not is_argument and not getattr(parameter, "is_flag", False)
    value = parameter.metavar or getattr(kind, "__name__", str(kind)) if takes_value else ""
    said = [
        _plain(parameter.help),
        "Required." if parameter.required else _default(parameter.default),
        f"Variable: `{parameter.envvar}`." if parameter.envvar else "",
    ]
    cells = [
        " ".join([*(f"`{name}`" for name in names), value.replace("|", " | ")]),
        " ".join(filter(None, said)),
    ]
    return "| " + " | ".join(_cell(cell) for cell in cells) + " |"


def _default(default: Any) -> str:
    if default is None or default is False or callable(default) or default in ((), [], ""):
        return ""
    return "Default: yes." if default is True else f"Default: `{getattr(default, 'value', default)}`."


def _plain(text: str | None) -> str:
    """Return the help of a command in one paragraph for each of its own."""
    paragraphs = re.split(r"\n\s*\n", (text or "").replace("\f", "").strip())
    return "\n\n".join(" ".join(each.split()) for each in paragraphs)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


def http_api() -> str:
    """Return all requests of the HTTP API with their fields, from its OpenAPI document."""
    from butfor import Explainer
    from butfor._web.api import Service
    from butfor._web.app import workspace_app
    from butfor._web.generation import Generation
    from butfor._web.limits import Limits
    from butfor._web.manual import described, manual
    from butfor._web.metrics import Metrics
    from butfor._web.reloading import Current, Reloader
    from butfor._web.traffic import Traffic
    from butfor._web.worker_pool import WorkerPool
    from butfor._web.workspace import Workspace

    explainer = Explainer(lambda texts: [len(text) for text in texts], threshold=9, removal="delete")
    limits = Limits()
    pool = WorkerPool(jobs=1, limits=limits)  # it is not opened: no process starts
    generation = Generation([Workspace.of("texts", "texts", explainer)], pool, limits.upkeep)
    service = Service(Current(generation, Metrics()), 0, limits, Traffic(), Reloader())
    document = described(workspace_app(service, [service]).openapi())
    chapters = manual(document, {"text": "Claim your free prize"}, "http://127.0.0.1:8000/")
    return "\n".join(line for chapter in chapters for line in _chapter(chapter))


def _chapter(chapter: Any) -> Iterator[str]:
    """Yield the lines about one request."""
    yield f"## {chapter.method} {chapter.path}\n"
    yield f"{_plain(chapter.about)}\n"
    yield f"```console\n{chapter.curl}\n```\n"
    for title, fields in (("Request", chapter.fields), ("Answer", chapter.answer)):
        if fields:
            yield f"**{title}**\n"
            yield "| field | type | means |\n|---|---|---|"
            yield from _fields(fields, "", is_request=title == "Request")
            yield ""
    if chapter.problems:
        yield "| status | means |\n|---:|---|"
        yield from (f"| {status} | {_cell(about)} |" for status, about in chapter.problems)
        yield ""


def _fields(fields: Any, before: str, *, is_request: bool) -> Iterator[str]:
    """Yield a line of a table for each field, and for those inside it."""
    for field in fields:
        needed = " (required)" if is_request and field.required else ""
        yield f"| `{before}{field.name}`{needed} | {_cell(field.type)} | {_cell(field.about)} |"
        yield from _fields(field.inside, f"{before}{field.name}.", is_request=is_request)


PARTS: dict[str, Callable[[], str]] = {"commands": commands, "http-api": http_api}
"""What programs write, by its name on a page."""
