"""Makes lists of rounds and shows their cards: whose chart is open is asked at each look."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, tzinfo
from functools import partial

import structlog

from data_models.chat_context import AgentMessage
from data_models.errors import (
    ChartClosedError,
    InvalidIdentifierError,
    NotFoundError,
    RecordsError,
    RoundsListError,
    StoreError,
)
from data_models.identifiers import PatientId, storable_patient_id
from services.evidence.changes import ChartStates, chart_states
from services.evidence.looks import LookBook
from services.language.words.letters import folded
from services.patient_context.reading.pattern import PatientIdPattern
from services.records.big_charts import make_view
from services.records.resources.ports import PERSON, PatientRecords
from services.records.views.demographics import Demographics, demographics
from services.rounds import round_view
from services.rounds.preparing import RoundPreparer
from services.rounds.round_list import (
    PATIENTS_LIMIT,
    RoundEntry,
    RoundList,
    RoundPatient,
    RoundPlace,
    among,
)
from services.rounds.round_view import CardParts, card_parts
from services.views import patient_finder
from services.views.conversation_reader import ConversationReader, OwnedChat
from services.views.visits_by_day import DayState, VisitsByDay

_REFUSALS: dict[DayState, str] = {
    "not_searchable": "These records cannot be searched by day. Please name the patients.",
    "too_many": "More visits are on that day than a list takes. Please name the patients.",
}


# Whom a round is for: typed names and numbers, or who is seen on a day.


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Finds the patients of a list. Nobody is guessed: what fits several is refused."""

    finder: patient_finder.PatientFinder
    pattern: PatientIdPattern
    days: VisitsByDay
    zone: tzinfo

    async def find_named(self, entries: Sequence[str], *, owner: str) -> list[PatientId]:
        """Return whom the entries name, in their order, each once.

        Raises:
            RoundsListError: an entry is nobody's or several people's; the text says which.
            RecordsError: the directory has no answer.
        """
        wanted = [entry.strip() for entry in entries if entry.strip()]
        if not wanted:
            raise RoundsListError("Name at least one patient, by id, or by name and birth date.")
        if len(wanted) > PATIENTS_LIMIT:
            raise RoundsListError(f"A list takes {PATIENTS_LIMIT} patients. Please make two.")
        found = [await self._one(entry, owner) for entry in wanted]
        problems = [one for one in found if isinstance(one, RoundsListError)]
        if problems:
            raise RoundsListError(" ".join(one.user_message for one in problems))
        return list(dict.fromkeys(one for one in found if not isinstance(one, RoundsListError)))

    async def find_seen_on(self, day: date, *, owner: str) -> list[PatientId]:
        """Return who has a visit or an appointment on `day`, of those open to the owner, by id.

        Raises:
            RoundsListError: nobody has, there are too many, or nobody can list them.
            RecordsError: the directory, or the records, have no answer.
        """
        on_day = await self.days.visits_on(day, self.zone)
        if on_day.state != "listed":
            raise RoundsListError(_REFUSALS[on_day.state])
        people = [*(one.person for one in on_day.seen), *on_day.unread]
        # Whose chart cannot be read now is on the list, and their card says so.
        seen = sorted({one.patient_id for one in people if one.patient_id and one.is_in_use})
        found = [one for one in seen if await self.finder.guard.may_open(owner, one)]
        if not found:
            raise RoundsListError(
                f"No patient whose chart is open to you has a visit or an appointment on {day}."
            )
        if len(found) > PATIENTS_LIMIT:
            raise RoundsListError(
                f"{len(found)} patients are seen on {day}, and a list takes {PATIENTS_LIMIT}. "
                "Please name the patients."
            )
        return found

    async def _one(self, entry: str, owner: str) -> PatientId | RoundsListError:
        if len(entry) > patient_finder.QUERY_LIMIT_CHARS:
            return RoundsListError(f"“{entry[:40]}…” is too long for a name and a birth date.")
        if self.pattern.matches(entry):
            try:
                return storable_patient_id(entry)
            except InvalidIdentifierError:
                return RoundsListError(f"“{entry}” is no id of a patient.")
        rows = await self.finder.find(entry, owner=owner)
        exact = [row for row in rows.patients if _is_named(row, entry)]
        if len(exact) == 1 and rows.is_whole:
            return PatientId(exact[0].patient_id)
        if not rows.patients:
            return RoundsListError(f"“{entry}”: nobody was found whose chart is open to you.")
        several = exact or rows.patients
        who = "; ".join(f"{row.name}, born {row.birth_date or 'unknown'}" for row in several[:5])
        return RoundsListError(
            f"“{entry}” may be {who}. Please write the name and the birth date, or the id."
        )


