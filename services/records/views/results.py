"""`results`: what was measured, by the names that people use, and what notes written later say."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal

from data_models.chart_view import ChartView, LeftOut, ViewRow, ViewSource
from services.language.replies.references import numbers_in
from services.records.concepts.words import words_of
from services.records.resources.dates import first_day, is_within, last_day
from services.records.resources.documents import ClinicalDocument
from services.records.resources.entry import (
    CODES,
    code_pairs,
    instant,
    joined,
    label,
    notes_of,
    one,
)
from services.records.resources.record import PatientRecord
from services.records.resources.values import Value, change_text, in_unit_of, value_in, with_unit
from services.records.rows.finding import Found, find_series, holds, means
from services.records.rows.measurements import (
    Part,
    Series,
    name_of,
    node_of,
    row_of_part,
    series_of,
)
from services.records.views.view import QUOTE_LIMIT_CHARS, not_shown, view_of

SHOWN_OF_NAMED = 12
ROWS_LIMIT = 600
"""Rows of one view, the values of the newest things; a view travels and is stored whole."""


def results(
    record: PatientRecord,
    *,
    names: Sequence[str] = (),
    category: str | None = None,
    since: date | None = None,
    until: date | None = None,
    last: int | None = None,
) -> ChartView:
    """Return values, those of one thing together, the newest first.

    Args:
        names: What was measured; without names the newest value of everything.
        category: `laboratory`, `vital sign`, `social history`, `survey`, `imaging`, `exam`.
        since: First day; a partial date counts where any of its days is inside.
        until: Last day.
        last: How many values of each thing: twelve of what is named, else one.
    """
    kind = kind_asked(category)
    # What is of no category may be of the laboratory: a high potassium is not kept back.
    kinds = {kind, "observation"} if kind == "laboratory" else {kind}
    known = [one for one in series_of(record) if not kind or one.kind in kinds]
    found = [find_series(known, name) for name in names]
    named = {id(one): one for each in found for one in each.series}
    chosen = list(named.values()) if names else _without_components(known)
    span = _Span(since, until, last or (SHOWN_OF_NAMED if names or since or until else 1))
    shown = _shown_of(record, chosen, span, is_named=bool(names))
    absent = list(dict.fromkeys(each.name for each in found if not each.series))
    notes = [f"“{each.asked}” was read as “{each.read_as}”" for each in found if each.read_as]
    notes += shown.notes
    notes += [f"{name}: not in the record" for name in absent] if shown.rows else []
    later = written_later(record, chosen) if names and not (since or until) else ()
    later += () if since or until else tuple(_cancelled_later(record, chosen, names))
    numbers = [row for row in shown.rows if row.number is not None]
    view = view_of(
        record,
        "results",
        ", ".join(dict.fromkeys(each.name for each in found)) or kind or "Results",
        shown.rows,
        kind="series" if len(chosen) == 1 and len(numbers) > 1 else "table",
        left_out=shown.left_out,
        nothing=_nothing(known, found, names, kind),
        notes=[
            *notes,
            *(
                f"written later, {one.date}, {one.title}: “{one.quote}” [{one.ref}]"
                for one in later
            ),
        ],
    )
    return view.model_copy(update={"sources": (*view.sources, *later)})


def _cancelled_later(
    record: PatientRecord, chosen: Sequence[Series], names: Sequence[str]
) -> Iterator[ViewSource]:
    """Yield what was to be measured after the newest value and was not, with the reason."""
    for entry in record.refuted.values():
        title, codes = name_of(entry.raw), code_pairs(one(entry.raw, "code"))
        is_named = any(means("result", each, label=title, codes=codes) for each in names)
        alike = (each for each in chosen if each.name == title or {*each.codes} & {*codes})
        newest = max((each.parts[-1].when for each in alike), default="")
        is_asked = is_named or (not names and newest)
        if entry.kind == "Observation" and is_asked and instant(entry.date) > newest:
            why = joined(label(one(entry.raw, "dataAbsentReason")), *notes_of(entry.raw))
            said = f"cancelled: {why}" if why else "cancelled"
            yield ViewSource(ref=entry.ref, date=entry.date[:10], title=title, quote=said)


def kind_asked(category: str | None) -> str | None:
    """Return the kind of rows that people mean by a category."""
    return CODES["categories"].get((category or "").casefold().strip(), category)


@dataclass(frozen=True, slots=True)
class _Span:
    """Which values of each thing are shown, `count` at most."""

    since: date | None
    until: date | None
    count: int


@dataclass(slots=True)
class _Shown:
    rows: list[ViewRow] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def _shown_of(
    record: PatientRecord, chosen: Sequence[Series], span: _Span, *, is_named: bool
) -> _Shown:
    """Return the newest values of each thing, and what of them is left out."""
    shown = _Shown()
    for number, series in enumerate(chosen):
        if len(shown.rows) >= ROWS_LIMIT:
            more = not_shown(len(chosen) - number, "further kinds of results", "names, category")
            shown.left_out.append(more)
            break
        inside = [
            part for part in series.parts if is_within(part.entry.date, span.since, span.until)
        ]
        kept = inside[-span.count :]
        shown.rows += _rows_of(record, series, kept)
        if is_named:
            shown.left_out += _left_out_of(series, len(inside), len(kept))
            shown.notes += _summary(series, inside)
    if not is_named:
        older_count = max(0, sum(len(one.parts) for one in chosen) - len(shown.rows))
        shown.left_out.append(not_shown(older_count, "older values", "names, or last"))
    return shown


def _left_out_of(series: Series, inside: int, kept: int) -> Iterator[LeftOut]:
    """Yield how many values are not shown of those inside the span, and of those outside."""
    values, others = f"values of {series.name}", len(series.parts) - inside
    yield not_shown(inside - kept, f"older {values}", f"last={inside}")
    yield not_shown(others, f"{values} of another time", "other since and until")


def _without_components(series: Sequence[Series]) -> list[Series]:
    """Leave out the halves of blood pressures that are shown whole."""
    whole = {
        part.entry.ref
        for one in series
        for part in one.parts
        if part.component is None and one.concept and one.concept.name == "Blood pressure"
    }
    return [
        one
        for one in series
        if not all(part.component is not None and part.entry.ref in whole for part in one.parts)
    ]


def _summary(series: Series, parts: Sequence[Part]) -> list[str]:
    """Say lowest, highest and change over all that was asked, in the newest value's unit."""
    values = [(value_in(node_of(part)), part.entry.date[:10]) for part in parts]
    numbers = [(value, day) for value, day in values if value.number is not None]
    if len(numbers) < 2:
        return []
    newest = numbers[-1][0]
    same = [(in_unit_of(value, newest) or value, day) for value, day in numbers]
    units = {value.unit for value, _ in same}
    if len(units) > 1:
        return [f"{series.name}: units differ ({', '.join(sorted(units))}); not compared"]
    low, high = min(same, key=_number), max(same, key=_number)
    change = Decimal(f"{(newest.number or 0) - (same[0][0].number or 0):.6g}")
    told = change_text(change, newest.text, same[0][0].text)
    said = [
        f"lowest {_shown(*low)}",
        f"highest {_shown(*high)}",
        f"change since {same[0][1]} {with_unit(told, newest.unit)}",
    ]
    bounds = [value.whole for value, _ in values if value.comparator]
    said += [f"bounds not counted: {', '.join(bounds)}"] if bounds else []
    is_mixed = len({value.unit for value, _ in numbers}) > 1
    said += [f"other units converted to {newest.unit} by UCUM"] if is_mixed else []
    return [f"{series.name}: {len(numbers)} values, {', '.join(said)}"]


