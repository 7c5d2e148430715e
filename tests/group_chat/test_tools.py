"""Tools over the wire: the patient is the turn's, results are bounded, failures are results."""

import asyncio
import json
from datetime import UTC, datetime
from io import BytesIO
from typing import Any

import pytest
from docx import Document
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from data_models.chat_context import AgentMessage, Citation
from data_models.conversations.turn_events import (
    AgentMessageFinished,
    ToolCallArguments,
    ToolCallEnded,
    ToolCallResult,
    ToolCallStarted,
)
from data_models.errors import RecordNotFoundError, RecordsUnavailableError
from data_models.identifiers import PatientId
from group_chat.tools.session_tools import statements_of
from group_chat.turn_context import GroupChatLimits
from services.group_chat_port import ArtifactMade
from services.records.resources.ports import EVERYTHING, Need, PatientRecords
from services.records.resources.record import PatientRecord
from services.telemetry.tracing import tracer_provider
from tests.fakes import GivenRecords
from tests.fakes_openai import Reply, ToolCall
from tests.given import present
from tests.group_chat.team_world import Heard, TeamWorld, call, earlier_turn, team_world, text
from tests.tables import with_cases


class SilentRecords(PatientRecords):
    """Never answer."""

    async def load(self, patient_id: PatientId, need: Need = EVERYTHING) -> PatientRecord:
        await asyncio.Event().wait()
        raise AssertionError


def results(heard: Heard) -> list[dict[str, Any]]:
    """Return the results that are JSON; those of the chart are lines."""
    found = [result.content for result in heard.of(ToolCallResult)]
    return [json.loads(content) for content in found if content.startswith("{")]


@pytest.mark.slow
@with_cases("agent", "tool", "arguments", "part")
async def test_each_tool_gives_bounded_text_of_the_active_patient(
    world: TeamWorld, agent: str, tool: str, arguments: dict[str, str], part: str
) -> None:
    heard = await world.say(f"@{agent} go", call(tool, **arguments), text("Done."))
    (result,) = heard.of(ToolCallResult)
    assert not result.is_error
    assert len(result.content) <= 6_000
    assert part in result.content
    sent = [m for m in world.prompts()[-1] if m["role"] == "tool"]
    assert [m["content"] for m in sent] == [result.content]


async def test_each_run_of_a_tool_has_a_span_of_its_own(
    world: TeamWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    exporter = InMemorySpanExporter()
    provider = tracer_provider(exporter, service_name="rounds")
    monkeypatch.setattr("group_chat.tools.kernel._tracer", provider.get_tracer("test"))
    await world.say("hello", call("list_roster"), text("One patient."))
    provider.shutdown()
    (span,) = exporter.get_finished_spans()
    assert span.name == "execute_tool list_roster"
    assert span.attributes == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "list_roster",
    }


async def test_a_call_is_told_from_start_to_result(world: TeamWorld) -> None:
    heard = await world.say("hello", call("list_roster"), text("One patient."))
    kinds = [type(event) for event in heard.events[:4]]
    assert kinds == [ToolCallStarted, ToolCallArguments, ToolCallEnded, ToolCallResult]
    (started,) = heard.of(ToolCallStarted)
    assert (started.agent, started.tool) == ("Orchestrator", "list_roster")
    (run,) = world.watcher.runs
    assert (run.tool, run.error_code) == ("list_roster", None)


@pytest.mark.parametrize("name", ["patient_id", "patientId", "Patient", "PATIENT-ID"])
async def test_another_patient_as_an_argument_is_refused_and_noted(
    world: TeamWorld, name: str
) -> None:
    named = call("search_record", query="x", **{name: "patient_15"})
    heard = await world.say("@PatientHistory go", named, text("No."))
    (result,) = heard.of(ToolCallResult)
    assert result.is_error
    assert "patient_15" not in result.content
    assert world.watcher.refused == [("patient_4", "search_record")]


