"""FHIR files as plain facts, read by code that shares nothing with the product."""

import gzip
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeAlias

Json: TypeAlias = dict[str, Any]
_NOISE = re.compile(r"\s*\((?:disorder|finding|procedure|situation|regime/therapy)\)$")
_CALLED = {"imagingstudy": "imaging", "diagnosticreport": "report"}
_CARE = {
    "CareTeam": ("care team",),
    "Claim": ("coverage",),
    "Coverage": ("coverage",),
    "Device": ("device",),
    "DeviceUseStatement": ("device",),
    # What a note may tell cannot be asked as what is nowhere.
    "DocumentReference": ("document", "occupation", "lives"),
    "FamilyMemberHistory": ("family",),
}
_NOT_FACTS = {"entered-in-error", "cancelled", "not-done", "nullified"}


@dataclass(frozen=True, slots=True)
class Fact:
    """One entry of a chart.

    Attributes:
        value: As recorded; "128/76" for a blood pressure; "" where there is none.
        when: As recorded, perhaps partial; "" when undated.
        status: The clinical status of its kind; the class of an encounter.
        end: When it was over.
        why: The first reason that is recorded, in words.
        who: Who did it, by name.
        where: At which organization or place.
    """

    kind: str
    name: str
    code: str
    ref: str
    when: str = ""
    value: str = ""
    unit: str = ""
    status: str = ""
    end: str = ""
    why: str = ""
    who: str = ""
    where: str = ""

    @property
    def day(self) -> str:
        """The date in the record's own offset."""
        return self.when[:10]

    @property
    def instant(self) -> datetime:
        """For sorting; the epoch where there is no date."""
        return instant_of(self.when)


@dataclass(slots=True)
class Chart:
    """One patient and what the record holds."""

    patient_id: str
    name: str = ""
    birth_date: str = ""
    gender: str = ""
    identifiers: list[str] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)
    refused: set[str] = field(default_factory=set)
    """Names of entries that were withdrawn: nothing is asked about them."""
    holds: set[str] = field(default_factory=set)
    """Which types of resources are there, and in plain words what they hold of care."""
    person: dict[str, str] = field(default_factory=dict)
    """What is recorded of the person besides name, birth date and sex."""

    def of(self, kind: str) -> list[Fact]:
        """Return the entries of one kind, the oldest first."""
        return sorted((one for one in self.facts if one.kind == kind), key=lambda one: one.instant)


def instant_of(when: str) -> datetime:
    """Return a moment for a date that may be partial."""
    padded = (
        when if len(when) > 10 else (when + "-01-01"[len(when) - 4 :] if when else "1900-01-01")
    )
    found = datetime.fromisoformat(padded)
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def charts_in(folder: Path) -> list[Chart]:
    """Return the charts of every FHIR file below `folder`, by name of the file."""
    charts: dict[str, Chart] = {}
    found = sorted(one for one in folder.rglob("*") if _is_fhir(one))
    for file in found:
        rows = [one for one in resources_of(file) if "resourceType" in one]
        for row in rows:
            if row["resourceType"] == "Patient" and "id" in row:
                charts.setdefault(row["id"], _chart_of(row))
        drugs = {f"Medication/{one.get('id')}": one for one in rows}
        known = {str(one.get("id")): one for one in rows}
        for row in rows:
            _file(charts, row, drugs, known)
    return [one for one in charts.values() if one.facts]


def _is_fhir(path: Path) -> bool:
    return path.name.endswith((".json", ".json.gz", ".ndjson", ".ndjson.gz")) and path.is_file()


def resources_of(file: Path) -> Iterator[Json]:
    """Yield the resources of a bundle, of a bulk file or a single one."""
    raw = file.read_bytes()
    text = (gzip.decompress(raw) if file.name.endswith(".gz") else raw).decode("utf-8-sig")
    if ".ndjson" in file.name:
        yield from (json.loads(line) for line in text.splitlines() if line.strip())
        return
    body = json.loads(text)
    if isinstance(body, dict) and body.get("resourceType") == "Bundle":
        for entry in body.get("entry", ()):
            resource = dict(entry.get("resource") or {})
            full = str(entry.get("fullUrl", ""))
            resource.setdefault("id", full.rpartition(":")[2])
            yield resource
    elif isinstance(body, dict):
        yield body


