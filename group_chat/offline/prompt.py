"""What the offline rules are handed: the turn, and what stands in the prompt alone."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson
from semantic_kernel.contents import (
    AuthorRole,
    ChatHistory,
    ChatMessageContent,
    FunctionCallContent,
    FunctionResultContent,
)

from data_models.chart_view import ChartView
from group_chat.messages import CUE_NAME, HANDS_BACK_TO
from group_chat.turn_context import TurnContext
from group_chat.window import Line, lines_of
from services.entities.session import GROUNDING_MARK as ENTITIES
from services.group_chat_port import AgentCard
from services.language.detection import WELL_READ, language_of
from services.language.talk_texts import in_every_language, talk_text
from services.language.text_words import telling_words
from services.language.utterance import Utterance
from services.records.patient_lookup import is_fhir_id
from services.scenarios.session.step_text import GROUNDING_MARK as SCENARIO
from services.tool_memory.extractors import CLINIC_PREFIX
from services.tool_memory.grounding import GROUNDING_PREFIX as TOOL_MEMORY

_CLOSING = "Close with: "
_READ_BACK_CHARS = 100_000
_QUERY_WORDS, _QUERY_CHARS = 12, 400


@dataclass(frozen=True, slots=True)
class Call:
    """A tool to call, by its name on the wire."""

    wire_name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class OfflineReply:
    """Text, tool calls, or both; after tool calls the rules are asked again."""

    text: str = ""
    calls: tuple[Call, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolOffer:
    """A tool the agent may call; `required` are the arguments it must be given."""

    wire_name: str
    required: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name without its plugin."""
        return self.wire_name.rpartition("-")[2]


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """What a tool gave back."""

    name: str
    data: Mapping[str, Any]

    @property
    def error(self) -> str:
        """What was wrong; "" where it gave a result."""
        return str(self.data.get("error") or "")


@dataclass(frozen=True, slots=True)
class Exchange:
    """What the user said before, and the last that was answered to it."""

    asked: str
    answered: str


@dataclass(slots=True)
class Prompt:
    """One prompt, taken apart.

    Attributes:
        instructions: The agent's own.
        agent: Who speaks.
        team: The other agents.
        is_facilitator: Whether this is the agent that leads the others.
        patients: All patients of the conversation.
        entities: What the agent is shown of entities.
        tool_memory: What it is shown of earlier tool runs.
        scenario: The step that it guides the user through, if it does.
        cue: Why the agent speaks now, as the server says it; "none" to answer the user.
        hand_back: Whom a step goes back to.
        asked: The user's last message.
        said: What agents said since then, oldest first.
        earlier: What agents said before it.
        past: The user's earlier messages, oldest first.
        answers: Results of the tools called for the message that is being written.
        utterance: The user's message as the turn read it.
        views: Rows of the chart that tools of this turn returned, oldest first.
        held: What users said of the patient and memory holds, in their words.
    """

    instructions: str = ""
    agent: str = ""
    team: Sequence[AgentCard] = ()
    is_facilitator: bool = False
    patient_id: str | None = None
    patients: Sequence[str] = ()
    entities: Mapping[str, Any] = field(default_factory=dict)
    tool_memory: Mapping[str, Any] = field(default_factory=dict)
    scenario: Mapping[str, Any] = field(default_factory=dict)
    tools: Sequence[ToolOffer] = ()
    cue: str = "none"
    hand_back: str = ""
    asked: str = ""
    said: Sequence[Line] = ()
    earlier: Sequence[Line] = ()
    past: Sequence[Exchange] = ()
    answers: list[ToolAnswer] = field(default_factory=list)
    utterance: Utterance | None = None
    views: Sequence[ChartView] = ()
    held: Sequence[str] = ()

    @property
    def closing(self) -> str:
        """The sentence that the agent's instructions close each answer with, if there is one."""
        lines = (line.strip() for line in self.instructions.splitlines())
        found = next((line for line in lines if line.startswith(_CLOSING)), "")
        return found.removeprefix(_CLOSING)

    @property
    def recent(self) -> str:
        """What tools found or used last: `record`, `appointment`, or the kind of the user's own."""
        if self.recent_appointment:
            return "appointment"
        # A slash alone says little: ids of Microsoft 365 have some, too.
        kind, _, rest = str(self._recent.get("id", "")).partition("/")
        is_record = kind.isalpha() and kind[0].isupper() and is_fhir_id(rest)
        return "record" if is_record else str(self._recent.get("type", ""))

    @property
    def recent_appointment(self) -> str:
        """The id of the appointment that was found or used last; "" where that is none."""
        key = str(self._recent.get("id", ""))
        return key.removeprefix(CLINIC_PREFIX) if key.startswith(CLINIC_PREFIX) else ""

    @property
    def _recent(self) -> Mapping[str, Any]:
        return next(iter(self.tool_memory.get("recent_entities") or ()), None) or {}

    @property
    def language(self) -> str:
        """In which language the user is answered, ISO 639-1: a bare "15:00" tells none itself."""
        read = self.utterance
        if read is not None and read.about and read.language in WELL_READ:
            return read.language
        texts = (self.asked, *(one.asked for one in reversed(self.past)))
        told = (language_of(one, default="") for one in texts)
        return next((one for one in told if one in WELL_READ), WELL_READ[0])

    @property
    def query(self) -> str:
        """The telling words of the message, at most twelve and perhaps none, to search for."""
        silent = {word.casefold() for word in self.patients}
        found = [word for word in telling_words(self.asked) if word.casefold() not in silent]
        return " ".join(dict.fromkeys(found[:_QUERY_WORDS]))[:_QUERY_CHARS]

    def who_has(self, tool: str) -> str | None:
        """Return the first agent of the team that has the tool."""
        return next((one.name for one in self.team if tool in one.tools), None)

    def who_answers(self, tool: str) -> str | None:
        """Return who answers the tool's questions before others."""
        first = (one.name for one in self.team if tool in one.answers)
        return next(first, None) or self.who_has(tool)

    def text(self, name: str, /, **parts: object) -> str:
        """Return one of our own texts in the language of the user."""
        return talk_text(self.language, name, **parts)

    def tool(self, name: str) -> ToolOffer | None:
        """Return the tool of that name, if the agent has it."""
        return next((tool for tool in self.tools if tool.name == name), None)

    def say(self, name: str, /, **parts: object) -> OfflineReply:
        """Return one of our own texts as the whole reply."""
        return OfflineReply(text=self.text(name, **parts))

    def call(self, name: str, /, **given: object) -> OfflineReply:
        """Return a call of the tool of that name; that there is none, where the agent has none."""
        tool = self.tool(name)
        if tool is None:
            return self.say("no_tool")
        return OfflineReply(calls=(Call(tool.wire_name, given),))

    def given_by(self, tool: str) -> list[Mapping[str, Any]]:
        """Return what that tool gave for the message that is being written, oldest first."""
        return [one.data for one in self.answers if one.name == tool]

    def was_asked(self, name: str) -> bool:
        """Whether what was said last, before the user's message, ends with that text of ours."""
        return bool(self.earlier) and ends_with(self.earlier[-1].text, name)


