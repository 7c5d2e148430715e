"""Rows of a view, in the form in which sentences are compared with them."""

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

from rapidfuzz.distance import Levenshtein

from data_models.chart_view import NOT_OF_THE_PATIENT, ChartView, ViewRow
from services.language.clauses import Clause
from services.language.quantities import Quantity, quantities_in, unit_code
from services.language.statement_parts import REFERENCE
from services.language.statement_tables import stem
from services.language.statement_words import statement_words
from services.language.written_dates import dates_in, recorded_date
from services.records.concepts.table import concept_table
from services.records.concepts.words import words_of
from services.records.entry import instant
from services.records.finding import classes_of_drug
from services.records.standing import ABSENCES
from services.statements.hedges import OF_NONE, hedges_of, standing_of
from services.statements.rows import (
    EmptyResult,
    KnownRow,
    clause_of,
    negates,
    rows_of_text,
    shortened,
    stems_of,
    times_of,
)
from services.statements.units import quantity

LONG_TEXT_CHARS = 160
_TOPIC_WORDS = 2
_LONG_NAME = 8
_DENIAL_CHARS = 9
"""A name denies something by its first words: `No known allergies`."""
_CORE = re.compile(r"^[^\[(/,]+")
_OTHER = re.compile(
    r"(?P<mark>earlier:|versus|[↑↓→] from|,|^)\s?(?P<value>[^()\[\];,:]{1,60}?)"
    r" \((?P<date>\d{4}(?:-\d\d){0,2})\)(?P<refs>(?: \[[^\]]+\])*)"
)
"""Other values of the same thing, as views write them behind a row's own."""
_DIAGNOSES = frozenset({"encounter diagnosis", "health concern", "diagnosis"})
"""By their standing and days these are problems."""
_PRESSURE = frozenset({"blood", "pressure"})


def rows_of_view(view: ChartView) -> list[KnownRow]:
    """Return the rows of a view; long texts sentence by sentence."""
    is_text, found = view.kind == "passages", list[KnownRow]()
    for row in view.rows:
        if row.kind not in NOT_OF_THE_PATIENT:
            found += rows_of_row(row, is_text=is_text)
    for source in view.sources:
        if source.quote:
            found += rows_of_text(source.quote, date=source.date, sources=(source.ref,))
    return found


def empty_of_view(view: ChartView) -> EmptyResult | None:
    """Return what `view` says is not there; None where it has rows or left some out."""
    if view.rows or view.left_out:
        return None
    text = f"{view.title} {view.tool.replace('_', ' ')} {view.nothing}"
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
    text = " ".join(part for part in (row.value, row.detail) if part)
    if is_text or len(text) > LONG_TEXT_CHARS or row.kind.endswith("report"):
        yield from rows_of_text(text, date=row.date or None, sources=row.sources, title=row.name)
        text = ""
    yield _known(row, text)
    yield from (_known(one, one.value) for one in _pressures(row))


def _pressures(row: ViewRow) -> Iterator[ViewRow]:
    """Yield the two values of a blood pressure, each as a row of its own."""
    found = quantities_in(row.value) if stems_of(row.name) >= _PRESSURE else []
    if len(found) != 1 or found[0].pair is None:
        return
    for name, number in (("Systolic", found[0].number), ("Diastolic", found[0].pair)):
        changes = {"name": f"{name} {row.name}", "value": f"{number:g}", "number": number}
        yield row.model_copy(update=changes)


def _measured_row(row: ViewRow) -> ViewRow:
    """Return a row whose value is all one number with a unit as one that was measured."""
    found = quantities_in(row.value) if row.number is None and not row.unit else []
    whole = len(found) == 1 and found[0].unit and found[0].pair is None
    if not whole or (found[0].start, found[0].end) != (0, len(row.value)):
        return row
    return row.model_copy(update={"number": found[0].number, "unit": found[0].unit})


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


