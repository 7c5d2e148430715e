"""Tools of the booking and registration agents. Nothing is written before the user confirms it."""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import UTC, date, datetime, tzinfo
from functools import partial
from typing import Annotated, TypeAlias

from pydantic import Field

from data_models.errors import RecordsError, ToolInputError
from group_chat.tools.clinic import free_times
from group_chat.tools.tool import Tool, ToolOutput, tools_of
from group_chat.turn_context import TurnContext
from services.group_chat_port import QuestionAsked
from services.language.charts.names_of_topics import to_come
from services.language.people.names_within import words_of
from services.language.people.strange_words import is_strange
from services.language.utterance import ChartQuestion
from services.language.words.people_words import of_people
from services.language.words.phrases import parts_in
from services.records.answers.choosing.asked_rows import asked_rows
from services.records.big_charts import make_view
from services.records.resources.ports import PatientRecords
from services.records.views.lines import line_of
from services.records.views.lists import encounters
from services.records.views.needs import need_of_tool
from services.scheduling.clinic import Clinic
from services.scheduling.confirmed_bookings import Request
from services.scheduling.fhir import Appointment
from services.tool_memory.extractors import CLINIC_PREFIX
from services.tool_memory.resolution import NotFound, ids_of
from services.tool_memory.session import ToolMemorySession

# Which of the patient's appointments the user means; where that is not plain, they are asked.

_WHICH = "several may be meant; the user is asked which; say no more"
_UNCLEAR = (
    "it is not clear which of the patient's appointments is meant; use list_appointments first, "
    "then ask the user to name it"
)


def own_appointment(turn: TurnContext, given: str, booked: Sequence[Appointment]) -> Appointment:
    """Return the one of `booked` that is meant; a model's id is a hint, the user's words decide.

    Raises:
        ToolInputError: none is meant, or several may be; then the user is asked which.
    """
    own = {each.appointment_id: each for each in booked}
    hint = own.get(given.removeprefix(CLINIC_PREFIX))
    memory = turn.request.tool_memory
    who = turn.request.identity
    names = {*words_of("" if who is None else who.name)}
    said = [] if memory is None else _meant(memory, hint, names)
    fitting = [own[one] for one in said if one in own]
    if len(fitting) == 1:
        return fitting[0]
    if memory is not None and fitting:
        candidates = [f"{CLINIC_PREFIX}{each.appointment_id}" for each in fitting]
        asked = memory.asked_which("appointment", candidates, agent=turn.agent)
        turn.ask(QuestionAsked("which_entity", *asked))
        raise ToolInputError(_WHICH)
    if hint is None:
        raise ToolInputError(_UNCLEAR)
    return hint


def _meant(
    memory: ToolMemorySession, hint: Appointment | None, names: AbstractSet[str]
) -> list[str]:
    """Return the ids that the user's words, but the patient's `names`, may mean; else none."""
    given = {} if hint is None else {"id": f"{CLINIC_PREFIX}{hint.appointment_id}"}
    names |= of_people("titles_of_men", "titles_of_women", "titles_of_patients")
    named = [one for one in memory.user_text.split() if {*words_of(one)} & names]
    found = memory.resolve("calendar_event", given, without=named, at_clinic=True, asks_first=True)
    if isinstance(found, NotFound):
        return []
    return [one.removeprefix(CLINIC_PREFIX) for one in ids_of(found)]


# What the user typed, as opposed to what a model, a record or a tool said.

_FULL_NAME_WORDS = 2
_YEAR_DIGITS = 4
_ASK = "the user has not typed that {what}; ask them for the full name and the date of birth"


def refuse_untyped(turn: TurnContext, *, name: str, birth_date: date) -> None:
    """Return if the user typed this person's full name and date of birth, for this patient.

    Else whoever writes into a record could have a model ask about anybody.

    Raises:
        ToolInputError: something is missing; the user is to be asked for it.
    """
    said = [frozenset(words_of(text)) for text in _typed(turn)]
    wanted = frozenset(words_of(name))
    if len(wanted) < _FULL_NAME_WORDS or not any(wanted <= words for words in said):
        raise ToolInputError(_ASK.format(what="full name"))
    if not any(_names_day(words, birth_date) for words in said):
        raise ToolInputError(_ASK.format(what="date of birth"))


def _typed(turn: TurnContext) -> Iterator[str]:
    yield turn.request.text
    for earlier in turn.request.history:
        yield earlier.user_message


def _names_day(words: frozenset[str], day: date) -> bool:
    """Tell whether day and year stand there; the month may be a word of any language."""
    numbers = {int(word) for word in words if word.isdecimal() and len(word) <= _YEAR_DIGITS}
    return day.day in numbers and bool({day.year, day.year % 100} & numbers)


