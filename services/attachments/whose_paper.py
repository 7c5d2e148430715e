"""Whose paper a text is, as far as code can tell (spec page 10.2); the user has the last word."""

from collections.abc import Iterable
from typing import Final, Literal, TypeAlias

from data_models.identifiers import PatientId
from services.identity.index import PersonIndex
from services.identity.linking import Situation, SubjectLinker
from services.identity.matching import Known, mentions_in
from services.identity.others_named import OthersNamed
from services.identity.person import Person
from services.language.full_dates import full_dates

Whose: TypeAlias = Literal["theirs", "partly", "unnamed", "several", "other", "unchecked"]
"""`theirs`: names the patient, with birth date or number; `partly`: one of these alone.

`unnamed`: names nobody whom the directory knows; `several`: the patient and another one; `other`:
another one alone; `unchecked`: the directory does not answer.
"""
READ_CHARS: Final = 6_000
"""Of its beginning: letters and reports name their patient there, and cost no more to read."""


async def whose_paper(text: str, patient_id: PatientId, *, linker: SubjectLinker) -> Whose:
    """Return whose paper `text` is, seen from the patient it is meant for."""
    head = text[:READ_CHARS]
    linked = await linker.link(head, Situation(active=patient_id, roster={patient_id: None}))
    if not linked.has_answered:
        return "unchecked"
    index, person = linked.index, linked.index.with_id(patient_id)
    known = Known(index, person, frozenset({patient_id}))
    full = (one for one in mentions_in(linked.message, known) if one.strength == "full")
    is_named = any(one.names_open for one in full)
    numbers = list(_numbers(head, index))
    if OthersNamed(index=index, own=person, roster=(patient_id,)).words_in(head) or any(
        one.patient_id != patient_id for one in numbers
    ):
        return "several" if is_named else "other"
    is_marked = bool(numbers) or (person is not None and _has_birth_date(person, head))
    if is_named and is_marked:
        return "theirs"
    return "partly" if is_named or is_marked else "unnamed"


def _has_birth_date(person: Person, text: str) -> bool:
    return any(person.is_born_on(one.readings) for one in full_dates(text))


def _numbers(text: str, index: PersonIndex) -> Iterable[Person]:
    """Yield whose numbers stand in a text; one of digits alone may be a telephone's."""
    for word in text.split():
        number = word.strip(".,;:()[]")
        if any(map(str.isdigit, number)) and any(map(str.isalpha, number)):
            yield from (hit.person for hit in index.with_number(number))
