"""The schemas of our own classes as models are told of them: whole in themselves, and short."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

_CHECKED_HERE = frozenset(
    {
        *("maxLength", "minLength", "maxItems", "minItems", "maximum", "minimum", "pattern"),
        *("exclusiveMaximum", "exclusiveMinimum", "format", "uniqueItems", "default", "title"),
    }
)
"""Keywords that no model needs: the class itself checks every answer. Models pay for each
character, and some servers refuse such words in strict mode."""


def short_schema(shape: type[BaseModel], *, is_strict: bool = False) -> dict[str, Any]:
    """Return the schema of `shape` without references; ours hold nothing of their own kind.

    Args:
        is_strict: As strict mode wants it: all fields are required, and there are no others.
    """
    schema = shape.model_json_schema()
    short: dict[str, Any] = _short(schema, schema.pop("$defs", {}), is_strict)
    return short


def _short(node: Any, parts: Mapping[str, Any], is_strict: bool) -> Any:
    if isinstance(node, list):
        return [_short(item, parts, is_strict) for item in node]
    if not isinstance(node, Mapping):
        return node
    if "$ref" in node:
        own = {key: value for key, value in node.items() if key != "$ref"}
        node = {**parts[str(node["$ref"]).rpartition("/")[2]], **own}
    options = [one for one in node.get("anyOf", ()) if one != {"type": "null"}]
    if len(options) == 1 and not is_strict:
        rest = {key: value for key, value in node.items() if key != "anyOf"}
        return _short({**options[0], **rest}, parts, is_strict)
    return _short_object(node, parts, is_strict)


def _short_object(
    node: Mapping[str, Any], parts: Mapping[str, Any], is_strict: bool
) -> dict[str, Any]:
    is_closed = is_strict and node.get("type") == "object"
    kept: dict[str, Any] = {"additionalProperties": False} if is_closed else {}
    for key, value in node.items():
        if key == "properties":
            kept[key] = {name: _short(row, parts, is_strict) for name, row in value.items()}
        elif key not in _CHECKED_HERE and (is_strict or key != "additionalProperties"):
            kept[key] = _short(value, parts, is_strict)
    if is_closed and "properties" in node:
        kept["required"] = [*node["properties"]]
    return kept
