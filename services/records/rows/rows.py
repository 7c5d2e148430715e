"""Rows of single resources, as every tool shows them; folding and choosing is the tools' work.

What a row holds stands in `rows.yaml`; here is what no path through a resource says.
"""

from collections.abc import Mapping, Sequence

from data_models.chart_view import ViewRow
from services.records.resources import entry as fhir
from services.records.resources import standing
from services.records.resources.extensions import extensions_of
from services.records.resources.record import PatientRecord
from services.records.resources.sorting import insurers_of
from services.records.resources.values import value_in
from services.records.rows.row_table import Function, age_or_text, called, reasons_of, row_by_table

ONSET_UNKNOWN = "date of entry"
_SAYING_NONE: Mapping[str, str] = {
    "AllergyIntolerance": "code", "Condition": "code", "Procedure": "code",
    "Immunization": "vaccineCode", "Device": "type",
}  # fmt: skip
"""Elements in which a resource may state that there is nothing of its type."""


def row_of(record: PatientRecord, entry: fhir.Entry) -> ViewRow:
    """Return one row for a resource of any type but Observation and those of drugs."""
    row = row_by_table(record, entry, _FUNCTIONS)
    name = _SAYING_NONE.get(entry.kind)
    kind = standing.absence_of(fhir.one(entry.raw, name), row.name) if name else ""
    if kind == standing.NONE_KNOWN and entry.kind == "AllergyIntolerance":
        kind = standing.NO_KNOWN_ALLERGY
    if kind:
        return row.model_copy(update={"kind": kind})
    reports = record.derived(_reports_of_studies).get(entry.ref, ())
    return row.model_copy(update={"sources": (entry.ref, *reports)}) if reports else row


def _reports_of_studies(record: PatientRecord) -> Mapping[str, Sequence[str]]:
    """Return the ids of the reports of each imaging study."""
    found: dict[str, list[str]] = {}
    for report in record.entries_of("DiagnosticReport"):
        for pointer in fhir.many(report.raw, "imagingStudy"):
            if (study := record.resolve(pointer)) is not None:
                found.setdefault(study.ref, []).append(report.ref)
    return found


def _reactions(_: PatientRecord, entry: fhir.Entry) -> str:
    reactions = (
        fhir.joined(", ".join(fhir.labels(row, "manifestation")), fhir.text(row, "severity"))
        for row in fhir.many(entry.raw, "reaction")
    )
    return "; ".join(filter(None, reactions))


def _side(_: PatientRecord, entry: fhir.Entry) -> str:
    """Return the side of the body, which German codings have in an extension."""
    found = [
        fhir.text(fhir.one(extension, "valueCoding"), "code")
        for coding in fhir.many(fhir.one(entry.raw, "code"), "coding")
        for extension in fhir.many(coding, "extension")
        if fhir.text(extension, "url").casefold().endswith("seitenlokalisation")
    ]
    return ", ".join(dict.fromkeys(fhir.CODES["sides"].get(code, code) for code in found))


def _doubt(_: PatientRecord, entry: fhir.Entry) -> str:
    certainty = standing.certainty_of(entry.raw)
    return "" if certainty in ("confirmed", standing.REFUTED) else certainty


def _day_of_record(_: PatientRecord, entry: fhir.Entry) -> str:
    """Say that a date is the day of the record: it began no later, and perhaps long before."""
    has_onset = any(name.startswith("onset") for name in entry.raw)
    return "" if has_onset or not fhir.text(entry.raw, "recordedDate") else ONSET_UNKNOWN


def _clinical_status(_: PatientRecord, entry: fhir.Entry) -> str:
    return (
        standing.REFUTED
        if standing.is_refuted(entry.raw)
        else fhir.code_of(fhir.one(entry.raw, "clinicalStatus"))
    )


def _problem_status(record: PatientRecord, entry: fhir.Entry) -> str:
    raw = entry.raw
    if said := _clinical_status(record, entry):
        return said
    has_ended = any(name.startswith("abatement") and raw[name] for name in raw)
    has_ended |= standing.certainty_of(raw) == standing.PAST
    return "resolved" if has_ended else "active"


def _encounter_diagnosis(_: PatientRecord, entry: fhir.Entry) -> str:
    found = [code for concept in fhir.many(entry.raw, "category") for code in fhir.codes(concept)]
    is_of_visit = "encounter-diagnosis" in found and "problem-list-item" not in found
    return "encounter diagnosis" if is_of_visit else ""


def _subpotent(_: PatientRecord, entry: fhir.Entry) -> str:
    if entry.raw.get("isSubpotent") is not True:
        return ""
    why = ", ".join(fhir.labels(entry.raw, "subpotentReason"))
    return f"subpotent dose: {why}" if why else "subpotent dose"


def _illnesses(_: PatientRecord, entry: fhir.Entry) -> str:
    found = []
    for row in fhir.many(entry.raw, "condition"):
        named = f"{called('problem', fhir.one(row, 'code'))} {age_or_text(row, 'onset')}".strip()
        found.append(fhir.joined(named, fhir.label(fhir.one(row, "outcome")), *fhir.notes_of(row)))
    return "; ".join(filter(None, found))


