"""Tools over the session: the patient's memory, scenarios, and the tumor-board document."""

import asyncio
import re
from collections.abc import Iterable, Sequence
from typing import Any

from pydantic import Field

from data_models.chart_view import ChartView
from data_models.chat_context import AgentMessage
from data_models.errors import ScenarioInputError, ToolInputError
from data_models.identifiers import hashed
from data_models.values import ClosedValue
from group_chat.drafts.citations import citations_in
from group_chat.tools.chart_tools import Day, day_asked
from group_chat.tools.tool import Tool, ToolOutput, tools_of
from group_chat.turn_context import TurnContext, action_key, current_effect
from services.evidence.changes import TOOL, changes_of_days, changes_view, chart_states
from services.group_chat_port import ArtifactMade, NoteWritten
from services.language.model_output.hand_over import HandsBack, is_question, read_hand_over
from services.language.words.folding import words_of
from services.language.words.phrases import says
from services.memory_blocks.recall import Remark
from services.records.answers.as_said import told_before
from services.records.big_charts import make_view
from services.records.report_models import Report, ReportContent, Statement, reports_of
from services.records.resources.dates import last_day
from services.records.resources.ports import PatientRecords
from services.records.resources.record import PatientRecord
from services.records.views.course import course
from services.records.views.demographics import demographics
from services.records.views.oncology.oncology import treatments_view
from services.records.views.oncology.status import current_status
from services.records.views.view import view_of
from services.scenarios.session.progress import ToolAction, ToolRan
from services.scenarios.session.scenario_runtime import ScenarioRuntime

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


_RECEIPT_CHARS = 8


async def start_scenario(
    turn: TurnContext, name: str = Field(max_length=120, description="Name or id of the scenario.")
) -> ToolOutput:
    """Begins a guided workflow for this patient, or goes on with one that was left."""
    runtime = _runtime(turn)
    if turn.request.patient_id is None:
        raise ToolInputError("no patient is active; ask the user for a patient id")
    try:
        await runtime.start(name, agent=turn.agent, act=_runner(turn))
    except ScenarioInputError as error:
        raise ToolInputError(error.user_message) from None
    return runtime.as_shown_to_agents


async def record_fields(
    turn: TurnContext,
    values: dict[str, Any] = Field(
        min_length=1,
        max_length=40,
        description="By field name, as typed: dates YYYY-MM-DD, true or false, plain numbers.",
    ),
    quotes: dict[str, str] = Field(
        default_factory=dict,
        max_length=40,
        description="By field name: the user's own words that say the value, copied exactly.",
    ),
) -> ToolOutput:
    """Records what the user said for fields of the open scenario; tells the next step."""
    try:
        return await _runtime(turn).record(values, act=_runner(turn), quotes=quotes)
    except ScenarioInputError as error:
        raise ToolInputError(error.user_message) from None


async def where_are_we(turn: TurnContext) -> ToolOutput:
    """Tells the step of the open scenario."""
    return {"where": await _runtime(turn).where()}


async def leave_scenario(turn: TurnContext) -> ToolOutput:
    """Leaves the scenario; it can be resumed."""
    return {"left": await _runtime(turn).leave()}


async def resume_scenario(turn: TurnContext) -> ToolOutput:
    """Goes on with the scenario left last."""
    runtime = _runtime(turn)
    if not await runtime.resume():
        raise ToolInputError("no scenario was left")
    await runtime.settle(_runner(turn))
    return runtime.as_shown_to_agents


def _runtime(turn: TurnContext) -> ScenarioRuntime:
    if turn.request.scenario is None:
        raise ToolInputError("there are no scenarios in this conversation")
    return turn.request.scenario


def _runner(turn: TurnContext) -> Any:
    return turn.act or _run_nothing


async def _run_nothing(_: ToolAction) -> ToolRan:
    return ToolRan(succeeded=False)


async def write_note(
    turn: TurnContext,
    title: str = Field(min_length=1, max_length=80, description="What the note is."),
    text: str = Field(min_length=1, max_length=1_000, description="What the user answered."),
) -> ToolOutput:
    """Notes what the user answered, so that the team and the tumor board document have it."""
    turn.patient_id  # noqa: B018 - a note is about a patient; without one it is refused
    heading = " ".join(title.split())
    turn.emit(NoteWritten(f"{heading}: {text}", heading))
    return {"noted": heading}


async def pretend_payment(
    _: TurnContext,
    amount: str = Field(min_length=1, max_length=40, description="With its currency."),  # noqa: ARG001 - is shown with the call
    purpose: str = Field(min_length=1, max_length=120, description="For what."),
) -> ToolOutput:
    """Plays a payment for demonstrations: no money moves."""
    receipt = hashed(action_key() or purpose)[:_RECEIPT_CHARS]
    return {"paid": True, "receipt": f"DEMO-{receipt}", "money_moved": False}