def _chart_of(row: Json) -> Chart:
    names = [one for one in row.get("name", ()) if one.get("use") not in ("old", "maiden")]
    name = next((one for one in names if one.get("use") == "official"), names[0] if names else {})
    given = " ".join(name.get("given", ()))
    return Chart(
        patient_id=row["id"],
        name=str(name.get("text") or f"{given} {name.get('family', '')}".strip()),
        birth_date=str(row.get("birthDate", "")),
        gender=str(row.get("gender", "")),
        identifiers=[str(one["value"]) for one in row.get("identifier", ()) if "value" in one],
        person=dict(_person(row)),
    )


def _person(row: Json) -> Iterator[tuple[str, str]]:
    for one in row.get("identifier", ()):
        if _code_of(one.get("type")) == "MR":
            yield "mrn", str(one.get("value", ""))
    for one in row.get("telecom", ())[:1]:
        yield "phone", str(one.get("value", ""))
    for one in row.get("address", ())[:1]:
        yield "city", str(one.get("city", ""))
    for one in row.get("communication", ())[:1]:
        yield "language", _name(one.get("language"))
    yield "marital", _name(row.get("maritalStatus"))
    yield "died", str(row.get("deceasedDateTime", ""))
    for extension in row.get("extension", ()):
        if str(extension.get("url", "")).endswith("us-core-ethnicity"):
            texts = [one.get("valueString") for one in extension.get("extension", ())]
            yield "ethnicity", next((str(one) for one in texts if one), "")


def _file(
    charts: dict[str, Chart], row: Json, drugs: dict[str, Json], known: dict[str, Json]
) -> None:
    whose = row.get("subject") or row.get("patient") or {}
    chart = charts.get(re.split(r"[/:]", str(whose.get("reference", "")))[-1])
    if chart is None:
        return
    status = str(row.get("status", ""))
    verification = _code_of(row.get("verificationStatus"))
    if status in _NOT_FACTS or verification in ("entered-in-error", "refuted"):
        chart.refused.add(_name(row.get("code") or row.get("vaccineCode")).casefold())
        return
    chart.holds.update({row["resourceType"], *_CARE.get(row["resourceType"], ())})
    chart.facts.extend(replace(one, **_around(row, known)) for one in _facts(row, drugs))


def _around(row: Json, known: dict[str, Json]) -> dict[str, str]:
    """Return what surrounds an entry: when it ended, why it was, who did it, where."""
    why = [_name(one) for one in (row.get("reasonCode") or ())]
    why += [_name(_at(one, known).get("code")) for one in (row.get("reasonReference") or ())]
    parts = row.get("participant") or row.get("performer") or ()
    people = [one.get("individual") or one.get("actor") or one for one in parts]
    people += [row["requester"]] if "requester" in row else []
    places = [row.get("serviceProvider") or {}]
    return {
        "end": str(row.get("abatementDateTime") or ""),
        "why": next((one for one in why if one), ""),
        "who": next((one for one in (_called(each, known) for each in people) if one), ""),
        "where": next((one for one in (_called(each, known) for each in places) if one), ""),
    }


def _at(reference: Json, known: dict[str, Json]) -> Json:
    return known.get(re.split(r"[/:]", str(reference.get("reference", "")))[-1], {})


def _called(reference: Json, known: dict[str, Json]) -> str:
    """Return how somebody, or a place, is called."""
    if reference.get("display"):
        return str(reference["display"])
    found = _at(reference, known).get("name", "")
    if isinstance(found, str):
        return found
    name: Json = next(iter(found), {})
    given = " ".join(name.get("given", ()))
    return str(name.get("text") or f"{given} {name.get('family', '')}".strip())


