"""A tool: what a model is told of it, what runs, and what becomes of a finished run."""

import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from types import MethodType
from typing import Any, TypeAlias

import structlog
from pydantic import BaseModel, create_model

from data_models.errors import ToolInputError
from data_models.identifiers import hashed
from data_models.values import ClosedValue
from group_chat.turn_context import TurnContext
from services.audit.trail import Audit, AuditEntry
from services.entities.session import Derives, StoredRun
from services.tool_memory.session import FinishedRun

ToolOutput: TypeAlias = BaseModel | Mapping[str, Any]


class _Whatever(BaseModel):
    """Arguments of a tool that has nothing to do with them."""


@dataclass(frozen=True, slots=True)
class Tool:
    """One entry of the catalogue.

    Attributes:
        name: As in `team.yaml` and on the wire.
        description: For the model: what it gives, in one or two sentences.
        arguments: Shape of its arguments; never holds a patient.
        run: Called with the turn and a checked instance of `arguments`. May raise
            `ToolInputError`, `RecordsError` and `StoreError`.
        ends_message: Whether its success ends the agent's message.
        changes: Whether it changes something beside the patient's document, which is stored with
            the turn. Such a run is on record before it begins, and does it once under the key of
            `current_effect`, however often the turn is attempted.
    """

    name: str
    description: str
    arguments: type[BaseModel]
    run: Callable[[TurnContext, Any], Awaitable[ToolOutput]]
    ends_message: bool = False
    changes: bool = False


def tools_of(
    *runs: Callable[..., Awaitable[ToolOutput]], changes: bool = False, ends_message: bool = False
) -> tuple[Tool, ...]:
    """Return each of `runs` as a tool: its name, its docstring, what it takes after the turn."""
    return tuple(_tool_of(run, changes=changes, ends_message=ends_message) for run in runs)


def _tool_of(
    run: Callable[..., Awaitable[ToolOutput]], *, changes: bool, ends_message: bool
) -> Tool:
    async def run_with(turn: TurnContext, asked: BaseModel) -> ToolOutput:
        return await run(turn, **dict(asked))

    written, before = inspect.unwrap(run), 1
    if isinstance(written, MethodType):
        written, before = written.__func__, 2
    description = " ".join((inspect.getdoc(run) or "").split())
    arguments = _arguments_of(written, before)
    return Tool(run.__name__, description, arguments, run_with, ends_message, changes)


@lru_cache(maxsize=256)
def _arguments_of(run: Callable[..., Any], before: int) -> type[BaseModel]:
    """Return the parameters of `run` behind the first ones as a model that refuses all others."""
    taken: Any = {
        one.name: (one.annotation, ... if one.default is one.empty else one.default)
        for one in [*inspect.signature(run).parameters.values()][before:]
    }
    shape: type[BaseModel] = create_model(run.__name__, __base__=ClosedValue, **taken)
    return shape


def refusing_tools(names: Iterable[str], why: str) -> list[Tool]:
    """Return tools of these names for a server that has nothing to run them: they say why."""

    async def refuse(_: TurnContext, __: BaseModel) -> ToolOutput:
        raise ToolInputError(why)

    return [Tool(name, "Not connected.", _Whatever, refuse) for name in names]


# What each tool derives from its result (spec page 2.3).

_SLOTS_SECONDS = 900.0
_COVERAGE_SECONDS = 86_400.0
_PROPOSED = Derives("appointment_proposal", ("proposal",), valid_for=3_600.0)

DERIVES: Mapping[str, tuple[Derives, ...]] = {
    "available_slots": (
        Derives("doctor_uuid", ("doctor_uuid",), depends_on=("doctor_preference",)),
        Derives(
            "available_slots",
            ("slots",),
            valid_for=_SLOTS_SECONDS,
            depends_on=("doctor_preference", "date_preference"),
        ),
    ),
    "book_appointment": (
        replace(_PROPOSED, depends_on=("doctor_preference", "date_preference", "time_preference")),
    ),
    "move_appointment": (_PROPOSED,),
    "cancel_appointment": (_PROPOSED,),
    "register_person": (_PROPOSED,),
    "find_person": (Derives("patient_id_retrieved", ("patient_id_retrieved",)),),
    "insurance_eligibility": (
        Derives("eligibility_checked", ("eligible",), valid_for=_COVERAGE_SECONDS),
        Derives("insurance_verified", ("coverage",), valid_for=_COVERAGE_SECONDS),
    ),
}


def file_derived(turn: TurnContext, run: FinishedRun, kept: StoredRun) -> None:
    """Keep what a tool run says of its patient with the agent that asked."""
    if (entities := turn.request.entities) is None:
        return
    if run.data is not None:
        entities.store_tool_result(
            run.agent,
            run.tool,
            run.parameters,
            run.data,
            derives=DERIVES.get(run.tool, ()),
            run=kept,
        )
    if (notice := entities.eviction_notice()) is not None:
        turn.emit(notice)


def remembered(turn: TurnContext, run: FinishedRun) -> StoredRun:
    """Keep a run in the tool memory of its patient, and return as what."""
    if (memory := turn.request.tool_memory) is None:
        return StoredRun("")
    kept = memory.record(run)
    return StoredRun(kept.execution_id, tuple(kept.entity_ids))


class ToolWatcher:
    """Told of every run before the model sees its result, and of every patient refused.

    It remembers each run for the patient of its turn, and logs names and durations, nothing that a
    model or a record said. The turn's own record covers the runs that stayed with its patient.
    """

    def __init__(self, *, audit: Audit) -> None:
        self._audit = audit
        self._log = structlog.get_logger()

    async def note_run(self, turn: TurnContext, run: FinishedRun) -> None:
        """Note a run. Raising ends the turn."""
        file_derived(turn, run, remembered(turn, run))
        self._log.info(
            "tool_run",
            run=turn.request.run_id,
            conversation=hashed(turn.request.conversation_id),
            agent=run.agent,
            tool=run.tool,
            error_code=run.error_code,
            duration_ms=round(run.duration_ms, 1),
        )

    async def note_refused_patient(self, turn: TurnContext, tool: str) -> None:
        """Note that a model named another patient than the turn's (R6).

        Raises:
            AuditUnavailableError: the attempt could not be put on record; the turn ends.
        """
        request = turn.request
        self._log.warning(
            "tool_refused_patient",
            run=request.run_id,
            conversation=hashed(request.conversation_id),
            agent=turn.agent,
            tool=tool,
        )
        await self._audit.record(
            AuditEntry(
                principal=request.principal_id,
                conversation=request.conversation_id,
                patient=request.patient_id,
                run_id=request.run_id,
                actions=(f"tool_refused_patient:{tool}",),
                outcome="refused",
            )
        )