async def test_the_same_patient_as_an_argument_is_dropped(world: TeamWorld) -> None:
    named = call("search_record", query="carcinoma", patient_id="patient_4")
    heard = await world.say("@PatientHistory go", named, text("Yes."))
    assert not heard.of(ToolCallResult)[0].is_error
    assert world.watcher.refused == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "bad",
    [
        ToolCall("rounds-search_record", "{not json"),
        ToolCall("rounds-search_record", "[1]"),
        ToolCall("rounds-search_record", '{"query": "\\ud800"}'),
        ToolCall("rounds-search_record", "[" * 10_000),
        ToolCall("rounds-search_record", {}),
        ToolCall("rounds-search_record", {"query": "x" * 401}),
        ToolCall("rounds-search_record", {"query": ["secret-word"]}),
        ToolCall("rounds-search_record", {"query": "x", "secret-word": 1}),
        ToolCall("rounds-timeline", {"since": "yesterday"}),
        ToolCall("rounds-fly_away", {}),
        ToolCall("search_record-rounds", {}),
        ToolCall("rounds-propose_plan", {"steps": []}),
        ToolCall("x" * 500, {}),
    ],
)
async def test_a_wrong_call_is_the_models_to_mend(world: TeamWorld, bad: ToolCall) -> None:
    heard = await world.say(
        "@PatientHistory go", Reply(text=None, tool_calls=[bad]), text("I cannot.")
    )
    (result,) = heard.of(ToolCallResult)
    assert result.is_error
    assert "secret-word" not in result.content
    assert heard.said == [("PatientHistory", "I cannot.")]
    assert heard.reason == "answered"


@pytest.mark.parametrize("agents", [["Genetics"], ["Orchestrator"], ["Genetics", "Orchestrator"]])
async def test_a_plan_of_strangers_and_of_who_leads_alone_is_refused(
    world: TeamWorld, agents: list[str]
) -> None:
    bad = call("propose_plan", steps=[{"agent": one, "text": "x"} for one in agents])
    heard = await world.say("start", bad, text("Sorry."))
    assert heard.plan is None
    assert "steps.0.agent: Input should be 'PatientHistory'" in results(heard)[0]["error"]


async def test_a_strangers_step_is_left_out_and_told(world: TeamWorld) -> None:
    steps = [
        {"agent": "Genetics", "text": "germline"},
        {"agent": "Radiology", "text": "imaging", "needs": [1]},
        {"agent": "PatientHistory", "text": "course", "needs": [2]},
    ]
    heard = await world.say("start", call("propose_plan", steps=steps))
    told = [(one.number, one.agent, one.after) for one in present(heard.plan).steps]
    assert told == [(1, "Radiology", []), (2, "PatientHistory", [1])]
    assert "the team has no such agent: Genetics." in heard.said[-1][1]


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (RecordNotFoundError(), "record_not_found"),
        (RecordsUnavailableError("secret"), "records_unavailable"),
    ],
)
async def test_records_that_fail_are_an_error_result(error: Exception, code: str) -> None:
    async with team_world(records=GivenRecords(error)) as world:
        heard = await world.say("@Radiology go", call("imaging_reports"), text("No records."))
        assert world.watcher.runs[0].error_code == code
    assert heard.of(ToolCallResult)[0].is_error
    assert "secret" not in heard.of(ToolCallResult)[0].content


@pytest.mark.slow
async def test_a_slow_tool_is_an_error_result() -> None:
    limits = GroupChatLimits(tool_seconds=0.05)
    async with team_world(records=SilentRecords(), limits=limits) as world:
        heard = await world.say("@Radiology go", call("imaging_reports"), text("Too slow."))
    assert "no answer within 0.05 seconds" in results(heard)[0]["error"]


async def test_a_fault_of_ours_is_not_hidden_as_a_result() -> None:
    async with team_world(records=GivenRecords(ZeroDivisionError())) as world:
        with pytest.raises(ZeroDivisionError):
            await world.say("@Radiology go", call("imaging_reports"))


@pytest.mark.slow
async def test_without_a_patient_tools_say_so(world: TeamWorld) -> None:
    heard = await world.say(
        "@Radiology go", call("imaging_reports"), text("Whom?"), patient_id=None
    )
    assert "no patient is active" in results(heard)[0]["error"]


@pytest.mark.slow
async def test_cancelling_the_turn_stops_a_running_tool() -> None:
    async with team_world(records=SilentRecords()) as world:
        world.model.queue(call("imaging_reports"))
        deadline = world.clock.monotonic() + 3  # the tool begins within it
        request = world.request("@Radiology go", deadline=deadline)
        heard = Heard([event async for event in world.chat.run(request)])
    assert results(heard) == [{"error": "the tool was stopped"}]
    assert heard.reason == "limit"


