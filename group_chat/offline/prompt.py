"""What the offline rules are handed: the turn, and what stands in the prompt alone."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import takewhile
from typing import Any, NamedTuple

import orjson
from semantic_kernel import contents

from data_models.chart_view import ChartView
from data_models.chat_context import Turn
from data_models.patient_context_models import PatientIdentity
from group_chat.direct_answers import named, roster_told
from group_chat.messages import CUE_NAME, HANDS_BACK_TO
from group_chat.turn_context import TurnContext
from group_chat.window import Line, lines_of
from services.entities.session import GROUNDING_MARK as ENTITIES
from services.language.people.without_names import without_names
from services.language.utterance import TeamMember, Utterance
from services.language.words.detection import WELL_READ
from services.language.words.own_texts import in_own_language
from services.language.words.talk_texts import talk_text
from services.language.words.text_words import telling_words
from services.memory_blocks.history import first_shown
from services.scenarios.session.step_text import GROUNDING_MARK as SCENARIO
from services.tool_memory.extractors import CLINIC_PREFIX
from services.tool_memory.extractors import GROUNDING_PREFIX as TOOL_MEMORY

_CLOSING = "\nClose with: "
_UNREAD = Utterance("")
_READ_BACK_CHARS, _QUERY_WORDS, _QUERY_CHARS = 100_000, 12, 400


class Call(NamedTuple):
    """A tool to call."""

    name: str
    arguments: Mapping[str, Any]


class OfflineReply(NamedTuple):
    """Text, tool calls, or both; after tool calls the rules are asked again."""

    text: str = ""
    calls: tuple[Call, ...] = ()


class ToolAnswer(NamedTuple):
    """What a tool gave back."""

    name: str
    data: Mapping[str, Any]

    @property
    def error(self) -> str:
        """What was wrong; "" where it gave a result."""
        return str(self.data.get("error") or "")


@dataclass(slots=True)
class Prompt:
    """One prompt, taken apart.

    Attributes:
        closing: The sentence that the agent is told to close each answer with, if there is one.
        team: The other agents.
        entities: What the agent is shown of entities; likewise what tools found and used last.
        scenario: The step that it guides the user through, if it does.
        tools: The tools it may call, with the arguments each must be given.
        cue: Why the agent speaks now, as the server says it; "none" to answer the user.
        hand_back: Whom a step goes back to.
        has_asked: Whether the agent waits for this user's answer.
        said: What agents said since the user's message, oldest first; `earlier` before it.
        past: The user's earlier messages and the last that was answered to each, oldest first.
        answers: Results of the tools called for the message that is being written.
        views: Rows of the chart that tools of this turn returned, oldest first.
        held: What users said of the patient and memory holds, in their words.
        heard: The turns of this talk that may hold what they told in passing.
        now: When the user asks; None where that is not known.
        identity: Who the patient is by the records; None where nobody knows.
        roster: Whom the conversation knows, as it is said.
    """

    closing: str = ""
    agent: str = ""
    team: Sequence[TeamMember] = ()
    is_facilitator: bool = False
    patient_id: str | None = None
    patients: Sequence[str] = ()
    entities: Mapping[str, Any] = field(default_factory=dict)
    tool_memory: Mapping[str, Any] = field(default_factory=dict)
    scenario: Mapping[str, Any] = field(default_factory=dict)
    tools: Mapping[str, Sequence[str]] = field(default_factory=dict)
    language: str = WELL_READ[0]
    cue: str = "none"
    hand_back: str = ""
    asked: str = ""
    said: Sequence[Line] = ()
    earlier: Sequence[Line] = ()
    past: Sequence[tuple[str, str]] = ()
    answers: list[ToolAnswer] = field(default_factory=list)
    read: Utterance = _UNREAD
    views: Sequence[ChartView] = ()
    held: Sequence[str] = ()
    heard: Sequence[Turn] = ()
    identity: PatientIdentity | None = None
    roster: str = ""
    now: datetime | None = None
    has_asked: bool = False

    @property
    def recent_appointment(self) -> str:
        """The id of the appointment that was found or used last; "" where that is none."""
        _, is_clinics, key = str(self._recent.get("id", "")).rpartition(CLINIC_PREFIX)
        return key if is_clinics else ""

    @property
    def recent(self) -> str:
        """What tools found or used last: `appointment`, or the kind of the user's own; "" else."""
        return "appointment" if self.recent_appointment else str(self._recent.get("type", ""))

    @property
    def _recent(self) -> Mapping[str, Any]:
        return next(iter(self.tool_memory.get("recent_entities") or ()), {})

    @property
    def query(self) -> str:
        """The telling words of the message, at most twelve and perhaps none, to search for."""
        names = () if self.identity is None else (self.identity.name,)
        silent = {word.casefold() for word in (*self.patients, *(("patient",) if names else ()))}
        asked = without_names(self.asked, names)
        found = [word for word in telling_words(asked) if word.casefold() not in silent]
        return " ".join(dict.fromkeys(found[:_QUERY_WORDS]))[:_QUERY_CHARS]

    def who_has(self, tool: str) -> str | None:
        """Return the first agent of the team that has the tool."""
        return next((one.name for one in self.team if tool in one.tools), None)

    @property
    def who(self) -> str:
        """Who is open by name and birth date, as far as they are known, and by id."""
        return named(self.language, self.patient_id, self.identity)

    def text(self, name: str, /, **parts: object) -> str:
        """Return one of our own texts in the language of the user."""
        return talk_text(self.language, name, **parts)

    def say(self, name: str, /, **parts: object) -> OfflineReply:
        """Return one of our own texts as the whole reply."""
        return OfflineReply(text=self.text(name, **parts))

    def call(self, name: str, /, **given: object) -> OfflineReply:
        """Return a call of the tool of that name; that there is none, where the agent has none."""
        is_offered = name in self.tools
        return OfflineReply(calls=(Call(name, given),)) if is_offered else self.say("no_tool")

    def given_by(self, tool: str) -> list[Mapping[str, Any]]:
        """Return what that tool gave for the message that is being written, oldest first."""
        return [one.data for one in self.answers if one.name == tool]

    def view_of(self, answer: ToolAnswer) -> ChartView | None:
        """Return the last view of that tool in this turn; None where the answer is none."""
        views = () if answer.error else reversed(self.views)
        return next((view for view in views if view.tool == answer.name), None)

    @property
    def shown_before(self) -> str:
        """What was said last, before the user's message."""
        return self.earlier[-1].text if self.earlier else ""


