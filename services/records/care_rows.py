"""Rows of visits, plans, goals, teams, devices, directives, flags, coverage and related persons."""

from data_models.chart_view import ViewRow
from services.records.entry import (
    Entry,
    code_pairs,
    end_of,
    joined,
    label,
    labels,
    many,
    notes_of,
    one,
    text,
)
from services.records.kinds import insurers_of
from services.records.record import PatientRecord
from services.records.row_parts import one_row, people, prefixed, reasons_of
from services.records.standing import FORBIDDEN, is_forbidden
from services.records.values import quantity


def encounter_row(record: PatientRecord, entry: Entry) -> ViewRow:
    """Return the row of a visit or a stay with its reasons, its place and its people."""
    raw = entry.raw
    kinds = labels(raw, "type") or labels(raw, "serviceType")
    coding = one(raw, "class")
    setting = _SETTINGS.get(text(coding, "code"), label(coding))
    place = people(record, entry, "location", "location") or record.name_of(
        one(raw, "serviceProvider"), within=raw
    )
    who = people(record, entry, "participant", "individual")
    stay = one(raw, "hospitalization")
    return one_row(
        entry,
        "encounter",
        ", ".join(kinds) or setting or "Encounter",
        value=setting,
        end=end_of(raw, "period"),
        detail=joined(
            reasons_of(record, entry, "diagnosis", "condition"),
            f"at {place}" if place else "",
            f"with {who}" if who else "",
            prefixed("admitted from", label(one(stay, "admitSource"))),
            prefixed("discharged to", label(one(stay, "dischargeDisposition"))),
        ),
        code=tuple(pair for concept in many(raw, "type") for pair in code_pairs(concept)),
    )


_SETTINGS = {
    "AMB": "ambulatory", "EMER": "emergency", "IMP": "inpatient", "ACUTE": "inpatient",
    "NONAC": "inpatient", "OBSENC": "observation", "SS": "short stay", "VR": "virtual",
    "HH": "home",
}  # fmt: skip


def appointment_row(record: PatientRecord, entry: Entry) -> ViewRow:
    """Return the row of an appointment."""
    raw = entry.raw
    who = [
        record.name_of(one(row, "actor"), within=raw)
        for row in many(raw, "participant")
        if not text(one(row, "actor"), "reference").startswith("Patient/")
    ]
    kinds = labels(raw, "serviceType") or labels(raw, "appointmentType")
    return one_row(
        entry,
        "appointment",
        ", ".join(kinds) or text(raw, "description") or "Appointment",
        end=text(raw, "end"),
        detail=joined(
            text(raw, "description"),
            reasons_of(record, entry),
            prefixed("with", ", ".join(filter(None, who))),
            text(raw, "comment"),
        ),
    )


def care_plan_row(record: PatientRecord, entry: Entry) -> ViewRow:
    """Return the row of a care plan with its activities."""
    raw = entry.raw
    steps = []
    for row in many(raw, "activity"):
        detail = one(row, "detail")
        what = label(one(detail, "code")) or text(detail, "description")
        pointed = record.resolve(one(row, "reference"), within=raw)
        what = what or (label(one(pointed.raw, "code")) if pointed else "")
        state = FORBIDDEN if is_forbidden(detail) else text(detail, "status")
        steps.append(f"{what} ({state})" if what and state else what)
    about = [
        label(one(found.raw, "code"))
        for pointer in many(raw, "addresses")
        if (found := record.resolve(pointer, within=raw))
    ]
    kinds = [said for said in labels(raw, "category") if said != "assess-plan"]
    return one_row(
        entry,
        "care plan",
        text(raw, "title") or ", ".join(kinds) or "Care plan",
        end=end_of(raw, "period"),
        detail=joined(
            text(raw, "description"),
            prefixed("for", ", ".join(about)),
            prefixed("activities:", ", ".join(filter(None, steps))),
            *notes_of(raw),
        ),
        code=tuple(pair for concept in many(raw, "category") for pair in code_pairs(concept)),
    )


def goal_row(_: PatientRecord, entry: Entry) -> ViewRow:
    """Return the row of a goal with its targets."""
    raw = entry.raw
    targets = []
    for row in many(raw, "target"):
        measured = label(one(row, "measure"))
        aim = quantity(row.get("detailQuantity")).whole or label(one(row, "detailCodeableConcept"))
        span = one(row, "detailRange")
        low, high = quantity(span.get("low")).whole, quantity(span.get("high")).whole
        aim = aim or (
            f"{low} to {high}"
            if low and high
            else prefixed("at least", low) or prefixed("at most", high)
        )
        aim = aim or text(row, "detailString")
        targets.append(joined(f"{measured} {aim}".strip(), prefixed("by", text(row, "dueDate"))))
    return one_row(
        entry,
        "goal",
        label(one(raw, "description")) or text(raw, "description"),
        value="; ".join(filter(None, targets)),
        status=text(raw, "lifecycleStatus") or entry.status,
        detail=joined(label(one(raw, "achievementStatus")), *notes_of(raw)),
        code=code_pairs(one(raw, "description")),
    )


