"""The tool that writes the tumor-board document of the active patient."""

import asyncio
import re
from collections.abc import Iterable, Sequence
from typing import Any

from data_models.chat_context import AgentMessage
from group_chat.drafts.citations import citations_in
from group_chat.tools.tool import Tool, ToolOutput, tools_of
from group_chat.turn_context import TurnContext, current_effect
from services.group_chat_port import ArtifactMade
from services.language.model_output.hand_over import HandsBack, is_question, read_hand_over
from services.language.words.phrases import says
from services.records.answers.as_said import told_before
from services.records.report_models import Report, ReportContent, Statement, reports_of
from services.records.resources.ports import PatientRecords
from services.records.resources.record import PatientRecord
from services.records.views.course import course
from services.records.views.demographics import demographics
from services.records.views.oncology.oncology import treatments_view
from services.records.views.oncology.status import current_status

QUESTION_LIMIT = 20
EVENT_LIMIT = 100
STATEMENT_LIMIT = 200
_MARKS = re.compile(r"^[\s>#|*•+-]+|[*_`|]+")
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