def _facts(row: Json, drugs: dict[str, Json]) -> Iterator[Fact]:
    kind, ref = row["resourceType"], f"{row['resourceType']}/{row.get('id')}"
    match kind:
        case "Observation":
            yield from _observation(row, ref)
        case "MedicationRequest" | "MedicationStatement" | "MedicationAdministration":
            yield from _medication(row, ref, drugs)
        case "Condition" | "AllergyIntolerance":
            said = "problem" if kind == "Condition" else "allergy"
            status = _code_of(row.get("clinicalStatus")) or "active"
            started = _when(row, "onsetDateTime", "onsetPeriod", "recordedDate")
            yield _fact(said, row.get("code"), ref, started, status=status)
        case "Immunization":
            given = _when(row, "occurrenceDateTime")
            yield _fact("immunization", row.get("vaccineCode"), ref, given)
        case "Procedure":
            done = _when(row, "performedDateTime", "performedPeriod")
            yield _fact("procedure", row.get("code"), ref, done, status=str(row.get("status", "")))
        case "Encounter":
            kinds = row.get("type") or [{}]
            kept = str((row.get("class") or {}).get("code", ""))
            yield _fact("encounter", kinds[0], ref, _when(row, "period"), status=kept)
        case "CarePlan" | "Goal" | "ImagingStudy" | "DiagnosticReport":
            yield _of_care(row, ref)
        case _:
            return


def _of_care(row: Json, ref: str) -> Fact:
    kind, status = row["resourceType"].casefold(), str(row.get("status", ""))
    named = list(row.get("category") or ({},))
    title = {"text": row["title"]} if "title" in row else named[-1]
    called = {
        "careplan": title,
        "goal": row.get("description"),
        "diagnosticreport": row.get("code"),
    }
    when = _when(row, "period", "startDate", "started", "effectiveDateTime")
    return _fact(_CALLED.get(kind, kind), called.get(kind), ref, when, status=status)


def _observation(row: Json, ref: str) -> Iterator[Fact]:
    when = _when(row, "effectiveDateTime", "effectivePeriod", "issued")
    value, unit = _value(row)
    parts = {_code_of(one.get("code")): one for one in row.get("component", ())}
    pressure = parts.get("8480-6"), parts.get("8462-4")
    if pressure[0] and pressure[1]:
        top, bottom = _value(pressure[0]), _value(pressure[1])
        value, unit = f"{top[0]}/{bottom[0]}", top[1]
    if value and not (parts and not (pressure[0] and pressure[1])):
        yield _fact("result", row.get("code"), ref, when, value=value, unit=unit)


def _medication(row: Json, ref: str, drugs: dict[str, Json]) -> Iterator[Fact]:
    if row.get("intent") in ("proposal", "plan"):
        return
    concept = row.get("medicationCodeableConcept")
    if concept is None:
        pointed = str((row.get("medicationReference") or {}).get("reference", ""))
        key = f"Medication/{re.split(r'[/:]', pointed)[-1]}"
        concept = drugs.get(key, {}).get("code")
    period = row.get("effectivePeriod") or {}
    status = str(row.get("status", ""))
    if period.get("end"):
        status = "stopped"
    when = _when(row, "authoredOn", "effectiveDateTime", "effectivePeriod")
    yield _fact("medication", concept, ref, when, status=status)


def _fact(kind: str, concept: Any, ref: str, when: str, **more: str) -> Fact:
    return Fact(kind=kind, name=_name(concept), code=_code_of(concept), ref=ref, when=when, **more)


def _name(concept: Any) -> str:
    concept = concept or {}
    codings = [one.get("display", "") for one in concept.get("coding", ())]
    return _NOISE.sub("", str(concept.get("text") or next(iter(codings), "")))


def _code_of(concept: Any) -> str:
    codings = (concept or {}).get("coding", ())
    return str(next((one.get("code", "") for one in codings), ""))


def _when(row: Json, *names: str) -> str:
    for name in names:
        found = row.get(name)
        if isinstance(found, dict):
            found = found.get("start") or found.get("end")
        if found:
            return str(found)
    return ""


def _value(row: Json) -> tuple[str, str]:
    quantity = row.get("valueQuantity")
    if quantity is not None and quantity.get("comparator") is None and "value" in quantity:
        unit = str(quantity.get("unit") or quantity.get("code") or "")
        # UCUM: what stands in braces alone, as "{score}", is a remark on a bare number.
        unit = "" if unit.startswith("{") and unit.endswith("}") else unit
        return str(quantity["value"]), unit
    if "valueCodeableConcept" in row:
        return _name(row["valueCodeableConcept"]), ""
    for name in ("valueString", "valueInteger"):
        if name in row:
            return str(row[name]), ""
    return "", ""
