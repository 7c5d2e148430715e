"""Rows of a view, in the form in which sentences are compared with them."""

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

from data_models.chart_view import NOT_OF_THE_PATIENT, ChartView, ViewRow
from services.language.figures.quantities import Quantity, quantities_in, unit_code
from services.language.figures.written_dates import WrittenDate, dates_in, recorded_date
from services.language.sentences.clauses import Clause
from services.language.sentences.name_kinds import without_tag, word_of
from services.language.sentences.statement_parts import REFERENCE
from services.language.sentences.statements import read_sentence
from services.language.words.phrases import says
from services.language.words.statement_tables import stem
from services.language.words.statement_words import statement_words
from services.records.resources.entry import instant
from services.statements.rows.row_names import (
    DIAGNOSES,
    classes_of,
    core_for,
    hedges_of,
    needs_of,
    standing_of,
)
from services.statements.rows.rows import (
    EmptyResult,
    KnownRow,
    clause_of,
    negates,
    rows_of_text,
    shortened,
    stems_of,
    times_of,
)
from services.statements.rows.units import quantity

LONG_TEXT_CHARS = 160
_SHORT_VALUE_CHARS = 40
_ORDER = "order"
_CARE_TEAM = "care team"
_MEMBERS_END = re.compile(r"(?<=\)), ")
_TOPIC_WORDS = 2
_NAMED_WHOLE = frozenset({"procedure", "encounter", "care plan", "immunization", "problem"})
_DENIAL_CHARS = 9
"""A name denies something by its first words: `No known allergies`."""
_OTHER = re.compile(
    r"(?P<mark>earlier:|versus|[↑↓→] from|,|^)\s?"
    r"(?P<value>(?:[^()\[\];,:]|\[\w+\]|\([^()\d][^()]{0,30}\)){1,60}?)"
    r" \((?P<date>\d{4}(?:-\d\d){0,2})\)(?P<refs>(?: \[[^\]]+\])*)"
)
"""Other values of the same thing, as views write them behind a row's own."""
_SPAN = re.compile(r"(\d{4}-\d\d-\d\d)–(\d{4}-\d\d-\d\d)")
_PORTIONS = {"mL": "mL", "{tbl}": ""}
"""Units in which a drug is taken, and per what its strength is told."""
_STRENGTHS = frozenset({"mg", "ug", "g"})
_WAYS = {"iv": "intravenous", "i.v": "intravenous"}
_NAME_OF_PAIR = "blood pressure"
_PRESSURE = frozenset(_NAME_OF_PAIR.split())


def rows_of_view(view: ChartView) -> list[KnownRow]:
    """Return the rows of a view; long texts sentence by sentence."""
    is_text, found = view.kind == "passages", list[KnownRow]()
    for row in view.rows:
        if row.kind not in NOT_OF_THE_PATIENT:
            found += rows_of_row(row, is_text=is_text)
    for source in view.sources:
        if quote := source.quote:  # it may end within a word
            whole = quote if quote.endswith(".") else quote.rpartition(". ")[0] or quote
            found += rows_of_text(whole, date=source.date, sources=(source.ref,))
    return found


def empty_of_view(view: ChartView) -> EmptyResult | None:
    """Return what `view` says is not there; None where it has rows or left some out."""
    if view.rows or view.left_out:
        return None
    of_laboratory = "laboratory" if view.tool == "results" else ""
    text = f"{view.title} {view.tool.replace('_', ' ')} {of_laboratory} {view.nothing}"
    clause = clause_of(text)
    words = stems_of(text) | clause.words | frozenset(clause.topics)
    return EmptyResult(words=words, says=view.nothing or f"{view.title}: nothing recorded")


@lru_cache(maxsize=4_000)
def rows_of_row(row: ViewRow, *, is_text: bool) -> tuple[KnownRow, ...]:
    """Return the row, and other values that it tells; a long text sentence by sentence.

    The next turn is of the same rows.
    """
    return tuple(_rows_of_row(row, is_text=is_text))


def _rows_of_row(row: ViewRow, *, is_text: bool) -> Iterator[KnownRow]:
    row, others = _parted(_measured_row(row))
    for one in others:
        yield _known(one, one.value)
    if row.kind == _CARE_TEAM:  # who is a cardiologist is told of each for itself
        members = _MEMBERS_END.split(row.value)
        yield from (_known(row.model_copy(update={"value": one}), one) for one in members)
        return
    text = " ".join(part for part in (row.value, row.detail) if part)
    is_long = len(text) > LONG_TEXT_CHARS and row.kind != "encounter"
    if is_text or is_long or row.kind.endswith("report"):
        told = rows_of_text(text, date=row.date or None, sources=row.sources, title=row.name)
        # The reasons of an order tell what may be done.
        yield from (replace(one, is_plan=True) for one in told) if row.kind == _ORDER else told
        text = row.value if not is_text and len(row.value) < _SHORT_VALUE_CHARS else ""
    yield _known(row, text)
    yield from (_known(one, one.value) for one in _pressures(row))


