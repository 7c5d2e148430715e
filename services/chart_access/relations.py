"""Whether a FHIR resource says that a Practitioner cares for a patient now. Pure.

A Group, CareTeam, Encounter or Appointment counts if it names the Practitioner, is meant (not
cancelled, not entered in error) and is of this time: an Encounter or Appointment counts for some
days before and after.
"""

from collections.abc import Collection, Iterator, Mapping
from datetime import date, timedelta
from typing import Any

from services.records.entry import many, one, text
from services.records.folder.owners import identifier_keys, normal

KINDS = ("CareTeam", "Encounter", "Appointment")
"""Besides Group, which may be of many patients."""
_NOT_MEANT = frozenset(
    {"entered-in-error", "cancelled", "noshow", "inactive", "suspended", "proposed"}
)
_GOES_ON = frozenset({"arrived", "triaged", "in-progress", "onleave"})
_DAY_CHARS = 10


def is_care_by(
    resource: Mapping[str, Any], practitioner: frozenset[str], *, today: date, days: int
) -> bool:
    """Whether `resource`, which is the patient's, names the Practitioner now.

    Args:
        practitioner: All references that mean the Practitioner, or one of their roles.
        days: For so long after it ended, or before it begins, an Encounter or Appointment counts.
    """
    if text(resource, "status") in _NOT_MEANT or not _is_of_now(resource, today, days):
        return False
    return any(name in practitioner for name in _people_in(resource, today))


def is_group_of(
    group: Mapping[str, Any],
    practitioner: frozenset[str],
    patient: frozenset[str],
    *,
    today: date,
) -> bool:
    """Whether an active Group that the Practitioner manages has the patient as a member now."""
    if group.get("active") is False or not practitioner & _keys(one(group, "managingEntity")):
        return False
    return any(
        patient & _keys(one(member, "entity"))
        and member.get("inactive") is not True
        and _is_within(one(member, "period"), today)
        for member in many(group, "member")
    )


def meanings_of(practitioner: str, people: Collection[Mapping[str, Any]]) -> frozenset[str]:
    """Return all references that mean `practitioner`, their roles' too.

    Args:
        practitioner: `Practitioner/17`, its address, or `system|value` of an identifier.
        people: Practitioner and PractitionerRole resources that are known.
    """
    found = {normal(practitioner)}
    for each in people:
        names = _names(each)
        if each.get("resourceType") == "Practitioner" and found & names:
            found |= names
    for each in people:
        if each.get("resourceType") == "PractitionerRole" and found & _keys(
            one(each, "practitioner")
        ):
            found |= _names(each)
    return frozenset(found)


def _names(resource: Mapping[str, Any]) -> set[str]:
    own = resource.get("id")
    kind = resource.get("resourceType")
    named = {f"{kind}/{own}", f"urn:uuid:{own}"} if isinstance(own, str) else set()
    return named | identifier_keys(resource)


def _people_in(resource: Mapping[str, Any], today: date) -> Iterator[str]:
    for person in many(resource, "participant"):
        if text(person, "status") == "declined":
            continue
        # The periods of an Encounter's people are hours within it; a CareTeam's are years.
        is_team = resource.get("resourceType") == "CareTeam"
        if is_team and not _is_within(one(person, "period"), today):
            continue
        for name in ("member", "individual", "actor"):
            yield from _keys(one(person, name))


def _keys(reference: Mapping[str, Any]) -> frozenset[str]:
    found = {normal(text(reference, "reference"))} if text(reference, "reference") else set()
    identifier = one(reference, "identifier")
    if text(identifier, "value"):
        found.add(f"{text(identifier, 'system')}|{text(identifier, 'value')}")
    return frozenset(found)


def _is_of_now(resource: Mapping[str, Any], today: date, days: int) -> bool:
    kind, margin = resource.get("resourceType"), timedelta(days=days)
    if kind == "CareTeam":
        return _is_within(one(resource, "period"), today)
    period = resource if kind == "Appointment" else one(resource, "period")
    start, end = _day(period, "start"), _day(period, "end")
    goes_on = kind == "Encounter" and text(resource, "status") in _GOES_ON
    last = end or (None if goes_on else start)
    if start is not None and start > today + margin:
        return False
    return goes_on if last is None else last >= today - margin


def _is_within(period: Mapping[str, Any], today: date) -> bool:
    start, end = _day(period, "start"), _day(period, "end")
    return (start is None or start <= today) and (end is None or today <= end)


def _day(period: Mapping[str, Any], name: str) -> date | None:
    said = text(period, name)
    if not said:
        return None
    try:
        return date.fromisoformat(f"{said}-01-01"[:_DAY_CHARS])
    except ValueError:
        # A date that nobody can read opens nothing: neither begun nor going on.
        return date.max if name == "start" else date.min
