"""Import of optional dependencies, and the command that installs them."""

from importlib import import_module
from pathlib import Path
from typing import Any

from butfor.errors import InputError


def optional(module: str, *, extra: str) -> Any:
    """Return a module of an extra; raise `InputError` with the command to install it if it is missing.

    >>> optional("no_such_module", extra="plot")
    Traceback (most recent call last):
    ...
    butfor.errors.InputError: this needs no_such_module, which is not installed: pip install ...[plot]"
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise InputError(f"this needs {error.name}, which is not installed: {install_line(extra)}") from error


def install_line(extra: str) -> str:
    """Return the command that adds an extra to butfor as it is installed here.

    What comes from a package index is asked for by name. What was installed from elsewhere, such as a clone,
    is installed from there again: an index may not have it.
    """
    origin = _origin()
    address, by_name = origin.get("url", ""), f'pip install "butfor[{extra}]"'
    if "dir_info" in origin:
        folder = _local_path(address)
        if not folder.is_dir():
            return by_name
        place = "." if folder == Path.cwd() else folder
        editable = "-e " if origin["dir_info"].get("editable") else ""
        return f'pip install {editable}"{place}[{extra}]"'
    if "vcs_info" in origin:
        known = origin["vcs_info"]
        address = f"{known['vcs']}+{address}@{known['commit_id']}"
    elif "archive_info" not in origin or (address.startswith("file:") and not _local_path(address).exists()):
        return by_name
    return f'pip install "butfor[{extra}] @ {address}"'


def _origin() -> dict[str, Any]:
    """Return where butfor was installed from (PEP 610); empty for a package index, and where unknown."""
    import json
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        return dict(json.loads(distribution("butfor").read_text("direct_url.json") or "{}"))
    except (PackageNotFoundError, ValueError):
        return {}


def _local_path(address: str) -> Path:
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    return Path(url2pathname(urlsplit(address).path))
