"""One turn of the team as a Semantic Kernel group chat."""

import asyncio
from collections.abc import AsyncIterator

from pydantic import PrivateAttr
from semantic_kernel.agents import Agent, AgentGroupChat, ChatHistoryAgentThread
from semantic_kernel.contents import (
    AuthorRole,
    ChatHistory,
    ChatMessageContent,
    StreamingChatMessageContent,
    TextContent,
)

from data_models.clock import Clock, IdSource
from data_models.errors import ModelOutputError
from data_models.plan import Plan
from group_chat.agents import TeamAgent
from group_chat.cues import cue_text
from group_chat.draft import Draft, OutputMeter
from group_chat.floor import Announce, Ask
from group_chat.hand_over import is_question, last_line
from group_chat.judge import Judge
from group_chat.limits import GroupChatLimits
from group_chat.look_up import look_up
from group_chat.models.dialect import CUE
from group_chat.plan_text import PLAN_QUESTION, plan_message, read_plan
from group_chat.strategies import TableSelection, TableTermination
from group_chat.structured_reply import note_structured_reply
from group_chat.table import Table
from group_chat.tools.team_tools import new_plan
from group_chat.turn_context import TurnContext
from group_chat.window import Line, line_of, lines_of, meaning_line, summary_line, window
from services.patient_context.snapshot import neutralise


