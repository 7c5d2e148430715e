"""What the offline rules read in a prompt: the same prompt that a language model is sent."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import orjson
from semantic_kernel.contents import (
    AuthorRole,
    ChatHistory,
    ChatMessageContent,
    FunctionCallContent,
    FunctionResultContent,
)

from data_models.chart_view import ChartView
from group_chat.window import MEANING_MARK, SUMMARY_MARK
from services.attachments.papers import PAPERS_PREFIX
from services.entities.session import GROUNDING_MARK
from services.language.detection import WELL_READ, language_of
from services.language.talk_texts import in_every_language, talk_text
from services.language.utterance import Utterance
from services.patient_context.snapshot import is_snapshot
from services.tool_memory.extractors import CLINIC_PREFIX
from services.tool_memory.grounding import GROUNDING_PREFIX

CueKind: TypeAlias = Literal["none", "turn", "step", "own_step", "close", "failed", "waiting"]

_CUES: tuple[tuple[CueKind, re.Pattern[str]], ...] = (
    ("step", re.compile(
        r"^It is your turn, [\w-]+\. Carry out.*Back to you \*(?P<to>[\w-]+)\*", re.DOTALL)),
    ("own_step", re.compile(r"^It is your turn, [\w-]+\. Carry out")),
    ("turn", re.compile(r"^It is your turn, [\w-]+\.")),
    ("close", re.compile(r"^All steps of the plan are done\.")),
    ("failed", re.compile(r"^Every tool of the last step failed\.")),
    ("waiting", re.compile(r"^A plan is not finished\.")),
)  # fmt: skip
_NOT_FOR_RULES = (PAPERS_PREFIX, MEANING_MARK, SUMMARY_MARK)
_MEMBER = re.compile(r"^- \*([A-Za-z][\w-]{0,63})\*: (.+)$", re.MULTILINE)
_CLOSING = "Close with: "
_VERDICT = re.compile(r"Answer with one name from this list.*?: *([\w-]+)", re.DOTALL)
# A slash alone says little: ids of Microsoft 365 have some, too, and are longer than FHIR's.
_REFERENCE = re.compile(r"[A-Z][A-Za-z]+/[A-Za-z0-9.-]{1,64}")


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
class Cue:
    """Why the agent speaks now; `hand_back` names whom a step goes back to."""

    kind: CueKind = "none"
    hand_back: str | None = None


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
        team: Descriptions by name, as the facilitator's instructions list them.
        entities: What the agent is shown of entities.
        tool_memory: What it is shown of earlier tool runs.
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
    cue: Cue = field(default_factory=Cue)
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
        """The other agents of the team, if the instructions list them."""
        return {found[1]: found[2] for found in _MEMBER.finditer(self.instructions)}

    @property
    def is_facilitator(self) -> bool:
        """Whether this is the agent that leads the others."""
        return self.tool("propose_plan") is not None or bool(self.team)

    @property
    def verdict(self) -> str | None:
        """The first of the names among which the prompt wants one and nothing else."""
        found = _VERDICT.search(self.instructions)
        return found[1] if found is not None else None

    @property
    def closing(self) -> str:
        """The sentence that the agent's instructions close each answer with, if there is one."""
        lines = (line.strip() for line in self.instructions.splitlines())
        found = next((line for line in lines if line.startswith(_CLOSING)), "")
        return found.removeprefix(_CLOSING)

    @property
    def is_step(self) -> bool:
        """Whether a step of a plan is to be done."""
        return self.cue.kind in ("step", "own_step")

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
        key = str(self._recent.get("id", ""))
        if key.startswith(CLINIC_PREFIX):
            return "appointment"
        is_record = _REFERENCE.fullmatch(key) is not None
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
                _take_system(prompt, message.content)
            case AuthorRole.USER:
                _take_asked(prompt, message.content)
            case AuthorRole.TOOL:
                results = (one for one in message.items if isinstance(one, FunctionResultContent))
                prompt.answers += [_answer(one) for one in results]
            case _:
                _take_said(prompt, message)
    return prompt


def _take_system(prompt: Prompt, text: str) -> None:
    line = text.partition("\n")[0].partition(":")[2]
    if is_snapshot(text):
        prompt.snapshot = _object_of(line)
    elif text.startswith(GROUNDING_MARK):
        prompt.entities = _object_of(line)
    elif text.startswith(GROUNDING_PREFIX):
        prompt.tool_memory = _object_of(line)
    elif (cue := cue_of(text)).kind != "none":
        prompt.cue = cue
    elif not text.startswith(_NOT_FOR_RULES):
        prompt.instructions += f"{text}\n"


def _take_asked(prompt: Prompt, text: str) -> None:
    # A user who writes a cue's words is a user all the same.
    prompt.answers.clear()
    prompt.cue = Cue()
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
    return ToolAnswer(name, _object_of(str(result.result)))


def cue_of(text: str) -> Cue:
    """Return what `text` cues, if it is a line of the server's own and no one's words."""
    for kind, pattern in _CUES:
        found = pattern.match(text)
        if found is not None:
            return Cue(kind, found.groupdict().get("to"))
    return Cue()


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
