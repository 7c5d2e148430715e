"""One turn of the team: who speaks, what each is shown, what becomes of what they say."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from functools import cached_property, partial

from semantic_kernel.connectors.ai.chat_completion_client_base import ChatCompletionClientBase
from semantic_kernel.contents import AuthorRole, ChatHistory, ChatMessageContent

from data_models.chat_context import AgentMessage
from data_models.clock import Clock, IdSource
from data_models.errors import ModelError, ModelOutputError
from group_chat import direct_answers
from group_chat.agents import TeamAgent
from group_chat.drafts.citations import disputes_told
from group_chat.drafts.draft import Draft, OutputMeter
from group_chat.drafts.held_text import HeldText
from group_chat.messages import (
    background,
    beside_the_talk,
    cue_message,
    lines_built_on,
    lines_to_close,
    note_structured_reply,
    speaker_of,
    text_message,
)
from group_chat.proofs import prove
from group_chat.side_by_side import SideBySide, amend
from group_chat.speakers.gate import plan_message
from group_chat.speakers.speaker_state import Announce, Ask, End, Work
from group_chat.speakers.turn_controller import TurnController
from group_chat.turn_context import GroupChatLimits, HandedOver, TurnContext
from group_chat.window import Line, line_of, lines_of, window
from services.language.model_output import hand_over


class ClinicalGroupChat:
    """Made for one turn; the agents in it are the process's own and keep nothing of it.

    Each is shown the bounded history in messages that are thrown away.
    """

    def __init__(
        self,
        *,
        agents: Mapping[str, TeamAgent],
        turn: TurnContext,
        controller: TurnController,
        judge: ChatCompletionClientBase,
        clock: Clock,
        ids: IdSource,
        limits: GroupChatLimits,
    ) -> None:
        self._agents = agents
        self._answered = [line_of(one.agent, one.text) for one in turn.request.said]
        self._messages: dict[Line, ChatMessageContent] = {}
        self._turn = turn
        self._controller = controller
        self._judge = judge
        self._clock = clock
        self._ids = ids
        self._limits = limits
        self._meter = OutputMeter(limit_bytes=limits.output_bytes)
        self._draft: Draft | None = None
        self._held: HeldText | None = None
        self._asked = line_of(None, turn.request.text)
        self._beside = SideBySide(
            turn=turn, controller=controller, agents=agents, meter=self._meter, clock=clock, ids=ids
        )

    @cached_property
    def _earlier(self) -> list[list[Line]]:
        request = self._turn.request
        return lines_of(request.history[request.meaning.first_shown :], request.plan)

    async def run(self) -> None:
        """Let the team answer until it is done, or a cap or the deadline ends the turn.

        Raises:
            ModelError: no agent could answer; what was finished before stands.
        """
        left = self._turn.request.deadline - self._clock.monotonic()
        try:
            async with asyncio.timeout(max(0.0, left)) as self._timer:
                while not isinstance(self._controller.move, End):
                    last = [self._asked, *self._answered][-1]
                    name = await speaker_of(self._controller, self._judge, last)
                    await self._speak(self._agents[name])
        except TimeoutError:
            if not self._timer.expired():
                raise
            self._cut_short()
        self._controller.finish()

    async def _speak(self, agent: TeamAgent) -> None:
        move = self._controller.move
        if isinstance(move, Work) and not move.text:
            await self._work(move)
            return
        self._turn.begin_message(agent.name)
        self._draft = Draft(
            turn=self._turn,
            agent=agent.name,
            message_id=self._ids.new_id("msg"),
            meter=self._meter,
            step=self._step_of(move),
        )
        if isinstance(move, Ask):
            try:
                await self._write(agent, self._draft, move)
            except ModelError:
                self._break_off(self._draft)
                raise
            self._end_message(self._draft, rendered=False)
            return
        self._controller.announce(move)
        if isinstance(move, Announce | Work):
            self._draft.tell(move.text)
        self._end_message(self._draft, rendered=True)
        if isinstance(move, Work):
            await self._work(move)

    async def _work(self, move: Work) -> None:
        """Let the agents of several steps work at once, and take in what they found."""
        results = await self._beside.work(move.steps, prompt=self._prompt, stop=self._stop_if_full)
        for result in results:
            self._keep(result.turn.said)
            await self._turn.take_in(result.turn)
        broken = next((one.error for one in results if one.error is not None), None)
        if broken is not None:
            raise broken
        self._controller.take_results(results)

    def _step_of(self, move: object) -> tuple[str, int] | None:
        speakers = self._controller.speakers
        is_step = isinstance(move, Ask) and move.cue in ("none", "step") and speakers.plan_runs
        if not is_step or speakers.plan is None or speakers.step is None:
            return None
        return speakers.plan.plan_id, speakers.step

    async def _write(self, agent: TeamAgent, draft: Draft, ask: Ask) -> None:
        """Write down the model's text and what the plan adds to it."""
        self._held = HeldText() if self._may_promise(ask) else None
        said = self._say(agent, ask, self._held)
        search_on = partial(direct_answers.search_on, agent, self._turn)
        async for text in direct_answers.usable(said, self._turn, search_on):
            draft.write(text)
            await prove(agent, draft, self._turn)
            self._stop_if_full()
        if self._turn.is_cut:
            draft.leave_open_sentence()
        held, self._held = self._held, None
        if held is not None:
            await self._keep_promise(agent, ask, held.text)
            if not (isinstance(self._turn.order, HandedOver) or hand_over.hands_back(held.text)):
                draft.write(held.text, calls=held.calls)
        asked = partial(self._prompt, agent.name, ask)
        async for _ in amend(agent, draft, self._turn, prompt=asked):
            pass
        if ask.cue == "close" and (told := disputes_told(self._turn, draft.text, of_all=True)):
            draft.tell(f"\n\n{self._turn.text('to_settle')}\n\n{told}")
        if (plan := self._turn.proposed) is not None:
            self._controller.propose(plan)
            gap = "\n\n" if draft.text.strip() else ""
            draft.tell(f"{gap}{plan_message(plan, self._turn.strangers)}")

    async def _say(self, agent: TeamAgent, ask: Ask, held: HeldText | None) -> AsyncIterator[str]:
        looked = ChatHistory.model_construct(messages=[])
        direct = await self._look_up(agent, ask, looked)
        if direct is not None and self._draft is not None:
            self._draft.is_by_rules = True
            for line in direct.splitlines(keepends=True):
                yield line
            return
        shown = [*self._prompt(agent.name, ask), *looked.messages]
        async for text in agent.answer(ChatHistory.model_construct(messages=shown)):
            yield text if held is None else held.take(text, calls=self._turn.calls_of_message)

    async def _look_up(self, agent: TeamAgent, ask: Ask, history: ChatHistory) -> str | None:
        """Fetch what the record answers alone; return what code says of it, or of who is open."""
        turn = self._turn
        has_model = turn.checking is not None and turn.checking.is_language_model
        is_open = has_model and self._may_promise(ask)
        known = direct_answers.known_by_code(turn, self._earlier) if is_open else ""
        if known and self._draft is not None:
            self._draft.tell(known)  # it names others, as it should
            return ""
        if ask.cue == "step":
            await direct_answers.look_up_step(agent, self._turn, history)
        elif not self._controller.speakers.plan_runs:
            return await direct_answers.directly(
                agent, self._turn, history, is_allowed=self._limits.answers_directly
            )
        return None

    def _may_promise(self, ask: Ask) -> bool:
        """Whether the facilitator opens an answer: what it only says it will do, nobody does."""
        is_lead = ask.agent == self._controller.speakers.facilitator
        scenario = self._turn.request.scenario  # it is there to be begun, too
        opens = not (self._answered or (scenario is not None and scenario.grounding))
        return is_lead and opens and ask.cue in ("none", "waiting")

    async def _keep_promise(self, agent: TeamAgent, ask: Ask, text: str) -> None:
        """Hand over where `text` says so and no tool was called: by the model, else by its word."""
        turn, speakers = self._turn, self._controller.speakers
        if turn.has_order:
            return
        lead, names = speakers.facilitator, speakers.agents
        promised = hand_over.promised_agent(text, speaker=lead, names=names)
        if promised is None:
            return
        if agent.forced is not None:
            async for _ in agent.forced.answer(ChatHistory(messages=self._prompt(agent.name, ask))):
                pass
        if not turn.has_order:
            turn.order = HandedOver(promised, "")

    def _stop_if_full(self) -> None:
        if self._meter.is_empty:
            # Only a cancelled await makes the model's server stop; leaving the loop does not.
            self._timer.reschedule(asyncio.get_running_loop().time())

    def _end_message(self, draft: Draft, *, rendered: bool) -> None:
        turn = self._turn
        draft.settle()
        speakers = self._controller.speakers
        is_handed = hand_over.hands_over(draft.text, speaker=draft.agent, names=speakers.agents)
        is_last = not (speakers.plan_runs or is_handed)
        if not rendered and (rows := direct_answers.rows_behind(draft, turn, is_last=is_last)):
            draft.is_by_rules = True
            draft.repeat(rows)
        if is_handed and "\n" not in draft.text.strip():  # it asks somebody else, and no more
            turn.has_looked_up = False
        message = draft.finish(now=self._clock.now())
        is_spent = message is None and turn.is_spent
        is_silent = message is None and not turn.has_order
        if is_spent or (is_silent and direct_answers.told_by_rows(turn) is not None):
            message = draft.by_rules(direct_answers.said_without_words(turn), now=self._clock.now())
        self._draft = None
        if self._meter.is_empty or is_spent:
            self._controller.stop(Ask(draft.agent))
        elif message is None or not message.text.strip():
            if not self._controller.take_order():
                raise ModelOutputError(f"{draft.agent} gave an empty answer")
        else:
            self._controller.take_message(message, rendered=rendered)
        if message is not None:
            self._keep([message])

    def _break_off(self, draft: Draft) -> None:
        """Keep the whole sentences of an answer that broke off, marked as any others."""
        message = draft.finish(now=self._clock.now(), is_whole=False)
        self._draft = None
        self._keep([] if message is None else [message])

    def _keep(self, messages: Sequence[AgentMessage]) -> None:
        """Show finished messages to whoever speaks after them."""
        for message in messages:
            if message not in self._turn.said:
                self._turn.said.append(message)
            note_structured_reply(self._turn, agent=message.agent, text=message.text)
            self._answered.append(Line(message.agent, message.text))

    def _cut_short(self) -> None:
        """Keep what an unfinished message has so far, and end the turn at its limit."""
        draft, self._draft = self._draft, None
        speaker = self._controller.speakers.facilitator
        if draft is not None:
            speaker = draft.agent
            draft.write("" if self._held is None else self._held.text)
            draft.finish(now=self._clock.now())
        self._keep(self._beside.cut_short())
        self._controller.stop(Ask(speaker))

    def _prompt(self, agent: str, ask: Ask) -> list[ChatMessageContent]:
        """Return what the agent is shown after its instructions; the cue is never stored."""
        speakers, task = self._controller.speakers, []
        if ask.task:
            task = [line_of(speakers.facilitator, f"*{agent}*, {ask.task}")]
        ending = cue_message(
            ask.cue,
            agent=agent,
            facilitator=speakers.facilitator,
            first=not (self._answered or task),
        )
        # Until somebody answered, the talk itself is what there is to show.
        shown = self._shown(ask if self._answered else Ask(speakers.facilitator))
        asked = [_message(line, self._messages) for line in task]
        in_plan = ask.cue in ("step", "close")
        known = beside_the_talk(self._turn.request, agent, in_plan=in_plan)
        return [*shown, *known, *asked, *ending]

    def _shown(self, ask: Ask) -> list[ChatMessageContent]:
        """Return the snapshot and the bounded history; to who closes a plan all it found."""
        snapshot = text_message(AuthorRole.SYSTEM, self._turn.request.snapshot)
        speakers, limit = self._controller.speakers, self._limits.window_chars
        answered = self._answered
        if speakers.plan is not None and ask.cue == "close":
            found = lines_to_close(speakers.plan, self._turn, facilitator=speakers.facilitator)
            before = window(self._earlier, self._asked, (), limit_chars=limit)
            return [snapshot, *(_message(line, self._messages) for line in [*before, *found])]
        if speakers.plan is not None and ask.cue == "step":
            called = [] if ask.task else answered[-1:]
            answered = [*lines_built_on(speakers.plan, self._turn, agent=ask.agent), *called]
        lines = window(self._earlier, self._asked, answered, limit_chars=limit)
        shown = [_message(line, self._messages) for line in lines]
        return [snapshot, *background(self._turn.request), *shown]


def _message(line: Line, made: dict[Line, ChatMessageContent]) -> ChatMessageContent:
    """Return a line as a message: the one that was `made` of it before, if there is one."""
    if line not in made:
        role = AuthorRole.USER if line.agent is None else AuthorRole.ASSISTANT
        made[line] = text_message(role, line.text, name=line.agent)
    return made[line]
