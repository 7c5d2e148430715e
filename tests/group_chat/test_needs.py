"""A plan's step that needs what nobody has said yet: it waits, and goes on once that is said."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from prometheus_client import CollectorRegistry

from data_models.chat_context import Continuation
from data_models.clock import SystemClock
from data_models.conversations.plan import Plan, PlanStep
from data_models.entities.entities import Entities
from group_chat.speakers.gate import Answer, CancelPlan, Opening, RunPlan, needs_line, opening
from services.entities.circumstances import AgentNames
from services.entities.meter import EntityMeter
from services.entities.session import EntitySession
from services.group_chat_port import ContinuationChanged
from tests.fakes_openai import Reply
from tests.group_chat.team_world import Heard, TeamWorld, team_world, text

NOW = SystemClock().now()
NEEDS = ["doctor_preference", "date_preference"]
WAITS = Continuation(agent="Orchestrator", plan_step=2, waits_for=NEEDS, asked_at=NOW)


def plan(*, needs: list[str] | None = None, first: str = "done") -> Plan:
    steps = [
        PlanStep.model_validate(
            {"number": 1, "agent": "Radiology", "text": "Read", "status": first}
        ),
        PlanStep(number=2, agent="AppointmentManager", text="Book", needs=needs or NEEDS),
    ]
    return Plan(
        plan_id="p", run_id="r", status="running", steps=steps, created_at=NOW, updated_at=NOW
    )


@dataclass
class Talk:
    """Turns that share a plan, a continuation and entities, as those of a conversation do."""

    world: TeamWorld
    plan: Plan = field(default_factory=plan)
    continuation: Continuation | None = None
    entities: Entities = field(default_factory=Entities)

    async def say(self, words: str, *replies: Reply, wishes: dict[str, Any] | None = None) -> Heard:
        agents = [card.name for card in self.world.chat.agents]
        session = EntitySession(
            entities=self.entities,
            team=AgentNames.of(agents),
            clock=SystemClock(),
            meter=EntityMeter(registry=CollectorRegistry(), agents=agents),
            session_id="c1",
        )
        if wishes:
            session.heard(wishes)
        heard = await self.world.say(
            words, *replies, entities=session, plan=self.plan, continuation=self.continuation
        )
        self.plan = heard.plan or self.plan
        for change in heard.of(ContinuationChanged):
            self.continuation = change.continuation
        return heard


@pytest.fixture
async def talk() -> AsyncIterator[Talk]:
    async with team_world() as world:
        yield Talk(world)


async def test_a_step_whose_keys_nobody_said_asks_for_them(talk: Talk) -> None:
    heard = await talk.say("continue")
    (said,) = heard.said
    assert said == ("Orchestrator", needs_line(plan(), 2, NEEDS))
    assert "needs to know the doctor and date." in said[1]
    assert heard.reason == "question"
    assert talk.plan.steps[1].status == "pending"
    assert talk.continuation is not None
    assert (talk.continuation.plan_step, talk.continuation.waits_for) == (2, NEEDS)


@pytest.mark.slow
async def test_filling_what_was_asked_lets_the_plan_go_on(talk: Talk) -> None:
    await talk.say("continue")
    half = await talk.say("Dr. Smith", wishes={"doctor_preference": "Dr. Smith"})
    assert half.speakers == ["Orchestrator"]
    assert "needs to know the date." in half.said[0][1]
    whole = await talk.say(
        "tomorrow", text("Booked."), text("All done."), wishes={"date_preference": "tomorrow"}
    )
    assert whole.speakers == ["Orchestrator", "AppointmentManager", "Orchestrator"]
    assert talk.plan.status == "done"
    assert talk.continuation is None


async def test_a_user_may_go_on_without_it(talk: Talk) -> None:
    await talk.say("continue")
    heard = await talk.say("continue", text("I booked nothing."), text("All done."))
    assert heard.speakers == ["Orchestrator", "AppointmentManager", "Orchestrator"]


@pytest.mark.slow
async def test_another_question_leaves_the_plan_waiting(talk: Talk) -> None:
    await talk.say("continue")
    await talk.say("who is on the team?", text("Ten agents."))
    assert talk.continuation is not None
    assert talk.continuation.waits_for == NEEDS
    heard = await talk.say(
        "Dr. Smith tomorrow",
        text("Booked."),
        text("All done."),
        wishes={"doctor_preference": "Dr. Smith", "date_preference": "tomorrow"},
    )
    assert "AppointmentManager" in heard.speakers


@pytest.mark.slow
async def test_a_step_that_is_reached_during_the_turn_waits_too(talk: Talk) -> None:
    talk.plan = plan(first="pending")
    heard = await talk.say("continue", text("The CT shows nothing.\n\nBack to you *Orchestrator*."))
    assert heard.speakers == ["Orchestrator", "Radiology", "Orchestrator"]
    assert [step.status for step in talk.plan.steps] == ["done", "pending"]
    assert talk.continuation is not None


async def test_what_tools_find_is_nobodys_to_say(talk: Talk) -> None:
    talk.plan = plan(needs=["doctor_uuid", "available_slots"])
    heard = await talk.say("continue", text("Booked."), text("All done."))
    assert "AppointmentManager" in heard.speakers


@pytest.mark.parametrize(
    ("words", "missing", "expected"),
    [
        ("Dr. Smith", ["date_preference"], RunPlan()),
        ("Dr. Smith tomorrow", [], RunPlan()),
        ("what?", NEEDS, Answer("Orchestrator")),
        ("yes", NEEDS, RunPlan(insists=True)),
        ("yes", [], RunPlan()),
        ("cancel", NEEDS, CancelPlan()),
        ("@Radiology why?", NEEDS, Answer("Radiology")),
    ],
)
def test_who_answers_while_a_step_waits(words: str, missing: list[str], expected: Opening) -> None:
    answered = opening(
        text=words, press=None, addressed=None, plan=plan(), continuation=WAITS,
        facilitator="Orchestrator", names=("Orchestrator", "Radiology", "AppointmentManager"),
        missing=missing,
    )  # fmt: skip
    assert answered == expected
