"""A tumor board as a script: what a real turn shows, said by nobody."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

from data_models.chat_context import AgentMessage, Artifact, Citation
from data_models.conversations import turn_events
from data_models.conversations.plan import Plan, PlanStep
from services.language.utterance import TeamMember
from services.runs.hub import Run
from tests.routes.fakes import NOW

STEPS = (
    ("PatientHistory", "Summarise the history and build a timeline"),
    ("Radiology", "Review the imaging reports"),
    ("Pathology", "Review pathology and biomarkers"),
    ("ReportCreation", "Write the tumor board report"),
)
HISTORY = (Path(__file__).parent / "scripts" / "history.md").read_text("utf-8")


@dataclass
class TumorBoard:
    """Plays turns by what they ask for; remembers the active patient and the plan."""

    pause_seconds: float = 0.01
    patient_id: str | None = None
    patients: list[str] = field(default_factory=list)
    plans: dict[str, Plan] = field(default_factory=dict)
    calls: int = 0
    is_repeatable: bool = False
    """Whether what was answered may be asked again."""
    artifacts: dict[str, tuple[Artifact, ...]] = field(default_factory=dict)
    at_step: Callable[[int], Awaitable[None]] | None = None
    """Awaited while a step runs, before it says anything."""

    async def __call__(self, run: Run) -> None:
        run.emit(turn_events.RunStarted(run_id=run.run_id, conversation_id=run.conversation_id))
        run.emit(turn_events.StepStarted(step="decide"))
        self._decide(run.message.text)
        self._show_state(run)
        run.emit(turn_events.StepFinished(step="decide"))
        outcome = await self._answer(run)
        repeatable = self.is_repeatable and outcome == "success"
        run.emit(
            turn_events.RunFinished(outcome, turn_events.TurnTiming(total_ms=12.0), repeatable)
        )

    def _decide(self, text: str) -> None:
        named = next((word for word in text.split() if word.startswith("patient_")), None)
        if named is not None:
            self.patient_id = named.strip("?.,")
            if self.patient_id not in self.patients:
                self.patients.append(self.patient_id)

    def _show_state(self, run: Run) -> None:
        patient = self.patient_id or ""
        state = turn_events.SharedState(
            conversation_id=run.conversation_id,
            patient_id=self.patient_id,
            all_patient_ids=tuple(sorted(self.patients)),
            patient_count=len(self.patients),
            decision="UNCHANGED",
            plan=self.plans.get(patient),
            artifacts=self.artifacts.get(patient, ()),
            model_kind="offline",
            facilitator="Orchestrator",
        )
        run.emit(turn_events.StateChanged(state=state))

    async def _answer(self, run: Run) -> turn_events.Outcome:
        text, patient = run.message.text, self.patient_id
        if patient is None:
            await self._say(run, "Orchestrator", "I need a patient ID like 'patient_4'.")
            return "interrupt"
        if text.startswith("start"):
            return await self._propose(run, patient)
        if run.message.press is not None and run.message.press.answer == "confirm":
            return await self._work(run, patient)
        if text.startswith("switch"):
            await self._say(
                run, "Orchestrator", f"Switched to {patient}. What would you like to review?"
            )
            return "success"
        run.emit(
            turn_events.Notice(kind="limit", text="Only the newest part of the history was used.")
        )
        await self._use_tool(run)
        await self._say(run, "PatientHistory", HISTORY)
        return "success"

    async def _propose(self, run: Run, patient: str) -> turn_events.Outcome:
        steps = [
            PlanStep(number=number, agent=agent, text=text)
            for number, (agent, text) in enumerate(STEPS, 1)
        ]
        self.plans[patient] = Plan(
            plan_id=f"plan_{patient}",
            run_id=run.run_id,
            steps=steps,
            created_at=NOW,
            updated_at=NOW,
        )
        await self._say(
            run, "Orchestrator", f"I propose a tumor board for `{patient}`. Shall I go ahead?"
        )
        self._show_state(run)
        return "interrupt"

    async def _work(self, run: Run, patient: str) -> turn_events.Outcome:
        press = run.message.press
        order = press.steps if press is not None else None
        plan = self.plans[patient].confirmed(order, now=NOW)
        for step in [step for step in plan.steps if step.status == "pending"]:
            self.plans[patient] = plan = plan.with_step(step.number, "running", now=NOW)
            self._show_state(run)
            if self.at_step is not None:
                await self.at_step(step.number)
            await self._use_tool(run)
            await self._say(run, step.agent, HISTORY if step.number == 1 else step.text + ".")
            self.plans[patient] = plan = plan.with_step(step.number, "done", now=NOW)
        report = Artifact(
            artifact_id="artifact_1",
            file_name=f"tumor-board-{patient}.docx",
            media_type="application/octet-stream",
            size_bytes=4,
            created_at=NOW,
            run_id=run.run_id,
        )
        self.artifacts[patient] = (report,)
        self.plans[patient] = plan.with_status("done", now=NOW)
        self._show_state(run)
        return "success"

    async def _use_tool(self, run: Run) -> None:
        self.calls += 1
        call = f"call_{self.calls}_{run.run_id}"
        run.emit(
            turn_events.ToolCallStarted(call_id=call, agent="PatientHistory", tool="load_timeline")
        )
        run.emit(turn_events.ToolCallArguments(call_id=call, arguments='{"since": "2023-01-01"}'))
        run.emit(turn_events.ToolCallEnded(call_id=call))
        await asyncio.sleep(self.pause_seconds)
        result = '[{"date": "2023-11-02", "source": "DiagnosticReport/ct-1"}]'
        run.emit(
            turn_events.ToolCallResult(
                call_id=call, content=result, is_error=False, duration_ms=11.0
            )
        )

    async def _say(self, run: Run, agent: str, text: str) -> None:
        message_id = f"{run.run_id}-{agent}"
        run.emit(turn_events.AgentMessageStarted(message_id=message_id, agent=agent))
        for start in range(0, len(text), 12):
            run.emit(
                turn_events.AgentTextDelta(message_id=message_id, text=text[start : start + 12])
            )
            await asyncio.sleep(self.pause_seconds)
        cited = Citation(ref="DiagnosticReport/ct-1", title="CT chest", date="2023-11-02")
        citations = [cited] if agent == "PatientHistory" else []
        message = AgentMessage(
            message_id=message_id,
            agent=agent,
            text=text,
            timestamp=NOW,
            made_by="rules",
            citations=citations,
        )
        run.emit(turn_events.AgentMessageFinished(message=message))


class Team:
    """The agents of the script."""

    facilitator = "Orchestrator"
    is_language_model = False

    @property
    def agents(self) -> list[TeamMember]:
        lead = TeamMember(name="Orchestrator", description="Plans and asks.", is_facilitator=True)
        others = [
            TeamMember(name=name, description=f"{text}.", is_facilitator=False)
            for name, text in STEPS
        ]
        return [lead, *others]