def _known(row: ViewRow, text: str) -> KnownRow:
    """Return a row; `text` is what it says besides its name."""
    clause = clause_of(f"{row.name} {row.value if text else ''} {row.unit} {text and row.detail}")
    told, name, core = clause_of(text), stems_of(row.name), core_for(row)
    kind, standing, hedges = clause_of(row.kind), standing_of(row), hedges_of(row)
    dates = [day for one in (row.date, row.end) if one and (day := recorded_date(one))]
    if row.detail or row.number is None:
        said = f"{row.value} {row.detail}"
        dates += [day for found in dates_in(said) for day in found.readings]
    is_denied = negates(told) or negates(clause_of(row.name[:_DENIAL_CHARS]))
    denies = standing == "absent" or (is_denied and not hedges)
    # "Allergies: penicillin" is of allergies; "Documentation of current medications" is of none.
    is_of_topic = denies or not row.kind or len(row.name.split()) <= _TOPIC_WORDS
    topics = frozenset((*kind.topics, *(clause.topics if is_of_topic else ())))
    status = stems_of(f"{row.status} {row.flag}")
    is_value = row.number is not None or bool(row.unit)
    return KnownRow(
        name=name,
        says=_says(row),
        kind="problem" if row.kind in _DIAGNOSES else row.kind,
        needs=_needs(core, row) | _classes(row),
        needs_all=is_value,
        words=name.union(
            core, clause.words, kind.words, topics, status, _codes(row), _classes(row)
        ),
        quantities=_quantities(row, clause),
        figures=tuple(quantities_in(f"{row.name} {row.unit}")) if row.number is not None else (),
        ranges=tuple(quantities_in(row.range)),
        dates=tuple(dates),
        begun=recorded_date(row.date) if row.date else None,
        ended=recorded_date(row.end) if row.end else None,
        stages=clause.stages,
        often=clause.often,
        smoking=clause.smoking,
        negated=denies,
        standing=standing,
        flag=row.flag,
        sources=row.sources,
        order=instant(row.date),
        number=row.number,
        exclusive=frozenset(clause.exclusive),
        sites=clause.sites,
        is_plan=bool(hedges) or _is_planned(row),
        hedges=hedges,
    )


def _is_planned(row: ViewRow) -> bool:
    is_problem = row.kind in ("problem", *_DIAGNOSES)
    return is_problem and "planned" in clause_of(row.name).cues


def _quantities(row: ViewRow, clause: Clause) -> tuple[Quantity, ...]:
    """Return the figures by which a row may be told.

    Of a person's one is an age, and none of the others is a value. Of a measured row those of its
    name and unit are none: a pain score's "0-10", "mL/min/{1.73_m2}".
    """
    if row.kind == "patient":
        return (*clause_of(row.value).quantities,)
    if row.number is None:
        return (*clause.quantities, *times_of(clause))
    numbers = {row.number, *(one.number for one in quantities_in(row.value))}
    own = [one for one in clause.quantities if one.number in numbers]
    told = clause_of(row.detail).quantities
    return (*own, *told, *_measured(row), *times_of(clause))


def _measured(row: ViewRow) -> Iterator[Quantity]:
    if row.number is None:
        return
    sign = row.value.strip()[:1]
    yield quantity(row.number, row.unit, comparator=sign if sign in ("<", ">") else "")
    unit = unit_code(row.unit) or row.unit
    yield from (replace(one, unit=unit) for one in quantities_in(row.value))


def core_for(row: ViewRow) -> frozenset[str]:
    """Return the stems by which people know the thing of a row; of an absence what is absent."""
    core = core_of(row.name)
    return core - OF_NONE or core if row.kind in ABSENCES else core


@lru_cache(maxsize=4_000)
def core_of(name: str) -> frozenset[str]:
    """Return the stems by which people know a name: `Hemoglobin [Mass/volume] in Blood` is one."""
    found = _CORE.match(name)
    text = found.group() if found and found.group().strip() else name
    if "[" in name and len(before := text.partition(" in ")[0]) > 2:
        text = before
    groups = frozenset(one for one in clause_of(text).names if one.startswith("="))
    rest = stems_of(text) - {word for group in groups for word in group_words(group)}
    core = groups | rest | ({"urine"} & stems_of(name))
    # Of `Total score [MMSE]` only the brackets say what was scored.
    return core if core - statement_words().filling else core | stems_of(name)


