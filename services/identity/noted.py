"""Who a patient was found to be when their chart was opened, noted in the registry's facts."""

from collections.abc import Mapping
from typing import Any

from data_models.identifiers import PatientId
from services.identity.names.person import Person, PersonName

_SEXES = ("male", "female", "other")


def facts_of(person: Person) -> dict[str, Any]:
    """Return what the registry keeps: both identifiers, sex, and the names in use in parts."""
    in_use = next((one for one in person.names if not one.is_former), None)
    return {
        "name": person.name,
        "birth_date": person.birth_date,
        "sex": person.sex,
        "family": in_use.family if in_use else "",
        "given": list(in_use.given) if in_use else [],
    }


def person_of(patient_id: PatientId, facts: Mapping[str, Any]) -> Person | None:
    """Return the person whom `facts` describe; None where nothing was noted."""
    name, given = facts.get("name"), facts.get("given")
    if not isinstance(name, str) or not name:
        return None
    parts = tuple(map(str, given)) if isinstance(given, list) else ()
    sex = facts.get("sex")
    return Person(
        patient_id=patient_id,
        key="",
        names=(PersonName(str(facts.get("family") or ""), parts, name),),
        birth_date=str(facts.get("birth_date") or ""),
        sex=sex if sex in _SEXES else "unknown",
    )
