"""The chapters of the API's documentation page, made from its OpenAPI document."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from butfor._web.answers import ProblemAnswer

METHODS = ("get", "post")
LIMITS = {
    "minimum": "at least {}",
    "exclusiveMinimum": "above {}",
    "maximum": "at most {}",
    "maxLength": "at most {} characters",
    "minItems": "at least {}",
    "maxItems": "at most {}",
}
"""How the limits of a schema are written."""
NO_LIMIT = 2**30
"""Limits above this are technical and not shown."""


@dataclass(frozen=True)
class Field:
    """A field of a body, a query or an answer."""

    name: str
    type: str
    about: str
    required: bool = False
    inside: tuple["Field", ...] = ()


@dataclass(frozen=True)
class Chapter:
    """One address of the API."""

    method: str
    path: str
    about: str
    fields: tuple[Field, ...]
    answer: tuple[Field, ...]
    example: str
    """A request body that the server accepts; empty if the request has none."""
    curl: str
    problems: tuple[tuple[str, str], ...]

    @property
    def anchor(self) -> str:
        """The id of the chapter on the page."""
        return self.path.strip("/").replace("/", "-").replace("{", "").replace("}", "")


def described(document: dict[str, Any]) -> dict[str, Any]:
    """Complete FastAPI's OpenAPI document: add the schema of problems, and an address relative to it."""
    schemas = document.setdefault("components", {}).setdefault("schemas", {})
    schemas["ProblemAnswer"] = ProblemAnswer.model_json_schema()
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    document["servers"] = [{"url": "."}]
    return document


def manual(document: Mapping[str, Any], subject: Mapping[str, Any], address: str) -> list[Chapter]:
    """Return the chapters of a workspace's API; `subject` is the row, text or items of the examples."""
    schemas = document["components"]["schemas"]
    return [
        _chapter(path, method, operation, schemas, _example(path, method, subject), address)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
        if method in METHODS
    ]


def _chapter(
    path: str, method: str, operation: Any, schemas: Mapping[str, Any], example: str, address: str
) -> Chapter:
    answers = operation["responses"]
    fields = [*map(_parameter, operation.get("parameters", ()))]
    if method == "post":
        schema = operation["requestBody"]["content"]["application/json"]["schema"]
        fields = [*_fields(schema, schemas)]
    return Chapter(
        method=method.upper(),
        path=path,
        about=operation["description"],
        fields=tuple(fields),
        answer=tuple(_fields(answers["200"]["content"]["application/json"]["schema"], schemas)),
        example=example,
        curl=_curl(address.rstrip("/") + path.replace("{number}", "0"), example),
        problems=tuple((status, each["description"]) for status, each in answers.items() if status != "200"),
    )


EXAMPLES: dict[str, dict[str, Any]] = {
    "/api/explain": {"max_seconds": 5, "include": ["letter"]},
    "/api/score": {"removed": [0]},
    "/api/alternatives": {"limit": 5},
    "/api/compare": {"searches": ["sedc", "auto"]},
}
"""The other fields of the examples."""


def _example(path: str, method: str, subject: Mapping[str, Any]) -> str:
    return json.dumps({**subject, **EXAMPLES[path]}) if method == "post" else ""


def _curl(address: str, body: str) -> str:
    if not body:
        return f"curl {address}"
    return f"curl {address} \\\n  -H 'Content-Type: application/json' \\\n  -d '{body}'"


def _parameter(parameter: Mapping[str, Any]) -> Field:
    schema = parameter["schema"]
    about = _about(parameter, schema)
    return Field(parameter["name"], _type(schema, {}), about, bool(parameter.get("required")))


def _about(described: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    return " ".join(text for text in (described.get("description", ""), _limits(schema)) if text)


def _fields(schema: Mapping[str, Any], schemas: Mapping[str, Any], depth: int = 0) -> Iterator[Field]:
    """Yield the fields of an object, with the fields of objects inside them."""
    whole = _resolved(schema, schemas)
    for name, each in whole.get("properties", {}).items():
        inner = _object_in(each, schemas)
        inside = (
            tuple(_fields(inner, schemas, depth + 1)) if inner and not _is_elsewhere(inner, depth) else ()
        )
        about = _about(each, each)
        yield Field(name, _type(each, schemas), about, name in whole.get("required", ()), inside)


def _is_elsewhere(schema: Mapping[str, Any], depth: int) -> bool:
    """Return whether the fields of an object need not be listed: they are elsewhere, or too deep."""
    return schema.get("title") == "ExplanationAnswer" or depth > 1


def _object_in(schema: Mapping[str, Any], schemas: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the object that a field holds, or whose list it holds; None if there is none."""
    for each in (schema, *schema.get("anyOf", ())):
        whole = _resolved(each, schemas)
        whole = _resolved(whole.get("items", whole), schemas)
        if "properties" in whole:
            return whole
    return None


def _resolved(schema: Mapping[str, Any], schemas: Mapping[str, Any]) -> Mapping[str, Any]:
    name = schema.get("$ref", "").rpartition("/")[2]
    return schemas[name] if name else schema


def _type(schema: Mapping[str, Any], schemas: Mapping[str, Any]) -> str:
    """Return the type of a value in words.

    >>> _type({"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]}, {})
    'list of string or null'
    """
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(_type(each, schemas) for each in schema["anyOf"]))
    if "$ref" in schema:
        return schema["$ref"].rpartition("/")[2].removesuffix("Answer").lower()  # type: ignore[no-any-return]
    if "enum" in schema or "const" in schema:
        return " | ".join(map(json.dumps, schema.get("enum", [schema.get("const")])))
    if schema.get("type") == "array" and schema.get("minItems") == schema.get("maxItems") == 2:
        return f"pair of {_type(schema['items'], schemas)}"
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}), schemas)}"
    if schema.get("type") == "object":
        inside = schema.get("additionalProperties", {})
        return f"object of {_type(inside if isinstance(inside, dict) else {}, schemas)}"
    return str(schema.get("type", "any"))


def _limits(schema: Mapping[str, Any]) -> str:
    """Return in words which values are allowed, and the default.

    >>> _limits({"minimum": 1, "maximum": 100, "default": 10})
    'At least 1, at most 100; 10 unless given.'
    """
    limits = [
        words.format(f"{schema[name]:,.12g}")
        for name, words in LIMITS.items()
        if name in schema and schema[name] < NO_LIMIT
    ]
    default = schema.get("default")
    text = ", ".join(limits)
    if default not in (None, [], "", False) and not isinstance(default, list):
        text += f"{'; ' if text else ''}{default} unless given"
    return f"{text[:1].upper()}{text[1:]}." if text else ""
