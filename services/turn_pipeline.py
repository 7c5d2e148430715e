"""The one path of a message, from claimed to stored, whatever channel it came from.

    claim ─ load ─ call for help? ─ clear? ─ yes or no to us? ─ decide patient ─ swap in patient
          ─ reconcile scenario ─ enrich ─ ground ─ group chat ─ write back

Read `_take`, then `_answer`. `services/turn_scheduler/` claims before and releases after;
transports show the events. What a step does stands in the file of `services/turn` named after it.
"""

import asyncio
from functools import partial

from data_models.chat_context import ChatContext
from data_models.clock import Clock, IdSource
from data_models.conversations import turn_events
from data_models.conversations.claim import Claim
from data_models.errors import CorruptDocumentError
from services.conversations.clearing import Clearing
from services.group_chat_port import ActionFinished, GroupChat, GroupChatEvent, GroupChatRequest
from services.language.replies.commands import is_clear_command
from services.language.words.own_texts import in_own_language
from services.language.words.phrases import says
from services.patient_context.service import PatientContextService
from services.records.fhir.reading import reading_as
from services.runs.hub import Run
from services.scenarios.session.progress import ToolAction, ToolRan
from services.telemetry.metrics import Metrics
from services.turn import phases
from services.turn.answers.clearing import TurnClearing
from services.turn.answers.comparing import TurnComparing
from services.turn.answers.groups import TurnGroups
from services.turn.answers.pending_requests import PendingRequests
from services.turn.answers.questions import TurnQuestions, order_instead
from services.turn.answers.safety import CrisisResponse, SafetyAnswers, TurnSafety
from services.turn.documents import TurnDocuments
from services.turn.end import TurnMeter, metered, note_repeatable, wait_for_end
from services.turn.reading import spoken_in
from services.turn.request import (
    DocumentChange,
    TurnRequests,
    ask_again,
    change_document,
    is_stored_at_once,
)
from services.turn.scenarios.migration import is_plain_answer
from services.turn.scenarios.scenario_news import tell_switch
from services.turn.scenarios.scenarios import TurnScenarios
from services.turn.tools import TurnTools, presses_entity
from services.turn.turn_step import TurnReplies, TurnStep

_GRACE_SECONDS = 5.0
"""The team ends by itself at its deadline; a turn that has not by then is cut off."""