SCENARIO_TOOLS = tools_of(
    start_scenario, record_fields, where_are_we, leave_scenario, resume_scenario
)
WORKFLOW_TOOLS = tools_of(write_note, pretend_payment)


QUESTION_LIMIT = 20
EVENT_LIMIT = 100
STATEMENT_LIMIT = 200
_MARKS = re.compile(r"^[\s>#|*•+-]+|[`|]+|\*{2,}|(?<!\d)\*|(?<![^\W_])_+|_+(?![^\W_])")
"""Not the signs of "10*9/L" and of "Glu746_Ala750del"."""
_STEP_LINE = re.compile(r"(?:Step|Schritt) \d+ (?:of|von) \d+: ")
_TABLE_RULE = re.compile(r"^[\s|:-]+$")


def report_tool(
    *, records: PatientRecords, names: Sequence[str], facilitator: str, is_language_model: bool
) -> tuple[Tool, ...]:
    """Return the tool.

    Args:
        names: The team, to tell a hand-back from a statement.
        facilitator: Its words lead the discussion and are no findings.
    """

    async def create_report(turn: TurnContext) -> ToolOutput:
        """Writes the tumor board document (Word) from what the agents said, for download."""
        record = await records.load(turn.patient_id)
        said = [message for message in _said(turn) if message.agent != facilitator]
        noted = tuple(Statement(text=text, agent="a workflow") for text in turn.request.notes)
        told = (one for each in told_before(turn.request.heard) for one in each.sentences)
        asked = (one for one in told if says(one, "for_report"))  # "add to the report: …"
        noted += tuple(Statement(text=one, agent="a user, not the record") for one in asked)
        statements = (*noted, *statements_of(said, names))
        content = _content(record, turn, statements, offline=not is_language_model)
        report = await asyncio.to_thread(_written, content)
        manifest = report.manifest
        artifact = await turn.request.artifacts.save(
            file_name=manifest.file_name,
            media_type=manifest.media_type,
            data=report.data,
            key=current_effect().key,
        )
        turn.emit(ArtifactMade(artifact))
        shown: dict[str, Any] = manifest.model_dump(mode="json", exclude={"sources", "patient_id"})
        return {**shown, "artifact_id": artifact.artifact_id, "source_count": len(manifest.sources)}

    return tools_of(create_report, changes=True)


def statements_of(said: Iterable[AgentMessage], names: Sequence[str]) -> tuple[Statement, ...]:
    """Return each line of the agents' messages once, with the sources that it names.

    The newest 200 are kept; hand-backs, step lines and table rules are no statements.
    """
    found: dict[tuple[str, str], Statement] = {}
    for message in said:
        sources = {citation.ref: citation for citation in message.citations}
        for line in message.text.splitlines():
            text = _MARKS.sub("", line).strip()
            if text and not _is_organisation(line, message.agent, names):
                found[(message.agent, text)] = Statement(
                    text=text, agent=message.agent, sources=(*citations_in(text, sources),)
                )
    return tuple(found.values())[-STATEMENT_LIMIT:]


def _written(content: ReportContent) -> Report:
    # The Word library takes a sixth of a second to load: at the first report, in its thread.
    from services.records.report import tumor_board_report

    return tumor_board_report(content)


def _is_organisation(line: str, agent: str, names: Sequence[str]) -> bool:
    if _STEP_LINE.match(line) or _TABLE_RULE.match(line):
        return True
    return isinstance(read_hand_over(line, speaker=agent, names=names), HandsBack)


def _said(turn: TurnContext) -> Iterable[AgentMessage]:
    for earlier in turn.request.history:
        yield from earlier.agent_responses
    yield from turn.said


def _content(
    record: PatientRecord, turn: TurnContext, statements: tuple[Statement, ...], *, offline: bool
) -> ReportContent:
    today = turn.request.now.date()
    questions = [statement.text for statement in statements if is_question(statement.text)]
    return ReportContent(
        patient=demographics(record, today=today),
        status=current_status(record, today=today),
        timeline=course(record, today=today, limit=EVENT_LIMIT),
        imaging=reports_of(record, "imaging report"),
        pathology=reports_of(record, "pathology report"),
        treatments=treatments_view(record, today=today),
        statements=statements,
        open_questions=tuple(questions[-QUESTION_LIMIT:]),
        generated_at=turn.request.now,
        offline_model=offline,
        language=turn.language,
    )
