"""The types with which the page's JavaScript is checked (types.d.ts) are those of what the server sends."""

import re
from pathlib import Path
from types import NoneType
from typing import get_args

import pytest

pytest.importorskip("pydantic", reason="the web extra is not installed")

from butfor import _web
from butfor._web import answers

TYPES = Path(_web.__file__).parent / "static" / "types.d.ts"
"""Not part of a wheel."""


def interfaces() -> dict[str, dict[str, str]]:
    """Read what the page expects of each answer: fields and their types."""
    if not TYPES.exists():
        pytest.skip("types of the page's JavaScript are in a checkout alone")
    found = re.findall(r"^interface (\w+) \{\n(.*?)^\}", TYPES.read_text(encoding="utf-8"), re.M | re.S)
    return {name: dict(re.findall(r"^  (\w+): (.*);$", body, re.M)) for name, body in found}


def test_every_field_that_the_page_reads_is_sent():
    known = {name: fields for name, fields in interfaces().items() if hasattr(answers, name)}
    assert len(known) >= 9
    for name, fields in known.items():
        model = getattr(answers, name).model_fields
        for field, kind in fields.items():
            assert field in model, f"{name}.{field} is not sent"
            can_be_none = NoneType in get_args(model[field].annotation)
            assert can_be_none == kind.endswith("| null"), f"{name}.{field} is {kind} in types.d.ts"


def test_answers_are_called_as_on_the_server():
    unknown = [name for name in interfaces() if name.endswith("Answer") and not hasattr(answers, name)]
    assert unknown == []
