"""The team behind the `GroupChat` port: built once per process, safe for turns side by side."""

import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from datetime import timedelta
from functools import partial

from semantic_kernel.connectors.ai.chat_completion_client_base import ChatCompletionClientBase
from semantic_kernel.contents import ChatHistory, FunctionCallContent

from data_models.chat_context import Continuation
from data_models.clock import Clock, IdSource
from data_models.conversations.conversation import QUESTION_MINUTES
from data_models.conversations.plan import STEP_LIMIT_CHARS
from group_chat import turn_context
from group_chat.agents import AgentFactory
from group_chat.chat import ClinicalGroupChat
from group_chat.drafts.event_stream import EventStream
from group_chat.drafts.statement_checking import StatementChecking
from group_chat.speakers.gate import named_by_others, of_last_deed, opening
from group_chat.speakers.speaker_state import SpeakerState
from group_chat.speakers.turn_controller import TurnController
from group_chat.tools.catalogue import Connected, catalogue
from group_chat.tools.kernel import ToolKernel
from group_chat.tools.session_tools import UPDATE_ENTITIES
from group_chat.tools.tool import ToolWatcher
from services.group_chat_port import ActionFinished, GroupChatEvent, GroupChatRequest
from services.language.replies.yes_no import yes_no_in
from services.language.requests.work import does_deeds, leaves_question
from services.language.utterance import TeamMember
from services.records.resources.ports import PatientRecords
from services.scenarios.session.progress import ToolAction, ToolRan
from services.team import Team, card_of

# Runs a tool for a scenario's step, through the kernel that agents' calls go through.


async def run_action(
    tool_kernel: ToolKernel, turn: turn_context.TurnContext, action: ToolAction
) -> ToolRan:
    """Return what the tool gave; it is counted, bounded, recorded and audited."""
    failed_before, ran_before, asked_before = turn.tools_failed, len(turn.ran), turn.questions
    with turn_context.acting_under(action.idempotency_key):
        await tool_kernel.invoke_function_call(
            FunctionCallContent(
                id=action.idempotency_key,
                name=action.tool,
                arguments=json.dumps(dict(action.parameters)),
            ),
            ChatHistory(),
        )
    ran = turn.ran[ran_before:]
    data = ran[-1].data if ran else None
    return ToolRan(
        succeeded=turn.tools_failed == failed_before,
        data=data if isinstance(data, Mapping) else {},
        has_asked=turn.questions > asked_before,
    )