@pytest.mark.slow
async def test_sources_that_tools_gave_become_citations_and_others_do_not(world: TeamWorld) -> None:
    world.model.queue(call("imaging_reports"))
    answer = "Grown [DiagnosticReport/ct-2025-05-report]. Made up [DiagnosticReport/none]."
    heard = await world.say("@Radiology go", text(answer))
    (citation,) = heard.of(AgentMessageFinished)[0].message.citations
    assert citation.ref == "DiagnosticReport/ct-2025-05-report"
    assert citation.date == "2025-05-16"
    assert 0 < len(present(citation.quote)) <= 160
    assert 0 < len(citation.title) <= 80


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (
            "- **EGFR**: p.Glu746_Ala750del; c.2235_2249del",
            "EGFR: p.Glu746_Ala750del; c.2235_2249del",
        ),
        ("- **Platelets**: 198 10*9/L, 2025-06-17", "Platelets: 198 10*9/L, 2025-06-17"),
        ("**TP53**: p.Arg213*", "TP53: p.Arg213*"),
        ("*19 more in the record.*", "19 more in the record."),
        ("_seen_ and `checked`", "seen and checked"),
    ],
)
def test_signs_that_are_no_marks_stay_in_what_a_report_holds(line: str, told: str) -> None:
    said = AgentMessage(message_id="m", agent="Pathology", text=line, timestamp=datetime.now(UTC))
    (statement,) = statements_of([said], ())
    assert statement.text == told


@pytest.mark.slow
async def test_the_report_holds_what_agents_said_and_is_an_artifact(world: TeamWorld) -> None:
    history = [earlier_turn(1, "ct?", ("Radiology", "The lesion has grown.\n*Pathology*, go."))]
    heard = await world.say(
        "@Radiology go",
        call("imaging_reports"),
        text("- Grown to 24 mm [DiagnosticReport/ct-2025-05-report].\n*ReportCreation*, please."),
        call("create_report"),
        text("Done."),
        history=history,
    )
    (made,) = heard.of(ArtifactMade)
    assert made.artifact.file_name.startswith("tumor-board-patient_4-")
    document = Document(BytesIO(world.artifacts.files[made.artifact.file_name]))
    written = "\n".join(paragraph.text for paragraph in document.paragraphs)
    assert "The lesion has grown." in written
    assert "Grown to 24 mm" in written
    assert "offline model" not in written
    result = results(heard)[-1]
    assert result["artifact_id"] == made.artifact.artifact_id
    assert result["statements"] >= 2


@pytest.mark.slow
async def test_the_report_holds_what_a_workflow_noted_of_the_answers(world: TeamWorld) -> None:
    heard = await world.say(
        "@ReportCreation go",
        call("create_report"),
        text("Done."),
        notes=["Oncology intake: referred for a shadow on the lung; ECOG 1"],
    )
    (made,) = heard.of(ArtifactMade)
    document = Document(BytesIO(world.artifacts.files[made.artifact.file_name]))
    written = "\n".join(paragraph.text for paragraph in document.paragraphs)
    assert "referred for a shadow on the lung" in written


@pytest.mark.slow
async def test_the_report_holds_what_a_user_wants_in_it(world: TeamWorld) -> None:
    said = "add to the report: wants a second opinion"
    heard = await world.say(
        "@ReportCreation go",
        call("create_report"),
        text("Done."),
        history=[earlier_turn(1, said), earlier_turn(2, "her wife rang")],
    )
    (made,) = heard.of(ArtifactMade)
    document = Document(BytesIO(world.artifacts.files[made.artifact.file_name]))
    written = "\n".join(paragraph.text for paragraph in document.paragraphs)
    assert f"a user, not the record: {said}" in written
    assert "her wife rang" not in written


async def test_what_an_earlier_answer_cited_may_be_cited_again(world: TeamWorld) -> None:
    earlier = earlier_turn(1, "ct?", ("Radiology", "Grown [DiagnosticReport/ct-1]."))
    source = Citation(ref="DiagnosticReport/ct-1", title="CT", date="2025-05-16")
    earlier.agent_responses[0].citations.append(source)
    heard = await world.say("sure?", text("Yes [DiagnosticReport/ct-1]."), history=[earlier])
    assert heard.of(AgentMessageFinished)[0].message.citations == [source]
