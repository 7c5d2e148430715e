"""Rows of the chart as Adaptive Cards: a line chart where the host draws one, else a table."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import orjson

from bots.rendering.cards import Card, adaptive_card, text_block
from data_models.chart_view import ChartView, ViewRow
from data_models.chat_context import AgentMessage, Citation
from services.language.sentences.statement_parts import numbered_marks
from services.statements.shown import cells, labels_of, left_out_of

# Sources as numbers in the text with a card each, in channels that know them (spec page 15).

CITATION_LIMIT = 10
"""Teams shows no more of one message."""
NAME_LIMIT_CHARS = 80
ABSTRACT_LIMIT_CHARS = 160


def numbered(text: str) -> str:
    """Return `text` with numbers for its sources; it reads the same whatever follows it."""
    return numbered_marks(text, most=CITATION_LIMIT)[0]


class Sources:
    """The sources of one message, numbered as its text names them, then those that it does not.

    Args:
        is_shown: Whether the channel knows them.
    """

    def __init__(self, *, message: AgentMessage, is_shown: bool) -> None:
        known = {one.ref: one for one in message.citations}
        named = numbered_marks(message.text, most=CITATION_LIMIT)[1]
        self._named = len(named)
        refs = dict.fromkeys((*named, *known)) if is_shown else {}
        self._numbered = {
            number: known[ref] for number, ref in enumerate(refs, start=1) if ref in known
        }

    def of(self, text: str, *, is_last: bool) -> Mapping[int, Citation]:
        """Return by number what a part of the message cites; its last one also what none names."""
        every = {
            number: one
            for number, one in self._numbered.items()
            if f"[{number}]" in text or (is_last and number > self._named)
        }
        return dict([*every.items()][:CITATION_LIMIT])


def sources_line(cited: Mapping[int, Citation]) -> str:
    """Return the line that ends a part; Microsoft's Playground opens no number within a list."""
    marks = "".join(f" [{number}]" for number in cited)
    return f"\n\nSources:{marks}" if marks else ""


def message_entity(cited: Mapping[int, Citation], *, by_model: bool) -> dict[str, Any]:
    """Return the entity that names a message's sources and, if a model wrote it, says so."""
    entity: dict[str, Any] = {
        "type": "https://schema.org/Message",
        "@type": "Message",
        "@context": "https://schema.org",
        "@id": "",
    }
    if by_model:
        entity["additionalType"] = ["AIGeneratedContent"]
    if cited:
        entity["citation"] = [_claim(one, number) for number, one in cited.items()]
    return entity


def _claim(citation: Citation, position: int) -> dict[str, Any]:
    name = citation.title or citation.ref
    abstract = citation.quote or " ".join(filter(None, [citation.ref, citation.date]))
    return {
        "@type": "Claim",
        "position": position,
        "appearance": {
            "@type": "DigitalDocument",
            "name": name[:NAME_LIMIT_CHARS],
            "abstract": abstract[:ABSTRACT_LIMIT_CHARS],
        },
    }


ROWS_SHOWN = 25
CARD_LIMIT_BYTES = 18_000
"""Teams takes about 28 kB a message; a table counts with all that stands around its texts."""
_LEAST_POINTS = 2
_WIDTHS = {"date": 2, "end": 2, "name": 3, "value": 2, "detail": 4}
_COLUMN_NAMES = {"end": "Until", "detail": "More"}


def view_cards(view: ChartView) -> list[Card]:
    """Return the cards of one view: the first 25 rows, and all of a view that must be shown."""
    columns, texts = cells(view)
    if not columns:
        return []
    plain = [_COLUMN_NAMES.get(one, one.capitalize()) for one in columns]
    names = labels_of(view, columns) if view.labels else plain
    pages = list(_pages(texts))
    shown = pages if view.must_be_shown else pages[:1]
    left = len(texts) - sum(map(len, shown))
    cards = []
    for number, page in enumerate(shown, start=1):
        title = view.title if number == 1 else f"{view.title} ({number} of {len(shown)})"
        drawn = _chart(view, _table(columns, names, page)) if number == 1 else None
        is_last = number == len(shown)
        remarks = [f"{left} more rows"] if is_last and left else []
        remarks += [*left_out_of(view), *view.notes] if is_last else []
        body = [text_block(title, weight="Bolder"), drawn or _table(columns, names, page)]
        body += [text_block(one, isSubtle=True) for one in remarks]
        cards.append(adaptive_card(body, version="1.5", msteams={"width": "Full"}))
    return cards


def _pages(texts: Sequence[Sequence[str]]) -> Iterator[list[Sequence[str]]]:
    page: list[Sequence[str]] = []
    size = 0
    for row in texts:
        own = len(orjson.dumps(_row(row)))
        if page and (len(page) == ROWS_SHOWN or size + own > CARD_LIMIT_BYTES):
            yield page
            page, size = [], 0
        page.append(row)
        size += own
    if page:
        yield page


def _table(columns: Sequence[str], names: Sequence[str], texts: Sequence[Sequence[str]]) -> Card:
    return {
        "type": "Table",
        "firstRowAsHeader": True,
        "columns": [{"width": _WIDTHS.get(name, 1)} for name in columns],
        "rows": [_row(names, weight="Bolder"), *(_row(row) for row in texts)],
    }


def _row(texts: Sequence[str], **looks: str) -> Card:
    cells_ = [{"type": "TableCell", "items": [text_block(text or " ", **looks)]} for text in texts]
    return {"type": "TableRow", "cells": cells_}


def _chart(view: ChartView, table: Card) -> Card | None:
    """Return the line chart of a course, which falls back to its table; None where it is none."""
    if view.kind != "series":
        return None
    drawn: dict[tuple[str, str], list[ViewRow]] = {}
    for row in sorted(view.rows, key=lambda one: one.date):
        if row.number is not None and len(row.date) >= len("2024-01-01"):
            drawn.setdefault((row.name, row.unit), []).append(row)
    # Two units have no common axis.
    has_course = any(len(rows) >= _LEAST_POINTS for rows in drawn.values())
    if len({unit for _, unit in drawn}) != 1 or not has_course:
        return None
    ((_, unit), *_) = drawn
    return {
        "type": "Chart.Line",
        "title": view.title,
        "xAxisTitle": "Date",
        "yAxisTitle": unit,
        "data": [
            {"legend": name, "values": [{"x": row.date[:10], "y": row.number} for row in rows]}
            for (name, _), rows in drawn.items()
        ],
        "fallback": table,
    }
