"""Rows of single resources, as every tool shows them; folding and choosing is the tools' work."""

from collections.abc import Callable, Mapping, Sequence

from data_models.chart_view import ViewRow
from services.records import care_rows
from services.records.entry import (
    Entry,
    Raw,
    code_of,
    code_pairs,
    codes,
    end_of,
    joined,
    label,
    labels,
    many,
    notes_of,
    one,
    text,
)
from services.records.record import PatientRecord
from services.records.row_parts import age_or_text, called, one_row, people, prefixed, reasons_of
from services.records.standing import (
    FORBIDDEN,
    NO_KNOWN_ALLERGY,
    NONE_KNOWN,
    PAST,
    absence_of,
    certainty_of,
    is_forbidden,
)
from services.records.values import decimal_of, number_text, value_in

ONSET_UNKNOWN = "date of entry"
_Reader = Callable[[PatientRecord, Entry], ViewRow]


def row_of(record: PatientRecord, entry: Entry) -> ViewRow:
    """Return one row for a resource of any type but Observation and those of drugs."""
    row = _READERS[entry.kind](record, entry)
    name = _SAYING_NONE.get(entry.kind)
    kind = absence_of(one(entry.raw, name), row.name) if name else ""
    if kind and entry.kind == "AllergyIntolerance" and kind == NONE_KNOWN:
        kind = NO_KNOWN_ALLERGY
    return row.model_copy(update={"kind": kind}) if kind else row


_SAYING_NONE: Mapping[str, str] = {
    "AllergyIntolerance": "code", "Condition": "code", "Procedure": "code",
    "Immunization": "vaccineCode", "Device": "type",
}  # fmt: skip
"""Elements in which a resource may state that there is nothing of its type."""


def _allergy(_: PatientRecord, entry: Entry) -> ViewRow:
    raw = entry.raw
    reactions = [
        joined(", ".join(labels(row, "manifestation")), text(row, "severity"))
        for row in many(raw, "reaction")
    ]
    criticality = text(raw, "criticality")
    return one_row(
        entry,
        "allergy",
        label(one(raw, "code")) or ", ".join(labels(one(raw, "reaction"), "substance")),
        value="; ".join(reaction for reaction in reactions if reaction),
        status=code_of(one(raw, "clinicalStatus")) or "active",
        detail=joined(
            text(raw, "type"),
            f"criticality {criticality}" if criticality else "",
            _unless_confirmed(raw),
            age_or_text(raw, "onset"),
            prefixed("last reaction", text(raw, "lastOccurrence")),
            _of_record_alone(raw),
            *notes_of(raw),
        ),
        code=code_pairs(one(raw, "code")),
    )


def _problem(_: PatientRecord, entry: Entry) -> ViewRow:
    raw = entry.raw
    stages = [label(one(row, "summary")) for row in many(raw, "stage")]
    severity = label(one(raw, "severity"))
    onset, abated = age_or_text(raw, "onset"), age_or_text(raw, "abatement")
    return one_row(
        entry,
        "encounter diagnosis" if _is_encounter_diagnosis(raw) else "problem",
        called("problem", one(raw, "code")),
        status=_clinical_status(raw),
        end=text(raw, "abatementDateTime") or end_of(raw, "abatementPeriod", "onsetPeriod"),
        detail=joined(
            *labels(raw, "bodySite"),
            *stages,
            severity,
            prefixed("onset", onset),
            prefixed("ended", abated),
            _unless_confirmed(raw),
            _of_record_alone(raw),
            *notes_of(raw),
        ),
        code=code_pairs(one(raw, "code")),
    )


def _unless_confirmed(raw: Raw) -> str:
    certainty = certainty_of(raw)
    return "" if certainty == "confirmed" else certainty


def _of_record_alone(raw: Raw) -> str:
    """Say that a date is the day of the record: it began no later, and perhaps long before."""
    has_onset = any(name.startswith("onset") for name in raw)
    return "" if has_onset or not text(raw, "recordedDate") else ONSET_UNKNOWN


def _clinical_status(raw: Raw) -> str:
    if said := code_of(one(raw, "clinicalStatus")):
        return said
    has_ended = any(name.startswith("abatement") and raw[name] for name in raw)
    has_ended |= certainty_of(raw) == PAST
    return "resolved" if has_ended else "active"


def _is_encounter_diagnosis(raw: Raw) -> bool:
    found = [code for concept in many(raw, "category") for code in codes(concept)]
    return "encounter-diagnosis" in found and "problem-list-item" not in found


def _immunization(_: PatientRecord, entry: Entry) -> ViewRow:
    raw = entry.raw
    lot = text(raw, "lotNumber")
    doses = [
        value_in({"valueString": row.get("doseNumberString")}).text
        or value_in({"valueInteger": row.get("doseNumberPositiveInt")}).text
        for row in many(raw, "protocolApplied")
    ]
    return one_row(
        entry,
        "immunization",
        called("vaccine", one(raw, "vaccineCode")),
        value=f"dose {doses[0]}" if doses and doses[0] else "",
        detail=joined(
            text(raw, "occurrenceString"),
            *(f"because of {why}" for why in labels(raw, "statusReason")),
            _subpotent(raw),
            f"lot {lot}" if lot else "",
            label(one(raw, "site")),
            *labels(one(raw, "reaction"), "detail"),
            *notes_of(raw),
        ),
        code=code_pairs(one(raw, "vaccineCode")),
    )