def _is_named(row: patient_finder.FoundPatient, entry: str) -> bool:
    """Whether each word of the entry is a whole word of the name: who is nearly named is asked."""
    names = {folded(word) for word in patient_finder.words_of(row.name)}
    return names.issuperset(map(folded, patient_finder.PatientQuery(text=entry).words))


_log = structlog.get_logger()
_WHO_AT_ONCE = 8
_TURNS = 200
_PROBLEMS = {
    "chart_closed": "This patient's chart is not open to you.",
    "chart_unchecked": "Nobody can tell just now whether this chart is open to you.",
    "unlinked": "The preparation could not be matched to this patient.",
    "no_answer": "The preparation gave no answer.",
    "interrupted": "The preparation was interrupted too often.",
}
"""Of errors that happened in the background; others are told by their code."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundService:
    """Every method raises `NoSuchListError` for a list that is absent or not the caller's.

    Attributes:
        looks: None: it is not kept who looked when.
    """

    entry: RoundEntry
    preparer: RoundPreparer
    choice: Choice
    records: PatientRecords
    reader: ConversationReader
    looks: LookBook | None

    async def create(
        self, *, owner: str, entries: list[str], day: date | None, language: str
    ) -> round_view.RoundSummary:
        """Make a list of who is named, else of who is seen on `day`, and begin to prepare it.

        Raises:
            RoundsListError: nobody, too many, or an entry that is not one patient's.
            RecordsError: the directory has no answer.
        """
        if day is not None and not entries:
            patients = await self.choice.find_seen_on(day, owner=owner)
        else:
            patients = await self.choice.find_named(entries, owner=owner)
        found = RoundList(
            round_id=self.reader.ids.new_id("round"),
            owner=owner,
            created_at=self.reader.clock.now(),
            language=language,
            day="" if day is None else day.isoformat(),
            patients=tuple(
                RoundPatient(patient_id=one, conversation_id=self.reader.ids.new_id("rounds"))
                for one in patients
            ),
        )
        await self.entry.book.create(found)
        self.preparer.prepare(found.round_id)
        return round_view.summary_of(found, owner)

    async def list_lists(self, principal: str) -> list[round_view.RoundSummary]:
        """Return the newest lists that the caller made or was handed patients of."""
        lists = await self.entry.book.list_lists(principal)
        return [round_view.summary_of(one, principal) for one in lists if one.seen_by(principal)]

    async def show(self, round_id: str, *, principal: str) -> round_view.RoundView:
        """Return a list with who its patients are, as far as their charts are open."""
        found, patients = await self.entry.find(round_id, principal)
        free = asyncio.Semaphore(_WHO_AT_ONCE)

        async def row(patient: RoundPatient) -> round_view.RoundRow:
            async with free:
                try:
                    await self.entry.enter(patient, principal, "read_round")
                    who: Demographics | None = demographics(
                        await self.records.load(patient.patient_id, PERSON),
                        today=self.reader.clock.now().date(),
                    )
                    problem = _failure_in_words(patient.problem)
                except (ChartClosedError, RecordsError) as error:
                    who, problem = None, error.user_message
                return round_view.row_of(patient, who=who, problem=problem)

        rows = await asyncio.gather(*(row(one) for one in patients))
        return round_view.RoundView(
            summary=round_view.summary_of(found, principal), patients=list(rows)
        )

    async def card(self, place: RoundPlace) -> round_view.RoundCard:
        """Return one patient's card as the chart is now; that somebody looked is on record first.

        A chart that cannot be read leaves a card that says so. What the card shows, the caller has
        seen: the next one tells what changed since.

        Raises:
            ChartClosedError: the chart is not open to the caller now.
        """
        card, now = await self._card(place, "read_round_card")
        if self.looks is not None and now is not None:
            try:
                look = await self.looks.take(place.principal, card.row.patient_id, now)
                await self.looks.note(place.principal, card.row.patient_id, look)
            except StoreError as error:
                _log.info("look_not_noted", error=type(error).__name__)
        return card

    async def _card(
        self, place: RoundPlace, action: str
    ) -> tuple[round_view.RoundCard, ChartStates | None]:
        principal = place.principal
        found, patients = await self.entry.find(place.round_id, principal)
        patient = among(patients, place.patient_id)
        await self.entry.enter(patient, principal, action)
        chart, problem = await self._chart(patient.patient_id, principal)
        notes = await self.entry.book.notes(place.round_id, patient.patient_id)
        is_mine = found.owner == principal
        parts, now = chart or (None, None)
        row = round_view.row_of(
            patient,
            who=None if parts is None else parts.who,
            problem=problem or _failure_in_words(patient.problem),
        )
        card = round_view.RoundCard(
            round_id=place.round_id,
            place=patients.index(patient) + 1,
            of=len(patients),
            row=row,
            parts=parts,
            said=await self._read_said(patient, principal) if is_mine else [],
            chat_id=patient.conversation_id if is_mine else "",
            notes=notes.notes,
            sign_outs=notes.sign_outs,
        )
        return card, now

    async def ward_list(self, round_id: str, *, principal: str) -> list[round_view.RoundCard]:
        """Return the cards of all patients, in order; a closed one has nothing but its number."""
        _, patients = await self.entry.find(round_id, principal)
        cards = []
        for place, patient in enumerate(patients, 1):
            try:
                asked = RoundPlace(round_id, patient.patient_id, principal)
                card, _ = await self._card(asked, "print_round")
            except ChartClosedError as error:
                row = round_view.row_of(patient, who=None, problem=error.user_message)
                card = round_view.RoundCard(
                    round_id=round_id, place=place, of=len(patients), row=row
                )
            cards.append(card)
        return cards

    async def _chart(
        self, patient_id: PatientId, principal: str
    ) -> tuple[tuple[CardParts, ChartStates] | None, str]:
        """Return the parts and what they stand on, or why there are none."""
        now = self.reader.clock.now()
        try:
            record = await self.records.load(patient_id)
            make = partial(
                card_parts,
                now=now,
                before=await self._read_states(patient_id, principal),
                keeps_looks=self.looks is not None,
            )
            card = await make_view(record, make)
            return (card, await make_view(record, partial(chart_states, at=now))), ""
        except RecordsError as error:
            return None, error.user_message

    async def _read_states(self, patient_id: PatientId, principal: str) -> ChartStates | None:
        if self.looks is None:
            return None
        looked = await self.looks.read(principal, patient_id)
        return None if looked is None else looked.baseline(self.reader.clock.now())

    async def _read_said(self, patient: RoundPatient, owner: str) -> list[AgentMessage]:
        """Return what the model said of this patient; nothing before they are prepared."""
        if patient.state != "ready":
            return []
        try:
            chat = OwnedChat(patient.conversation_id, owner, patient.patient_id)
            page = await self.reader.messages(chat, limit=_TURNS)
        except NotFoundError:
            return []
        made = (turn for turn in page.turns if turn.run_id == patient.run_id)
        said = next((turn.agent_responses for turn in made), [])
        # What the built-in rules say are rows, and those are on the card.
        return [message for message in said if message.made_by == "model"]


def _failure_in_words(code: str) -> str:
    return _PROBLEMS.get(code, f"The preparation failed ({code}).") if code else ""
