"""Answers with rows of the chart and checked statements, said by nobody."""

from dataclasses import dataclass

from data_models.chart_view import ChartView, LeftOut, ViewRow, ViewSource
from data_models.chat_context import AgentMessage, CheckedStatement, MessageView, Turn
from data_models.conversations import turn_events
from data_models.patient_context_models import PatientIdentity
from services.runs.hub import Run
from tests.routes.fakes import NOW, FakeReader, state

ADA = PatientIdentity("Ada Example", "1950-02-03", "female")
VALUES = ((1, "3.4", "low"), (3, "4.1", ""), (6, "4.4", ""), (9, "5.6", "high"))
POTASSIUM = ChartView(
    view_id="view_k",
    tool="results",
    patient_id="patient_4",
    kind="series",
    title="Potassium",
    columns=("date", "name", "value", "range", "flag"),
    rows=tuple(
        ViewRow(
            kind="laboratory",
            name="Potassium",
            value=value,
            number=float(value),
            unit="mmol/L",
            range="3.5-5.1",
            flag=flag,
            date=f"2026-{month:02}-02T09:12:00+01:00",
            sources=(f"Observation/k-{month}",),
        )
        for month, value, flag in reversed(VALUES)
    ),
    sources=tuple(
        ViewSource(ref=f"Observation/k-{month}", date=f"2026-{month:02}-02", title="Potassium")
        for month, _, _ in VALUES
    ),
    left_out=(LeftOut(count=7, what="older values of Potassium", argument="last=11"),),
    notes=("2 entries could not be read",),
)
MEDICATIONS = ChartView(
    view_id="view_m",
    tool="medications",
    patient_id="patient_4",
    kind="table",
    title="Medications",
    columns=("name", "status", "detail"),
    rows=tuple(
        ViewRow(
            kind="medication",
            name=f"Drug {number}",
            status="active",
            detail=f"{number} mg by mouth, <b>daily</b>",
            sources=("DiagnosticReport/ct-1",),
        )
        for number in range(1, 21)
    ),
    sources=(ViewSource(ref="DiagnosticReport/ct-1", date="2023-11-02", title="CT chest"),),
)
STRANGERS = POTASSIUM.model_copy(
    update={"view_id": "view_x", "patient_id": "patient_15", "title": "Potassium of a stranger"}
)
# A sign outside of the first plane comes before what is marked: offsets count characters.
SAID = (
    "Latest 🧪 potassium is **5.6 mmol/L**.",
    "She takes *warfarin 5 mg* daily.",
    "The response was ~60%, the target INR 2~3, 5*3 cm.",
)
TEXT = "\n\n- ".join(SAID) + "\n\nBack to you *Orchestrator*."
START = TEXT.index(SAID[1])
CLAIMS = (
    CheckedStatement(start=0, end=len(SAID[0]), state="supported", sources=("Observation/k-9",)),
    CheckedStatement(start=START, end=START + len(SAID[1]), state="unsupported"),
    CheckedStatement(
        start=len(TEXT),
        end=len(TEXT),
        state="contradicted",
        sources=("Observation/k-1",),
        record_says="Potassium 3.4 mmol/L on 2026-01-02",
        text="Potassium was 9.9 in January.",
    ),
)


def answer_of(run_id: str) -> AgentMessage:
    """Return the message as it is stored."""
    return AgentMessage(
        message_id=f"{run_id}-m",
        agent="Radiology",
        text=TEXT,
        timestamp=NOW,
        made_by="model",
        statements=list(CLAIMS),
        views=[MessageView(view_id="view_k", rows=4), MessageView(view_id="view_m", rows=20)],
    )


@dataclass
class ChartTalk:
    """Answers everything with a chart, a table and checked statements."""

    reader: FakeReader
    views: tuple[ChartView, ...] = (POTASSIUM, MEDICATIONS)

    async def __call__(self, run: Run) -> None:
        message = answer_of(run.run_id)
        run.emit(turn_events.RunStarted(run_id=run.run_id, conversation_id=run.conversation_id))
        run.emit(turn_events.StateChanged(state=state(run.conversation_id, patient=ADA)))
        run.emit(
            turn_events.AgentMessageStarted(message_id=message.message_id, agent=message.agent)
        )
        run.emit(turn_events.AgentTextDelta(message_id=message.message_id, text=TEXT))
        run.emit(turn_events.ClaimsChecked(message.message_id, CLAIMS))
        for view in self.views:
            run.emit(turn_events.ViewShown(message.message_id, view))
        run.emit(turn_events.AgentMessageFinished(message))
        run.emit(turn_events.RunFinished(outcome="success", timing=turn_events.TurnTiming()))
        self.reader.views |= {view.view_id: view for view in self.views}
        self.reader.turns.append(
            Turn(
                turn_id=len(self.reader.turns) + 1,
                run_id=run.run_id,
                timestamp=NOW,
                user="Dr. Ada",
                user_message=run.message.text,
                agent_responses=[message],
                turn_status="COMPLETED",
            )
        )
