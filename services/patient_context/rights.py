"""What a user may see and open of a conversation's patients: the guard of charts, in a talk."""

from collections.abc import Sequence
from dataclasses import replace

from data_models.clock import IdSource
from data_models.conversations.conversation import OpenQuestion
from data_models.errors import RateLimitedError
from data_models.identifiers import PatientId
from services.audit.entry import Visitor
from services.chart_access.break_glass import Grant, is_reason, reason_in
from services.chart_access.chart_guard import ChartGuard
from services.identity.names.person import Person
from services.language.figures.full_dates import full_dates
from services.language.people.mentions import read_words
from services.language.people.record_numbers import number_tokens
from services.patient_context.closed import in_emergency, reason_needed, refused
from services.patient_context.conclusion import PatientTurn, verdict_saying
from services.patient_context.verdict import PatientVerdict


class ChartRights:
    """Asks `guard` for the sender of a message. Holds no state of any turn."""

    def __init__(self, *, guard: ChartGuard, ids: IdSource) -> None:
        self._guard = guard
        self._ids = ids

    async def may_see(self, user: str, patient_id: PatientId | None) -> bool:
        """Whether nobody is open, or the open chart is open to the user too."""
        return patient_id is None or await self._guard.may_open(user, patient_id)

    async def may_see_all(self, user: str, patients: Sequence[PatientId]) -> bool:
        """Whether every chart of `patients` is open to the user."""
        return all([await self._guard.may_open(user, one) for one in patients])

    async def open_to(self, user: str, people: Sequence[Person]) -> list[Person]:
        """Return those who may be offered to the user; who has no chart here opens none."""
        return [one for one in people if await self.may_see(user, one.patient_id)]

    async def check(self, verdict: PatientVerdict, turn: PatientTurn) -> PatientVerdict:
        """Return the verdict, or a refusal where its chart is not open to the user."""
        patient_id = verdict.patient_id
        if verdict.decision == "NEEDS_PATIENT_ID":
            hides = not await self.may_see(turn.user, turn.registry.active_patient_id)
            return replace(verdict, hides_active=hides)
        if patient_id is None or verdict.decision == "CLEAR":
            return verdict
        access = await self._guard.access(turn.user, patient_id)
        if access.is_open:
            if patient_id != turn.registry.active_patient_id:
                try:
                    self._guard.count_opening(turn.user)
                except RateLimitedError as error:
                    return verdict_saying(error.user_message, turn)
            return in_emergency(verdict, access)
        visitor = Visitor(turn.user, turn.registry.conversation_id, turn.run_id)
        await self._guard.refuse(visitor, patient_id)
        may_name = patient_id in (*turn.reading.named, turn.reading.active)
        may_name = may_name or _is_named_beyond_doubt(verdict, turn)
        return refused(verdict, access, turn, ids=self._ids, may_name=may_name)

    async def break_glass(
        self, closed: PatientId, turn: PatientTurn, question: OpenQuestion
    ) -> Grant | PatientVerdict | None:
        """Open a closed chart for who gave a reason, or ask for one; None: another message.

        Raises:
            ChartClosedError: no reason opens it.
            StoreError: the grant could not be kept or put on record; the chart stays closed.
        """
        if (reason := reason_in(turn.reading.text)) is None:
            return None
        if not is_reason(reason):
            return reason_needed(question, turn, ids=self._ids)
        visitor = Visitor(turn.user, turn.registry.conversation_id)
        return await self._guard.break_glass(visitor, closed, reason=reason)


def _is_named_beyond_doubt(verdict: PatientVerdict, turn: PatientTurn) -> bool:
    """Whether the text holds a number of theirs, or the birth date beside the name."""
    person, people = verdict.person, verdict.people
    if person is None or people is None:
        return False
    dates = full_dates(turn.reading.text)
    holders = (
        people.survivor(hit.person) or hit.person
        for token in number_tokens(read_words(turn.reading.text), dates)
        for hit in people.with_number(token)
    )
    is_numbered = any(one.same_as(person) for one in holders)
    return is_numbered or any(person.is_born_on(one.readings) for one in dates)
