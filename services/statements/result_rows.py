"""Rows of a tool's result that is no view: whatever names its source."""

from collections.abc import Iterator, Mapping
from typing import Any

from data_models.chart_view import ViewRow
from services.statements.rows import KnownRow, rows_of_text
from services.statements.view_rows import LONG_TEXT_CHARS, rows_of_row

_OWN_FIELDS = frozenset({"name", "title", "value", "text", "unit", "status", "date", "end", "kind"})


def rows_of_result(data: Mapping[str, Any]) -> Iterator[KnownRow]:
    """Yield a row for every object of a tool's result that names its source."""
    yield from _rows_below(data, sources=())


def _rows_below(node: Any, sources: tuple[str, ...]) -> Iterator[KnownRow]:
    if isinstance(node, list):
        for item in node:
            yield from _rows_below(item, sources)
    elif isinstance(node, Mapping):
        refs = tuple(_refs_of(node)) or sources
        texts = {
            key: str(value)
            for key, value in node.items()
            if isinstance(value, str | int | float) and key not in ("ref", "state")
        }
        if refs and texts:
            yield from _rows_of_object(texts, node, refs)
        for key, value in node.items():
            if key not in ("source", "sources"):
                yield from _rows_below(value, sources if "ref" in node else refs)


def _rows_of_object(
    texts: Mapping[str, str], node: Mapping[str, Any], refs: tuple[str, ...]
) -> Iterator[KnownRow]:
    """Yield the rows of one object: its short fields together, each long one as a text."""
    date = next((texts[key] for key in ("date", "start", "effective") if key in texts), None)
    title = texts.get("title", texts.get("name", ""))
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
