"""Tools of the patient's memory: keep what changed, look up what was said, show what is new."""

from typing import Any

from pydantic import Field

from data_models.chart_view import ChartView
from data_models.errors import ToolInputError
from data_models.values import ClosedValue
from group_chat.tools.chart_tools import Day, day_asked
from group_chat.tools.tool import Tool, ToolOutput, tools_of
from group_chat.turn_context import TurnContext
from services.evidence.changes import TOOL, changes_of_days, changes_view, chart_states
from services.language.words.folding import words_of
from services.memory_blocks.recall import Remark
from services.records.big_charts import make_view
from services.records.resources.dates import last_day
from services.records.resources.ports import PatientRecords
from services.records.resources.record import PatientRecord
from services.records.views.view import view_of

UPDATE_ENTITIES = "update_entities"


class EntityArguments(ClosedValue):
    """Only what changed; what is not named stays."""

    entities_to_update: dict[str, Any] = Field(
        default_factory=dict,
        description="What the user wants, such as doctor_preference, date_preference, "
        "time_preference, procedure_preference, reason_visit.",
    )
    derived_entities_to_update: dict[str, Any] = Field(
        default_factory=dict, description="What you concluded; tool results are kept without you."
    )
    entities_to_remove: list[str] = Field(
        default_factory=list, max_length=20, description="Keys that no longer hold."
    )
    entities_to_restore: list[str] = Field(
        default_factory=list, max_length=7, description="Keys to note again after they left."
    )
    handover: list[str] = Field(
        default_factory=list, max_length=7, description="Derived keys to copy to another agent."
    )
    handover_to: str | None = Field(default=None, max_length=64, description="That agent.")
    words: str = Field(
        default="",
        max_length=300,
        description="The user's words it comes from, copied from their newest message.",
    )


async def _update_entities(turn: TurnContext, asked: EntityArguments) -> ToolOutput:
    if (entities := turn.request.entities) is None:
        raise ToolInputError("nothing can be noted in this conversation")
    delta = asked.model_dump(exclude={"entities_to_restore", "words"})
    words = " ".join(words_of(asked.words))
    is_quoted = bool(words) and f" {words} " in f" {' '.join(words_of(turn.request.text))} "
    report = entities.replied(delta, agent_name=turn.agent, is_quoted=is_quoted)
    kept = [half for half in (report["conversation"], report["derived"]) if any(half.values())]
    restored = [
        key for key in asked.entities_to_restore if entities.restored(key, agent_name=turn.agent)
    ]
    return {"noted": kept, "restored": restored}


RECALL = "recall"
_SHOWN = 5
_SHOWN_AT_MOST = 10


async def recall(
    turn: TurnContext,
    query: str = Field(min_length=1, max_length=400),
    limit: int = Field(default=_SHOWN, ge=1, le=_SHOWN_AT_MOST),
) -> ToolOutput:
    """What was said of this patient in turns that you no longer see, by words."""
    if (past := turn.request.past) is None:
        raise ToolInputError("earlier turns cannot be read in this conversation")
    found = await past.recall(query, limit=limit)
    return {
        "remarks": [_line(one, turn) for one in found.remarks],
        "turns_searched": found.searched,
    }


def _line(one: Remark, turn: TurnContext) -> str:
    who = one.speaker
    if who == "user":
        is_own = not turn.request.is_group or one.user == turn.request.user
        who = turn.text("you") if is_own else one.user
    said, day = " ".join(one.text.split()), one.timestamp.date().isoformat()
    return turn.text("turn_of", turn=one.turn_id, day=day, who=who, said=said)


_NOT_KEPT = (
    "It is not kept here when you looked at a chart, so nothing can be compared. "
    "With a day I can tell what is new: what is new since 1 May?"
)


def memory_tools(records: PatientRecords) -> tuple[Tool, ...]:
    """Return the tools of this file; `changes` reads `records`."""

    async def changes(turn: TurnContext, since: Day = None, until: Day = None) -> ChartView:
        """What is new, changed, ended or resulted since the user last looked, or in days."""
        record = await records.load(turn.patient_id)
        return await make_view(record, lambda one: _view(one, turn, since, until))

    return (
        Tool(
            UPDATE_ENTITIES,
            "Notes what changed in what the user wants. Send only the changes.",
            EntityArguments,
            _update_entities,
        ),
        *tools_of(recall, changes),
    )


def _view(
    record: PatientRecord, turn: TurnContext, since: str | None, until: str | None
) -> ChartView:
    now = turn.request.now
    if since is None and until is None:
        if turn.request.look is None:
            return view_of(record, TOOL, "Changes", [], nothing=_NOT_KEPT)
        return changes_view(record, turn.request.look.baseline, chart_states(record, at=now))
    first, last = day_asked(since), day_asked(until, last_day)
    return changes_of_days(record, since=first, until=last, today=now.date())
