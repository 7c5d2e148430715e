"""What the user confirmed is done: in the clinic, and to their own things; "undo" takes it back."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import tzinfo
from zoneinfo import ZoneInfo

from data_models.chat_context import Continuation
from data_models.conversations.conversation import OpenQuestion
from data_models.errors import StoreUnavailableError, ToolInputError, UnknownAgentError
from services.assistant import undo_log
from services.assistant.back_end import AssistantServices, is_for_another
from services.assistant.undo_log import spoken
from services.entities.session import Derives
from services.language.replies.yes_no import says_yes
from services.language.words.phrases import says
from services.orders.draft_order import ORDER_MADE
from services.scheduling.clinic import Clinic
from services.scheduling.confirmed_bookings import YES_WORDS, Done, Request, perform, request_of
from services.tool_memory.extractors import CLINIC_PREFIX
from services.tool_memory.session import FinishedRun, ToolMemorySession
from services.turn.phases import GroundedTurn, LoadedTurn, QuestionOutcome
from services.turn.turn_step import TurnStep

PROPOSAL = "appointment_proposal"
_PREFERRED = ("doctor", "date", "time", "procedure", "urgency")
_WISHES = (*(f"{one}_preference" for one in _PREFERRED), "reason_visit")
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
        made = {"appointment": done.appointment} if done and done.appointment else {}
        run = FinishedRun(
            tool=request.action,
            agent=request.agent,
            parameters={name: value for name, value in request.details().items() if value},
            data=None if done is None else {"result": done.text, **made},
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


_UNDOES: Mapping[undo_log.Undoable, tuple[str, str]] = {
    "create_event": ("Cancel {}?", "Cancelled"),
    "add_task": ("Delete {}?", "Deleted"),
    "move_event": ("Move {} back?", "Moved back"),
    "complete_task": ("Open {} again?", "Open again"),
    "move_task": ("Move {} back?", "Moved back"),
    "add_contact": ("Delete {}?", "Deleted"),
    "change_contact": ("Change {} back?", "Changed back"),
}
"""By what was done: what a question asks, and what is told afterwards."""
UNDO = "undo"
EARLIER = "That would take back an earlier change of yours."
WAITS = "Nothing was undone: what you were asked before waits for your answer; “no” drops it."
STAYS = (
    "Nothing was undone. What was done last is not taken back by “undo”: an appointment can be "
    "moved, cancelled or booked again; what was sent, registered or deleted stays so."
)
WHICH = " Say in one sentence what to do with which one, such as: cancel the second event."
_CONFIRMED = frozenset({*YES_WORDS, *undo_log.ACTION_WORDS, ORDER_MADE})
_NOT_UNDONE = "It was changed again since, or is gone. Nothing was undone."
_ELSEWHERE = (
    "Your newest change was made while another chart was open. Nothing was undone; say “undo” with "
    "that chart open."
)


class TurnActions(TurnStep):
    """Does what a question of kind `destructive_tool` asked about. Holds no state of any turn."""

    async def carry_out(self, turn: GroundedTurn, question: OpenQuestion) -> str:
        """Do what was asked about, and return what the user is told."""
        if question.payload.get("action") == UNDO:
            # Whatever else was done since, what was asked about is taken back.
            action = await self.newest_action(turn, deed=str(question.payload.get("deed")))
            return _NOT_UNDONE if action is None else await self._take_back(turn, action)
        memory, began, error = self.tools.open(turn), self.clock.monotonic(), None
        try:
            text = await self._perform_all(turn, question, memory)
        except (ToolInputError, StoreUnavailableError) as failure:
            text, error = failure.user_message, str(failure)
        memory.record(
            FinishedRun(
                tool=str(question.payload.get("action", "")),
                agent=str(question.payload.get("agent", "")),
                parameters={"id": question.payload.get("entity_id")},
                data={"result": text},
                error=error,
                duration_ms=(self.clock.monotonic() - began) * 1_000,
            )
        )
        return text

    async def newest_action(
        self, turn: GroundedTurn, *, deed: str = ""
    ) -> undo_log.UndoableAction | None:
        """Return the newest change of the user's own items that "undo" takes back, or that `deed`.

        None in a group, where others read along.
        """
        if turn.message.is_group:
            return None
        try:
            principal = turn.message.sender.principal_id
            newest = await self.tools.assistant.undo_log.newest(principal, now=turn.now, deed=deed)
        except StoreUnavailableError:
            return None  # what cannot be looked up is undone by nobody
        if newest is None or newest.conversation == turn.conversation_id:
            return newest
        # What was done of somebody else in another window is not what is meant here.
        return None if _is_of_another(turn, newest) else newest

    def has_just_done_what_stays(
        self, turn: GroundedTurn, newest: undo_log.UndoableAction | None
    ) -> bool:
        """Whether the turn before did what no "undo" takes back; nothing earlier is meant then."""
        if newest is not None and turn.is_of_turn_before(newest.at):
            return False
        return any(
            one.success and one.tool_name in _CONFIRMED and turn.is_of_turn_before(one.timestamp)
            for one in turn.document.tool_memory.executions[-1:]
        )

    async def undo(self, turn: GroundedTurn, action: undo_log.UndoableAction) -> None:
        """Take `action` back, or ask first: at once only what the turn before did goes."""
        is_last = action.conversation == turn.conversation_id and turn.is_of_turn_before(action.at)
        if _is_of_another(turn, action):
            self.replies.say(turn, _ELSEWHERE)  # it could not be named here
        elif is_last:
            self.replies.say(turn, await self._take_back(turn, action))
        elif turn.record.question is not None:
            self.replies.say(turn, WAITS)
        else:
            await self._ask(turn, action)

    async def _ask(self, turn: GroundedTurn, action: undo_log.UndoableAction) -> None:
        try:
            item = await undo_log.item_of(action, self._own_services(turn))
            name = "" if item is None else await self._named(turn, item)
        except (ToolInputError, StoreUnavailableError) as failure:
            return self.replies.say(turn, failure.user_message)
        if item is None:  # it is gone, and its deed forgotten with that
            return self.replies.say(turn, await self._take_back(turn, action))
        self.replies.ask(
            turn,
            "destructive_tool",
            f"{EARLIER} {_UNDOES[action.tool][0].format(name)} yes / no",
            patient_id=turn.patient_id,
            payload={"action": UNDO, "deed": str(action.at), "entity_id": item.id, "name": name},
        )
        return None

    async def _take_back(self, turn: GroundedTurn, action: undo_log.UndoableAction) -> str:
        principal = turn.message.sender.principal_id
        await turn.claim.hold()
        try:
            item = await undo_log.undo_action(action, self._own_services(turn))
            await self.tools.assistant.undo_log.forget(action, principal_id=principal)
            name = "" if item is None else await self._named(turn, item)
        except (ToolInputError, StoreUnavailableError) as failure:
            return failure.user_message
        if item is None:
            return _NOT_UNDONE
        return f"{_UNDOES[action.tool][1]}: {name}."

    async def _named(self, turn: GroundedTurn, item: undo_log.OwnItem) -> str:
        """Return what an item is called; of one made for another patient no more than its time."""
        principal = turn.message.sender.principal_id
        origins = await self.tools.assistant.made_for.origins(principal)
        is_private = is_for_another(origins.get(item.id), turn.patient_id)
        return spoken(item, self._zone(turn), now=turn.now, is_private=is_private)

    def _own_services(self, turn: GroundedTurn) -> AssistantServices:
        principal = turn.message.sender.principal_id
        return self.tools.assistant.back_end.of(principal, zone=self._zone(turn))

    def _zone(self, turn: GroundedTurn) -> tzinfo:
        return self.tools.open(turn).zone or ZoneInfo("UTC")

    async def _perform_all(
        self, turn: GroundedTurn, question: OpenQuestion, memory: ToolMemorySession
    ) -> str:
        action = undo_log.action_of(question.payload.get("action"))
        done, gone = list[str](), list[str]()
        for item_id, name in undo_log.items_of(question.payload):
            await turn.claim.hold()  # one that slept through its claim does nothing
            try:
                was_there = await undo_log.carry_out(self._own_services(turn), action, item_id)
            except (ToolInputError, StoreUnavailableError) as failure:
                if not done:
                    raise
                outcome = _outcome_in_words(action, done, gone)
                return f"{outcome} *Not* done: {name}. {failure.user_message}"
            if undo_log.ACTION_WORDS[action].removes:
                memory.store.mark_deleted(item_id)
            (done if was_there else gone).append(name)
        return _outcome_in_words(action, done, gone)


def _is_of_another(turn: GroundedTurn, action: undo_log.UndoableAction) -> bool:
    return action.patient not in ("", undo_log.patient_name(turn.patient_id))


def refused(question: OpenQuestion) -> str:
    """Return what the user is told after a no."""
    names = [name for _, name in undo_log.items_of(question.payload)]
    if len(names) == 1:
        return f"Nothing was changed: {names[0]} stays as it is."
    return f"Nothing was changed: {'; '.join(names)} stay as they are."


def _outcome_in_words(action: undo_log.Action, done: Sequence[str], gone: Sequence[str]) -> str:
    parts = [f"{undo_log.ACTION_WORDS[action].done}: {'; '.join(done)}."] if done else []
    return " ".join([*parts, *(f"{name} was no longer there." for name in gone)])