def _pressures(row: ViewRow) -> Iterator[ViewRow]:
    """Yield the two values of a blood pressure, each as a row of its own."""
    found = quantities_in(row.value) if stems_of(row.name) >= _PRESSURE else []
    if len(found) != 1 or found[0].pair is None:
        return
    for name, number in (("Systolic", found[0].number), ("Diastolic", found[0].pair)):
        named = {"name": f"{name} blood pressure, {_NAME_OF_PAIR}", "code": ()}
        changes = {**named, "value": f"{number:g}", "number": number}
        yield row.model_copy(update=changes)


def _measured_row(row: ViewRow) -> ViewRow:
    """Return a row whose value is all one number with a unit as one that was measured."""
    is_open = row.number is None and not row.unit and row.kind != "medication"
    found = quantities_in(row.value) if is_open else []
    whole = len(found) == 1 and found[0].unit
    if not whole or (found[0].start, found[0].end) != (0, len(row.value)):
        return row
    number = found[0].number if found[0].pair is None else None
    return row.model_copy(update={"number": number, "unit": found[0].unit})


def _parted(row: ViewRow) -> tuple[ViewRow, list[ViewRow]]:
    """Return a row without the other values that it tells, and these as rows of their own days.

    Else the newest value would be supported under every earlier day.
    """
    found = [one for one in _OTHER.finditer(row.detail) if one["mark"] != ","]
    if not found:
        return row, []
    others = []
    for one in _OTHER.finditer(row.detail):
        refs = tuple(REFERENCE.findall(one["refs"]))
        is_same = one["value"] == row.value and one["date"] == row.date[:10]
        if not is_same:
            others.append(
                _other_row(row, one["value"], one["date"], refs or row.sources[1:] or row.sources)
            )
    theirs = {ref for one in others for ref in one.sources}
    own = tuple(ref for ref in row.sources if ref not in theirs) or row.sources
    rest = _OTHER.sub(" ", row.detail).strip(" ;,")
    return row.model_copy(update={"detail": rest, "sources": own}), others


def _other_row(row: ViewRow, value: str, date: str, refs: tuple[str, ...]) -> ViewRow:
    measured = quantities_in(value)
    one = measured[0] if len(measured) == 1 and measured[0].pair is None else None
    return ViewRow(
        kind=row.kind,
        name=row.name,
        value=value,
        number=one.number if one is not None else None,
        unit=one.unit if one is not None else "",
        date=date,
        sources=refs,
    )


@lru_cache(maxsize=1_024)
def _title(name: str, kind: str) -> str:
    """Return the name of a row that reads as something else, without its tag.

    No word of "Documentation of current medications" names anything, and some say that medications
    are taken now: where a sentence has it whole, it stands as one word. So is that of a vaccine
    with figures, "23 valent": they are none of what is told of it; and that of an illness which
    says what it is not, "Essentielle Hypertonie, nicht näher bezeichnet".
    """
    plain = without_tag(name)
    clauses = read_sentence(plain).clauses
    is_named = any(one.names or one.objects for one in clauses)
    is_misread = not is_named and kind != "problem" and any(one.topics for one in clauses)
    if kind == "immunization":
        is_misread = any(one.quantities or one.counted for one in clauses)
    if kind in ("problem", "procedure"):
        begins = read_sentence(plain[:_DENIAL_CHARS]).cues  # "No evidence of recurrence" denies
        is_misread |= "no" not in begins and any("no" in one.cues for one in clauses)
    return plain if is_misread and " " in plain else ""


