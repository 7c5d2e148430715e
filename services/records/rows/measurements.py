"""Observations as rows and as series of what was measured again and again."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from data_models.chart_view import ViewRow
from services.records.concepts.table import Concept, concept_table
from services.records.concepts.words import phrase_of, words_of
from services.records.resources.entry import (
    CODE_SETS,
    CODES,
    Entry,
    Raw,
    code_pairs,
    codes,
    instant,
    joined,
    label,
    many,
    notes_of,
    one,
    text,
)
from services.records.resources.record import PatientRecord
from services.records.resources.values import Value, flag_of, interpretation_of, range_of, value_in
from services.records.rows.row_table import called

_SYSTOLIC, _DIASTOLIC = frozenset({"8480-6"}), frozenset({"8462-4"})
_VARIANT, _GENE, _CHANGES = "69548-6", frozenset({"48018-6"}), frozenset({"48005-3", "48004-6"})
_KINDS = CODES["observations"]
MEASURED = frozenset({"laboratory", "vital sign", "survey", "social history", "exam"})
"""Kinds of rows that are values of a series."""
ANOTHER = "somebody or something else"
NOT_PATIENTS = ", not of the patient)"
"""How the name of a value ends whose focus is a fetus, a donor or a thing."""
NOTED = "note: "
"""What stands before what people wrote beside a value, at the end of a row's details."""
_PLAIN = frozenset({"final", "amended", "corrected", ""})


@dataclass(frozen=True, slots=True)
class Part:
    """One value of an Observation: its own, or that of the component with this number."""

    entry: Entry
    component: int | None
    when: str


@dataclass
class Series:
    """What the record holds of one thing that is measured.

    Attributes:
        name: As the newest value is named in the record.
        concept: What it is, where the table knows.
        parts: Oldest first.
    """

    name: str
    kind: str
    concept: Concept | None
    codes: tuple[str, ...] = ()
    parts: list[Part] = field(default_factory=list)

    @property
    def words(self) -> frozenset[str]:
        """The words of its name."""
        return frozenset(words_of(self.name))


def series_of(record: PatientRecord) -> tuple[Series, ...]:
    """Return every series of the record, those with the newest value first."""
    return record.derived(_series)


def row_of_part(record: PatientRecord, part: Part) -> ViewRow:
    """Return the row of one value."""
    raw = part.entry.raw
    node = node_of(part)
    if part.component is None and (variant := _variant(part.entry)):
        return variant
    pair = _pressures(raw) if part.component is None else None
    focus = focus_of(record, raw)
    value = value_in(node)
    shown, number, unit = value.text, value.number, value.unit
    if pair is not None:
        shown, number = f"{pair[0].text}/{pair[1].text}", None
        unit = pair[0].unit or pair[1].unit
    panels = [name_of(found.raw) for found in record.derived(_panels).get(part.entry.ref, ())]
    of = name_of(raw) if part.component is not None else ""
    members = (
        []
        if shown
        else [record.name_of(row) or _named_member(record, row) for row in many(raw, "hasMember")]
    )
    absent, notes = not shown and not members, "; ".join(notes_of(raw))
    return ViewRow(
        kind=kind_of(part.entry),
        name=_named(name_of(node), focus),
        value=shown or ("no value recorded" if absent else ""),
        number=number,
        unit=unit,
        range=range_of(node),
        flag=flag_of(node, value),
        status="" if part.entry.status in _PLAIN else part.entry.status,
        date=part.entry.date,
        detail=joined(
            interpretation_of(node),
            f"of {of}" if of else "",
            ", ".join(dict.fromkeys(panels)),
            f"panel of {', '.join(filter(None, members))}" if any(members) else "",
            record.name_of(one(raw, "specimen"), within=raw),
            label(one(raw, "method")),
            label(one(raw, "bodySite")),
            f"{NOTED}{notes}" if part.component is None and notes else "",
        ),
        # What it is of the patient, it is not.
        code=() if focus else code_pairs(one(node, "code")),
        sources=(part.entry.ref,),
    )


def node_of(part: Part) -> Raw:
    """Return the element that holds the value: the Observation or one of its components."""
    raw = part.entry.raw
    return raw if part.component is None else many(raw, "component")[part.component]


def rows_of_observation(record: PatientRecord, entry: Entry) -> list[ViewRow]:
    """Return one row for each value of an Observation."""
    return [row_of_part(record, part) for part in parts_of(entry)]


def parts_of(entry: Entry) -> Iterator[Part]:
    """Yield the values of an Observation; a blood pressure is one value."""
    when = instant(entry.date)
    components = many(entry.raw, "component")
    is_one = _pressures(entry.raw) is not None or is_variant(entry.raw)
    if is_one or not components or any(name.startswith("value") for name in entry.raw):
        yield Part(entry, None, when)
    if is_one and not _pressures(entry.raw):
        return
    for number, component in enumerate(components):
        if not (is_one and codes(one(component, "code")) & (_SYSTOLIC | _DIASTOLIC)):
            yield Part(entry, number, when)