def _death(_: PatientRecord, entry: fhir.Entry) -> str:
    died = age_or_text(entry.raw, "deceased") or fhir.text(entry.raw, "deceasedDate")
    is_dead = str(entry.raw.get("deceasedBoolean", ""))
    return f"died {died}" if died else {"True": "deceased", "False": "alive"}.get(is_dead, "")


def _attendants(record: PatientRecord, entry: fhir.Entry) -> str:
    actors = (fhir.one(row, "actor") for row in fhir.many(entry.raw, "participant"))
    others = (each for each in actors if not fhir.text(each, "reference").startswith("Patient/"))
    return ", ".join(filter(None, (record.name_of(each, within=entry.raw) for each in others)))


def _activities(record: PatientRecord, entry: fhir.Entry) -> str:
    steps = []
    for row in fhir.many(entry.raw, "activity"):
        detail = fhir.one(row, "detail")
        named, said = fhir.label(fhir.one(detail, "code")), fhir.text(detail, "description")
        what = ": ".join(dict.fromkeys(filter(None, (named, said))))
        what = what or record.name_of(fhir.one(row, "reference"), within=entry.raw)
        state = standing.FORBIDDEN if standing.is_forbidden(detail) else fhir.text(detail, "status")
        steps.append(f"{what} ({state})" if what and state else what)
    return ", ".join(filter(None, steps))


def _plan(record: PatientRecord, entry: fhir.Entry) -> str:
    """Return the care plans that name a goal as theirs."""
    plans = record.derived(_plans_of_goals).get(entry.ref, ())
    return ", ".join(dict.fromkeys(row_of(record, plan).name for plan in plans))


def _plans_of_goals(record: PatientRecord) -> Mapping[str, Sequence[fhir.Entry]]:
    found: dict[str, list[fhir.Entry]] = {}
    for plan in record.entries_of("CarePlan"):
        for pointer in fhir.many(plan.raw, "goal"):
            if (goal := record.resolve(pointer, within=plan.raw)) is not None:
                found.setdefault(goal.ref, []).append(plan)
    return found


def _members(record: PatientRecord, entry: fhir.Entry) -> str:
    members = []
    for row in fhir.many(entry.raw, "participant"):
        who = record.name_of(fhir.one(row, "member"), within=entry.raw)
        role = ", ".join(fhir.labels(row, "role"))
        members.append(f"{who} ({role})" if who and role else who or role)
    return ", ".join(filter(None, members))


def _targets(_: PatientRecord, entry: fhir.Entry) -> str:
    targets = []
    for row in fhir.many(entry.raw, "target"):
        measured = called("result", fhir.one(row, "measure"))
        held = {name: one for name, one in row.items() if name.startswith("detail")}
        aim = value_in({name.replace("detail", "value"): one for name, one in held.items()}).whole
        due = fhir.text(row, "dueDate")
        targets.append(fhir.joined(f"{measured} {aim}".strip(), f"due {due}" if due else ""))
    return "; ".join(filter(None, targets))


def _model(_: PatientRecord, entry: fhir.Entry) -> str:
    name = fhir.text(fhir.one(entry.raw, "deviceName"), "name")
    return name if fhir.label(fhir.one(entry.raw, "type")) else ""


_OF_TABLE: tuple[Function, ...] = (
    _activities, _attendants, _clinical_status, _day_of_record, _death, _doubt,
    _encounter_diagnosis, _illnesses, _members, _model, _plan, _problem_status, _reactions,
    _side, _subpotent, _targets,
)  # fmt: skip
_FUNCTIONS: Mapping[str, Function] = {
    **{each.__name__.removeprefix("_"): each for each in _OF_TABLE},
    "allergen": lambda _, entry: called("drug", fhir.one(entry.raw, "code")),
    "forbidden": lambda _, entry: standing.FORBIDDEN if standing.is_forbidden(entry.raw) else "",
    "extended": lambda _, entry: "; ".join(map(" ".join, extensions_of(entry.raw))),
    "insurers": lambda _, entry: ", ".join(insurers_of(entry.raw)),
    "own_name": lambda record, entry: record.name_of({"reference": entry.ref}),
    "plan_kinds": lambda _, entry: ", ".join(
        one for one in fhir.labels(entry.raw, "category") if one != "assess-plan"
    ),
    "problem": lambda _, entry: called("problem", fhir.one(entry.raw, "code")),
    "reasons": reasons_of,
    "setting": lambda _, entry: fhir.CODES["settings"].get(
        fhir.text(coding := fhir.one(entry.raw, "class"), "code"), fhir.label(coding)
    ),
    "unusual_intent": lambda _, entry: fhir.text(entry.raw, "intent").removeprefix("order"),
    "vaccine": lambda _, entry: called("vaccine", fhir.one(entry.raw, "vaccineCode")),
}
