"""What the offline rules are handed: the messages of a prompt, and what stands in them as data."""

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
from group_chat.judge import NAMES_FOLLOW
from group_chat.messages import CUE_NAME, HANDS_BACK_TO
from services.entities.session import GROUNDING_MARK as ENTITIES
from services.language.detection import WELL_READ, language_of
from services.language.talk_texts import in_every_language, talk_text
from services.language.utterance import Utterance
from services.patient_context.markers import SNAPSHOT_PREFIX
from services.records.patient_lookup import is_fhir_id
from services.scenarios.session.step_text import GROUNDING_MARK as SCENARIO
from services.tool_memory.extractors import CLINIC_PREFIX
from services.tool_memory.grounding import GROUNDING_PREFIX as TOOL_MEMORY

_CLOSING = "Close with: "


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
class Spoken:
    """What an agent said."""

    agent: str
    text: str


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
        utterance: The user's message as the turn read it; None outside of a turn.
        views: Rows of the chart that tools of this turn returned, oldest first.
        held: What users said of the patient and memory holds, in their words.
    """

    instructions: str = ""
    snapshot: Mapping[str, Any] = field(default_factory=dict)
    entities: Mapping[str, Any] = field(default_factory=dict)
    tool_memory: Mapping[str, Any] = field(default_factory=dict)
    tools: Sequence[ToolOffer] = ()
    scenario: Mapping[str, Any] = field(default_factory=dict)
    cue: str = "none"
    hand_back: str = ""
    asked: str = ""
    said: list[Spoken] = field(default_factory=list)
    earlier: list[Spoken] = field(default_factory=list)
    past: list[Exchange] = field(default_factory=list)
    answers: list[ToolAnswer] = field(default_factory=list)
    utterance: Utterance | None = None
    views: Sequence[ChartView] = ()
    held: Sequence[str] = ()

    @property
    def team(self) -> dict[str, str]:
        """The other agents of the team and what each does, if the instructions list them."""
        lines = [line[3:] for line in self.instructions.splitlines() if line.startswith("- *")]
        rows = (line.partition("*: ") for line in lines)
        return {name: does for name, mark, does in rows if mark}

    @property
    def is_facilitator(self) -> bool:
        """Whether this is the agent that leads the others."""
        return self.tool("propose_plan") is not None or bool(self.team)

    @property
    def verdict(self) -> str:
        """The first of the names among which the prompt wants one and nothing else, if it does."""
        return self.instructions.partition(NAMES_FOLLOW)[2].partition(",")[0]

    @property
    def closing(self) -> str:
        """The sentence that the agent's instructions close each answer with, if there is one."""
        lines = (line.strip() for line in self.instructions.splitlines())
        found = next((line for line in lines if line.startswith(_CLOSING)), "")
        return found.removeprefix(_CLOSING)

    @property
    def patient_id(self) -> str | None:
        """The active patient."""
        return self.snapshot.get("patient_id") or None

    @property
    def patients(self) -> list[str]:
        """All patients of the conversation."""
        return [str(patient) for patient in self.snapshot.get("all_patient_ids") or ()]

    @property
    def is_first(self) -> bool:
        """Whether no agent has said anything yet."""
        return not self.said and not self.earlier

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


def read_prompt(chat_history: ChatHistory, tools: Iterable[Mapping[str, Any]]) -> Prompt:
    """Take a prompt apart."""
    prompt = Prompt(tools=[_offer(tool["function"]) for tool in tools])
    for message in chat_history.messages:
        match message.role:
            case AuthorRole.SYSTEM | AuthorRole.DEVELOPER:
                _take_system(prompt, message)
            case AuthorRole.USER:
                _take_asked(prompt, message.content)
            case AuthorRole.TOOL:
                results = (one for one in message.items if isinstance(one, FunctionResultContent))
                prompt.answers += [_answer(one) for one in results]
            case _:
                _take_said(prompt, message)
    return prompt


def _take_system(prompt: Prompt, message: ChatMessageContent) -> None:
    """Take what the server says: why the agent speaks, or data behind a mark."""
    if CUE_NAME in message.metadata:
        prompt.cue, prompt.hand_back = message.metadata[CUE_NAME], message.metadata[HANDS_BACK_TO]
        return
    text = message.content
    if text.startswith(SNAPSHOT_PREFIX):
        prompt.snapshot = data_behind(SNAPSHOT_PREFIX, text)
    elif text.startswith(ENTITIES):
        prompt.entities = data_behind(ENTITIES, text)
    elif text.startswith(TOOL_MEMORY):
        prompt.tool_memory = data_behind(TOOL_MEMORY, text)
    elif text.startswith(SCENARIO):
        prompt.scenario = data_behind(SCENARIO, text)
    elif not prompt.instructions:
        prompt.instructions = text


def data_behind(mark: str, text: str) -> Mapping[str, Any]:
    """Return the object that stands in the line behind `mark`; an empty one where none does."""
    _, found, rest = text.rpartition(mark)
    return object_of(rest.strip().partition("\n")[0]) if found else {}


def _take_asked(prompt: Prompt, text: str) -> None:
    # A user who writes a cue's words is a user all the same.
    prompt.answers.clear()
    prompt.cue, prompt.hand_back = "none", ""
    if prompt.asked:
        prompt.past.append(Exchange(prompt.asked, prompt.said[-1].text if prompt.said else ""))
    prompt.asked = text
    prompt.earlier += prompt.said
    prompt.said.clear()


def _take_said(prompt: Prompt, message: ChatMessageContent) -> None:
    if any(isinstance(one, FunctionCallContent) for one in message.items):
        return  # the beginning of the message that is being written
    prompt.answers.clear()
    if message.content.strip():
        prompt.said.append(Spoken(message.name or "", message.content))


def _answer(result: FunctionResultContent) -> ToolAnswer:
    name = result.function_name or result.name or "tool"
    return ToolAnswer(name, object_of(str(result.result)))


def _offer(function: Mapping[str, Any]) -> ToolOffer:
    parameters = function.get("parameters") or {}
    return ToolOffer(str(function["name"]), tuple(parameters.get("required") or ()))


def object_of(text: str) -> dict[str, Any]:
    """Return the JSON object in `text`; what is none is kept as words."""
    try:
        parsed = orjson.loads(text)
    except orjson.JSONDecodeError:
        return {"text": text}
    return parsed if isinstance(parsed, dict) else {"items": parsed}