class TurnPipeline:
    """Runs turns. Holds collaborators and no state of any turn, so turns may run side by side."""

    def __init__(
        self,
        *,
        documents: TurnDocuments,
        patients: PatientContextService,
        clearing: Clearing,
        group_chat: GroupChat,
        metrics: Metrics,
        clock: Clock,
        ids: IdSource,
        turn_seconds: float,
        tools: TurnTools,
        safety: SafetyAnswers,
    ) -> None:
        self._documents = documents
        self._patients = patients
        self._group_chat = group_chat
        self._metrics = metrics
        self._clock = clock
        self._ids = ids
        self._turn_seconds = turn_seconds
        self._tools = tools
        self.crisis_response = CrisisResponse(
            answers=safety, facilitator=group_chat.facilitator, clock=clock, ids=ids
        )
        self._replies = TurnReplies(group_chat=group_chat, clock=clock, ids=ids)
        step = TurnStep(
            documents=documents,
            patients=patients,
            group_chat=group_chat,
            tools=tools,
            replies=self._replies,
            clock=clock,
        )
        self._questions = TurnQuestions.beside(step)
        self._stops = self._questions.stops
        self._safety = TurnSafety.beside(step, answers=safety)
        self._scenarios, self._groups = TurnScenarios.beside(step), TurnGroups.beside(step)
        self._held = PendingRequests.beside(step)
        self._requests = TurnRequests.beside(step, turn_seconds=turn_seconds)
        self._clearing = TurnClearing.beside(step, clearing=clearing)
        self._comparing = TurnComparing.beside(step, requests=self._requests)

    async def run(self, claim: Claim, run: Run) -> phases.StoredTurn:
        """Answer the claimed message and store the turn; the last event is out when this returns.

        Raises:
            StoreError: the turn could not be stored. The claim still names the message, so
                whoever comes next takes the turn over and nothing that was said is lost.
        """
        now, started = self._clock.now(), self._clock.monotonic()
        turn = phases.ClaimedTurn(claim=claim, run=run, now=now, started=started, ids=self._ids)
        reading = reading_as(claim.message.sender.principal_id)
        with metered() as meter, self._metrics.running_turn(), reading:
            run.emit(turn_events.RunStarted(run.run_id, run.conversation_id))
            work = asyncio.create_task(self._take(turn))
            async with claim.renewing(on_lost=work.cancel):
                seconds = self._turn_seconds + _GRACE_SECONDS
                failure = await wait_for_end(turn, work, seconds=seconds)
                answered = phases.AnsweredTurn(turn.record.last_reached() or turn, failure)
                return await self._write_back(answered, meter)

    async def _take(self, claimed: phases.ClaimedTurn) -> None:
        with claimed.step("load"):
            async with self._safety.answer_at_least(claimed):
                await self._clearing.clearing.finish(claimed.claim)
                turn = await self._documents.load(claimed)
                self._replies.tell_interruption(turn)
        if await self._safety.answer_call_for_help(turn):
            return None
        if turn.message.press is None and is_clear_command(turn.text):
            return await self._clear(turn)
        if await self._stops.answer_wrong_patient(turn) or await self._clearing.answer_undo(turn):
            return self._held.tell_dropped(turn)
        if (outcome := await self._questions.answer_open_question(turn)) is not None:
            return await self._say_outcome(outcome)
        if await self._stops.answer_order(turn) or await self._comparing.answer(turn):
            return self._held.tell_dropped(turn)
        with turn.step("decide"):
            understood = (await self._decide(turn)).apart()
        if await self._stops.answer_said_of_another(understood):
            return self._held.tell_dropped(understood)
        if understood.verdict.decision == "CLEAR":
            return await self._clear(turn)
        is_unclear = understood.verdict.decision == "NEEDS_PATIENT_ID"
        return await (self._ask(understood) if is_unclear else self._answer(understood))

    async def _say_outcome(self, outcome: phases.QuestionOutcome) -> None:
        """Say what became of a question; a scenario whose step asked it goes on at once."""
        turn = outcome.turn
        self._replies.answer(turn, outcome.text)
        if await self._scenarios.go_on(outcome, partial(self._act, turn)):
            await self._chat(turn, self._requests.make(turn))

    async def _answer(self, understood: phases.UnderstoodTurn) -> None:
        with understood.step("restore"):
            turn = await self._swap_in(understood)
        if turn is None:
            return None
        if turn.verdict.reply is not None:
            self._replies.say(turn, turn.verdict.reply)
            return self._replies.say_question(turn) if turn.verdict.question is None else None
        await self._answer_request(turn)
        while (following := self._held.following(turn)) is not None:
            turn = following
            await self._answer_request(turn)
        return self._held.tell_dropped_of_nobody(turn)

    async def _answer_request(self, turn: phases.GroundedTurn) -> None:
        if await self._questions.answer_of_memory(turn) or await self._clearing.ask_late(turn):
            if turn.record.question is None:
                ask_again(turn)
                self._replies.say_question(turn)
            return None
        if self._stops.answer_nothing_waits(turn):
            return None
        if await self._scenarios.run_scenario(turn, partial(self._act, turn)):
            return None
        with turn.step("enrich"):
            await self._documents.memory.read(turn)
        with turn.step("ground"):
            request = self._requests.make(turn)
        turn.record.answer_by_team()
        with turn.step("chat"):
            return await self._chat(turn, request)

    async def _clear(self, turn: phases.LoadedTurn) -> None:
        if await self._groups.asks_before_clear(turn):
            return
        with turn.step("save"):
            cleared, reply = await self._clearing.clear(turn)
        self._replies.answer(cleared, self._groups.wording_of_clear(turn, reply))

    async def _decide(self, turn: phases.LoadedTurn) -> phases.UnderstoodTurn:
        registry = turn.registry
        is_button = turn.is_press_elsewhere or presses_entity(turn)
        if is_button or await self._only_answers(turn) or self._only_forgets(turn):
            # A plan's or an item's button says nothing of patients, whatever its text reads.
            return turn.stay()
        # Where this replica has not served the conversation before, what is active was restored.
        known = registry.active_patient_id if turn.claim.was_known else None
        context = ChatContext(conversation_id=turn.conversation_id, patient_id=known)
        verdict, timing = await self._patients.decide_and_apply(
            turn.text,
            context,
            registry=registry,
            question=turn.open_question(),
            user=turn.message.sender.principal_id,
            run_id=turn.run.run_id,
            press=turn.question_press(),
            registry_ms=turn.registry_ms,
            seen=turn.message.seen_patient_id,
            closed=turn.closed,
        )
        if turn.had_switched:
            verdict = verdict.made_before(registry.active_patient_id)
        verdict = self._held.carry_on(turn, await self._held.with_same(turn, verdict))
        if (order := order_instead(turn)) is not None:
            verdict = self._held.instead(turn, verdict, order)
        turn.record.ask(verdict.question)
        return turn.understand(verdict, timing)

    async def _only_answers(self, turn: phases.LoadedTurn) -> bool:
        """Whether the message answers a scenario's question and names nobody else for sure."""
        if not is_plain_answer(turn):
            return False
        return not await self._patients.names_another(turn.text, turn.registry)

    def _only_forgets(self, turn: phases.LoadedTurn) -> bool:
        """Whether the message wants a statement about the open patient forgotten, and no clear."""
        registry = turn.registry
        if registry.active_patient_id is None or not self._questions.forgetting.is_meant(turn):
            return False
        return self._patients.may_be_theirs(turn.text, registry=registry)

    async def _ask(self, understood: phases.UnderstoodTurn) -> None:
        """Ask which patient; the message is kept with the session, where no model looks."""
        turn = await self._documents.open(understood, None)
        self._replies.show_state(turn)
        self._replies.tell_unmet(turn)
        self._replies.say(turn, turn.verdict.reply or "")

    async def _swap_in(self, understood: phases.UnderstoodTurn) -> phases.GroundedTurn | None:
        """Load the decided patient's own document; None if it cannot be read and we asked."""
        left, verdict = understood, understood.verdict
        before = left.active_patient_id
        if verdict.registry is not None:
            understood = await self._documents.activate(left, verdict.registry)
            if understood.opened_patient_id != left.opened_patient_id:
                self._questions.orders.note_patient_change(understood)
            self._groups.tell_switch(understood, left)
        try:
            # Whom the conversation knows stands in no patient's own document.
            is_of_all = understood.roster.count > 1 and says(understood.text, "roster")
            patient_id = None if is_of_all else understood.active_patient_id
            turn = await self._documents.open(understood, patient_id)
        except CorruptDocumentError as error:
            await self._questions.offer_new_history(understood, error)
            return None
        if verdict.notice:
            self._replies.notify(turn, verdict.notice)
        if verdict.decision == "RESTORED_FROM_STORAGE":
            self._replies.notify(
                turn, f"Continuing with {turn.active_patient_id}.", kind="restored"
            )
        self._replies.show_state(turn)
        await tell_switch(turn, before, self._documents)
        return turn

    async def _chat(self, turn: phases.GroundedTurn, request: GroupChatRequest) -> None:
        async for event in self._group_chat.run(request):
            await self._apply(turn, event)
        await self._scenarios.note_heard(turn)
        self._replies.tell_unmet(turn)
        self._held.ask_whose(turn, request.utterance)
        self._held.tell_displaced(turn)
        self._replies.say_question(turn)

    async def _act(self, turn: phases.GroundedTurn, action: ToolAction) -> ToolRan:
        """Run the tool of a scenario's step as agents' tools run."""
        async for event in self._group_chat.act(self._requests.make(turn), action):
            if isinstance(event, ActionFinished):
                return event.ran
            await self._apply(turn, event)
        return ToolRan(succeeded=False)

    async def _apply(self, turn: phases.GroundedTurn, event: GroupChatEvent) -> None:
        await turn.claim.hold()  # who stood still shows nothing of what another has answered
        self._groups.tell_plan(turn, event)
        if isinstance(event, DocumentChange):
            is_seen = change_document(turn, event)
            if is_stored_at_once(turn, event):
                await self._documents.save(turn)
            if is_seen:
                self._replies.show_state(turn)
            return
        if isinstance(event, turn_events.AgentMessageStarted) and turn.record.has_unsaved_answers:
            await self._documents.save(turn)
        self._scenarios.show(turn)
        turn.record.follow(event, at=self._clock.monotonic())
        turn.run.emit(event)

    # -- the end ------------------------------------------------------------------------------

    async def _write_back(
        self, answered: phases.AnsweredTurn, meter: TurnMeter
    ) -> phases.StoredTurn:
        turn, failure = answered.turn, answered.failure
        self._replies.close_what_is_open(turn)
        repeatable = failure is None and note_repeatable(turn)
        with turn.step("save"):
            stored = await self._documents.commit(answered)
            await self._scenarios.deliver_events(stored.turn)
        timing = meter.timing(turn, now=self._clock.monotonic())
        if failure is None:
            turn.run.emit(turn_events.RunFinished(turn.record.outcome, timing, repeatable))
        else:
            self._held.tell_failed(turn)
            told = in_own_language(failure.user_message, spoken_in(turn))
            turn.run.emit(turn_events.RunFailed(failure.code, told, turn.run.run_id))
        meter.report(self._metrics, answered, timing)
        return stored
