"""Several steps of a plan at once, each with its own agent, on the state as it is now."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field

from semantic_kernel.contents import ChatHistory, ChatMessageContent

from data_models.chat_context import AgentMessage
from data_models.clock import Clock, IdSource
from data_models.conversations.plan import PlanStep
from data_models.errors import ModelError, ModelSilentError
from group_chat.agents import TeamAgent
from group_chat.direct_answers import look_up_step, said_without_words, told_by_rows
from group_chat.drafts.checked_output import CheckedPiece
from group_chat.drafts.draft import Draft, OutputMeter
from group_chat.messages import say_once
from group_chat.proofs import prove
from group_chat.speakers.gate import step_line
from group_chat.speakers.speaker_state import Ask
from group_chat.speakers.turn_controller import TurnController
from group_chat.turn_context import Outcome, StepResult, TurnContext, enter_turn, leave_turn
from services.language.model_output.hand_over import AsksUser, read_hand_over
from services.language.model_output.model_text import ModelText
from services.patient_context.reading.snapshot import neutralise

# Has a model say once more what the record contradicted, with what the record says.

LIMIT_SENTENCES = 12
_INSTRUCTIONS = (
    "You correct sentences of an answer about a patient. Each sentence below disagrees with the "
    "patient's record; what the record says stands under it. Write for each one short sentence "
    "that says only what the record says, in the language of the sentence, followed by the source "
    "ids in brackets. Leave out what the record does not answer. Write nothing else."
)


async def repair(agent: TeamAgent, withheld: Sequence[CheckedPiece]) -> str:
    """Return new sentences for those that were withheld; "" where the model gives none.

    One call. They are to be checked as any others.
    """
    # Without a source there is nothing to say instead: a deed that was not done.
    if not (rows := [one for one in withheld if one.verdict.sources][:LIMIT_SENTENCES]):
        return ""
    try:
        said = await say_once(agent.model, _INSTRUCTIONS, neutralise(_listed(rows)))
    except ModelError:
        return ""  # what was withheld is listed with what the record says
    text = ModelText(tools=agent.tools)  # a call is none, and not shown
    return text.feed(said) + text.finish()


def _listed(rows: Sequence[CheckedPiece]) -> str:
    return "\n".join(
        f"{number}. {one.text.strip()}\n   The record says: {one.verdict.record_says}"
        + "".join(f" [{ref}]" for ref in one.verdict.sources[:2])
        for number, one in enumerate(rows, 1)
    )


Asked = Callable[[], list[ChatMessageContent]]


async def amend(
    agent: TeamAgent, draft: Draft, turn: TurnContext, *, prompt: Asked
) -> AsyncIterator[str]:
    """Yield what is added to `draft`, at most one look and one repair.

    Raises:
        ModelError: the agent was to look and could not be asked.
    """
    yield draft.settle(may_wait=True)
    await prove(agent, draft, turn)
    if draft.must_look and agent.looks is not None:
        draft.look_again()
        history = ChatHistory(messages=prompt())
        # The first call is for the tool; what it returned stands in the history for the second.
        for speaker in (agent.looks, agent):
            said = ""
            async for text in speaker.answer(history):
                said += text
                yield draft.write(text)
                await prove(agent, draft, turn)
            if said.strip():
                break
        yield draft.settle(may_wait=True)
        await prove(agent, draft, turn)
    if draft.withheld and agent.repairs and (text := await repair(agent, draft.withheld)):
        yield draft.repair(text)


Prompt = Callable[[str, Ask], list[ChatMessageContent]]


@dataclass(slots=True, kw_only=True)
class SideBySide:
    """Runs steps of one turn.

    What agents say is shown as it comes and kept when each is finished; what their tools found is
    taken in afterwards, in the plan's order, so that who finishes first changes nothing.
    """

    turn: TurnContext
    controller: TurnController
    agents: Mapping[str, TeamAgent]
    meter: OutputMeter
    clock: Clock
    ids: IdSource
    _open: list[Draft] = field(default_factory=list, init=False)

    async def work(
        self, numbers: Sequence[int], *, prompt: Prompt, stop: Callable[[], None]
    ) -> Sequence[StepResult]:
        """Carry out the steps `numbers` and return how each ended, in the plan's order.

        Args:
            prompt: Returns what an agent is asked with.
            stop: Called after each piece of text; ends the turn where it is full.
        """
        plan = self.controller.speakers.plan
        steps = [step for step in plan.steps if step.number in numbers] if plan is not None else []
        prompts = {step.number: prompt(step.agent, self._ask(step)) for step in steps}
        self.controller.begin_work(numbers)
        async with asyncio.TaskGroup() as group:
            works = [
                group.create_task(self._carry_out(step, prompts[step.number], stop))
                for step in steps
            ]
        return [work.result() for work in works]

    def cut_short(self) -> list[AgentMessage]:
        """Keep what unfinished messages have so far; their steps stay to be done."""
        drafts, self._open = self._open, []
        finished = [draft.finish(now=self.clock.now()) for draft in drafts]
        return [message for message in finished if message is not None]

    def _ask(self, step: PlanStep) -> Ask:
        plan = self.controller.speakers.plan
        line = step_line(plan, step.number) if plan is not None else step.text
        return Ask(step.agent, "step", task=line.partition("*, ")[2] or step.text)

    async def _carry_out(
        self, step: PlanStep, prompt: list[ChatMessageContent], stop: Callable[[], None]
    ) -> StepResult:
        turn = self.turn.beside_others(step.agent)
        plan = self.controller.speakers.plan
        draft = Draft(
            turn=turn,
            agent=step.agent,
            message_id=self.ids.new_id("msg"),
            meter=self.meter,
            step=None if plan is None else (plan.plan_id, step.number),
        )
        self._open.append(draft)
        current = enter_turn(turn)
        error: ModelError | None = None
        try:
            history = ChatHistory(messages=prompt)
            await look_up_step(self.agents[step.agent], turn, history)
            async for text in self.agents[step.agent].answer(history):
                draft.write(text)
                await prove(self.agents[step.agent], draft, turn)
                stop()
            async for _ in amend(self.agents[step.agent], draft, turn, prompt=lambda: prompt):
                stop()
        except ModelError as failure:  # the others go on: what they find is kept
            error = None if isinstance(failure, ModelSilentError) else failure
        finally:
            leave_turn(current)
        return self._ended(step, draft, turn, error)

    def _ended(
        self, step: PlanStep, draft: Draft, turn: TurnContext, error: ModelError | None
    ) -> StepResult:
        self._open.remove(draft)
        message = draft.finish(now=self.clock.now())
        if message is None and error is None and told_by_rows(turn) is not None:
            message = draft.by_rules(said_without_words(turn), now=self.clock.now())
        turn.said = [] if message is None else [message]
        outcome = self._outcome(message, turn, error)
        if outcome == "done":
            self.controller.end_step(step.number, "done")
        return StepResult(step.number, step.agent, outcome, turn, error)

    def _outcome(
        self, message: AgentMessage | None, turn: TurnContext, error: ModelError | None
    ) -> Outcome:
        if error is not None:
            return "broke"
        if message is None or (turn.tools_failed and not turn.tools_ok):
            return "failed"
        names = self.controller.speakers.agents
        last = read_hand_over(message.text, speaker=message.agent, names=names)
        return "asked" if isinstance(last, AsksUser) else "done"