def care_team_row(record: PatientRecord, entry: Entry) -> ViewRow:
    """Return the row of a care team with its members."""
    members = []
    for row in many(entry.raw, "participant"):
        who = record.name_of(one(row, "member"), within=entry.raw)
        role = ", ".join(labels(row, "role"))
        members.append(f"{who} ({role})" if who and role else who or role)
    return one_row(
        entry,
        "care team",
        text(entry.raw, "name") or ", ".join(labels(entry.raw, "category")) or "Care team",
        value=", ".join(filter(None, members)),
        end=end_of(entry.raw, "period"),
        detail=joined(*labels(entry.raw, "reasonCode"), *notes_of(entry.raw)),
    )


def device_row(_: PatientRecord, entry: Entry) -> ViewRow:
    """Return the row of a device."""
    raw = entry.raw
    kind, model = label(one(raw, "type")), text(one(raw, "deviceName"), "name")
    return one_row(
        entry,
        "device",
        kind or model or text(raw, "modelNumber"),
        value=model if kind else "",
        detail=joined(
            text(raw, "manufacturer"),
            prefixed("model", text(raw, "modelNumber")),
            prefixed("serial", text(raw, "serialNumber")),
            prefixed("lot", text(raw, "lotNumber")),
            prefixed("expires", text(raw, "expirationDate")),
            *notes_of(raw),
        ),
        code=code_pairs(one(raw, "type")),
    )


def device_use_row(record: PatientRecord, entry: Entry) -> ViewRow:
    """Return the row of a device in use."""
    raw = entry.raw
    device = record.resolve(one(raw, "device"), within=raw)
    name = device_row(record, device).name if device else text(one(raw, "device"), "display")
    return one_row(
        entry,
        "device use",
        name,
        end=end_of(raw, "timingPeriod"),
        detail=joined(label(one(raw, "bodySite")), reasons_of(record, entry), *notes_of(raw)),
    )


def directive_row(_: PatientRecord, entry: Entry) -> ViewRow:
    """Return the row of a consent or an advance directive."""
    raw = entry.raw
    rule = one(raw, "provision")
    return one_row(
        entry,
        "directive",
        ", ".join(labels(raw, "category")) or label(one(raw, "scope")) or "Consent",
        value=text(rule, "type"),
        end=end_of(rule, "period"),
        detail=joined(
            label(one(raw, "scope")), label(one(raw, "policyRule")), *labels(rule, "code")
        ),
        code=tuple(pair for concept in many(raw, "category") for pair in code_pairs(concept)),
    )


def flag_row(record: PatientRecord, entry: Entry) -> ViewRow:
    """Return the row of a flag."""
    by = record.name_of(one(entry.raw, "author"), within=entry.raw)
    return one_row(
        entry,
        "flag",
        label(one(entry.raw, "code")),
        end=end_of(entry.raw, "period"),
        detail=joined(*labels(entry.raw, "category"), prefixed("by", by)),
        code=code_pairs(one(entry.raw, "code")),
    )


def coverage_row(record: PatientRecord, entry: Entry) -> ViewRow:
    """Return the row of an insurance."""
    payors = people(record, entry, "payor")
    return one_row(
        entry,
        "coverage",
        label(one(entry.raw, "type")) or payors or "Coverage",
        end=end_of(entry.raw, "period"),
        detail=joined(
            payors,
            prefixed("subscriber number", text(entry.raw, "subscriberId")),
            prefixed("subscriber", record.name_of(one(entry.raw, "subscriber"), within=entry.raw)),
            label(one(entry.raw, "relationship")),
        ),
        code=code_pairs(one(entry.raw, "type")),
    )


def insurer_row(_: PatientRecord, entry: Entry) -> ViewRow:
    """Return the row of the newest bill to an insurer."""
    named = ", ".join(insurers_of(entry.raw))
    return one_row(entry, "coverage", named, status="", detail="payer of this bill")


def related_person_row(record: PatientRecord, entry: Entry) -> ViewRow:
    """Return the row of a relative or contact."""
    return one_row(
        entry,
        "related person",
        record.name_of({"reference": entry.ref}),
        value=", ".join(labels(entry.raw, "relationship")),
        status="",
        end=end_of(entry.raw, "period"),
        detail=joined(*(text(each, "value") for each in many(entry.raw, "telecom"))),
        code=tuple(p for concept in many(entry.raw, "relationship") for p in code_pairs(concept)),
    )