def focus_of(record: PatientRecord, raw: Raw) -> str:
    """Return what else than the patient an Observation is about: a fetus, a donor, a device."""
    owner = text(one(raw, "subject"), "reference")
    foci = ((each, record.resolve(each, within=raw)) for each in many(raw, "focus"))
    others = [each for each, found in foci if text(each, "reference") != owner
              and (found is None or found.kind not in CODE_SETS["own_focus"])]  # fmt: skip
    names = (record.name_of(each, within=raw) or ANOTHER for each in others)
    return ", ".join(dict.fromkeys(names))


def name_of(node: Raw) -> str:
    """Return what an Observation, a component or a report is about."""
    return called("result", one(node, "code")) or "unnamed observation"


def kind_of(entry: Entry) -> str:
    """Return the kind of an Observation's rows: such as `vital sign`."""
    for concept in many(entry.raw, "category"):
        for code in codes(concept):
            if code.casefold() in _KINDS:
                return _KINDS[code.casefold()]
    found = concept_table().coded("result", code_pairs(one(entry.raw, "code")))
    return (found.kind_of_row if found else "") or "observation"


def _panels(record: PatientRecord) -> Mapping[str, list[Entry]]:
    found: dict[str, list[Entry]] = {}
    for report in record.entries_of("DiagnosticReport"):
        for pointer in many(report.raw, "result"):
            result = record.resolve(pointer, within=report.raw)
            if result is not None:
                found.setdefault(result.ref, []).append(report)
    return found


def _named_member(record: PatientRecord, pointer: Raw) -> str:
    found = record.resolve(pointer)
    return name_of(found.raw) if found is not None else ""


def _series(record: PatientRecord) -> tuple[Series, ...]:
    found: dict[str, Series] = {}
    for entry in record.entries_of("Observation"):
        focus = focus_of(record, entry.raw)
        for part in parts_of(entry):
            _file(found, part, focus)
            if part.component is None and _pressures(entry.raw) is not None:
                for number, component in enumerate(many(entry.raw, "component")):
                    if codes(one(component, "code")) & (_SYSTOLIC | _DIASTOLIC):
                        _file(found, Part(entry, number, part.when), focus)
    for series in found.values():
        series.parts.sort(key=lambda part: part.when)
    return tuple(sorted(found.values(), key=lambda one: one.parts[-1].when, reverse=True))


def _named(name: str, focus: str) -> str:
    return f"{name} (of {focus}{NOT_PATIENTS}" if focus else name


def _file(found: dict[str, Series], part: Part, focus: str) -> None:
    raw = part.entry.raw
    node = node_of(part)
    pairs = code_pairs(one(node, "code"))
    name = _gene(raw) if part.component is None and is_variant(raw) else ""
    name = _named(name or name_of(node), focus)
    loinc = next((pair for pair in pairs if "loinc.org" in pair), "")
    key = (loinc or phrase_of(name)) if not is_variant(raw) else f"gene {name.casefold()}"
    key = f"{key} of {focus}" if focus else key
    series = found.get(key)
    if series is None:
        table = concept_table()
        concept = table.coded("result", pairs) or table.displayed("result", name)
        concept = None if is_variant(raw) or focus else concept
        series = found[key] = Series(name, kind_of(part.entry), concept, pairs)
    series.parts.append(part)


def _pressures(raw: Raw) -> tuple[Value, Value] | None:
    components = many(raw, "component")
    if len(components) < 2:
        return None
    upper = next((c for c in components if codes(one(c, "code")) & _SYSTOLIC), None)
    lower = next((c for c in components if codes(one(c, "code")) & _DIASTOLIC), None)
    if upper is None or lower is None:
        return None
    above, below = value_in(upper), value_in(lower)
    return None if above.number is None and below.number is None else (above, below)


def is_variant(raw: Raw) -> bool:
    """Return whether an Observation is of a genetic variant."""
    return _VARIANT in codes(one(raw, "code"))


def _gene(raw: Raw) -> str:
    return next(
        (value_in(row).text for row in many(raw, "component") if codes(one(row, "code")) & _GENE),
        "",
    )


def _variant(entry: Entry) -> ViewRow | None:
    """Return a genetic variant as one row, named after its gene."""
    if not is_variant(entry.raw):
        return None
    raw = entry.raw
    rest = [
        value_in(row).text
        if codes(one(row, "code")) & _CHANGES
        else f"{name_of(row)}: {value_in(row).whole}"
        for row in many(raw, "component")
        if not codes(one(row, "code")) & _GENE
    ]
    value = value_in(raw)
    return ViewRow(
        kind="genetic finding",
        name=_gene(raw) or name_of(raw),
        value="; ".join(part for part in (value.whole, *rest) if part),
        flag=flag_of(raw, value),
        status="" if entry.status in _PLAIN else entry.status,
        date=entry.date,
        detail=joined(interpretation_of(raw), *notes_of(raw)),
        code=code_pairs(one(raw, "code")),
        sources=(entry.ref,),
    )