def _number(dated: tuple[Value, str]) -> float:
    return dated[0].number or 0.0


def _rows_of(record: PatientRecord, series: Series, parts: Sequence[Part]) -> Iterator[ViewRow]:
    """Yield the rows, the newest first; one in another unit than the newest of all says both."""
    newest = value_in(node_of(series.parts[-1]))
    for part in reversed(parts):
        row = row_of_part(record, part)
        same = in_unit_of(value_in(node_of(part)), newest)
        yield (
            row
            if same is None
            else row.model_copy(update={"detail": joined(f"= {same.whole}", row.detail)})
        )


def _shown(value: Value, day: str) -> str:
    return f"{value.whole} ({day or 'undated'})"


def _nothing(
    known: Sequence[Series], found: Sequence[Found], names: Sequence[str], kind: str | None
) -> str:
    if not names:
        then = " of that time" if known else ""
        return f"No result{f' of category {kind}' if kind else ''}{then} is recorded."
    if any(each.series for each in found):
        return "No value of that time is in the record."
    sought = ", ".join(f"“{each.name}”" for each in found)
    count = sum(len(one.parts) for one in known)
    searched = f"{count} results of {len(known)} kinds searched by code and name"
    return f"{sought}: not in the record ({searched})."


_SOURCES_LIMIT, _DOCUMENTS_READ, _READ_CHARS = 3, 40, 20_000
_BEGINNING_CHARS = 3
_ENDS = ". ", "; "


def written_later(record: PatientRecord, chosen: Sequence[Series]) -> tuple[ViewSource, ...]:
    """Return the newest sentences with a newer figure, one of each document, as sources.

    A value that only a note holds is no row; who reads the newest row must know that there is one.
    """
    found = [
        ViewSource(
            ref=document.ref, date=(document.date or "")[:10], title=document.title, quote=said
        )
        for series in chosen
        for document in record.documents[-_DOCUMENTS_READ:]
        if (said := next(_said_in(document, series), None))
    ]
    newest = sorted(found, key=lambda one: one.date or "", reverse=True)
    return tuple({one.ref: one for one in newest}.values())[:_SOURCES_LIMIT]


def _said_in(document: ClinicalDocument, series: Series) -> Iterator[str]:
    newest = last_day(series.parts[-1].entry.date[:10])
    written = first_day((document.date or "")[:10])
    is_later = newest is not None and written is not None and written > newest
    if document.is_superseded or not document.text or not is_later:
        return
    names = series.concept.words if series.concept is not None else (words_of(series.name),)
    text = document.text[:_READ_CHARS]
    folded = text.casefold()
    names = tuple(name for name in names if name and name[0][:_BEGINNING_CHARS] in folded)
    known = {value_in(node_of(part)).number for part in series.parts}
    for sentence in _sentences(text) if names else ():
        if any(_tells_more(piece, names, known) for piece in sentence.split(", ")):
            yield sentence[:QUOTE_LIMIT_CHARS]


def _tells_more(
    piece: str, names: Sequence[Sequence[str]], known: Collection[float | None]
) -> bool:
    """Whether a piece of a sentence names the thing with a figure that no value has."""
    words = words_of(piece)
    is_named = any(holds(words, name) for name in names)
    return is_named and any(number not in known for number in numbers_in(piece))


def _sentences(text: str) -> Iterator[str]:
    flat = " ".join(text.split())
    for mark in _ENDS:
        flat = flat.replace(mark, f"{mark.strip()}\n")
    yield from flat.splitlines()
