"""Rows of a tool's result that is no view: whatever names its source."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from data_models.chart_view import ViewRow
from services.statements.rows import KnownRow, rows_of_text
from services.statements.view_rows import LONG_TEXT_CHARS, rows_of_row

_OWN_FIELDS = frozenset({"name", "title", "value", "text", "unit", "status", "date", "end", "kind"})

_DATES = ("date", "start", "effective")
_PLACES = frozenset({"score", "offset", "start", "end", "position", "page", "chars", "index"})


def rows_of_result(data: Mapping[str, Any]) -> Iterator[KnownRow]:
    """Yield a row for every object of a tool's result that names its source."""
    for one in _objects(data, (), ""):
        for row in _rows_of_object(one):
            # What is no fact with a value may be said otherwise, and does not speak against it.
            is_text = row.is_text or "value" not in one.texts
            yield row if is_text == row.is_text else replace(row, is_text=is_text)


@dataclass(frozen=True, slots=True)
class _Object:
    """One object of a result: its own fields as texts, and what it is called."""

    node: Mapping[str, Any]
    texts: Mapping[str, str]
    refs: tuple[str, ...]
    title: str
    date: str | None


def _objects(node: Any, sources: tuple[str, ...], title: str) -> Iterator[_Object]:
    if isinstance(node, list):
        for item in node:
            yield from _objects(item, sources, title)
    elif isinstance(node, Mapping):
        refs = tuple(_refs_of(node)) or sources
        texts = {key: str(value) for key, value in node.items() if _is_said(key, value)}
        title = texts.get("title", texts.get("name", title))
        if refs and texts:
            date = next((texts[key] for key in _DATES if key in texts), None)
            yield _Object(node, texts, refs, title, date)
        for key, value in node.items():
            if key not in ("source", "sources"):
                yield from _objects(value, sources if "ref" in node else refs, title)


def _is_said(key: str, value: Any) -> bool:
    if isinstance(value, bool) or key in ("ref", "state", "patient_id"):
        return False
    return isinstance(value, str) or (isinstance(value, int | float) and key not in _PLACES)


def _rows_of_object(one: _Object) -> Iterator[KnownRow]:
    """Yield the rows of one object: its short fields together, each long one as a text."""
    texts, node, refs, title, date = one.texts, one.node, one.refs, one.title, one.date
    short = {key: text for key, text in texts.items() if len(text) <= LONG_TEXT_CHARS}
    row = ViewRow(
        kind=short.get("kind", ""),
        name=title[:LONG_TEXT_CHARS],
        value=short.get("value", short.get("text", "")),
        unit=short.get("unit", ""),
        status=short.get("status", str(node.get("state", ""))),
        date=date or "",
        end=short.get("end", ""),
        detail=" ".join(text for key, text in short.items() if key not in _OWN_FIELDS),
        sources=refs,
    )
    yield from rows_of_row(row, is_text=False)
    for text in texts.values():
        if len(text) > LONG_TEXT_CHARS:
            yield from rows_of_text(text, date=date, sources=refs, title=title)
    for source in _source_nodes(node):
        ref, quote = str(source.get("ref", "")), source.get("quote")
        if isinstance(quote, str):
            day = source.get("date") or date
            yield from rows_of_text(quote, date=day, sources=(ref,), title=title)


def _source_nodes(node: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    several = node.get("sources")
    found = [node.get("source"), *(several if isinstance(several, list) else [])]
    return [one for one in found if isinstance(one, Mapping)]


def _refs_of(node: Mapping[str, Any]) -> list[str]:
    own = node.get("ref")
    rows = [str(own)] if isinstance(own, str) else []
    return rows + [str(one["ref"]) for one in _source_nodes(node) if "ref" in one]