def prompt_of(
    turn: TurnContext, chat_history: contents.ChatHistory, tools: Iterable[Mapping[str, Any]]
) -> Prompt:
    """Return the prompt: the talk is the turn's; why the agent speaks, the history's."""
    request, messages = turn.request, chat_history.messages
    first = first_shown(request.history, window_chars=_READ_BACK_CHARS, plan=request.plan)
    talk = lines_of(request.history[first:], request.plan)
    closing = f"\n{messages[0].content}".partition(_CLOSING)[2].partition("\n")[0]
    cue = next((one.metadata for one in messages if CUE_NAME in one.metadata), {})
    return Prompt(
        closing=in_own_language(closing.strip(), turn.language),
        agent=turn.agent,
        team=[one for one in turn.team if one.name != turn.agent],
        is_facilitator=any(one.is_facilitator and one.name == turn.agent for one in turn.team),
        patient_id=request.patient_id,
        patients=request.all_patient_ids,
        entities=_shown(ENTITIES, messages),
        tool_memory=_shown(TOOL_MEMORY, messages),
        scenario=_shown(SCENARIO, messages),
        tools={
            one["name"]: (one.get("parameters") or {}).get("required", ())
            for one in (tool["function"] for tool in tools)
        },
        language=turn.language,
        cue=cue.get(CUE_NAME, "none"),
        hand_back=cue.get(HANDS_BACK_TO, ""),
        has_asked=request.continuation is not None and request.continuation.agent == turn.agent,
        asked=request.text,
        said=[Line(one.agent, one.text) for one in turn.said],
        earlier=[line for _, *answered in talk for line in answered],
        past=[(asked.text, rest[-1].text if rest else "") for asked, *rest in talk],
        answers=_answers(messages),
        read=request.utterance or Utterance(request.text),
        views=turn.views,
        held=request.held,
        heard=request.heard,
        identity=request.identity,
        roster=roster_told(turn),
        now=request.now,
    )


def _shown(mark: str, messages: Sequence[contents.ChatMessageContent]) -> Mapping[str, Any]:
    """Return the data that the server shows behind `mark`."""
    texts = (one.content for one in messages if one.role == contents.AuthorRole.SYSTEM)
    return next((data_behind(mark, text) for text in texts if text.startswith(mark)), {})


def data_behind(mark: str, text: str) -> Mapping[str, Any]:
    """Return the object that stands in the line behind `mark`; an empty one where none does."""
    _, found, rest = text.rpartition(mark)
    return orjson.loads(rest.strip().partition("\n")[0]) if found else {}


def _answers(messages: Sequence[contents.ChatMessageContent]) -> list[ToolAnswer]:
    """Return the results behind the last message that is no call of a tool."""
    of_tools = (contents.FunctionResultContent, contents.FunctionCallContent)
    is_of_round = (any(isinstance(one, of_tools) for one in each.items) for each in messages[::-1])
    size = sum(takewhile(bool, is_of_round))
    return [
        # Rows of a chart are lines, and stand in its view.
        ToolAnswer(one.name or one.function_name or "tool", orjson.loads(text))
        for each in messages[len(messages) - size :]
        for one in each.items
        if isinstance(one, contents.FunctionResultContent)
        and (text := str(one.result) if str(one.result).startswith("{") else "{}")
    ]
