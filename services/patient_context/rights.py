"""What a user may see and open of a conversation's patients, and what is said of a closed chart."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Final

from data_models.conversations.conversation import OpenQuestion
from data_models.errors import ChartSignInError, RateLimitedError
from data_models.identifiers import PatientId
from services.audit.trail import Visitor
from services.chart_access.break_glass import COMMAND, REASON_LEAST_CHARS, Grant, reason_in
from services.chart_access.chart_guard import Access, ChartGuard
from services.identity.linking import Linked
from services.identity.names.person import Person
from services.language.figures.full_dates import full_dates
from services.language.people.record_numbers import number_tokens
from services.patient_context.answers import ASKED
from services.patient_context.patient_turn import PatientTurn
from services.patient_context.verdict import PatientVerdict

CLOSED = "closed"
"""Payload key: whose chart a reason opens."""
KIND: Final = "break_glass"
_HOW_TO_BREAK_GLASS = (
    f"In an emergency, open it with `{COMMAND}` and the reason. The reason is kept with the "
    "conversation, the operators are told at once, and it is reviewed."
)

_IS_GONE = "The chart that you had open here is not open to you any more."


@dataclass(frozen=True, slots=True)
class ChartRights:
    """Asks `guard` for the sender of a message. Holds no state of any turn."""

    guard: ChartGuard

    async def may_see(self, user: str, patient_id: PatientId | None) -> bool:
        """Whether nobody is open, or the open chart is open to the user too."""
        return patient_id is None or await self.guard.may_open(user, patient_id)

    async def open_to(self, user: str, people: Sequence[Person]) -> list[Person]:
        """Return those who may be offered to the user; who has no chart here opens none."""
        return [one for one in people if await self.may_see(user, one.patient_id)]

    async def check(
        self, verdict: PatientVerdict, turn: PatientTurn, *, closed: Collection[PatientId] = ()
    ) -> PatientVerdict:
        """Return the verdict, or a refusal where its chart is not open to the user.

        Args:
            closed: Of the conversation's charts those that are not.
        """
        patient_id = verdict.patient_id
        if turn.reading.active is None and turn.seen in closed:
            verdict = _with_closed_told(verdict)
        if patient_id is None or verdict.decision in ("CLEAR", "NEEDS_PATIENT_ID"):
            return verdict
        access = await self.guard.access(turn.user, patient_id)
        if access.is_open:
            if patient_id != turn.registry.active_patient_id:
                try:
                    self.guard.count_opening(turn.user)
                except RateLimitedError as error:
                    return turn.saying(error.user_message)
            if access.until is None or "emergency" in verdict.notice:
                return verdict
            said = f"Emergency access until {access.until:%H:%M} UTC; it is reviewed."
            return replace(verdict, notice=" ".join(filter(None, (said, verdict.notice))))
        await self.guard.refuse(_visitor(turn), patient_id)
        return refused(verdict, access, turn)

    async def closed_beside(self, linked: Linked, turn: PatientTurn) -> list[Person]:
        """Return who is meant of those whose charts are closed and whom nothing names for sure.

        It is on record where the message is plainly about one.
        """
        subject, named = linked.subject, {*turn.reading.named}
        people = [one for one in subject.people if not _is_named_beyond_doubt(one, linked)]
        people = [one for one in people if one.patient_id not in named]
        open_to = await self.open_to(turn.user, people)
        closed = [one for one in people if one not in open_to]
        for one in closed if subject.outcome == "other" else ():
            if one.patient_id is not None:
                await self.guard.refuse(_visitor(turn), one.patient_id)
        return closed

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
        if len(reason) < REASON_LEAST_CHARS or len(reason.split()) < 2:
            patient_id = closed_chart(question)
            text = (
                f"Please give the reason in a few words, {REASON_LEAST_CHARS} characters at least: "
                f"`{COMMAND} …`. Nothing was opened."
            )
            asked = str(question.payload.get(ASKED, ""))
            again = None if patient_id is None else _question(patient_id, text, turn, asked=asked)
            return turn.saying(text, again)
        visitor = Visitor(turn.user, turn.registry.conversation_id)
        return await self.guard.break_glass(visitor, closed, reason=reason)


def _visitor(turn: PatientTurn) -> Visitor:
    return Visitor(turn.user, turn.registry.conversation_id, turn.run_id)


def _is_named_beyond_doubt(person: Person, linked: Linked) -> bool:
    """Whether the text holds a number of theirs, or the birth date beside the whole name."""
    message, people = linked.message, linked.index
    dates = full_dates(message.text)
    holders = (
        people.survivor(hit.person) or hit.person
        for token in number_tokens(message, dates)
        for hit in people.with_number(token)
        if not hit.is_retired
    )
    if any(one.same_as(person) for one in holders):
        return True
    hits = (hit for word in message.words for hit in people.exactly(word.text))
    parts = {hit.part for hit in hits if hit.person.same_as(person) and not hit.is_former}
    is_whole = parts.issuperset(("family", "given"))
    return is_whole and any(person.is_born_on(one.readings) for one in dates)


def refused(verdict: PatientVerdict, access: Access, turn: PatientTurn) -> PatientVerdict:
    """Return the refusal of the chart that `verdict` would open: it was named beyond doubt."""
    if (patient_id := verdict.patient_id) is None:
        return verdict
    text = _refusal(patient_id, access)
    question = None
    if access.may_break_glass:
        text = f"{text} {_HOW_TO_BREAK_GLASS}"
        asked = turn.reading.text if verdict.reply is None else ""
        question = _question(patient_id, text, turn, asked=asked)
    return turn.saying(text, question)


def opened_in_emergency(verdict: PatientVerdict, grant: Grant) -> PatientVerdict:
    """Return the verdict that opens the chart, and says how and until when."""
    said = (
        f"Opened in an emergency until {grant.expires_at:%H:%M} UTC. Reason: “{grant.reason}” "
        "The operators are told and review it."
    )
    reply = None if verdict.reply is None else f"{said} {verdict.reply}"
    notice = " ".join(filter(None, (said, verdict.notice)))
    return replace(verdict, reply=reply, notice=notice)


def _with_closed_told(verdict: PatientVerdict) -> PatientVerdict:
    """Return the verdict that also says why the chart is gone that the user had open."""
    if verdict.registry is not None:
        return verdict
    if verdict.reply is None:
        return replace(verdict, notice=" ".join(filter(None, (_IS_GONE, verdict.notice))))
    return replace(verdict, reply=f"{_IS_GONE} {verdict.reply}")


def closed_chart(question: OpenQuestion) -> PatientId | None:
    """Return whose chart the question would open, None for other questions."""
    chart = question.payload.get(CLOSED)
    return PatientId(chart) if question.kind == KIND and isinstance(chart, str) else None


def closed_to_you(patient_id: PatientId) -> str:
    """Return the refusal of a chart by its id."""
    return f"The chart `{patient_id}` is not open to you; nothing was opened or answered."


def _refusal(patient_id: PatientId, access: Access) -> str:
    if access.state == "unknown":
        return (
            f"Whether the chart `{patient_id}` is open to you cannot be checked just now, so "
            "nothing was opened or answered. Please try again in a moment."
        )
    if access.state == "unsigned":
        return f"{ChartSignInError.user_message} Nothing of `{patient_id}` was opened or answered."
    return closed_to_you(patient_id)


def _question(patient_id: PatientId, text: str, turn: PatientTurn, *, asked: str) -> OpenQuestion:
    payload = {CLOSED: patient_id, **({ASKED: asked} if asked else {})}
    return turn.ask(KIND, text, payload)