SCHEDULING_TOOLS = (
    "available_slots", "list_appointments", "book_appointment", "move_appointment",
    "cancel_appointment", "find_person", "register_person", "insurance_eligibility",
)  # fmt: skip
_NAME_LIMIT_CHARS = 80
_ASKED = (
    "the user is asked to confirm; nothing is done yet; say in one sentence what you propose and "
    "end without a question"
)


AppointmentId: TypeAlias = Annotated[str, Field(max_length=100)]
OnlyThen: TypeAlias = Annotated[
    str, Field(max_length=100, description="A day or week, if only that.")
]
FreeSlot: TypeAlias = Annotated[str, Field(max_length=100, description="An id of available_slots.")]
PersonName: TypeAlias = Annotated[
    str, Field(min_length=2, max_length=100, description="Full name, as the user typed it.")
]
BirthDate: TypeAlias = Annotated[
    date, Field(description="YYYY-MM-DD; the user has to have typed it.")
]


@dataclass(frozen=True, slots=True)
class SchedulingTools:
    """The tools over a clinic's back end.

    Attributes:
        zone: The clinic's, in which "tomorrow" begins.
        records: Whose charts may have visits planned elsewhere; None for none.
    """

    clinic: Clinic
    zone: tzinfo = UTC
    records: PatientRecords | None = None

    def tools(self) -> tuple[Tool, ...]:
        """Return the tools of this file."""
        return (
            Tool(
                "available_slots",
                "Free times of a doctor on a day or in a week; tells what it still has to be told.",
                free_times.TimesArguments,
                self._available_slots,
            ),
            *tools_of(
                self.list_appointments,
                self.book_appointment,
                self.move_appointment,
                self.cancel_appointment,
                self.find_person,
                self.register_person,
                self.insurance_eligibility,
            ),
        )

    async def _available_slots(
        self, turn: TurnContext, asked: free_times.TimesArguments
    ) -> ToolOutput:
        moved = None
        if asked.instead_of:
            if not (booked := await self.clinic.list_booked(turn.patient_id)):
                raise ToolInputError("the patient has no appointment; say so")
            own = own_appointment(turn, asked.instead_of, booked) if booked[1:] else booked[0]
            moved = await self._fitting(turn, own)
        return await free_times.FreeTimes(self.clinic, self.zone).look(turn, asked, moved=moved)

    async def list_appointments(self, turn: TurnContext, day: OnlyThen = "") -> ToolOutput:
        """The patient's appointments, and the visits that the chart has planned."""
        booked = await self.clinic.list_booked(turn.patient_id)
        days = free_times.days_of(day, now=turn.request.now.astimezone(self.zone)) if day else ()
        found = [one for one in booked if not days or one.start.date() in days]
        names = {each.doctor_id: "" for each in found}
        for doctor_id in names:
            names[doctor_id] = await self.clinic.doctor_name(doctor_id)
        rows = [free_times.appointment_row(each, names[each.doctor_id]) for each in found]
        told = {f"Appointment/{one.appointment_id}" for one in booked}
        try:
            planned = {"planned_in_chart": await self._planned(turn, told)}
        except RecordsError as error:  # what is booked here is told all the same
            planned = {"chart_not_read": error.user_message}
        return {"appointments": rows, "on_other_days": len(booked) - len(found), **planned}

    async def _planned(self, turn: TurnContext, told: AbstractSet[str]) -> str:
        """Return a line for each visit that the chart has planned, besides those `told`."""
        if self.records is None:
            return ""
        record = await self.records.load(turn.patient_id, need_of_tool("encounters"))
        now = turn.request.now.isoformat()
        view = await make_view(record, partial(encounters, now=now))
        planned = to_come(ChartQuestion("encounters", name="planned"), turn.request.now.date())
        rows = asked_rows(planned, view).rows
        return "\n".join(line_of(row) for row in rows if told.isdisjoint(row.sources))

    async def book_appointment(
        self,
        turn: TurnContext,
        slot_id: FreeSlot,
        reason: str = Field(default="", max_length=200, description="Why, in the user's words."),
    ) -> ToolOutput:
        """Asks the user to confirm a time; it is booked when they say yes."""
        slot = await self.clinic.bookable(turn.patient_id, slot_id)
        why = " ".join(reason.split())
        name = await self._describe(slot.doctor_id, slot.start)
        request = Request("book_appointment", turn.agent, name, slot_id=slot.slot_id, reason=why)
        return self._ask(turn, request, free_times.slot_row(slot))

    async def move_appointment(
        self, turn: TurnContext, appointment_id: AppointmentId, slot_id: FreeSlot
    ) -> ToolOutput:
        """Asks the user to confirm another time; it is moved when they say yes."""
        old = await self._own(turn, appointment_id)
        slot = await self.clinic.bookable(turn.patient_id, slot_id, instead_of=old.appointment_id)
        before = await self._describe(old.doctor_id, old.start)
        name = f"{before} → {await self._describe(slot.doctor_id, slot.start)}"
        request = Request("move_appointment", turn.agent, name, old.appointment_id, slot.slot_id)
        proposal = {"appointment_id": old.appointment_id, "slot_id": slot.slot_id}
        return self._ask(turn, request, proposal | {"start": free_times.time_text(slot.start)})

    async def cancel_appointment(
        self, turn: TurnContext, appointment_id: AppointmentId
    ) -> ToolOutput:
        """Asks the user to confirm; it is cancelled when they say yes."""
        old = await self._own(turn, appointment_id)
        name = await self._describe(old.doctor_id, old.start)
        request = Request("cancel_appointment", turn.agent, name, old.appointment_id)
        return self._ask(turn, request, {"appointment_id": old.appointment_id})

    def _ask(self, turn: TurnContext, request: Request, proposal: Mapping[str, str]) -> ToolOutput:
        """Open the question that books; nothing is written before its yes."""
        turn.ask(QuestionAsked("destructive_tool", request.question, request.payload()))
        verb = request.action.partition("_")[0]
        wish = turn.text(f"proposed_{verb}", start=proposal.get("start", ""))
        told = turn.text("i_propose", proposed=wish)
        return {"proposal": {"action": request.action, **proposal}, "asked": _ASKED, "told": told}

    async def find_person(
        self, turn: TurnContext, name: PersonName, birth_date: BirthDate
    ) -> ToolOutput:
        """Whether somebody is registered, by full name and birth date of the user's."""
        refuse_untyped(turn, name=name, birth_date=birth_date)
        patient_id = turn.request.patient_id
        known = await self.clinic.find_known(name, birth_date, patient_id=patient_id)
        answer = {"registered": known, "told": turn.text(f"known_{known}")}
        return answer | ({"patient_id_retrieved": patient_id} if known == "this_patient" else {})

    async def register_person(
        self, turn: TurnContext, name: PersonName, birth_date: BirthDate
    ) -> ToolOutput:
        """Asks the user to confirm a person; they are registered when the user says yes."""
        if birth_date > turn.request.now.astimezone(self.zone).date():
            raise ToolInputError("birth_date lies in the future")
        person = " ".join(name.split())
        shown = f"{_quoted(person)}, born {birth_date:%-d %b %Y}"
        fields = {"person": person, "birth_date": birth_date.isoformat()}
        return self._ask(turn, Request("register_person", turn.agent, shown, **fields), fields)

    async def insurance_eligibility(self, turn: TurnContext) -> ToolOutput:
        """Whether the patient's insurance covers today."""
        found = await self.clinic.coverage(
            turn.patient_id, today=turn.request.now.astimezone(self.zone).date()
        )
        if found is None:
            return {"eligible": False, "coverage": "none on file"}
        ends = found.ends.isoformat() if found.ends else "open"
        return {"eligible": found.is_active, "coverage": f"{found.payor}, until {ends}"}

    async def _describe(self, doctor_id: str, start: datetime) -> str:
        """Return an appointment as a question names it: *Dr. Anna Smith*, Mon 23 Nov 2026 16:00."""
        name = await self.clinic.doctor_name(doctor_id)
        return f"{_quoted(name)}, {start:%a %-d %b %Y %H:%M}"

    async def _own(self, turn: TurnContext, appointment_id: str) -> Appointment:
        booked = await self.clinic.list_booked(turn.patient_id)
        return await self._fitting(turn, own_appointment(turn, appointment_id, booked))

    async def _fitting(self, turn: TurnContext, own: Appointment) -> Appointment:
        """Return `own`, but not for "the smith one" where it is another doctor's."""
        named = words_of((parts_in(turn.request.text, "of_whose") or {}).get("who", ""))
        doctor = words_of(await self.clinic.doctor_name(own.doctor_id))
        if any(is_strange(one) and one not in doctor for one in named):
            raise ToolInputError(_UNCLEAR)
        return own


def _quoted(name: str) -> str:
    """Return a name as a question shows it, without marks of its own."""
    return f"*{name.replace('*', '').replace('`', '')[:_NAME_LIMIT_CHARS]}*"
