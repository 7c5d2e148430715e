"""Answers the open question of a clinic's agent: books, moves, cancels or registers after a yes."""

from contextlib import suppress
from typing import Any

from data_models.chat_context import Continuation
from data_models.conversations.conversation import OpenQuestion
from data_models.errors import ToolInputError, UnknownAgentError
from services.entities.session import Derives
from services.language.replies.yes_no import says_yes
from services.language.words.phrases import says
from services.scheduling.clinic import Clinic
from services.scheduling.confirmed_bookings import YES_WORDS, Done, Request, perform, request_of
from services.tool_memory.extractors import CLINIC_PREFIX
from services.tool_memory.session import FinishedRun
from services.turn.phases import GroundedTurn, LoadedTurn, QuestionOutcome
from services.turn.turn_step import TurnStep

PROPOSAL = "appointment_proposal"
_WISHES = (
    "doctor_preference",
    "date_preference",
    "time_preference",
    "procedure_preference",
    "reason_visit",
    "urgency_preference",
)
"""What the user wanted of an appointment: once it stands, the next one may want something else."""
_ANOTHER = " Which other time suits?"
_SORRY = "That could not be done: {problem}." + _ANOTHER
_DECLINED = {"agreed": False}
GO_ON = " Say “continue” to go on with the plan."


class TurnBookings(TurnStep):
    """Carries out what the clinic's agents asked about. Holds no state of any turn."""

    async def answer(
        self, turn: LoadedTurn, question: OpenQuestion, *, is_no: bool
    ) -> QuestionOutcome | None:
        """Return what came of it if this message says yes or no to it, else None."""
        clinic, request = self.tools.clinic, request_of(question.payload)
        if clinic is None or request is None:
            return None
        agrees = says_yes(turn.answer, also=YES_WORDS[request.action])
        agrees |= says(turn.answer, f"agrees_{request.action.partition('_')[0]}")
        if not agrees and not is_no:
            return None
        if question.patient_id != turn.active_patient_id:
            return None
        grounded = await self.documents.open(turn.stay(), question.patient_id)
        if not agrees:
            self._settle(grounded, request, [PROPOSAL])
            text = request.declined + _wait_for_other_time(grounded, request)
            return QuestionOutcome(grounded, text, _DECLINED)
        await self.documents.access.record(turn, question.patient_id, action=request.action)
        return await self._carry_out(grounded, request, clinic)

    async def _carry_out(
        self, turn: GroundedTurn, request: Request, clinic: Clinic
    ) -> QuestionOutcome:
        began, patient_id = self.clock.monotonic(), turn.patient_id
        if patient_id is None:
            return QuestionOutcome(turn, request.declined, _DECLINED)
        await turn.claim.hold()  # one that slept through its claim does nothing
        try:
            done = await perform(clinic, request, patient_id=patient_id)
        except ToolInputError as failure:
            self._record(turn, request, None, str(failure), began)
            text = _SORRY.format(problem=str(failure).partition(";")[0])
            return QuestionOutcome(turn, text, _DECLINED)
        self._record(turn, request, done, None, began)
        self._note(turn, request, done)
        text = done.text + (GO_ON if finish_step(turn) else "")
        result = {"agreed": True, done.key: done.value, **done.appointment}
        return QuestionOutcome(turn, text, result)

    def _record(
        self,
        turn: GroundedTurn,
        request: Request,
        done: Done | None,
        error: str | None,
        began: float,
    ) -> None:
        run = FinishedRun(
            tool=request.action,
            agent=request.agent,
            parameters={name: value for name, value in request.details().items() if value},
            data=None if done is None else _result(done),
            error=error,
            duration_ms=(self.clock.monotonic() - began) * 1_000,
        )
        memory = self.tools.open(turn)
        memory.record(run)
        if done is not None and request.action == "cancel_appointment":
            memory.store.mark_deleted(f"{CLINIC_PREFIX}{done.value}")

    def _note(self, turn: GroundedTurn, request: Request, done: Done) -> None:
        """Let the agent that asked know the appointment or person; its proposal is settled."""
        entities = self.tools.entities.open(turn)
        is_gone = request.action == "cancel_appointment"
        is_met = request.action in ("book_appointment", "move_appointment")
        over = ["appointment_id"] if is_gone else _WISHES if is_met else []
        self._settle(turn, request, [PROPOSAL, *over])
        with suppress(UnknownAgentError):  # the team lost the agent since it asked
            if not is_gone:
                entities.store_tool_result(
                    request.agent,
                    request.action,
                    {},
                    {done.key: done.value},
                    derives=(Derives(done.key, (done.key,)),),
                )

    def _settle(self, turn: GroundedTurn, request: Request, keys: list[str]) -> None:
        """Let the agent that asked forget what is over: a later yes is none to that."""
        entities = self.tools.entities.open(turn)
        with suppress(UnknownAgentError):
            entities.replied({"entities_to_remove": keys}, agent_name=request.agent)


def _result(done: Done) -> dict[str, Any]:
    return {"result": done.text} | ({"appointment": done.appointment} if done.appointment else {})


def _wait_for_other_time(turn: GroundedTurn, request: Request) -> str:
    """Let the agent hear another time after a no to one; "" where the user drops it all."""
    waited = turn.continuation
    step = None if waited is None else waited.plan_step
    if request.slot_id and not says(turn.answer, "lets_it_be", "drops_form"):
        waited = Continuation(agent=request.agent, plan_step=step, asked_at=turn.now)
        turn.wait_for(waited)
        return _ANOTHER
    if step is None and waited is not None:
        turn.document.continuation = None
    return ""


def finish_step(turn: GroundedTurn) -> bool:
    """End the wait for this answer, and the plan's step that waited; True if the plan goes on."""
    document = turn.document
    if (waited := turn.continuation) is not None:
        document.continuation = None
    plan = document.plan
    if waited is None or waited.plan_step is None or plan is None or plan.status != "running":
        return False
    plan = plan.with_step(waited.plan_step, "done", now=turn.now)
    is_over = plan.next_step() is None
    document.plan = plan.with_status("done", now=turn.now) if is_over else plan
    return not is_over
