"""Versions change while sessions wait: what each turn asks, does, says and stores (page 5.3)."""

from typing import Any

import pytest

from data_models.scenarios.scenario_session import ScenarioSession
from services.scenarios.migration.plans.migration_plan import AnchorMigrationPolicy
from tests.services.scenario_world import (
    ScenarioWorld,
    questions,
    sample,
    with_sample_records,
)
from tests.services.turn.test_scenario_talks import GRAPHS, asks_first
from tests.tables import with_cases

AGE_V2, CHECKS_V2 = GRAPHS["asks age"], GRAPHS["checks first"]


async def waiting(**parts: Any) -> ScenarioWorld:
    """A session that waits in `work` of version 1."""
    world = ScenarioWorld(**parts)
    await world.publish(GRAPHS["work"])
    await world.begin()
    await world.say("fine")
    assert (await world.session()).step == "work"
    return world


async def assert_one_event(world: ScenarioWorld, **expected: object) -> None:
    """The jump is on the trail and kept whole, once, and nothing waits for delivery."""
    events, entries = await world.events(), await world.trail_entries()
    assert len(events) == len(entries) == 1
    found = events[0].model_dump()
    assert {key: found[key] for key in expected} == expected
    assert (await world.session()).outbox == []


def place(session: ScenarioSession) -> tuple[int, str | None]:
    return session.version, session.step


async def test_a_gap_is_filled_from_the_patients_record() -> None:
    clock = ScenarioWorld().clock
    world = await waiting(clock=clock, records=with_sample_records(clock))
    await world.deploy(AGE_V2)
    assert questions(await world.say("hello again")) == []
    assert place(await world.session()) == (2, "work")
    assert "age" not in (await world.document()).profile.fields


@pytest.mark.slow
@with_cases("finding", "why")
async def test_a_finding_without_a_literal_quote_or_of_another_type_is_none(
    finding: dict[str, str], why: str
) -> None:
    world = await waiting()
    await world.say("I am forty")
    await world.deploy(AGE_V2)
    world.model.found = [{"field": "age", "confidence": 0.99, **finding}]
    assert "What is your age?" in questions(await world.say("hello"))[0], why


async def at_order_confirmation(**parts: Any) -> ScenarioWorld:
    """The seed's customer: the payment is processed, the order is being confirmed.

    The age is known from an earlier scenario that declares, as this one does, that it lasts.
    """
    world = ScenarioWorld(**parts)
    await world.publish(sample("age_note"))
    await world.publish(sample("appointment_booking"))
    await world.begin("age note")
    await world.say("I am 12", age=12)
    await world.say("start appointment booking")
    await world.say("a second opinion", service="second opinion")
    await world.say("on 2030-02-03", preferred_day="2030-02-03")
    await world.say("that suits", slot_accepted=True)
    await world.say("no, write to jo@example.org", email="jo@example.org", needs_interpreter=False)
    await world.say("paid", payment_done=True)
    assert (await world.session()).step == "confirmation"
    return world


@pytest.mark.slow
async def test_a_minor_who_has_paid_is_not_redirected_and_the_operator_is_warned() -> None:
    world = await at_order_confirmation()
    await world.deploy(sample("appointment_booking_v2"))
    heard = await world.say("hello again")
    assert questions(heard) == []
    session = await world.session()
    assert session.version == 2
    assert "rejected" not in session.path
    await assert_one_event(
        world,
        blocked_by_checkpoint=True,
        checkpoint_description="Payment Processed",
        step_after="confirmation",
    )
    blocks = world.registry.get_sample_value("migration_checkpoint_blocks_total")
    assert blocks == 1


@pytest.mark.slow
async def test_a_pinned_session_stays_until_a_newer_plan_decides() -> None:
    world = await waiting()
    await world.deploy(AGE_V2, work=AnchorMigrationPolicy(update_downstream=False))
    assert questions(await world.say("hello")) == []
    session = await world.session()
    assert (place(session), session.pinned_to is not None) == ((1, "work"), True)
    await world.say("and again")
    assert len(await world.trail_entries()) == 1
    await world.deploy(asks_first("age", 3))
    assert "What is your age?" in questions(await world.say("hello"))[0]


@pytest.mark.slow
async def test_an_action_that_fails_leaves_the_session_on_its_version_for_a_person() -> None:
    world = await waiting()
    await world.deploy(CHECKS_V2)
    world.team.broken_tools = {"load_patient_data"}
    heard = await world.say("hello")
    assert heard.texts == ["Heard: hello"]
    session = await world.session()
    assert (place(session), session.review is not None) == ((1, "work"), True)
    world.team.broken_tools = set()
    await world.say("again")
    session = await world.session()
    assert (place(session), session.review) == ((2, "work"), None)
    assert len({one.idempotency_key for one in world.team.actions}) == 1


async def test_an_untrusted_history_stays_and_is_flagged() -> None:
    world = await waiting()
    document = await world.document()
    assert document.scenario is not None
    document.scenario = document.scenario.model_copy(update={"checksum": "forged"})
    name = "chat_1/patient_patient_4_context.json"
    blob = await world.sessions.read(name)
    assert blob is not None
    data = document.model_dump_json().encode()
    await world.sessions.replace(name, data, etag=blob.etag)
    world.world.contexts.forget("chat_1")
    await world.deploy(AGE_V2)
    heard = await world.say("hello")
    assert heard.texts == ["Heard: hello"]
    session = await world.session()
    assert session.review is not None
    assert (session.version, session.review.reason) == (1, "untrusted_history")


async def test_a_lost_version_fails_closed_and_the_turn_is_answered() -> None:
    world = await waiting()
    await world.deploy(AGE_V2)
    await world.blobs.delete("scenarios/visit/versions/1.json")
    other = ScenarioWorld(
        sessions=world.sessions,
        blobs=world.blobs,
        trail=world.trail,
        index=world.index,
        clock=world.clock,
        ids=world.ids,
    )
    heard = await other.say("hello")
    assert heard.texts == ["Heard: hello"]
    session = await other.session()
    assert session.review is not None
    assert session.version == 1


@pytest.mark.slow
async def test_a_restart_between_question_and_answer_loses_neither() -> None:
    world = await waiting()
    await world.deploy(AGE_V2)
    await world.say("hello")
    other = ScenarioWorld(
        sessions=world.sessions,
        blobs=world.blobs,
        trail=world.trail,
        index=world.index,
        clock=world.clock,
        ids=world.ids,
    )
    assert questions(await other.say("41")) == []
    assert place(await other.session()) == (2, "work")
