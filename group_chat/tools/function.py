"""What models are told of a `Tool`, its schema, and what its answer is to them."""

import json
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any

from pydantic import BaseModel, ValidationError
from semantic_kernel.contents import FunctionCallContent

from data_models.chart_view import ChartView
from data_models.errors import ToolInputError
from group_chat.tools.tool import Tool, ToolOutput
from services.patient_context.reading.snapshot import may_imitate, neutralise
from services.tool_memory.session import as_json

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


ARGUMENTS_LIMIT_CHARS = 20_000


def calls_of(
    asked: Iterable[tuple[str, Mapping[str, Any]]], mark: str
) -> list[FunctionCallContent]:
    """Return calls of tools by their names, as a model makes them; `mark` begins their ids."""
    return [
        FunctionCallContent(
            id=f"{mark}_{index}",
            index=index,
            name=name,
            arguments=json.dumps(arguments, ensure_ascii=False),
        )
        for index, (name, arguments) in enumerate(asked)
    ]


def offered(tool: Tool) -> dict[str, Any]:
    """Return what models are told of `tool`."""
    parameters = _parameters(tool.arguments)
    told = {"name": tool.name, "description": tool.description, "parameters": parameters}
    return {"type": "function", "function": told}


@lru_cache(maxsize=256)
def _parameters(arguments: type[BaseModel]) -> dict[str, Any]:
    """Return what models are told of `arguments`; made once, though many agents have the tool."""
    schema = short_schema(arguments)
    required = {"required": schema["required"]} if "required" in schema else {}
    return {"type": "object", "properties": schema.get("properties", {}), **required}


def parsed(given: str | Mapping[str, Any] | None) -> Mapping[str, Any]:
    """Return what a model wrote as arguments.

    Raises:
        ToolInputError: it is no JSON object, or too long.
    """
    if isinstance(given, Mapping):
        return given
    if given is None or not given.strip():
        return {}
    try:
        found = json.loads(given) if len(given) <= ARGUMENTS_LIMIT_CHARS else None
        json.dumps(found, ensure_ascii=False).encode()  # refuses half characters
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise ToolInputError("the arguments are not a JSON object")
    return found


def checked_arguments(shape: type[BaseModel], given: Mapping[str, Any]) -> BaseModel:
    """Return `given` as `shape`.

    Raises:
        ToolInputError: it does not fit; the text names places and rules, never values.
    """
    try:
        return shape.model_validate(given)
    except ValidationError as error:
        problems = error.errors(include_input=False, include_url=False, include_context=False)
        lines = [_problem(row["type"], row["loc"], str(row["msg"])) for row in problems[:5]]
    # Outside the handler, so that the cause with the model's words is not kept.
    raise ToolInputError("the arguments do not fit: " + "; ".join(lines))


def _problem(kind: str, loc: tuple[int | str, ...], message: str) -> str:
    # The name of an extra argument is the model's own text.
    if kind == "extra_forbidden":
        return "there is an argument that this tool does not have"
    return f"{'.'.join(str(part) for part in loc)}: {message}"


_TEXT_CAPS_CHARS = (4_000, 2_000, 1_200, 800, 500, 300, 160, 80)
_ROWS_SHARE = 8
_SHORTENED = "shortened"
_NOTE = "texts were cut or rows left out to fit; ask for a narrower part to see more"


def plain(output: ToolOutput) -> dict[str, Any]:
    """Return the result as plain JSON values, empty ones left out, texts neutralised."""
    if isinstance(output, ChartView):
        kept = output.model_dump(mode="json", exclude_defaults=True)  # its defaults are empty
    else:
        whole = output.model_dump(mode="json") if isinstance(output, BaseModel) else dict(output)
        kept = _kept(whole)
    # Looked for once in all of it: nearly no result holds what could be a mark.
    if may_imitate(as_json(kept)):
        return {key: _mapped(value, neutralise) for key, value in kept.items()}
    return kept


def compact_json(data: Mapping[str, Any], *, limit_chars: int) -> str:
    """Return `data` as JSON of at most `limit_chars`, valid whatever had to go.

    Long texts are cut first, then the last rows of the longest lists go; `shortened` says so.
    """
    text = _dumped(data)
    if len(text) <= limit_chars:
        return text
    for cap in _TEXT_CAPS_CHARS:
        cut = _texts_cut(data, cap)
        text = _dumped({**cut, _SHORTENED: _NOTE})
        if len(text) <= limit_chars:
            return text
    return _rows_dropped(_texts_cut(data, _TEXT_CAPS_CHARS[-1]), limit_chars)


def error_json(message: str) -> str:
    """Return a failure as a model reads it."""
    return _dumped({"error": message})


def _rows_dropped(data: Any, limit_chars: int) -> str:
    data = {**data, _SHORTENED: _NOTE}
    while len(text := _dumped(data)) > limit_chars:
        longest = max(_lists(data), key=lambda rows: len(_dumped(rows)), default=None)
        if not longest:
            return error_json("the result is too large to show; ask for a narrower part")
        del longest[-max(1, len(longest) // _ROWS_SHARE) :]
    return text


def _lists(node: Any) -> list[list[Any]]:
    """Return every list inside `node` that still holds rows."""
    found: list[list[Any]] = []
    if isinstance(node, dict):
        found = [rows for value in node.values() for rows in _lists(value)]
    elif isinstance(node, list):
        found = [rows for value in node for rows in _lists(value)]
        found += [node] if node else []
    return found


def _kept(node: Any) -> Any:
    """Return objects and lists inside of `node` without what is empty."""
    if isinstance(node, list | tuple):
        return [_kept(item) if isinstance(item, _NESTED) else item for item in node]
    rows = node.items()
    inside = {key: _kept(one) if isinstance(one, _NESTED) else one for key, one in rows}
    return {key: value for key, value in inside.items() if value not in _EMPTY}


_NESTED = (dict, list, tuple)
_EMPTY: tuple[Any, ...] = (None, [], {}, "")


def _texts_cut(node: Any, cap: int) -> Any:
    return _mapped(node, lambda text: text if len(text) <= cap else f"{text[: cap - 1]}…")


def _mapped(node: Any, change: Callable[[str], str]) -> Any:
    if isinstance(node, str):
        return change(node)
    if isinstance(node, Mapping):
        return {key: _mapped(value, change) for key, value in node.items()}
    return [_mapped(item, change) for item in node] if isinstance(node, list) else node


def _dumped(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))
