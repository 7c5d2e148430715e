"""Names that stand for nobody's chart: staff of the open record, and the user's own contacts.

Asked for only where a message names somebody who is no sure patient, so most turns read nothing.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import replace
from typing import TypeAlias

import structlog

from data_models.errors import AssistantError, RecordsError
from data_models.identifiers import PatientId
from services.identity.linking import Linked, SubjectLinker
from services.identity.names.person import Person
from services.identity.subject import Reason, Subject
from services.language.people.pointed_at import pointed_at
from services.patient_context.patient_turn import PatientTurn
from services.patient_context.who import situation_of
from services.records.concepts.table import concept_table
from services.records.concepts.words import words_of
from services.records.resources.entry import many, one, text
from services.records.resources.ports import PatientRecords, need_of
from services.records.resources.record import PatientRecord, named

BESIDE_SECONDS = 2.0
_ASKED_OF: frozenset[Reason] = frozenset({"stranger", "part", "nearly", "several"})
_NEED = need_of("CareTeam", "Encounter", asides=("Practitioner", "PractitionerRole"))
_ILLS = need_of("Condition", "Procedure")
_PEOPLE = ("member", "individual", "actor")
_log = structlog.get_logger()


NamesBeside: TypeAlias = Callable[[str, PatientId | None, str], Awaitable[Collection[str]]]
"""Returns whole names of people beside the patients whom a text may mean.

Takes who writes, whose chart is open and the text.

Raises:
    AssistantError: the user's contacts cannot be read.
    RecordsError: the records do not answer.
"""


HasIll: TypeAlias = Callable[[PatientId, str], Awaitable[bool]]
"""Whether a chart has an illness, an operation or an organ of that name among its problems.

Raises:
    RecordsError: the records do not answer.
"""


async def chart_has(records: PatientRecords, patient_id: PatientId, ill: str) -> bool:
    """Return whether the chart has an illness or operation, by any name; see `HasIll`."""
    record = await records.load(patient_id, _ILLS)
    said = [words_of(one) for one in (ill, *concept_table().also_called(ill))]
    return any(told >= {*one} for told in record.derived(_ills_of) for one in said if one)


def _ills_of(record: PatientRecord) -> tuple[frozenset[str], ...]:
    """Return the words of each problem and operation, and of the concept that its code means."""
    coded = (one(entry.raw, "code") for entry in record.entries_of("Condition", "Procedure"))
    told = ([text(code, "text"), *(text(each, "display") for each in many(code, "coding"))]
            for code in coded)  # fmt: skip
    return tuple(frozenset(words_of(each)) for texts in told for each in texts)


async def staff_beside(
    records: PatientRecords, _user: str, patient_id: PatientId | None, _said: str
) -> Collection[str]:
    """Return whom CareTeam, Encounter and Practitioner of a chart name; see `NamesBeside`."""
    return () if patient_id is None else (await records.load(patient_id, _NEED)).derived(staff_of)


def staff_of(record: PatientRecord) -> frozenset[str]:
    """Return the names of a record's staff, as they are written."""
    found = {
        named(entry.raw, record) for entry in record.names.values() if entry.kind == "Practitioner"
    }
    for entry in record.entries_of("CareTeam", "Encounter"):
        for row in many(entry.raw, "participant"):
            people = [one(row, key) for key in _PEOPLE]
            told = [(each, text(each, "reference"), text(each, "type")) for each in people]
            # A CareTeam may have its patient among its members.
            others = [who for who, at, kind in told if "Patient" not in (*at.split("/"), kind)]
            found |= {record.name_of(each, within=entry.raw) for each in others}
    return frozenset(filter(None, found))


def needs_names(subject: Subject) -> bool:
    """Whether it matters who else bears the name that a message is asked about."""
    return subject.outcome in ("unsure", "several") and subject.reason in _ASKED_OF


async def link_beside(
    linker: SubjectLinker,
    known: Sequence[NamesBeside],
    turn: PatientTurn,
    *,
    also: Sequence[PatientId],
    has_ill: HasIll | None = None,
    unknown: Sequence[Person] = (),
) -> Linked:
    """Return whom a message is about, with what the open chart and `known` say where it matters."""
    text, situation = turn.reading.text, situation_of(turn, also=also, unknown=unknown)
    linked = await linker.link(text, situation)
    ill = pointed_at(linked.message.words) if linked.subject.reason == "described" else None
    if ill and has_ill and situation.active:
        if await _is_there(has_ill, situation.active, ill):
            return await linker.link(text, replace(situation, has_ill=True))
        return linked
    if not known or not needs_names(linked.subject):
        return linked
    names = await names_beside(known, turn.user, situation.active, linked.subject.said)
    return await linker.link(text, replace(situation, beside=names)) if names else linked


async def _is_there(has_ill: HasIll, patient_id: PatientId, ill: str) -> bool:
    """Return whether the chart has an illness; one that is not read in time tells nothing."""
    try:
        async with asyncio.timeout(BESIDE_SECONDS):
            return await has_ill(patient_id, ill)
    except (TimeoutError, RecordsError) as error:
        _log.warning("ills_unread", error=type(error).__name__)
        return False


async def names_beside(
    known: Sequence[NamesBeside], user: str, patient_id: PatientId | None, said: str
) -> tuple[str, ...]:
    """Return what all of `known` tell in time; who does not answer gives no evidence."""
    found: list[str] = []
    for each in known:
        try:
            async with asyncio.timeout(BESIDE_SECONDS):
                found += await each(user, patient_id, said)
        except (TimeoutError, RecordsError, AssistantError) as error:
            _log.warning("names_beside_unread", error=type(error).__name__)
    return tuple(found)
