"""One turn's course: who speaks, what the plan is, how the turn ends."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

from data_models.chat_context import AgentMessage, Continuation
from data_models.clock import Clock
from data_models.conversations.plan import Plan
from data_models.conversations.turn_events import Notice
from group_chat.speakers import gate, selection
from group_chat.speakers.speaker_state import Announce, Ask, End, Move, Said, SpeakerState, Work
from group_chat.turn_context import GroupChatLimits, HandedOver, StepResult, TurnContext
from services.group_chat_port import ChatFinished, ContinuationChanged, PlanChanged
from services.language.words.own_texts import ends_with_own

CONTINUE_OFFER = (
    'That is as far as one turn may go, so the team stopped here. Write "continue" to go on.'
)
CANCELLED = "The plan is cancelled. What would you like to do instead?"


class TurnController:
    """Follows the pure rules of `gate` and `selection` through one turn and tells what changes.

    Made for one turn and dropped with it.

    Args:
        tasks: What each agent is asked for in a step for which nobody named a task.
    """

    def __init__(
        self,
        *,
        turn: TurnContext,
        speakers: SpeakerState,
        clock: Clock,
        limits: GroupChatLimits,
        tasks: Mapping[str, str],
    ) -> None:
        self.speakers = speakers
        self._tasks = tasks
        self.move: Move = Ask(speakers.facilitator)
        self._turn = turn
        self._clock = clock
        self._limits = limits
        self._stopped_before: Move | None = None
        self._insists = False
        self._blocked: Continuation | None = None
        self._shows_plan = False
        self._asking: StepResult | None = None
        self._interrupts = False

    def open(self, opening: gate.Opening) -> None:
        """Decide the first move."""
        now = self._clock.now()
        plan = self.speakers.plan
        match opening:
            case gate.RunPlan() if plan is not None:
                self._run_plan(plan, opening)
            case gate.CancelPlan() if plan is not None:
                self._cancel(plan)
            case gate.ShowPlan(agent=agent, text=text):
                self._shows_plan = not text
                self._go(self.speakers, Announce(text) if text else Ask(agent, "waiting"))
            case gate.Resume(agent=agent, step=step):
                is_step = plan is not None and plan.status == "running" and step is not None
                speakers = replace(self.speakers, is_on_plan=is_step)
                self._go(
                    speakers.starting(step, now=now) if is_step and step else speakers, Ask(agent)
                )
            case gate.Answer(agent=agent):
                self._interrupts = selection.is_interruption(self._turn.request)
                waits = plan is not None and plan.is_open and agent == self.speakers.facilitator
                self._go(self.speakers, Ask(agent, "waiting" if waits else "none"))
            case _:
                self._go(self.speakers, Ask(self.speakers.facilitator))

    def go_on(self, said: Sequence[AgentMessage]) -> bool:
        """Take a turn up behind the messages that a dead replica had stored of it.

        Returns:
            Whether they say who speaks next; else the first move is to be decided as ever.
        """
        self._turn.said.extend(said)
        speakers, move = selection.taken_up(self.speakers, said, now=self._clock.now())
        if isinstance(move, End):
            self.speakers = speakers
            return False
        self._go(speakers, speakers.within(move, messages=self._limits.agent_messages))
        return True

    def _cancel(self, plan: Plan) -> None:
        cancelled = plan.with_status("cancelled", now=self._clock.now())
        self._go(self.speakers.with_plan(cancelled), Announce(CANCELLED))

    def _run_plan(self, plan: Plan, confirmed: gate.RunPlan) -> None:
        now = self._clock.now()
        self._insists = confirmed.insists
        if confirmed.change is not None:
            changed = selection.changed_plan(plan, confirmed.change, tasks=self._tasks, now=now)
            if changed is None:  # it names a step that is done, or leaves none
                self._shows_plan = True
                self._go(self.speakers, Ask(self.speakers.facilitator, "waiting"))
                return
            plan = changed
        if plan.status == "proposed":
            plan = plan.confirmed(confirmed.order, now=now, edits=confirmed.edits)
        if plan.next_step() is None:
            plan = plan.with_status("done", now=now)
        speakers = replace(self.speakers.with_plan(plan), is_on_plan=True)
        self._go(*selection.to_facilitator(speakers, now=now))

    def announce(self, announced: Move) -> None:
        """Put the step of the plan into work that is announced, if one is."""
        if isinstance(announced, Announce) and announced.step is not None:
            speakers = self.speakers.starting(announced.step, now=self._clock.now())
            self._put(speakers, announced)

    def choose(self, agent: str | None) -> None:
        """Settle a move among several by a model's verdict; None means it was unusable."""
        if agent is not None:
            self.move = Ask(agent)
        else:
            self._go(*selection.to_facilitator(self.speakers, now=self._clock.now()))

    def propose(self, plan: Plan) -> None:
        """Take a proposed plan in place of any earlier one."""
        old = self.speakers.plan
        if old is not None and old.is_open:
            self._turn.emit(PlanChanged(old.with_status("replaced", now=self._clock.now())))
        self._go(replace(self.speakers.with_plan(plan), is_new_plan=True), self.move)

    def take_order(self) -> bool:
        """Follow what the facilitator ordered by a tool in the message that ended; False if none.

        A hand-over, a yes or a no to the plan: the message itself then says nothing of it.
        """
        turn, now = self._turn, self._clock.now()
        order, turn.order = turn.order, None
        if order is None or self.speakers.gate_is_closed:
            return False
        plan = self.speakers.plan
        if isinstance(order, HandedOver):
            speakers, move = selection.handed_over(self.speakers, order.agent, order.task, now=now)
            self._go(speakers, speakers.within(move, messages=self._limits.agent_messages))
        elif plan is None or order == "show":
            self._go(
                self.speakers,
                selection.answered(self.speakers) if plan is None else selection.shown(plan),
            )
        elif order == "confirm":
            self._run_plan(plan, gate.RunPlan())
        else:
            self._cancel(plan)
        return True

    def begin_work(self, numbers: Sequence[int]) -> None:
        """Put several steps of the plan into work at once."""
        plan, now = self.speakers.plan, self._clock.now()
        self._insists = False
        for number in numbers if plan is not None else ():
            plan = plan.with_step(number, "running", now=now) if plan is not None else None
        self._put(self.speakers.with_plan(plan), self.move)

    def end_step(self, number: int, status: Literal["done", "skipped", "pending"]) -> None:
        """Note how one of the steps ended that run side by side."""
        plan, now = self.speakers.plan, self._clock.now()
        if plan is not None:
            plan = plan.with_step(number, status, now=now)
            if plan.next_step() is None:
                plan = plan.with_status("done", now=now)
            self._put(self.speakers.with_plan(plan), self.move)

    def take_results(self, results: Sequence[StepResult]) -> None:
        """Decide what follows steps that ran side by side; their messages are told already."""
        for result in results:
            self.speakers = self.speakers.heard(Said(result.agent, ""))
        asking = [result for result in results if result.outcome == "asked"]
        failed = [result.number for result in results if result.outcome == "failed"]
        if len(failed) == len(results):
            speakers = replace(self.speakers, failed_step=failed[0])
            self._go(speakers, Ask(speakers.facilitator, "failed"))
            return
        for number in failed:
            self.end_step(number, "skipped")
        for later in asking[1:]:  # one question at a time: they ask when they are called again
            self.end_step(later.number, "pending")
        if asking:
            self._asking = asking[0]
            self.move = End("question")
        elif self._turn.out_of_calls:
            self.stop(None)
        else:
            speakers, move = selection.after_work(self.speakers)
            self._go(speakers, speakers.within(move, messages=self._limits.agent_messages))

    def take_message(self, message: AgentMessage, *, rendered: bool) -> None:
        """Take a finished message and decide what follows."""
        turn = self._turn
        turn.said.append(message)
        if not rendered and self.take_order():
            return
        failed = turn.tools_failed > 0 and turn.tools_ok == 0 and not rendered
        again = any((m.agent, m.text) == (message.agent, message.text) for m in turn.said[:-1])
        said = Said(message.agent, message.text, rendered=rendered, failed=failed, again=again)
        if turn.out_of_calls and not self.speakers.gate_is_closed:
            self.speakers = self.speakers.heard(said)
            self.stop(Ask(message.agent))
            return
        if turn.asked_by == message.agent and not self.speakers.gate_is_closed:
            self._go(self.speakers.heard(said), End("question"))
            return
        speakers, move = selection.next_move(self.speakers, said, now=self._clock.now())
        if self._shows_plan and not rendered and isinstance(move, Announce | End):
            self._shows_plan = False
            move = (
                selection.shown(speakers.plan)
                if speakers.waits_beside and speakers.plan is not None
                else move
            )
        bounded = speakers.within(move, messages=self._limits.agent_messages)
        self._stopped_before = move if bounded != move else None
        asked = rendered and self._blocked is not None and isinstance(bounded, End)
        self._go(speakers, End("question") if asked else bounded)

    def stop(self, before: Move | None) -> None:
        """End the turn at a cap; `before` is the move that it kept from happening."""
        self._stopped_before = before
        self.move = End("limit")

    def finish(self) -> None:
        """Say how the turn ended; the last events of it."""
        reason = self.move.reason if isinstance(self.move, End) else "answered"
        if reason == "limit":
            self._turn.emit(Notice("limit", CONTINUE_OFFER, {"offer": "continue"}))
        if (continuation := self._continuation()) or self._turn.request.continuation:
            self._turn.emit(ContinuationChanged(continuation))
        is_beside = reason == "answered" and self.speakers.form is not None
        self._turn.emit(ChatFinished(reason, is_beside))

    def _continuation(self) -> Continuation | None:
        """Return who answers the user's next message; a plan goes on by its own state."""
        speakers, asked_at = self.speakers, self._clock.now()
        if self._blocked is not None:
            return self._blocked
        waited = self._turn.request.continuation
        if self._asking is not None:
            asked = self._asking
            return Continuation(agent=asked.agent, plan_step=asked.number, asked_at=asked_at)
        match self.move:
            case End("question") if self._turn.said:
                agent = self._turn.said[-1].agent
                asks_for_plan = ends_with_own(self._turn.said[-1].text, gate.PLAN_QUESTION)
                if agent == speakers.facilitator and (speakers.plan_runs or asks_for_plan):
                    return None  # the answer is the plan's
                return Continuation(agent=agent, plan_step=speakers.step, asked_at=asked_at)
            case End("limit") if isinstance(self._stopped_before, Ask) and not speakers.plan_runs:
                return Continuation(agent=self._stopped_before.agent, asked_at=asked_at)
            case End("answered") if speakers.waits_beside and waited is not None:
                # The user spoke of something else: the plan still waits for what it asked.
                return waited if waited.plan_step is not None else speakers.form
            case End("answered") if speakers.form is not None:
                return speakers.form
        return None

    def _go(self, speakers: SpeakerState, move: Move) -> None:
        speakers, move = self._back_to_plan(speakers, move)
        self._put(speakers, self._unless_blocked(speakers, self._unless_awaited(speakers, move)))

    def _back_to_plan(self, speakers: SpeakerState, move: Move) -> tuple[SpeakerState, Move]:
        on_plan = (
            selection.back_to_plan(speakers, move, now=self._clock.now())
            if self._interrupts
            else None
        )
        if on_plan is None:
            return speakers, move
        self._interrupts = False
        return on_plan[0], speakers.within(on_plan[1], messages=self._limits.agent_messages)

    def _unless_awaited(self, speakers: SpeakerState, move: Move) -> Move:
        """Return `move`, or the pause of the plan if a message waits that came in meanwhile."""
        waits = selection.calls_step(move) and speakers.messages and self._turn.request.is_awaited()
        return Announce(selection.PAUSED) if waits else move

    def _put(self, speakers: SpeakerState, move: Move) -> None:
        if speakers.plan is not None and speakers.plan != self.speakers.plan:
            self._turn.emit(PlanChanged(speakers.plan))
        self.speakers, self.move = speakers, move

    def _unless_blocked(self, speakers: SpeakerState, move: Move) -> Move:
        """Return `move`, or the question for what the step that it calls still needs."""
        if speakers.plan is None:
            return move
        if isinstance(move, Work):
            plan = speakers.plan
            able = tuple(number for number in move.steps if not self._missing(plan, number))
            if able == move.steps:
                return move
            if len(able) > 1:
                return Work("\n".join(gate.step_line(plan, number) for number in able), able)
            number = able[0] if able else move.steps[0]
            move = Announce(gate.step_line(plan, number), number)
        if not isinstance(move, Announce) or move.step is None:
            return move
        missing = self._missing(speakers.plan, move.step)
        self._insists = False
        if not missing:
            return move
        self._blocked = Continuation(
            agent=speakers.facilitator,
            plan_step=move.step,
            waits_for=missing,
            asked_at=self._clock.now(),
        )
        return Announce(gate.needs_line(speakers.plan, move.step, missing))

    def _missing(self, plan: Plan, number: int) -> list[str]:
        """Return what step `number` needs and nobody has said; nothing if the user insists."""
        entities = self._turn.request.entities
        if entities is None or self._insists:
            return []
        return entities.missing(
            key for step in plan.steps if step.number == number for key in step.needs
        )
