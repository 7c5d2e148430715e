"""The drugs of a record: one line for each, with all that was prescribed, said or given of it."""

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import date

from data_models.chart_view import ViewRow
from services.records.concepts.words import phrase_of
from services.records.resources import entry as fhir
from services.records.resources.dates import first_day, last_day
from services.records.resources.record import PatientRecord
from services.records.resources.standing import FORBIDDEN, NEVER, NOT_YET, absence_of, is_forbidden
from services.records.resources.values import decimal_of, quantity
from services.records.rows.dosage import dosages_of, dose_of, is_as_needed
from services.records.rows.row_table import called, reasons_of, row_by_table

KINDS = (
    "MedicationRequest", "MedicationStatement", "MedicationAdministration", "MedicationDispense",
)  # fmt: skip
_NOT_MEANT = frozenset({"proposal", "plan", "option"})
_GIVERS_SHOWN, _DOSES_SHOWN = 3, 4
_ORDERS = ("MedicationRequest", "MedicationStatement")
_NOT_SO = frozenset({"stopped", "cancelled", "not-taken", "on-hold", "not-done"})
_ENDED = frozenset({"stopped", "completed", "cancelled"})
_TAKEN = {
    "MedicationRequest": frozenset({"active"}),
    "MedicationStatement": frozenset({"active"}),
    "MedicationAdministration": frozenset({"in-progress"}),
    "MedicationDispense": frozenset(),
}
_SAID = {
    "MedicationRequest": ("prescribed", "prescription"),
    "MedicationStatement": ("said to take", "statement"),
    "MedicationAdministration": ("given", "administration"),
    "MedicationDispense": ("dispensed", "dispense"),
}


@dataclass(frozen=True, slots=True)
class DrugEntry:
    """One resource that speaks of a drug."""

    entry: fhir.Entry
    name: str
    codes: tuple[str, ...]
    when: str
    end: str
    absence: str = ""

    @property
    def is_unmeant(self) -> bool:
        """Whether it is no order to give the drug: a plan, or one that forbids it."""
        raw = self.entry.raw
        return fhir.text(raw, "intent") in _NOT_MEANT or is_forbidden(raw)

    @property
    def said(self) -> str:
        """How it is told; what was never given, or is only thought of, is not told as given."""
        is_so = not self.is_unmeant and self.entry.status not in NEVER | NOT_YET
        return _SAID[self.entry.kind][not is_so]

    def is_taken(self, today: date) -> bool:
        """Return whether it says that the drug is taken now; no age ends that."""
        if self.entry.status not in _TAKEN[self.entry.kind] or self.is_unmeant:
            return False
        return self.state_on(today) == "active"

    def state_on(self, today: date) -> str:
        """Return the status of what is said to be active: ended before `today`, or to come."""
        begun = first_day(self.when) if self.when != self.end else None  # only its end is known
        if begun is not None and begun > today:
            return "planned"
        ended = last_day(self.end) if self.end else None
        return "ended" if ended is not None and ended < today else "active"


@dataclass
class Drug:
    """All that the record says of one drug, newest first."""

    entries: list[DrugEntry] = field(default_factory=list)

    @property
    def name(self) -> str:
        """As the newest entry names it."""
        return self.entries[0].name

    @property
    def codes(self) -> tuple[str, ...]:
        """All codes of all entries."""
        return tuple(dict.fromkeys(pair for one_entry in self.entries for pair in one_entry.codes))


def drugs_of(record: PatientRecord) -> tuple[Drug, ...]:
    """Return the drugs of the record, that with the newest entry first."""
    return record.derived(_drugs)