class ClinicalGroupChat(AgentGroupChat):
    """Made for one turn; the agents in it are the process's own and keep nothing of it.

    The stock class hides restored history from agents and never writes streamed replies into
    its own; here each agent gets the whole bounded history in a thread that is thrown away.
    """

    _turn: TurnContext = PrivateAttr()
    _table: Table = PrivateAttr()
    _clock: Clock = PrivateAttr()
    _ids: IdSource = PrivateAttr()
    _limits: GroupChatLimits = PrivateAttr()
    _meter: OutputMeter = PrivateAttr()
    _timer: asyncio.Timeout = PrivateAttr()
    _draft: Draft | None = PrivateAttr(default=None)
    _earlier: list[list[Line]] = PrivateAttr()
    _asked: Line = PrivateAttr()
    _answered: list[Line] = PrivateAttr()
    _messages: dict[Line, ChatMessageContent] = PrivateAttr()

    def __init__(
        self,
        *,
        agents: list[TeamAgent],
        turn: TurnContext,
        table: Table,
        judge: Judge,
        clock: Clock,
        ids: IdSource,
        limits: GroupChatLimits,
    ) -> None:
        super().__init__(
            agents=list(agents),
            selection_strategy=TableSelection(table=table, judge=judge),
            termination_strategy=TableTermination(table=table),
            chat_history=ChatHistory(),
        )
        self._answered = [line_of(one.agent, one.text) for one in turn.request.said]
        self._messages = {}
        self._turn = turn
        self._table = table
        self._clock = clock
        self._ids = ids
        self._limits = limits
        self._meter = OutputMeter(limit_bytes=limits.output_bytes)
        self._earlier = lines_of(turn.request.history, limit_chars=limits.window_chars)
        self._asked = line_of(None, turn.request.text)
        self.history.messages = self._shown()

    async def run(self) -> None:
        """Let the team answer until it is done, or a cap or the deadline ends the turn.

        Raises:
            ModelError: no agent could answer; what was finished before stands.
        """
        left = self._turn.request.deadline - self._clock.monotonic()
        try:
            async with asyncio.timeout(max(0.0, left)) as self._timer:
                async for _ in self.invoke_stream():
                    pass
        except TimeoutError:
            if not self._timer.expired():
                raise
            self._cut_short()
        self._table.finish()

    async def invoke_stream(
        self,
        agent: Agent | None = None,
        is_joining: bool = True,  # the stock signature
    ) -> AsyncIterator[ChatMessageContent]:
        """Yield what the agents say, as it comes, until nobody speaks any more."""
        while not self.is_complete:
            chosen = await self.selection_strategy.next(self.agents, self.history.messages)
            async for piece in self._speak(chosen):
                yield piece
            self.is_complete = await self.termination_strategy.should_terminate(
                chosen, self.history.messages
            )

    async def _speak(self, agent: Agent) -> AsyncIterator[ChatMessageContent]:
        self._turn.begin_message(agent.name)
        self._draft = Draft(
            turn=self._turn,
            agent=agent.name,
            message_id=self._ids.new_id("msg"),
            meter=self._meter,
        )
        move = self._table.move
        if isinstance(move, Announce):
            self._table.announce(move)
            yield _piece(agent.name, self._draft.write(move.text))
        else:
            async for text in self._written(agent, self._draft):
                yield _piece(agent.name, text)
        self._end_message(self._draft, rendered=isinstance(move, Announce))

    async def _written(self, agent: Agent, draft: Draft) -> AsyncIterator[str]:
        """Yield the model's text and what the plan adds to it."""
        thread = ChatHistoryAgentThread(await self._opened(agent))
        async for item in agent.invoke_stream(thread=thread):
            text = draft.write(item.message.content or "")
            if self._meter.is_empty:
                # Only a cancelled await makes the model's server stop; leaving the loop does not.
                self._timer.reschedule(asyncio.get_running_loop().time())
            if text:
                yield text
        plan = self._proposed(draft)
        if plan is not None:
            self._table.propose(plan)
            yield draft.write(_ending(draft.text, plan, self._names()))

    async def _opened(self, agent: Agent) -> ChatHistory:
        """Return what `agent` goes on from: the prompt, and what the record answers alone."""
        history = ChatHistory(messages=self._prompt(agent.name))
        if isinstance(agent, TeamAgent) and not self._table.floor.plan_runs:
            await look_up(agent, self._turn, history)
        return history

    def _proposed(self, draft: Draft) -> Plan | None:
        """Return the plan that this message proposes, by the tool or as text, if it does."""
        floor, turn = self._table.floor, self._turn
        if turn.proposed is not None or draft.agent != floor.facilitator:
            return turn.proposed
        move = self._table.move
        closes = isinstance(move, Ask) and move.cue == "close"
        if floor.plan_runs or closes:
            return None
        steps = read_plan(draft.text, names=self._names(), facilitator=floor.facilitator)
        rows = [(step.agent, step.text, ()) for step in steps]
        return new_plan(rows, turn=turn, clock=self._clock, ids=self._ids) if rows else None

    def _end_message(self, draft: Draft, *, rendered: bool) -> None:
        out_of_tools = self._turn.out_of_calls or self._turn.out_of_rounds
        message = draft.finish(now=self._clock.now())
        self._draft = None
        if self._meter.is_empty or (message is None and out_of_tools):
            self._table.stop(Ask(draft.agent))
        elif message is None or not message.text.strip():
            raise ModelOutputError(f"{draft.agent} gave an empty answer")
        else:
            self._table.heard(message, rendered=rendered)
        if message is not None:
            note_structured_reply(self._turn, agent=draft.agent, text=message.text)
            line = Line(draft.agent, message.text)
            self._answered.append(line)
            self.history.messages.append(self._message(line))

    def _cut_short(self) -> None:
        """Keep what an unfinished message has so far, and end the turn at its limit."""
        draft, self._draft = self._draft, None
        if draft is not None:
            draft.finish(now=self._clock.now())
        speaker = draft.agent if draft is not None else self._table.floor.facilitator
        self._table.stop(Ask(speaker))

    def _prompt(self, agent: str) -> list[ChatMessageContent]:
        """Return what the agent is shown after its instructions; the cue is never stored."""
        move = self._table.move
        cue = cue_text(
            move.cue if isinstance(move, Ask) else "none",
            agent=agent,
            facilitator=self._table.floor.facilitator,
            first=not self._answered,
        )
        ending = [] if cue is None else [_cue_message(cue)]
        # Until somebody answered, the chat's own history is what there is to show.
        shown = self._shown() if self._answered else self.history.messages
        return [*shown, *self._meaning(), *self._known_to(agent), *ending]

    def _shown(self) -> list[ChatMessageContent]:
        """Return the snapshot and the bounded history, each message once, in order."""
        snapshot = _text_message(AuthorRole.SYSTEM, self._turn.request.snapshot)
        lines = window(
            self._earlier, self._asked, self._answered, limit_chars=self._limits.window_chars
        )
        shown = (self._message(line) for line in lines)
        return [snapshot, *self._summary(), *self._grounding(), *shown]

    def _summary(self) -> list[ChatMessageContent]:
        """Return what is left of the turns that the window leaves out (page 4.3)."""
        text = summary_line(self._turn.request.meaning.summary)
        return [_text_message(AuthorRole.SYSTEM, neutralise(text))] if text else []

    def _meaning(self) -> list[ChatMessageContent]:
        """Return how the user's words are understood, marked as no more than that."""
        text = meaning_line(self._turn.request.meaning.interpretation)
        return [_text_message(AuthorRole.SYSTEM, neutralise(text))] if text else []

    def _grounding(self) -> list[ChatMessageContent]:
        text = self._turn.request.grounding
        return [_text_message(AuthorRole.SYSTEM, neutralise(text))] if text else []

    def _known_to(self, agent: str) -> list[ChatMessageContent]:
        """Return the entities and the scenario's step that `agent` may see, as they are now."""
        entities, scenario = self._turn.request.entities, self._turn.request.scenario
        texts = [
            "" if entities is None else entities.grounding(agent),
            scenario.grounding if scenario is not None and scenario.lead == agent else "",
        ]
        return [_text_message(AuthorRole.SYSTEM, neutralise(text)) for text in texts if text]

    def _message(self, line: Line) -> ChatMessageContent:
        found = self._messages.get(line)
        if found is None:
            role = AuthorRole.USER if line.agent is None else AuthorRole.ASSISTANT
            found = self._messages[line] = _text_message(role, line.text, name=line.agent)
        return found

    def _names(self) -> tuple[str, ...]:
        return self._table.floor.agents


def _text_message(role: AuthorRole, text: str, name: str | None = None) -> ChatMessageContent:
    return ChatMessageContent(role=role, items=[TextContent(text=text)], name=name)


def _cue_message(text: str) -> ChatMessageContent:
    message = _text_message(AuthorRole.SYSTEM, text)
    message.metadata |= CUE
    return message


def _piece(agent: str, text: str) -> StreamingChatMessageContent:
    return StreamingChatMessageContent(
        role=AuthorRole.ASSISTANT, choice_index=0, content=text, name=agent
    )


def _ending(text: str, plan: Plan, names: tuple[str, ...]) -> str:
    """Return what a message that proposes `plan` still lacks: the steps, the question."""
    if not read_plan(text, names=names, facilitator=names[0]):
        return f"\n\n{plan_message(plan)}" if text.strip() else plan_message(plan)
    return "" if is_question(last_line(text)) else f"\n\n{PLAN_QUESTION}"