def _subpotent(raw: Raw) -> str:
    if raw.get("isSubpotent") is not True:
        return ""
    why = ", ".join(labels(raw, "subpotentReason"))
    return f"subpotent dose: {why}" if why else "subpotent dose"


def _procedure(record: PatientRecord, entry: Entry) -> ViewRow:
    raw = entry.raw
    by = people(record, entry, "performer", "actor")
    return one_row(
        entry,
        "procedure",
        label(one(raw, "code")),
        value=label(one(raw, "outcome")),
        end=end_of(raw, "performedPeriod"),
        detail=joined(
            *labels(raw, "bodySite"),
            age_or_text(raw, "performed"),
            reasons_of(record, entry),
            *(f"because of {why}" for why in labels(raw, "statusReason")),
            *(f"complication: {said}" for said in labels(raw, "complication")),
            f"by {by}" if by else "",
            *notes_of(raw),
        ),
        code=code_pairs(one(raw, "code")),
    )


def _family(_: PatientRecord, entry: Entry) -> ViewRow:
    raw = entry.raw
    found = []
    for row in many(raw, "condition"):
        onset = age_or_text(row, "onset")
        outcome = label(one(row, "outcome"))
        found.append(joined(f"{label(one(row, 'code'))} {onset}".strip(), outcome, *notes_of(row)))
    died = age_or_text(raw, "deceased") or text(raw, "deceasedDate")
    deceased = f"died {died}" if died else "deceased" if raw.get("deceasedBoolean") is True else ""
    return one_row(
        entry,
        "family history",
        label(one(raw, "relationship")) or text(raw, "name"),
        value="; ".join(filter(None, found)),
        detail=joined(deceased, *notes_of(raw)),
        code=tuple(pair for row in many(raw, "condition") for pair in code_pairs(one(row, "code"))),
    )


def _reports_of_studies(record: PatientRecord) -> Mapping[str, Sequence[str]]:
    """Return the ids of the reports of each imaging study."""
    found: dict[str, list[str]] = {}
    for report in record.entries_of("DiagnosticReport"):
        for pointer in many(report.raw, "imagingStudy"):
            if (study := record.resolve(pointer)) is not None:
                found.setdefault(study.ref, []).append(report.ref)
    return found


def _imaging_study(record: PatientRecord, entry: Entry) -> ViewRow:
    raw = entry.raw
    series = many(raw, "series")
    modalities = labels(raw, "modality") or [label(one(row, "modality")) for row in series]
    sites = [label(one(row, "bodySite")) for row in series]
    counts = [
        f"{number_text(amount)} {what}"
        for name, what in (("numberOfSeries", "series"), ("numberOfInstances", "images"))
        if (amount := decimal_of(raw.get(name))) is not None
    ]
    kinds = ", ".join(dict.fromkeys(filter(None, modalities)))
    return ViewRow(
        kind="imaging study",
        name=text(raw, "description")
        or ", ".join(labels(raw, "procedureCode"))
        or kinds
        or "Imaging study",
        value=kinds,
        status=entry.status,
        date=entry.date,
        detail=joined(
            ", ".join(dict.fromkeys(filter(None, sites))),
            ", ".join(counts),
            reasons_of(record, entry),
        ),
        code=tuple(f"{text(row, 'system')}|{text(row, 'code')}" for row in many(raw, "modality")),
        sources=(entry.ref, *record.derived(_reports_of_studies).get(entry.ref, ())),
    )


def _order(record: PatientRecord, entry: Entry) -> ViewRow:
    raw = entry.raw
    intent = text(raw, "intent")
    by = record.name_of(one(raw, "requester"), within=raw)
    return one_row(
        entry,
        "order",
        label(one(raw, "code")),
        status=FORBIDDEN if is_forbidden(raw) else entry.status,
        end=end_of(raw, "occurrencePeriod"),
        detail=joined(
            intent if intent != "order" else "",
            text(raw, "priority"),
            reasons_of(record, entry),
            prefixed("by", by),
            *notes_of(raw),
        ),
        code=code_pairs(one(raw, "code")),
    )


def _specimen(_: PatientRecord, entry: Entry) -> ViewRow:
    collection = one(entry.raw, "collection")
    taken = text(collection, "collectedDateTime") or text(
        one(collection, "collectedPeriod"), "start"
    )
    return one_row(
        entry,
        "specimen",
        label(one(entry.raw, "type")) or "Specimen",
        date=taken or entry.date,
        detail=joined(
            label(one(collection, "bodySite")),
            label(one(collection, "method")),
            *notes_of(entry.raw),
        ),
        code=code_pairs(one(entry.raw, "type")),
    )


_READERS: Mapping[str, _Reader] = {
    "AllergyIntolerance": _allergy,
    "Appointment": care_rows.appointment_row,
    "CarePlan": care_rows.care_plan_row,
    "CareTeam": care_rows.care_team_row,
    "Condition": _problem,
    "Consent": care_rows.directive_row,
    "Claim": care_rows.insurer_row,
    "Coverage": care_rows.coverage_row,
    "Device": care_rows.device_row,
    "DeviceUseStatement": care_rows.device_use_row,
    "Encounter": care_rows.encounter_row,
    "ExplanationOfBenefit": care_rows.insurer_row,
    "FamilyMemberHistory": _family,
    "Flag": care_rows.flag_row,
    "Goal": care_rows.goal_row,
    "ImagingStudy": _imaging_study,
    "Immunization": _immunization,
    "Procedure": _procedure,
    "RelatedPerson": care_rows.related_person_row,
    "ServiceRequest": _order,
    "Specimen": _specimen,
}