def row_of_drug(record: PatientRecord, drug: Drug, today: date) -> ViewRow:
    """Return the line of one drug."""
    taken = [one_entry for one_entry in drug.entries if one_entry.is_taken(today)]
    done = [one_entry for one_entry in drug.entries if one_entry.entry.status not in NEVER]
    # Whether it is paused or over an order says, and no dose that was given.
    ordered = [one_entry for one_entry in done if one_entry.entry.kind in _ORDERS]
    leading = (taken or ordered or done or drug.entries)[0]
    dated = sorted(one_entry.when[:10] for one_entry in drug.entries if one_entry.when)
    doses = dict.fromkeys(
        dose for one_entry in (taken or [leading]) if (dose := dose_of(one_entry.entry.raw))
    )
    raw = leading.entry.raw
    supplied = next((each for each in drug.entries if each.said == "dispensed"), leading)
    status = "active" if taken else _status(leading, today)
    return ViewRow(
        kind="medication",
        name=leading.name,
        value=" | ".join(doses),
        status=status,
        date=dated[0] if dated else "",
        end="" if taken else leading.end,
        detail=fhir.joined(
            _history(drug),
            *_later_end(drug, leading),
            reasons_of(record, leading.entry),
            "" if taken else _why_ended(raw),
            "as needed" if is_as_needed(raw) and "as needed" not in " ".join(doses) else "",
            row_by_table(record, leading.entry, {}).detail,
            row_by_table(record, supplied.entry, {}).detail,
            *_givers(record, drug, leading),
            _other_doses(drug, doses),
            *fhir.notes_of(raw),
        ),
        code=drug.codes,
        sources=tuple(
            one_entry.entry.ref
            for one_entry in [leading, *(other for other in drug.entries if other is not leading)]
        ),
    )


def row_of_drug_entry(record: PatientRecord, entry: fhir.Entry) -> ViewRow:
    """Return one resource of a drug for itself, as an event."""
    found = _entry(record, entry)
    said = "" if found.absence else found.said
    return ViewRow(
        kind=found.absence or "medication",
        name=found.name,
        value=dose_of(entry.raw),
        status=_status(found, None),
        date=entry.date,
        end=found.end,
        detail=fhir.joined(
            said,
            reasons_of(record, entry),
            _why_ended(entry.raw),
            row_by_table(record, entry, {}).detail,
            *fhir.notes_of(entry.raw),
        ),
        code=found.codes,
        sources=(entry.ref,),
    )


def _drugs(record: PatientRecord) -> tuple[Drug, ...]:
    """Fold entries that share a name, or a code where their strengths do not differ."""
    found: list[Drug] = []
    by_key: dict[str, Drug] = {}
    for read in record.derived(_read):
        if read.absence:
            continue
        strength = " ".join(one for one in phrase_of(read.name).split() if one[:1].isdigit())
        keys = [phrase_of(read.name), *(f"{pair} {strength}" for pair in read.codes)]
        if (drug := next((by_key[key] for key in keys if key in by_key), None)) is None:
            drug = Drug()
            found.append(drug)
        drug.entries.append(read)
        for key in keys:
            by_key.setdefault(key, drug)
    return tuple(found)


def _read(record: PatientRecord) -> tuple[DrugEntry, ...]:
    entries = sorted(record.entries_of(*KINDS), key=lambda e: fhir.instant(e.date), reverse=True)
    return tuple(_entry(record, entry) for entry in entries)


def stated_absences(record: PatientRecord) -> list[ViewRow]:
    """Return what states that no drug is taken, or that nothing is known of it."""
    return [
        row_of_drug_entry(record, read.entry)
        for read in record.derived(_read)
        if read.absence and read.entry.status == "active"
    ]


def _entry(record: PatientRecord, entry: fhir.Entry) -> DrugEntry:
    raw = entry.raw
    concept = fhir.one(raw, "medicationCodeableConcept") or fhir.one(
        fhir.one(raw, "medication"), "concept"
    )
    name, codes = called("drug", concept), fhir.code_pairs(concept)
    absence = absence_of(concept, name)
    if pointer := fhir.one(raw, "medicationReference"):
        found = record.resolve(pointer, within=raw)
        drug = fhir.one(found.raw, "code") if found else {}
        name = name or called("drug", drug) or (_ingredients(found.raw) if found else "")
        name = name or fhir.text(pointer, "display")
        codes = codes or fhir.code_pairs(drug)
    if not (end := fhir.end_of(raw, "effectivePeriod")):
        bounds = [
            fhir.text(fhir.one(fhir.one(fhir.one(row, "timing"), "repeat"), "boundsPeriod"), "end")
            for row in dosages_of(raw)
        ]
        # A course has ended when its last dosage has.
        end = max(bounds) if bounds and all(bounds) else ""
    return DrugEntry(entry, name or "unnamed drug", codes, entry.date, end, absence)


