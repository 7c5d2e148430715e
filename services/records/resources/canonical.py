"""The one id of a chart, from its Patient resource. Pure."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from typing import Any

from data_models.errors import InvalidIdentifierError
from data_models.identifiers import PatientId, hashed, storable_patient_id
from services.records.resources.dates import last_day
from services.records.resources.entry import end_of, many, text

_KEY_CHARS = 24


def canonical_id(
    patient: Mapping[str, Any], *, systems: Sequence[str], fits: Callable[[str], bool], today: date
) -> PatientId | None:
    """Return the id under which Rounds keeps a patient's documents; None without any.

    The identifier of the first of `systems` that the patient has, else the one that `fits` the
    pattern of ids, else the resource id. One that cannot be part of a name in storage becomes
    `h-` and a hash. Retired identifiers (`use: old`, a period that ended) are nobody's.
    """
    rows = [row for row in identifiers_of(patient) if not is_retired(row, today)]
    values = [str(row["value"]) for name in systems for row in rows if row.get("system") == name]
    values += [str(row["value"]) for row in rows if fits(str(row["value"]))]
    values += [str(patient["id"])] if patient.get("id") else []
    return storable(values[0]) if values else None


def storable(value: str) -> PatientId:
    """Return `value` if it can be part of a name in storage, else `h-` and its hash."""
    try:
        return storable_patient_id(value)
    except InvalidIdentifierError:
        return PatientId(f"h-{hashed(value)[:_KEY_CHARS]}")


def identifiers_of(patient: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the identifiers that have a value."""
    yield from (row for row in many(patient, "identifier") if text(row, "value"))


def is_retired(identifier: Mapping[str, Any], today: date) -> bool:
    """Tell whether an identifier is no longer its owner's."""
    ended = last_day(end_of(identifier, "period"))
    return identifier.get("use") == "old" or (ended is not None and ended < today)


def is_replaced(patient: Mapping[str, Any]) -> bool:
    """Tell whether a Patient was merged into another (`link` of type `replaced-by`)."""
    return any(text(link, "type") == "replaced-by" for link in many(patient, "link"))
