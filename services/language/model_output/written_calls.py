"""Reads the calls of tools that models write as text, in whatever form. Pure."""

import ast
import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from services.language.sentences.statement_parts import REFERENCE

_NAME_KEYS = ("name", "tool", "tool_name", "action")
_ARGUMENT_KEYS = ("arguments", "parameters", "args", "tool_input", "action_input")
_ANSWER_KEYS = ("answer", "final_answer", "response", "reply", "text", "message", "content")
_FRAME_KEYS = frozenset(
    {*_NAME_KEYS, *_ARGUMENT_KEYS, "type", "id", "tool_call_id", "function", "function_call"}
)
_JSON_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}"]', re.DOTALL)
_PAIR = re.compile(
    r"""parameter[ =](?:name=)?["']?(?P<a>\w+)["']?[^<>]*>\s*(?P<av>[^<]*?)\s*<"""
    r"""|<arg_key>\s*(?P<b>\w+)\s*</arg_key>\s*<arg_value>\s*(?P<bv>[^<]*?)\s*<"""
    r"""|(?P<c>\w+)\s*(?::\s*<escape>(?P<cv>[^<]*)<|=\s*["']?(?P<cq>[\w .-]+)["']?)"""
)


@dataclass(frozen=True, slots=True)
class TextCall:
    """A tool call that a model wrote as text.

    Attributes:
        name: As written, without the name of a plugin before it.
        arguments: JSON.
    """

    name: str
    arguments: str


def calls_in(text: str, tools: Collection[str]) -> list[TextCall]:
    """Return the calls of what stands where a model writes calls: as JSON, else by tools' names."""
    found, at = list[TextCall](), 0
    while (start := next((p for p in range(at, len(text)) if text[p] in "[{"), None)) is not None:
        end = json_end(text, start)
        said = list(read_calls(text[start:end], is_tagged=True)) if end is not None else []
        found += said
        at = end if said and end is not None else start + 1
    return found or list(_named_calls(text, tools))


def _named_calls(text: str, tools: Collection[str]) -> Iterator[TextCall]:
    if not tools:
        return
    names = "|".join(map(re.escape, sorted(tools, key=len, reverse=True)))
    found = list(re.finditer(rf"(?<![\w-])(?:rounds[-.])?(?P<tool>{names})(?![\w-])", text))
    for one, after in zip(found, [*found[1:], None], strict=False):  # nothing where none is found
        given = text[one.end() : after.start() if after is not None else len(text)]
        yield TextCall(one["tool"], json.dumps(_arguments(given)))


def _arguments(text: str) -> dict[str, Any]:
    start = text.find("{")
    end = json_end(text, start) if start >= 0 else None
    if end is not None:
        try:
            said = json.loads(text[start:end])
        except ValueError:
            said = None
        if isinstance(said, dict):
            return said
    if (code := _of_code(text)) is not None:
        return code
    pairs = (row.groupdict() for row in _PAIR.finditer(text))
    return {
        str(row["a"] or row["b"] or row["c"]): next(
            (row[key] for key in ("av", "bv", "cv", "cq") if row[key] is not None), ""
        )
        for row in pairs
    }


def _of_code(text: str) -> dict[str, Any] | None:
    """Return the named arguments of `(names=["CEA"])`; None where it is no such code."""
    for end in (at + 1 for at, sign in enumerate(text) if sign == ")"):
        try:
            said = ast.parse(f"f{text[text.find('(') : end]}", mode="eval").body
            if isinstance(said, ast.Call):
                return {one.arg: ast.literal_eval(one.value) for one in said.keywords if one.arg}
        except (SyntaxError, ValueError):
            continue
    return None


def read_calls(text: str, *, is_tagged: bool = False) -> Iterator[TextCall]:
    """Yield the tool calls that the JSON of `text` says; none where it says something else."""
    try:
        said = json.loads(text)
    except ValueError:
        try:
            # Small models copy a template's doubled braces.
            said = json.loads(text.removeprefix("{").removesuffix("}"))
        except ValueError:
            return
    if isinstance(said, dict) and isinstance(said.get("tool_calls"), list):
        said = said["tool_calls"]
    for row in said if isinstance(said, list) else [said]:
        if (call := _call_of(row, is_tagged=is_tagged)) is not None:
            yield call


def answer_in(text: str) -> str:
    """Return the answer that JSON wraps, with the sources beside it; "" where it wraps none."""
    try:
        said = json.loads(text)
    except ValueError:
        return ""
    told = said if isinstance(said, dict) else {}
    texts = [told[key] for key in _ANSWER_KEYS if isinstance(told.get(key), str)]
    if len(texts) != 1:
        return ""
    refs = dict.fromkeys(one for one in REFERENCE.findall(text) if one not in texts[0])
    return str(texts[0]) + "".join(f" [{one}]" for one in refs)


def _call_of(row: Any, *, is_tagged: bool) -> TextCall | None:
    if not isinstance(row, Mapping) or not row or not set(row) <= _FRAME_KEYS:
        return None
    inner = row.get("function_call") or row.get("function")
    if isinstance(inner, dict):
        return _call_of(inner, is_tagged=is_tagged)
    names = [row[key] for key in (*_NAME_KEYS, "function") if isinstance(row.get(key), str)]
    given = [row[key] for key in _ARGUMENT_KEYS if key in row]
    if not names or not (given or is_tagged):
        return None
    name = str(names[0]).removeprefix("functions.").removeprefix("rounds-").removeprefix("rounds.")
    arguments = given[0] if given else {}
    return TextCall(name, arguments if isinstance(arguments, str) else json.dumps(arguments or {}))


def json_end(text: str, start: int) -> int | None:
    """Return where the JSON value that begins at `start` ends; None while it does not."""
    depth = 0
    for token in _JSON_TOKEN.finditer(text, start):
        sign = token.group()
        if sign == '"':  # a text that does not end
            return None
        depth += {"{": 1, "[": 1, "}": -1, "]": -1}.get(sign, 0)
        if depth <= 0 and sign in "]}":
            return token.end()
    return None