def _ingredients(drug: fhir.Raw) -> str:
    """Return what a drug without a name of its own is made of, each part with its strength."""
    parts = (
        f"{fhir.label(fhir.one(row, 'itemCodeableConcept'))} "
        f"{_per(fhir.one(row, 'strength'))}".strip()
        for row in fhir.many(drug, "ingredient")
    )
    return " / ".join(filter(None, parts))


def _per(ratio: fhir.Raw) -> str:
    """Return a Ratio in words: `500 mg/tablet`, `5 mg/10 ml`."""
    above, below = quantity(ratio.get("numerator")), quantity(ratio.get("denominator"))
    unit = below.unit if below.number == 1 and below.unit else below.whole
    return f"{above.whole}/{unit}" if above.text and unit not in ("", "1") else above.whole


def _status(leading: DrugEntry, today: date | None) -> str:
    if is_forbidden(leading.entry.raw):
        return FORBIDDEN
    if leading.entry.status == "active" and leading.is_unmeant:
        return f"only a {fhir.text(leading.entry.raw, 'intent')}"
    if leading.entry.status == "active" and today is not None:
        return leading.state_on(today)
    return leading.entry.status or "status not recorded"


def _history(drug: Drug) -> str:
    """Say who says so and how often: `12 prescriptions since 2009, last 2024-03-01`."""
    said = []
    for kind, (_, noun) in _SAID.items():
        found = [each for each in drug.entries if each.entry.kind == kind]
        dates = sorted(each.when[:10] for each in found if each.when)
        if len(found) == 1:
            is_known = len(drug.entries) == 1 or not dates  # then the row's own date says it
            said.append(found[0].said if is_known else f"{found[0].said} {dates[0]}")
        elif found:
            spans = f" since {dates[0]}, last {dates[-1]}" if dates else ""
            said.append(f"{len(found)} {noun}s{spans}")
    return ", ".join(said)


def _givers(record: PatientRecord, drug: Drug, leading: DrugEntry) -> list[str]:
    """Say who gave it and when, the last time of each person first."""
    times: dict[str, set[str]] = {}
    for one in drug.entries:
        if one.said == "given" and one is not leading:
            by = row_by_table(record, one.entry, {}).detail
            times.setdefault(by, set()).add(one.when[:10])
    said = [
        f"given {by} ({' – '.join(sorted({min(days), max(days)}))})"
        for by, days in times.items()
        if by
    ]
    more = len(said) - _GIVERS_SHOWN
    return [*said[:_GIVERS_SHOWN], *([f"given by {more} others"] if more > 0 else [])]


def _other_doses(drug: Drug, shown: Collection[str]) -> str:
    """Say which other doses are recorded of it; of many the lowest and the highest of one kind."""
    days: dict[str, str] = {}
    for one in reversed(drug.entries):
        if one.said == _SAID[one.entry.kind][0]:
            days.setdefault(dose_of(one.entry.raw), one.when[:10])
    others = [one for one in days if one and one not in shown]
    apart = [one.partition(" ") for one in others]
    if len(others) > _DOSES_SHOWN and len({unit for _, _, unit in apart}) == 1:
        figures = {
            one: decimal_of(figure) for one, (figure, _, _) in zip(others, apart, strict=True)
        }
        ordered = sorted((figure, one) for one, figure in figures.items() if figure is not None)
        others = [ordered[0][1], ordered[-1][1]] if ordered else others
    told = ", ".join(f"{one} ({days[one]})" for one in others[-_DOSES_SHOWN:])
    return f"other doses: {told}" if told else ""


def _later_end(drug: Drug, leading: DrugEntry) -> tuple[str, ...]:
    """Say where something newer contradicts what makes the drug count as taken, and why."""
    newest = drug.entries[0]
    if newest is leading or newest.when[:10] <= leading.when[:10]:
        return ()
    status, noun = newest.entry.status, _SAID[newest.entry.kind][1]
    is_other = status in _NOT_SO
    said = f"but {noun} of {newest.when[:10]} is {status}"
    return (said, _why_ended(newest.entry.raw)) if is_other else ()


def _why_ended(raw: fhir.Raw) -> str:
    reasons = fhir.labels(raw, "statusReason")
    how = "ended because of" if fhir.text(raw, "status") in _ENDED else "because of"
    return f"{how} {', '.join(reasons)}" if reasons else ""