def _known(row: ViewRow, text: str) -> KnownRow:
    """Return a row; `text` is what it says besides its name, an order to who reads it nothing."""
    if says(text, "orders_reader"):
        row, text = row.model_copy(update={"value": "", "detail": ""}), ""
    detail = text.removeprefix(row.value)
    clause = clause_of(f"{row.name} {row.value if text else ''} {row.unit} {detail}")
    told, name, core = clause_of(text), stems_of(row.name), core_for(row)
    kind, standing, hedges = clause_of(row.kind), standing_of(row), hedges_of(row)
    is_denied = negates(told) or negates(clause_of(row.name[:_DENIAL_CHARS]))
    is_problem = row.kind in ("problem", *DIAGNOSES)
    denies = standing == "absent" or (is_denied and not hedges)
    # "Allergies: penicillin" is of allergies; "Documentation of current medications" is of none.
    is_of_topic = denies or not row.kind or len(row.name.split()) <= _TOPIC_WORDS
    topics = frozenset((*kind.topics, *(clause.topics if is_of_topic else ())))
    status = stems_of(f"{row.status} {row.flag}")
    title = _title(row.name, row.kind) if row.kind in _NAMED_WHOLE else ""
    called = frozenset({word_of(title)} if title else ())
    codes = {stem(code.rpartition("|")[2]) for code in row.code}
    return KnownRow(
        name=name,
        says=_says(row),
        kind="problem" if row.kind in DIAGNOSES else row.kind,
        title=title,
        needs=needs_of(row) | classes_of(row) | called,
        needs_all=row.number is not None or bool(row.unit),
        words=name.union(
            core, clause.words, kind.words, topics, status, codes, classes_of(row), called
        ),
        quantities=_quantities(row, clause),
        figures=tuple(_figures(row)),
        ranges=tuple(quantities_in(row.range)),
        dates=tuple(_dates(row)),
        begun=recorded_date(row.date) if row.date else None,
        ended=recorded_date(row.end) if row.end else None,
        earlier=tuple(tuple(map(recorded_date, one)) for one in _SPAN.findall(row.detail)),
        stages=clause.stages,
        often=clause.often,
        smoking=clause.smoking,
        negated=denies,
        standing=standing,
        flag=row.flag,
        sources=row.sources,
        order=instant(row.date),
        number=row.number,
        exclusive=frozenset((*clause.exclusive, *_ways(row)))
        | (status & statement_words().exclusive.keys()),
        sites=clause.sites,
        is_plan=bool(hedges) or (is_problem and "planned" in clause_of(row.name).cues),
        hedges=hedges,
    )


def _dates(row: ViewRow) -> Iterator[WrittenDate]:
    """Yield the days of a row, and those that its words tell."""
    yield from filter(None, (recorded_date(one) for one in (row.date, row.end) if one))
    if row.detail or row.number is None:
        for found in dates_in(f"{row.value} {row.detail}"):
            yield from found.readings


def _quantities(row: ViewRow, clause: Clause) -> tuple[Quantity, ...]:
    """Return the figures by which a row may be told.

    Of a person's one is an age, and none of the others is a value. Of a measured row those of its
    name and unit are none: a pain score's "0-10", "mL/min/{1.73_m2}".
    """
    if row.kind == "patient":
        return (*clause_of(row.value).quantities,)
    if row.number is None:
        return (*clause.quantities, *_whole_doses(row, clause), *times_of(clause))
    numbers = {row.number, *(one.number for one in quantities_in(row.value))}
    own = [one for one in clause.quantities if one.number in numbers]
    told = clause_of(row.detail).quantities
    return (*own, *told, *_measured(row), *times_of(clause))


def _figures(row: ViewRow) -> list[Quantity]:
    """Return figures that are no values: those of a name, or a strength beside another dose."""
    if row.number is not None:
        return quantities_in(f"{row.name} {row.unit}")
    told = quantities_in(row.value) if row.kind == "medication" else []
    strengths = [one for one in quantities_in(row.name) if one.unit in _STRENGTHS]
    units = {one.unit for one in told if one.unit != "{tbl}" or one.number > 1}
    return strengths if units & {*_STRENGTHS, "{tbl}"} else []


def _whole_doses(row: ViewRow, clause: Clause) -> Iterator[Quantity]:
    """Yield what is in so many millilitres, or tablets, of a drug: 150 mg in "1 ML … 150 MG/ML"."""
    if row.kind != "medication":
        return
    of_unit = {unit: [one for one in clause.quantities if one.unit == unit] for unit in _PORTIONS}
    for portion, told in of_unit.items():
        for one in clause.quantities if len(told) == 1 else ():
            unit, _, per = one.unit.partition("/")
            if per == _PORTIONS[portion] and unit != portion:
                yield quantity(one.number * told[0].number, unit)


def _ways(row: ViewRow) -> Iterator[str]:
    """Yield how a drug is given, where that is written as a stage may be: `1000 mg IV`."""
    told = stems_of(f"{row.name} {row.value}") if row.kind == "medication" else frozenset[str]()
    yield from (way for word, way in _WAYS.items() if word in told)


def _measured(row: ViewRow) -> Iterator[Quantity]:
    if row.number is None:
        return
    sign = row.value.strip()[:1]
    yield quantity(row.number, row.unit, comparator=sign if sign in ("<", ">") else "")
    unit = unit_code(row.unit) or row.unit
    yield from (replace(one, unit=unit) for one in quantities_in(row.value))


def _says(row: ViewRow) -> str:
    unit = "" if row.unit in row.value else row.unit
    named = " ".join(part for part in (row.name, row.value, unit) if part)
    parts = (named, row.detail, row.status, row.date[:10])
    return shortened(", ".join(part for part in parts if part))
