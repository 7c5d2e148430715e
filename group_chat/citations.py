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
        if row.get("title") and (row.get("quote") or row["ref"] not in sources):
            sources[row["ref"]] = _cited(
                row["ref"], row["title"], row.get("date"), row.get("quote")
            )


def _sources_of(row: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    source, beside = row.get("source"), row.get("text")
    if isinstance(source, dict) and "quote" not in source and isinstance(beside, str):
        yield {**source, "quote": beside}
    if "ref" in row:
        yield row


def _citation(row: Mapping[str, Any]) -> Citation | None:
    ref, title = row.get("ref"), row.get("title")
    if not isinstance(ref, str) or not isinstance(title, str):
        return None
    date, quote = row.get("date"), row.get("quote")
    return _cited(
        ref,
        title,
        date if isinstance(date, str) else None,
        quote if isinstance(quote, str) else None,
    )


def _cited(ref: str, title: str, date: str | None, quote: str | None) -> Citation:
    return Citation(
        ref=ref,
        title=_cut(title, TITLE_LIMIT_CHARS),
        date=date or None,
        quote=_cut(quote, QUOTE_LIMIT_CHARS) if quote else None,
    )


def _cut(text: str, limit_chars: int) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= limit_chars else f"{flat[: limit_chars - 1]}…"
