"""The tool memory of one turn: every run is recorded here, every reference resolved here."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from typing import Any

import orjson
import structlog

from data_models import tool_memory
from data_models.clock import IdSource
from services.language.people.names_within import names_one_of
from services.language.pointing.clauses import read_clauses
from services.language.pointing.folding import plain
from services.language.pointing.vocabulary import MAKING_FORMS, MOVING_FORMS
from services.language.words.in_english import in_english
from services.tool_memory import extractors
from services.tool_memory.resolution import Resolution, Resolved
from services.tool_memory.resolver import Picked, choice_of
from services.tool_memory.store import ToolEntityStore, fit

REQUEST_LIMIT_CHARS = 200
RESULT_LIMIT_CHARS = 200
_ROWS_TOLD = 3

logger = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class FinishedRun:
    """One run as the tool filter saw it.

    Attributes:
        data: The whole result; None where the run failed.
        error: What the agent was told of a failure.
        call_id: Of the call; a view that it gave is called so.
        is_view: Whether it gave rows of a chart: no entities, for none has an id of its own.
    """

    tool: str
    agent: str
    parameters: Mapping[str, Any]
    data: Mapping[str, Any] | None
    error: str | None
    duration_ms: float
    call_id: str = ""
    error_code: str | None = None
    is_view: bool = False


@dataclass(slots=True, kw_only=True)
class ToolMemorySession:
    """Works on the active patient's part of the turn's draft, and on nothing else.

    Attributes:
        now: When the turn began, in the user's zone.
        roster: Ids of the conversation's other patients.
        others: Ids and names of other patients, which models must not see.
        long_outputs: Whole outputs of this turn that are too long for the document.
    """

    store: ToolEntityStore
    turn_id: int
    user_text: str
    now: datetime
    roster: frozenset[str]
    ids: IdSource
    on_extractor_failure: Callable[[], None] | None = None
    picked: Picked | None = None
    others: frozenset[str] = field(init=False)
    long_outputs: list[tool_memory.RunOutput] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        self.others = self.roster

    @property
    def zone(self) -> tzinfo | None:
        """The user's zone."""
        return self.now.tzinfo

    @property
    def request(self) -> str:
        """What the user asks for: their words, and after a pick those that it completes."""
        text = self.user_text
        return text if self.picked is None else f"{text} (my request: {self.picked.asked})"

    def hear(self, text: str) -> None:
        """Go on with `text`, another request of the same turn."""
        if text != self.user_text:
            self.user_text, self.picked = text, None

    @property
    def goes_on_with(self) -> str | None:
        """The agent whose question this message answers by a pick."""
        return None if self.picked is None else self.picked.agent

    def withhold(self, others: frozenset[str]) -> None:
        """Withhold these ids and names too, from now on."""
        self.others = self.roster | others if not self.roster <= others else others

    def asked_which(
        self, what: str, ids: Sequence[str], *, agent: str
    ) -> tuple[str, dict[str, Any]]:
        """Return the question which one is meant, and its payload: the list that was shown last."""
        entities = [self.store.get(one) for one in ids]
        names = ["" if one is None else choice_of(one, self.now) for one in entities]
        lines = [f"{place}. {name}" for place, name in enumerate(names, 1)]
        self.store.shown(ids)
        payload = {"candidates": list(ids), "asked": self.request, "agent": agent}
        return "\n".join([f"Which {what} do you mean?", *lines]), payload

    def record(self, run: FinishedRun) -> tool_memory.ToolExecutionContext:
        """Remember a run and what it returned; a failed one yields no entities."""
        execution_id = self.ids.new_id("exec")
        found = self._found(run)
        kept = [self._kept(one, execution_id, tool=run.tool) for one in found]
        is_personal = run.tool in tool_memory.PERSONAL_TOOLS or any(one.is_personal for one in kept)
        output = self._output(run, kept)
        stored = tool_memory.ToolExecutionContext(
            execution_id=execution_id,
            tool_name=run.tool,
            agent_name=run.agent,
            user_request=self.user_text[:REQUEST_LIMIT_CHARS],
            parameters=extractors.masked(dict(run.parameters)),
            raw_output=output[: tool_memory.OUTPUT_HEAD_CHARS],
            output_chars=len(output),
            result=_summary(run, found),
            success=run.error is None,
            error_message=None if run.error is None else _problem(run.error)[:REQUEST_LIMIT_CHARS],
            execution_time_ms=round(run.duration_ms, 1),
            timestamp=self.now,
            turn_id=self.turn_id,
            entity_ids=[one.entity_id for one in kept][:20],
            is_personal=is_personal,
        )
        self.store.add_execution(stored)
        if not is_personal:  # a whole mailbox is not laid beside a patient's turns
            self._keep_output(run, execution_id, output)
        is_list = run.tool.startswith(_LISTINGS) and run.error is None
        if len(kept) > 1 or is_list:  # of a list of one nobody means the second
            self.store.shown([one.entity_id for one in kept])
        if len(kept) == 1 and run.tool not in _LISTS:
            self.store.touch(kept[0].entity_id, turn_id=self.turn_id)
        return stored

    def resolve(
        self,
        entity_type: tool_memory.EntityType | None = None,
        parameters: Mapping[str, Any] | None = None,
        *,
        without: Sequence[str] = (),
        at_clinic: bool = False,
        asks_first: bool = False,
    ) -> Resolution:
        """Return what the user's message of this turn means.

        Args:
            without: Words of it that say what something becomes, not what it is. Where all do, what
                was used last is meant.
            at_clinic: Whether the patient's appointments are meant, not the user's own calendar.
            asks_first: Whether the user is asked before anything is done with it.
        """
        picked = None if self.picked is None else self.store.get(self.picked.entity_id)
        is_live = picked is not None and picked.status == "active"
        if picked is not None and is_live and entity_type in (None, picked.entity_type):
            return Resolved(picked.entity_id)
        text = self.user_text
        for one in without:
            text = text.replace(one, " ") if one else text
        return self.store.resolve(
            text.strip() or "it",
            entity_type,
            parameters,
            local_now=self.now,
            at_clinic=at_clinic,
            asks_first=asks_first,
        )

    def orders_own(self, since: datetime) -> bool:
        """Whether the message orders something of the user's own that was shown since then.

        Named, "move the ward round to 4", or meant by what is done with it alone: "snooze it".
        """
        if not isinstance(found := self.resolve(), Resolved):
            return False
        entity = self.store.get(found.entity_id)
        if entity is None or not entity.is_personal or entity.last_accessed < since:
            return False
        verb = read_clauses(plain(in_english(self.user_text))).verb
        return bool(verb) and (bool(found.words) or verb not in MOVING_FORMS | MAKING_FORMS)

    def note_used(self, found: Resolved) -> None:
        """Note that a resolved entity was really used, and the words that led to it."""
        self.store.touch(found.entity_id, words=found.words, turn_id=self.turn_id)

    def grounding(self) -> str:
        """Return what agents are shown this turn."""
        if (zone := self.zone) is None:
            return ""
        entities = self.store.get_recent_entities(limit=extractors.SHOWN)
        # What a run only read is asked for again; what it found or failed at is spoken of.
        runs = [
            one
            for one in self.store.get_recent_tool_executions(extractors.SHOWN)
            if one.entity_ids or not one.success
        ]
        return extractors.grounding_of(entities, runs, zone)

    def close(self, *, kept: Sequence[str] = ()) -> None:
        """Forget what is too old or too much; call before the document is stored."""
        self.store.tidy(kept=kept)
        fit(self.store.memory, kept=tuple(kept))

    def _found(self, run: FinishedRun) -> list[extractors.Found]:
        if run.is_view or run.data is None or run.error is not None:
            return []
        try:
            return extractors.extracted(run.data)
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
            # The tool's answer still reaches the agent.
            if self.on_extractor_failure is not None:
                self.on_extractor_failure()
            logger.warning(
                "tool_memory_extractor_failed", tool=run.tool, error=type(error).__name__
            )
            return []

    def _kept(
        self, found: extractors.Found, execution_id: str, *, tool: str
    ) -> tool_memory.EntityContext:
        kind = found.entity_type
        called = found.display_name if kind == "contact" else ""
        private = kind in tool_memory.PERSONAL_KINDS and names_one_of(
            found.data, self.others, called=called
        )
        if private:
            hidden = extractors.with_time_only(found.data, kind)
            found = extractors.Found(
                found.entity_id, kind, extractors.other_of(kind), hidden, True, found.source
            )
        return self.store.store_entity(
            found,
            execution_id=execution_id,
            turn_id=self.turn_id,
            is_private=private,
            is_personal=found.entity_type in tool_memory.PERSONAL_KINDS
            or tool in tool_memory.PERSONAL_TOOLS,
        )

    def _output(self, run: FinishedRun, kept: Sequence[tool_memory.EntityContext]) -> str:
        if run.data is None:
            return ""
        if any(one.is_private for one in kept):
            # What names another patient is not stored with this one.
            rows = [one.data for one in kept]
            return as_json({"items": rows})
        return as_json(run.data)

    def _keep_output(self, run: FinishedRun, execution_id: str, output: str) -> None:
        if len(output) > tool_memory.OUTPUT_HEAD_CHARS:
            self.long_outputs.append(
                tool_memory.RunOutput(
                    execution_id=execution_id,
                    call_id=run.call_id,
                    tool_name=run.tool,
                    output=output.encode(errors="replace")[: tool_memory.OUTPUT_LIMIT_BYTES].decode(
                        errors="ignore"
                    ),
                    full_chars=len(output),
                )
            )


