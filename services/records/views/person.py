"""What the Patient resource says beside name, sex, age and numbers: a row for each fact."""

from collections.abc import Iterator

from data_models.chart_view import ViewRow
from services.records.resources.entry import CODES, Raw, codes, label, many, one, text
from services.records.resources.extensions import address_of, extensions_of
from services.records.resources.record import PatientRecord, named

ROWS_LIMIT = 40
IN_USE = ("official", "usual")
"""Uses of the name by which a patient is shown, before any other."""
_VALUE_LIMIT_CHARS = 300


def personal_rows(record: PatientRecord) -> list[ViewRow]:
    """Return address, phone, marital status, language, contacts, death and all such facts.

    At most forty; `kind` is `personal`, `name` what people call the fact.
    """
    return list(record.derived(_rows))


def _rows(record: PatientRecord) -> tuple[ViewRow, ...]:
    raw: Raw = record.patient.model_dump(mode="json", by_alias=True, exclude_none=True)
    ref = f"Patient/{record.patient.id or 'unnamed'}"
    found = dict.fromkeys(
        (name, value[:_VALUE_LIMIT_CHARS], detail)
        for name, value, detail in _facts(raw, record)
        if value
    )
    return tuple(
        ViewRow(kind="personal", name=name, value=value, detail=detail, sources=(ref,))
        for name, value, detail in list(found)[:ROWS_LIMIT]
    )


def _facts(raw: Raw, record: PatientRecord) -> Iterator[tuple[str, str, str]]:
    """Yield name, value and what is said about it."""
    if raw.get("active") is False:
        yield "record", "marked as not active", ""
    yield from _death(raw)
    for address in many(raw, "address"):
        yield "address", address_of(address), _use(address)
    for reached in many(raw, "telecom"):
        yield text(reached, "system") or "contact", text(reached, "value"), _use(reached)
    yield "marital status", _marital_status(one(raw, "maritalStatus")), ""
    for spoken in many(raw, "communication"):
        said = "preferred" if spoken.get("preferred") is True else ""
        yield "language", label(one(spoken, "language")), said
    for contact in many(raw, "contact"):
        yield "contact person", _contact(contact, record), _period(contact)
    for doctor in many(raw, "generalPractitioner"):
        known = record.resolve(doctor, within=raw)
        numbers = [text(each, "value") for each in many(known.raw if known else {}, "telecom")]
        yield "general practitioner", record.name_of(doctor, within=raw), "; ".join(numbers)
    yield "managing organization", record.name_of(one(raw, "managingOrganization"), within=raw), ""
    yield "multiple birth", _multiple_birth(raw), ""
    yield from _names(raw)
    yield from ((name, value, "") for name, value in extensions_of(raw))


def _names(raw: Raw) -> Iterator[tuple[str, str, str]]:
    """Yield the names beside that which is shown, and the numbers whose kind is known."""
    names = many(raw, "name")
    shown = min(names, key=lambda name: text(name, "use") not in IN_USE, default=None)
    for name in names:
        if name is shown:
            continue
        use = text(name, "use")
        yield (
            use if use == "nickname" else f"{use or 'other'} name",
            named({"name": [name]}),
            _period(name),
        )
    for number in many(raw, "identifier"):
        kind = label(one(number, "type"))
        yield kind.lower(), text(number, "value") if kind else "", ""


def _death(raw: Raw) -> Iterator[tuple[str, str, str]]:
    if died := text(raw, "deceasedDateTime"):
        yield "death", died, ""
    elif isinstance(raw.get("deceasedBoolean"), bool):
        said = "died, date not in the record" if raw["deceasedBoolean"] else "recorded as not dead"
        yield "death", said, ""


def _marital_status(raw: Raw) -> str:
    """Return the status in words; many charts hold the code alone."""
    said = label(raw)
    known = CODES["marital"]
    meant = next((known[code] for code in sorted(codes(raw)) if code in known), "")
    return f"{said} ({meant})" if len(said) < len(meant) else said


def _multiple_birth(raw: Raw) -> str:
    order = raw.get("multipleBirthInteger")
    if isinstance(order, int) and not isinstance(order, bool):
        return f"yes, born as number {order}"
    is_multiple = raw.get("multipleBirthBoolean")
    return "" if not isinstance(is_multiple, bool) else "yes" if is_multiple else "no"


def _contact(raw: Raw, record: PatientRecord) -> str:
    name = named({"name": [one(raw, "name")]}) or record.name_of(one(raw, "organization"))
    kinds = [label(each) for each in many(raw, "relationship")]
    reached = [text(each, "value") for each in many(raw, "telecom")]
    parts = [name, ", ".join(filter(None, kinds)), *reached, address_of(one(raw, "address"))]
    return "; ".join(part for part in parts if part)


def _use(raw: Raw) -> str:
    return ", ".join(part for part in (text(raw, "use"), _period(raw)) if part)


def _period(raw: Raw) -> str:
    period = one(raw, "period")
    since, until = text(period, "start")[:10], text(period, "end")[:10]
    parts = [f"since {since}" if since else "", f"until {until}" if until else ""]
    return " ".join(part for part in parts if part)
