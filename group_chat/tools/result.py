"""A tool's result as compact JSON: no empty fields, no imitated snapshots, of bounded size."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from pydantic import BaseModel

from group_chat.tools.tool import ToolOutput
from services.patient_context.snapshot import may_imitate, neutralise

_TEXT_CAPS_CHARS = (4_000, 2_000, 1_200, 800, 500, 300, 160, 80)
_ROWS_SHARE = 8
_SHORTENED = "shortened"
_NOTE = "texts were cut or rows left out to fit; ask for a narrower part to see more"


def plain(output: ToolOutput) -> dict[str, Any]:
    """Return the result as plain JSON values, empty ones left out, texts neutralised."""
    whole = output.model_dump(mode="json") if isinstance(output, BaseModel) else dict(output)
    # Looked for once in all of it: nearly no result holds what could be a mark.
    said = neutralise if may_imitate(json.dumps(whole, ensure_ascii=False, default=str)) else str
    kept = _kept(whole, said)
    return kept if isinstance(kept, dict) else {}


def compact_json(data: Mapping[str, Any], *, limit_chars: int) -> str:
    """Return `data` as JSON of at most `limit_chars`, valid whatever had to go.

    What a source repeats of the row that it stands in goes first, then long texts are cut, then
    rows of the longest lists go: the first ones of a list in order of time, because the newest
    events matter most, else the last ones. `shortened` says so where anything is lost.
    """
    text = _dumped(data)
    if len(text) <= limit_chars:
        return text
    data = _without_repeats(data)
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
        going = max(1, len(longest) // _ROWS_SHARE)
        del longest[slice(0, going) if _is_oldest_first(longest) else slice(-going, None)]
    return text


def _is_oldest_first(rows: list[Any]) -> bool:
    days = [
        row["date"] for row in rows if isinstance(row, dict) and isinstance(row.get("date"), str)
    ]
    return len(days) > 1 and days[0] < days[-1]


def _lists(node: Any) -> list[list[Any]]:
    """Return every list inside `node` that still holds rows."""
    found: list[list[Any]] = []
    if isinstance(node, dict):
        found = [rows for value in node.values() for rows in _lists(value)]
    elif isinstance(node, list):
        found = [rows for value in node for rows in _lists(value)]
        found += [node] if node else []
    return found


def _kept(node: Any, said: Callable[[str], str]) -> Any:
    if isinstance(node, str):
        return said(node)
    if isinstance(node, Mapping):
        rows = ((key, _kept(value, said)) for key, value in node.items() if value != "")
        return {key: value for key, value in rows if not _is_empty(key, value)}
    return [_kept(item, said) for item in node] if isinstance(node, list | tuple) else node


def _without_repeats(node: Any) -> Any:
    if isinstance(node, list):
        return [_without_repeats(item) for item in node]
    if not isinstance(node, Mapping):
        return node
    kept = {key: _without_repeats(value) for key, value in node.items()}
    source = node.get("source")
    if isinstance(source, Mapping):
        kept["source"] = {
            key: value for key, value in source.items() if key == "ref" or node.get(key) != value
        }
    return kept


def _is_empty(key: str, value: Any) -> bool:
    return value in (None, [], {}, "") or (key.startswith("left_out") and value == 0)


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