class SemanticGroupChat:
    """A `GroupChat` on Semantic Kernel, over one model client and one store of records.

    Args:
        watcher: Told of every tool run and of every refused patient.
    """

    def __init__(
        self,
        *,
        team: Team,
        chat_model: ChatCompletionClientBase,
        records: PatientRecords,
        clock: Clock,
        ids: IdSource,
        limits: turn_context.GroupChatLimits,
        is_language_model: bool,
        watcher: ToolWatcher,
        connected: Connected,
    ) -> None:
        tools = catalogue(
            records=records,
            names=team.names,
            clock=clock,
            ids=ids,
            is_language_model=is_language_model,
            connected=connected,
        )
        factory = AgentFactory(
            chat_model=chat_model,
            tools=tools,
            clock=clock,
            ids=ids,
            limits=limits,
            watcher=watcher,
            is_language_model=is_language_model,
        )
        self.facilitator = team.facilitator.name
        self.is_language_model = is_language_model
        self._agents = factory.build(team)
        self._tool_kernel = factory.tool_kernel()
        self._checking = StatementChecking(team=team, is_language_model=is_language_model)
        self._judge = chat_model
        self._clock, self._ids, self._limits = clock, ids, limits
        self._former = team.legacy_names
        self._tasks = {
            spec.name: spec.description.rstrip(".")[:STEP_LIMIT_CHARS] for spec in team.agents
        }
        self._tools_of = {
            name: one.tools for name, one in self._agents.items() if name != self.facilitator
        }
        self._alone = frozenset(name for name, one in self._agents.items() if one.works_alone)
        cards = {spec.name: spec for spec in team.agents}
        self.agents: Sequence[TeamMember] = tuple(card_of(cards[name]) for name in team.names)

    def run(self, request: GroupChatRequest) -> AsyncGenerator[GroupChatEvent, None]:
        stream = EventStream()
        turn = turn_context.TurnContext(
            request,
            stream.put,
            # The sources of earlier answers about this patient may be cited again.
            sources={
                citation.ref: citation
                for past in request.history
                for message in past.agent_responses
                for citation in message.citations
            },
            checking=self._checking,
            link_hosts=self._limits.link_hosts,
            team=self.agents,
        )
        return stream.events_of(self._answer(turn))

    def act(
        self, request: GroupChatRequest, action: ToolAction
    ) -> AsyncGenerator[GroupChatEvent, None]:
        stream = EventStream()
        return stream.events_of(self._act(turn_context.TurnContext(request, stream.put), action))

    async def _act(self, turn: turn_context.TurnContext, action: ToolAction) -> None:
        current = turn_context.enter_turn(turn)
        turn.begin_message(self.facilitator)
        try:
            ran = await run_action(self._tool_kernel, turn, action)
            turn.emit(ActionFinished(ran, turn.views[-1] if turn.views else None))
        finally:
            turn_context.leave_turn(current)

    async def _answer(self, turn: turn_context.TurnContext) -> None:
        current = turn_context.enter_turn(turn)
        turn.act = partial(run_action, self._tool_kernel, turn)
        try:
            chat = ClinicalGroupChat(
                agents=self._agents,
                turn=turn,
                controller=self._controller(turn),
                judge=self._judge,
                clock=self._clock,
                ids=self._ids,
                limits=self._limits,
            )
            await chat.run()
        finally:
            turn_context.leave_turn(current)
            turn.act = None  # it holds the turn, which is freed at once so

    def _continuation(self, request: GroupChatRequest) -> Continuation | None:
        """Return who waits for the user, by today's name; nobody where the message is no answer."""
        waits, read = request.continuation, request.utterance
        if waits is None:
            return None
        waits = waits.model_copy(update={"agent": self._former.get(waits.agent, waits.agent)})
        # Who leads hears answers to a scenario's step, and passes on what is none.
        is_asked = not waits.waits_for and waits.agent != self.facilitator
        leaves = read is not None and is_asked and leaves_question(read, waits.agent)
        memory = request.tool_memory
        # "Move the ward round to 4", behind the calendar, is no answer to "which time suits?".
        leaves |= is_asked and memory is not None and memory.orders_own(waits.asked_at)
        return None if leaves else waits

    def _form_beside(self, request: GroupChatRequest) -> Continuation | None:
        """Return whose form waits for an answer that this message is not, asked not long ago."""
        waits = request.continuation
        if waits is None or self._continuation(request) is not None:
            return None
        is_form = UPDATE_ENTITIES in self._tools_of.get(waits.agent, ())
        is_late = request.now - waits.asked_at > timedelta(minutes=QUESTION_MINUTES)
        return waits if is_form and not is_late else None

    def _intended(self, request: GroupChatRequest) -> str | None:
        """Return whose work the message is as it was read: of itself, or by the tool it needs."""
        read, intended = request.utterance, request.meaning.intended_agent
        if intended or read is None or read.task == "plan":
            return intended
        if request.scenario is not None and not read.about:
            return None  # who guides a scenario hears what may answer its step
        if read.agent is not None or not read.about:
            return read.agent
        tool = read.about[0].tool
        return next((name for name, tools in self._tools_of.items() if tool in tools), None)

    def _controller(self, turn: turn_context.TurnContext) -> TurnController:
        request, names = turn.request, tuple(self._agents)
        speakers = SpeakerState(
            facilitator=self.facilitator,
            agents=names,
            plan=request.plan,
            alone=self._alone,
            form=self._form_beside(request),
            is_asked=request.is_asked,
        )
        controller = TurnController(
            turn=turn, speakers=speakers, clock=self._clock, limits=self._limits, tasks=self._tasks
        )
        if request.said and controller.go_on(request.said):
            return controller
        marked = [request.addressed_agent, *request.mentions]
        first = opening(
            text=request.text,
            press=request.press,
            addressed=next((name for name in marked if name), None),
            plan=request.plan,
            continuation=self._continuation(request),
            former=self._former,
            facilitator=self.facilitator,
            names=names,
            intended=self._intended(request),
            missing=_missing(request),
        )
        if request.press is None:
            first = named_by_others(first, request.text, request.plan, request.plan_asked_by)
            first = of_last_deed(first, request.text, self._did_last(request))
        controller.open(first)
        return controller

    def _did_last(self, request: GroupChatRequest) -> str | None:
        """Return who answered last, if it is an agent that does something for the user.

        What the user agreed to was done for whoever had proposed it.
        """
        said = request.history[-1:]
        has_agreed = any(yes_no_in(one.user_message) == "yes" for one in said)
        said = request.history[-2:] if has_agreed else said
        last = [one.agent for turn in said for one in turn.agent_responses]
        return next((one for one in last if does_deeds(self._tools_of.get(one, ()))), None)


def _missing(request: GroupChatRequest) -> list[str]:
    """Return what the plan's next step still needs of what the user was asked for."""
    continuation, entities = request.continuation, request.entities
    if continuation is None or entities is None:
        return []
    return entities.missing(continuation.waits_for)
