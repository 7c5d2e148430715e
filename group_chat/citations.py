"""Finds the sources that an agent's text names among those that tools gave."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from data_models.chat_context import Citation

TITLE_LIMIT_CHARS = 80
QUOTE_LIMIT_CHARS = 160
MESSAGE_LIMIT = 40

_REF = re.compile(r"\b[A-Z][A-Za-z]{2,40}/[A-Za-z0-9][A-Za-z0-9.-]{0,63}")


def citations_in(text: str, sources: Mapping[str, Citation]) -> list[Citation]:
    """Return the citations of the source ids in `text`, in order, each once, at most 40.

    An id that no tool gave is no citation: the model may have made it up.
    """
    refs = dict.fromkeys(found.rstrip(".-") for found in _REF.findall(text))
    return [sources[ref] for ref in refs if ref in sources][:MESSAGE_LIMIT]


def remember_sources(sources: dict[str, Citation], result: Any) -> None:
    """Add the sources of a tool's result; one with the words it says is not lost to one without.

    These are all `{"ref", "title", "date"}` inside it. The quote is the source's own, else the
    text that stands beside it.
    """
    if isinstance(result, dict):
        for row in _sources_of(result):
            one = _citation(row)
            if one is not None and (one.quote is not None or one.ref not in sources):
                sources[one.ref] = one
        result = result.values()
    for value in result:
        if isinstance(value, list | dict):
            remember_sources(sources, value)


def remember_rows(sources: dict[str, Citation], rows: Iterable[Mapping[str, str]]) -> None:
    """Add the sources of a view, of each row what it says."""
    for row in rows:
        ref, quote = row["ref"], row.get("quote", "")
        if "title" in row and (quote or ref not in sources):
            sources[ref] = _cited(ref, row["title"], row.get("date", ""), quote)


def _sources_of(row: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    source, beside = row.get("source"), row.get("text")
    if isinstance(source, dict) and "quote" not in source and isinstance(beside, str):
        yield {**source, "quote": beside}
    if "ref" in row:
        yield row


def _citation(row: Mapping[str, Any]) -> Citation | None:
    said = {name: row[name] for name in _FIELDS if isinstance(row.get(name), str)}
    return _cited(**said) if {"ref", "title"} <= said.keys() else None


_FIELDS = ("ref", "title", "date", "quote")


def _cited(ref: str, title: str, date: str = "", quote: str = "") -> Citation:
    return Citation(
        ref=ref,
        title=_cut(title, TITLE_LIMIT_CHARS),
        date=date or None,
        quote=_cut(quote, QUOTE_LIMIT_CHARS) if quote else None,
    )


def _cut(text: str, limit_chars: int) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= limit_chars else f"{flat[: limit_chars - 1]}…"
