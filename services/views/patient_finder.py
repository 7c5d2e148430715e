"""Finds patients by name, birth date or number, and whom a record system has opened."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Literal, TypeAlias

from pydantic import BaseModel

from data_models.errors import BadFrameError, ChartClosedError
from data_models.identifiers import PatientId
from services.audit.trail import Visitor, record_access
from services.chart_access.chart_guard import ChartGuard
from services.identity.directory import Directory, NameSought, Sought
from services.identity.names.index import PersonIndex
from services.identity.names.person import Person, person_from
from services.language.figures.full_dates import full_dates
from services.language.words.letters import APOSTROPHES, folded, spellings
from services.views.conversation_reader import ConversationReader, OwnedChat
from services.views.conversation_view import ConversationView
from services.views.owner_changes import Drafts

QUERY_LIMIT_CHARS = 200
SHOWN = 50
_ASKED_AT_ONCE = 200
_NO_APOSTROPHES = str.maketrans("", "", APOSTROPHES)


class FoundPatient(BaseModel):
    """A patient to choose: number, name and birth date, "" where the record has none."""

    patient_id: str
    name: str
    birth_date: str
    sex: str


class FoundPatients(BaseModel):
    """Who was found, by name; at most 50, and whether these are all."""

    patients: list[FoundPatient]
    is_whole: bool


@dataclass(frozen=True, kw_only=True)
class PatientFinder:
    """Looks through the directory, and names nobody whose chart is closed to who looks."""

    directory: Directory
    guard: ChartGuard

    async def find(self, text: str, *, owner: str) -> FoundPatients:
        """Return whom `text` finds; every patient of the directory where it says nothing.

        Each of its words begins a name (or nearly is one), each date is the birth date, each
        number is a whole record number. That somebody looked is on the audit trail first.

        Raises:
            BadFrameError: longer than 200 characters.
            RecordsError: the directory has no answer.
        """
        if len(text) > QUERY_LIMIT_CHARS:
            raise BadFrameError(f"q: at most {QUERY_LIMIT_CHARS} characters")
        await record_access(self.guard.audit, Visitor(owner), "find_patients")
        query = PatientQuery(text=text)
        index = await self.directory.people_for(query.sought())
        found = sorted(query.among(index), key=by_name)
        considered = found[:_ASKED_AT_ONCE]
        known = (one.patient_id for one in considered if one.patient_id)
        is_open = set(await self.guard.open_to(owner, known))
        shown = [one for one in considered if one.patient_id in is_open]
        return FoundPatients(
            patients=[found_row(one) for one in shown[:SHOWN]],
            is_whole=len(found) == len(considered) and len(shown) <= SHOWN,
        )

    async def same_person(
        self, resource: Mapping[str, Any], *, owner: str, today: date
    ) -> PatientId:
        """Return whose chart here is that of another system's Patient.

        Both carry the same identifier in use, of the same system, and the same whole birth date;
        one who is not open to `owner` is not told from one who is not here.

        Raises:
            ChartClosedError: nobody here is, or several are, or the chart is not open to `owner`.
            RecordsError: the directory has no answer.
        """
        theirs = person_from(resource, patient_id=None, today=today)
        if theirs is None or theirs.born_on is None or not theirs.is_in_use:
            raise ChartClosedError
        numbers = [one for one in theirs.numbers if one.system and not one.is_retired]
        index = await self.directory.people_for(Sought(numbers=[one.value for one in numbers]))
        found = {
            hit.person.patient_id: hit.person
            for one in numbers
            for hit in index.with_number(one.value)
            if one in hit.person.numbers and hit.person.is_in_use
        }
        same = [each for each, person in found.items() if person.born_on == theirs.born_on]
        if len(found) != 1 or len(same) != 1 or same[0] is None:
            raise ChartClosedError
        await self.guard.enter(Visitor(owner), same[0])
        return same[0]


class PatientQuery:
    """What somebody wrote of a patient: names, birth dates, numbers.

    Attributes:
        words: Of names.
    """

    def __init__(self, *, text: str) -> None:
        self._dates: list[frozenset[date]] = []
        rest, end = [], 0
        for one in full_dates(text):
            self._dates.append(one.readings)
            rest.append(text[end : one.start])
            end = one.end
        rest.append(text[end:])
        tokens = [token.strip(",;.") for token in " ".join(rest).split()]
        self._numbers = [one for one in tokens if any(each.isdigit() for each in one)]
        written = (one for one in tokens if one not in self._numbers)
        self.words = [word for token in written for word in words_of(token)]

    def sought(self) -> Sought:
        """Return what a directory that must be asked is asked."""
        words = self.words
        pairs = [(one, other) for one in words for other in words if one != other]
        names = [NameSought(family, given) for family, given in pairs]
        return Sought(
            numbers=self._numbers,
            names=names or [NameSought(word) for word in words],
            birth_dates=sorted({day for each in self._dates for day in each}),
        )

    def among(self, index: PersonIndex) -> list[Person]:
        """Return whose chart opens and who fits all that was written."""
        close = [{hit.person.key for hit in index.nearly(folded(word))} for word in self.words]
        # Whole numbers only: a part of one would offer a neighbour. A merged one's are the
        # survivor's, who carries on what was recorded under them.
        holders = [
            {(index.survivor(hit.person) or hit.person).key for hit in index.with_number(one)}
            for one in self._numbers
        ]
        return [
            one
            for one in index.people
            if one.patient_id is not None and one.is_active and self._fits(one, close, holders)
        ]

    def _fits(self, person: Person, close: Sequence[set[str]], holders: Sequence[set[str]]) -> bool:
        if not all(person.is_born_on(days) for days in self._dates):
            return False
        if not all(person.key in held for held in holders):
            return False
        parts = list(_name_words(person))
        return all(
            any(part.startswith(tuple(spellings(word))) for part in parts)
            or (person.key and person.key in near)
            for word, near in zip(self.words, close, strict=True)
        )


def _name_words(person: Person) -> Iterable[str]:
    for name in person.names:
        for part in (name.family, *name.given, name.text):
            for word in words_of(part):
                yield from spellings(word)


def words_of(text: str) -> Iterable[str]:
    """Return the words of a name; what a hyphen joins is two."""
    return text.replace("-", " ").translate(_NO_APOSTROPHES).split()


def by_name(person: Person) -> tuple[str, str, str]:
    """Return the place of a person in a list by family name."""
    name = next((one for one in person.names if not one.is_former), None)
    family = folded(name.family) if name is not None else ""
    return (family or folded(person.name), folded(person.name), person.patient_id or "")


def found_row(person: Person) -> FoundPatient:
    """Return who a person is, as lists show it."""
    return FoundPatient(
        patient_id=person.patient_id or "",
        name=person.name,
        birth_date=person.birth_date,
        sex="" if person.sex == "unknown" else person.sex,
    )


# Which patient a record system has opened, and what that means for the user's conversation.

Course: TypeAlias = Literal["same", "switch", "ask"]
"""The patient is open; may be opened now; or the user is asked first."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A patient of ours whom the record system opened.

    Attributes:
        seen_at: The state of the conversation that `course` was chosen for.
    """

    course: Course
    patient: FoundPatient
    seen_at: datetime


def course_of(
    patient_id: PatientId, view: ConversationView, *, has_draft: bool, is_late: bool
) -> Course:
    """Return what an idle conversation does of itself, and where its user is asked.

    Args:
        patient_id: Who was opened.
        view: The conversation as it stands.
        has_draft: Whether the user has begun to write.
        is_late: Whether it is told after the fact, when the line was down.
    """
    if view.patient_id == patient_id:
        return "same"
    is_planned = view.plan is not None and view.plan.status in ("proposed", "running")
    waits = view.question is not None or is_planned
    runs = view.running_turn is not None or view.queued > 0
    return "ask" if waits or runs or has_draft or is_late else "switch"


@dataclass(frozen=True, slots=True, kw_only=True)
class PatientFollower:
    """Knows whose chart another system's Patient is, under the rights of the user alone."""

    finder: PatientFinder
    reader: ConversationReader
    drafts: Drafts

    async def find_opened(
        self, resource: Mapping[str, Any], chat: OwnedChat, *, is_late: bool
    ) -> Opened:
        """Return the patient here, and what to do.

        Raises:
            ChartClosedError: they are nobody's here, several persons', or closed to the user.
            RoundsError: nobody can tell just now.
        """
        today = self.reader.clock.now().date()
        patient_id = await self.finder.same_person(resource, owner=chat.owner, today=today)
        person = person_from(resource, patient_id=patient_id, today=today)
        if person is None:
            raise ChartClosedError
        view = await self.reader.view(chat)
        has_draft = await self._has_draft(chat._replace(patient_id=view.patient_id))
        course = course_of(patient_id, view, has_draft=has_draft, is_late=is_late)
        return Opened(course, found_row(person), view.updated_at)

    async def _has_draft(self, chat: OwnedChat) -> bool:
        return chat.patient_id is not None and bool((await self.drafts.read(chat)).text.strip())