_LISTS = frozenset({"list_roster", "propose_plan"})
_LISTINGS = ("list_", "search_")


def as_json(data: Mapping[str, Any]) -> str:
    """Return `data` as JSON, whatever is in it."""
    try:
        return orjson.dumps(data, default=str, option=orjson.OPT_NON_STR_KEYS).decode()
    except TypeError:  # half characters, or numbers beyond 64 bits
        return json.dumps(data, ensure_ascii=False, default=str)


def _summary(run: FinishedRun, found: Sequence[extractors.Found]) -> str:
    if run.error is not None:
        return "failed"
    if not found or "result" in (run.data or {}):
        return _in_words(run.data or {})
    kinds = sorted({one.entity_type for one in found})
    names = ", ".join(kinds).replace("_", " ")
    return f"{len(found)} {names}{'s' if len(found) > 1 and names != 'generic' else ''}"


def _in_words(data: Mapping[str, Any]) -> str:
    """Return what a run without entities came to, in a few words that people read."""
    said = data.get("result")
    if isinstance(said, str) and said.strip():
        return " ".join(said.replace("*", "").split())[:RESULT_LIMIT_CHARS]
    if "asked" in data:
        return "the user was asked first"
    rows = [(key, len(value)) for key, value in data.items() if isinstance(value, list) and value]
    if rows:
        return ", ".join(_counted(key, count) for key, count in rows[:_ROWS_TOLD])
    return "nothing found" if not any(data.values()) else "done"


def _counted(key: str, count: int) -> str:
    name = key.replace("_", " ")
    return f"{count} {name.removesuffix('s') if count == 1 else name}"


def _problem(content: str) -> str:
    """Return what went wrong, without the form in which an agent is told."""
    try:
        loaded = orjson.loads(content)
    except orjson.JSONDecodeError:
        return content
    return str(loaded["error"]) if isinstance(loaded, dict) and "error" in loaded else content