def ends_with(text: str, name: str) -> bool:
    """Whether `text` ends with our own text of that name, in any language."""
    return text.rstrip().endswith(in_every_language(name))


def prompt_of(
    turn: TurnContext, chat_history: ChatHistory, tools: Iterable[Mapping[str, Any]]
) -> Prompt:
    """Return the prompt: the talk is the turn's; why the agent speaks, the history's."""
    request, messages = turn.request, chat_history.messages
    talk = lines_of(request.history, limit_chars=_READ_BACK_CHARS, plan=request.plan)
    cue = next((one.metadata for one in messages if CUE_NAME in one.metadata), {})
    return Prompt(
        instructions=messages[0].content,
        agent=turn.agent,
        team=[one for one in turn.team if one.name != turn.agent],
        is_facilitator=any(one.is_facilitator and one.name == turn.agent for one in turn.team),
        patient_id=request.patient_id,
        patients=request.all_patient_ids,
        entities=_shown(ENTITIES, messages),
        tool_memory=_shown(TOOL_MEMORY, messages),
        scenario=_shown(SCENARIO, messages),
        tools=[_offer(tool["function"]) for tool in tools],
        cue=cue.get(CUE_NAME, "none"),
        hand_back=cue.get(HANDS_BACK_TO, ""),
        asked=request.text,
        said=[Line(one.agent, one.text) for one in turn.said],
        earlier=[line for _, *answered in talk for line in answered],
        past=[
            Exchange(asked.text, "".join(one.text for one in rest[-1:])) for asked, *rest in talk
        ],
        answers=_answers(messages),
        utterance=request.utterance,
        views=turn.views,
        held=request.held,
    )


def _shown(mark: str, messages: Sequence[ChatMessageContent]) -> Mapping[str, Any]:
    """Return the data that the server shows behind `mark`."""
    texts = (one.content for one in messages if one.role == AuthorRole.SYSTEM)
    return next((data_behind(mark, text) for text in texts if text.startswith(mark)), {})


def data_behind(mark: str, text: str) -> Mapping[str, Any]:
    """Return the object that stands in the line behind `mark`; an empty one where none does."""
    _, found, rest = text.rpartition(mark)
    return _object_of(rest.strip().partition("\n")[0]) if found else {}


def _answers(messages: Sequence[ChatMessageContent]) -> list[ToolAnswer]:
    """Return the results behind the last message that is no call of a tool."""
    items: list[Any] = []
    for message in reversed(messages):
        held = [*message.items]
        if not any(isinstance(one, FunctionResultContent | FunctionCallContent) for one in held):
            break
        items = held + items
    found = [one for one in items if isinstance(one, FunctionResultContent)]
    return [
        ToolAnswer(one.function_name or one.name or "tool", _object_of(str(one.result)))
        for one in found
    ]


def _offer(function: Mapping[str, Any]) -> ToolOffer:
    parameters = function.get("parameters") or {}
    return ToolOffer(str(function["name"]), tuple(parameters.get("required") or ()))


def _object_of(text: str) -> dict[str, Any]:
    """Return the JSON object in `text`; what is none is kept as words."""
    try:
        parsed = orjson.loads(text)
    except orjson.JSONDecodeError:
        return {"text": text}
    return parsed if isinstance(parsed, dict) else {"items": parsed}