@lru_cache(maxsize=1_000)
def group_words(group: str) -> frozenset[str]:
    """Return the stems of all words by which the names of a group are written."""
    return frozenset(
        part
        for table in (statement_words().phrases, statement_words().concepts)
        for phrases in table.values()
        for phrase in phrases
        if f"same:{group}" in phrase.tags
        for word in phrase.words
        for part in (stem(word), *(stem(piece) for piece in word.split("-")))
    )


def _needs(core: frozenset[str], row: ViewRow) -> frozenset[str]:
    vocabulary, is_value = statement_words(), row.number is not None or bool(row.unit)
    core = core - (_parts_of(row.name) if is_value else set())
    soft = vocabulary.filling if is_value else vocabulary.soft
    kept = frozenset(word for word in core if word not in soft and not word[0].isdigit())
    return kept or core


def _parts_of(name: str) -> set[str]:
    """Return the stems of the parts of words with hyphens: who names NT-proBNP names no NT."""
    joined = (word for word in name.split() if "-" in word)
    return {stem(part) for word in joined for part in word.split("-")}


def _classes(row: ViewRow) -> frozenset[str]:
    if row.kind == "immunization":
        return _vaccine_words(row.name, row.code)
    if row.kind == "problem":
        return _disease_words(row.code)
    if row.kind != "medication":
        return frozenset()
    return (
        class_words(row.name, row.code)
        | _other_names(row.name)
        | _spelt_otherwise(core_of(row.name))
    )


@lru_cache(maxsize=1_000)
def _disease_words(codes: tuple[str, ...]) -> frozenset[str]:
    """Return stems of what a code of ICD-10 means: `Bösartige Neubildung: Oberlappen` a cancer."""
    own = [code.rpartition("|")[2] for code in codes if "icd-10" in code.lower()]
    of_code = [
        (len(begin), one.name)
        for one in concept_table().concepts
        for begin in one.icd10
        if one.kind == "problem" and any(code.startswith(begin) for code in own)
    ]
    name = max(of_code)[1] if of_code else ""
    return stems_of(name).union(clause_of(name).names)


@lru_cache(maxsize=1_000)
def _vaccine_words(name: str, codes: tuple[str, ...]) -> frozenset[str]:
    """Return stems of what people call a vaccine by one word: `Td (adult)` is tetanus."""
    table = concept_table()
    found = table.coded("vaccine", codes) or table.displayed("vaccine", name)
    said = found.words if found is not None else ()
    single = [words[0] for words in said if len(words) == 1]
    named = (one for word in single for one in clause_of(word).names)
    return frozenset((*named, *(stem for word in single for stem in stems_of(word))))


@lru_cache(maxsize=1_000)
def _other_names(drug: str) -> frozenset[str]:
    """Return stems of other names of a drug of one ingredient: `Kyleena` is levonorgestrel."""
    table = concept_table()
    found = {one.name: one for word in words_of(drug) if (one := table.named("drug", word))}
    said = [one.words for one in found.values() if len(found) == 1 and not one.members]
    return frozenset(
        stem for each in said for words in each if len(words) == 1 for stem in stems_of(words[0])
    )


@lru_cache(maxsize=1_000)
def _spelt_otherwise(core: frozenset[str]) -> frozenset[str]:
    """Return drugs that a record names with one letter wrong: `Simvistatin`."""
    known = statement_words().names
    return frozenset(
        name
        for word in core
        if len(word) >= _LONG_NAME and word not in known
        for name in known
        if name[0] == word[0] and Levenshtein.distance(name, word, score_cutoff=1) == 1
    )


@lru_cache(maxsize=1_000)
def class_words(drug: str, codes: tuple[str, ...]) -> frozenset[str]:
    """Return stems of what a drug's classes are called, where that is one word: `statin`."""
    words = [one for one in classes_of_drug(drug, codes) if " " not in one]
    return frozenset((*map(stem, words), *(name for one in words for name in clause_of(one).names)))


def _codes(row: ViewRow) -> frozenset[str]:
    return frozenset(stem(code.rpartition("|")[2]) for code in row.code)


def _says(row: ViewRow) -> str:
    unit = "" if row.unit in row.value else row.unit
    named = " ".join(part for part in (row.name, row.value, unit) if part)
    parts = (named, row.detail, row.status, row.date[:10])
    return shortened(", ".join(part for part in parts if part))
