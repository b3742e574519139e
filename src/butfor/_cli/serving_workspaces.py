"""What `butfor serve` shows: workspaces, made as the options say."""

from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import typer

from butfor import Budget, InputError
from butfor._cli.explainers import ExplainerOptions, columns_of, require_no_columns
from butfor._extras import optional
from butfor._files import ColumnNames, open_rows

if TYPE_CHECKING:
    from butfor._web.reloading import Reloader
    from butfor._web.workspace import Workspace


def require_no_model_options(context: typer.Context, shown: str) -> None:
    """Raise where an option is about a model, and none is shown."""
    columns = {f"{field.name}_column" for field in fields(ColumnNames)}
    named = {field.name for field in fields(ExplainerOptions)} | columns
    meant = {"max_size", "max_seconds"} if shown == "--demo" else set()
    for name in sorted(named - meant):
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            raise InputError(
                f"--{name.replace('_', '-')} must be left out with {shown}: it says how a MODEL is shown."
            )


def workspaces_of(params: dict[str, Any]) -> "list[Workspace]":
    """Return what is shown: data sets that ship, results of a batch, or a model with its rows."""
    words = {"subject": params["subject"], "decision": params["decision"]}
    if params["demo"]:
        workspaces: list[Workspace] = optional("butfor._web.demo_workspaces", extra="web").demo_workspaces(
            Budget(params["max_size"], params["max_seconds"])
        )
        return workspaces
    if params["results"] is not None:
        return [optional("butfor._web.results", extra="web").open_results(params["results"], **words)]
    about = ExplainerOptions.of(params)
    return [_workspace_of_model(about, params["data"] or (), columns_of(params), words)]


def reloader_of(params: dict[str, Any]) -> "Reloader":
    """Return what loads all of that again; data sets that ship never change."""
    reloader = optional("butfor._web.reloading", extra="web").Reloader
    if params["demo"]:
        return cast("Reloader", reloader())
    named = (params[name] for name in ("model", "names", "groups", "costs", "results"))
    files = [Path(each) for each in (*named, *(params["data"] or ())) if each is not None]
    watched = [path for path in files if path.exists()]  # others are patterns, or in stores
    return cast(
        "Reloader",
        reloader(lambda: workspaces_of(params), files=watched, every=params["reload_seconds"]),
    )


def _workspace_of_model(
    about: ExplainerOptions, data: Sequence[str], columns: ColumnNames, words: dict[str, Any]
) -> "Workspace":
    workspace = optional("butfor._web.workspace", extra="web").Workspace
    load_rows = optional("butfor._web.loading_rows", extra="web").load_rows
    if not data:
        require_no_columns(columns)
    explainer = about.explainer(about.load_model(), data, columns)
    title, rows = about.model.stem, None
    if data:
        opened = open_rows(explainer, data, columns)
        rows = load_rows(opened, explainer.feature_names)
        n_files = len(opened.files.paths)
        title += f" on {Path(data[0]).name}" if len(data) == 1 else f" on {n_files:,} files"
    made: Workspace = workspace.of("model", title, explainer, rows, **words)
    return made
