"""Versions change while sessions wait: what each turn asks, does, says and stores (page 5.3)."""

from typing import Any

import pytest

from data_models.scenarios.scenario_session import ScenarioSession
from services.scenarios.definition.graph import Graph
from services.scenarios.migration.plans.migration_plan import AnchorMigrationPolicy
from services.scenarios.scenario_settings import (
    CheckpointConfig,
    DeploymentConfig,
    GapFillConfig,
    MigrationConfig,
)
from tests.services.scenario_world import (
    ScenarioWorld,
    questions,
    sample,
    step,
    version,
    with_sample_records,
)
from tests.services.world import Heard
from tests.tables import with_cases

GREET = step("greet", "work", instructions="Greet.")
WORK = step("work", "end", collects_profile_fields=("work",))
END = step("end", instructions="End.", uses=("work", "age", "email"))
V1 = version(1, GREET, WORK, END)


def asks_age(number: int, *, name: str = "age") -> Graph:
    """V1 with a step before the work that collects a field which the end reads."""
    greet = step("greet", f"ask_{name}", instructions="Greet.")
    asks = step(f"ask_{name}", "work", collects_profile_fields=(name,))
    return version(number, greet, asks, WORK, END, email="text")


AGE_V2, EMAIL_V2 = asks_age(2), asks_age(2, name="email")


async def waiting(graph: Graph = V1, **parts: Any) -> ScenarioWorld:
    """A session that waits in `work` of version 1."""
    world = ScenarioWorld(**parts)
    await world.publish(graph)
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


async def test_a_clean_graft_is_silent() -> None:
    world = await waiting()
    more = step("end", "after", instructions="End.", uses=("work",))
    await world.deploy(version(2, GREET, WORK, more, step("after", instructions="After.")))
    heard = await world.say("hello again")
    assert questions(heard) == []
    assert place(await world.session()) == (2, "work")
    await assert_one_event(world, migration_scenario="clean_graft", step_after="work")


async def test_the_next_turn_has_nothing_left_to_do() -> None:
    world = await waiting()
    await world.deploy(AGE_V2)
    await world.say("hello")
    await world.say("41")
    first = await world.session()
    await world.say("and now?")
    again = await world.session()
    assert (again.version, again.progress, again.outbox) == (2, None, [])
    assert again.completed_checkpoints == first.completed_checkpoints
    await assert_one_event(world)


async def test_a_gap_is_filled_from_what_the_run_knows_without_a_word() -> None:
    world = await waiting()
    await world.say("by the way, I am 41", age=41)
    await world.deploy(AGE_V2)
    heard = await world.say("hello again")
    assert questions(heard) == []
    await assert_one_event(
        world, migration_scenario="gap_fill", fields_gap_filled={"age": "session"}
    )


async def test_a_gap_is_filled_from_the_patients_record() -> None:
    clock = ScenarioWorld().clock
    world = await waiting(clock=clock, records=with_sample_records(clock))
    await world.deploy(AGE_V2)
    assert questions(await world.say("hello again")) == []
    assert place(await world.session()) == (2, "work")
    assert "age" not in (await world.document()).profile.fields


async def test_a_gap_is_asked_once_and_read_before_the_migration_goes_on() -> None:
    world = await waiting()
    await world.deploy(AGE_V2)
    before = len(world.team.requests)
    heard = await world.say("hello again")
    assert questions(heard) == [
        "Before we continue, I need to confirm a few things. What is your age?"
    ]
    assert len(world.team.requests) == before
    question = (await world.conversation()).open_question
    assert question is not None
    assert question.kind == "scenario_value"
    assert place(await world.session()) == (1, "work")
    assert questions(await world.say("41")) == []
    assert place(await world.session()) == (2, "work")
    assert (await world.session()).variables["age"] == 41
    await assert_one_event(world, fields_collected=["age"])


async def test_digits_that_answer_us_switch_no_patient() -> None:
    world = await waiting()
    await world.say("switch to patient_41")
    await world.say("switch to patient_4")
    await world.deploy(AGE_V2)
    await world.say("hello again")
    await world.say("41")
    assert place(await world.session()) == (2, "work")


async def test_a_field_is_asked_three_times_and_then_an_operator_sees_the_session() -> None:
    world = await waiting()
    await world.deploy(AGE_V2)
    for _ in range(3):
        assert len(questions(await world.say("what do you mean?"))) == 1
    heard = await world.say("never mind")
    assert questions(heard) == []
    assert heard.texts == ["Heard: never mind"]
    session = await world.session()
    assert place(session) == (1, "work")
    assert session.review is not None
    flagged = await world.index.page("visit", limit=10, flagged=True)
    assert [row.review for row in flagged.rows] == ["asked_too_often"]


async def test_what_the_user_said_before_is_used_when_a_model_is_sure() -> None:
    world = await waiting()
    await world.say("I am 41 by the way")
    await world.deploy(AGE_V2)
    world.model.found = [{"field": "age", "value": "41", "quote": "I am 41", "confidence": 0.97}]
    assert questions(await world.say("hello again")) == []
    await assert_one_event(world, fields_gap_filled={"age": "extraction"})
    assert (await world.session()).evidence["age"].quote == "I am 41"
    assert len(world.model.questions) == 1


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


async def unsure() -> ScenarioWorld:
    world = await waiting()
    await world.say("write to jo@example.org")
    await world.deploy(EMAIL_V2)
    quote = {"field": "email", "value": "jo@example.org", "quote": "jo@example.org"}
    world.model.found = [{**quote, "confidence": 0.9}]
    heard = await world.say("hello again")
    assert questions(heard) == ["Just to confirm - your email is jo@example.org, correct?"]
    return world


async def test_a_likely_value_is_used_after_a_yes() -> None:
    world = await unsure()
    assert questions(await world.say("yes")) == []
    assert place(await world.session()) == (2, "work")
    assert (await world.session()).variables["email"] == "jo@example.org"


@pytest.mark.slow
async def test_a_likely_value_is_asked_for_after_a_no() -> None:
    world = await unsure()
    assert "What is your email?" in questions(await world.say("no"))[0]
    await world.say("al@example.org")
    assert (await world.session()).variables["email"] == "al@example.org"


@pytest.mark.slow
async def test_a_likely_value_is_corrected_in_the_same_breath() -> None:
    world = await unsure()
    assert questions(await world.say("no, it's al@example.org")) == []
    assert (await world.session()).variables["email"] == "al@example.org"


@pytest.mark.slow
async def test_extraction_can_be_switched_off() -> None:
    config = MigrationConfig(
        deployment=DeploymentConfig(require_approval=False),
        gap_fill=GapFillConfig(extraction_enabled=False),
    )
    world = await waiting(config=config)
    await world.deploy(AGE_V2)
    await world.say("I am 41")
    assert world.model.questions == []


def with_fork(number: int) -> Graph:
    greet = step("greet", "ask_age", instructions="Greet.")
    asks = step("ask_age", ("age < 18", "away"), "work", collects_profile_fields=("age",))
    return version(number, greet, asks, step("away", instructions="Go away."), WORK, END)


@pytest.mark.slow
async def test_a_re_route_is_announced() -> None:
    world = await waiting()
    await world.deploy(with_fork(2))
    await world.say("hello again")
    heard = await world.say("12")
    assert questions(heard) == ["I have new instructions. Let me redirect our conversation."]
    assert (await world.session()).path[-1] == "away"
    await assert_one_event(world, migration_scenario="re_route", step_after="away")


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


async def after_the_age_fork(world: ScenarioWorld) -> Heard:
    await world.deploy(sample("appointment_booking_v2"))
    return await world.say("hello again")


@pytest.mark.slow
async def test_a_minor_who_has_paid_is_not_redirected_and_the_operator_is_warned() -> None:
    world = await at_order_confirmation()
    heard = await after_the_age_fork(world)
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
async def test_the_user_is_told_why_nothing_changed_only_where_that_is_set() -> None:
    config = MigrationConfig(
        deployment=DeploymentConfig(require_approval=False),
        checkpoints=CheckpointConfig(notify_blocked=True),
    )
    world = await at_order_confirmation(config=config)
    assert "stays completed" in questions(await after_the_age_fork(world))[0]


@pytest.mark.slow
async def test_a_pinned_session_stays_until_a_newer_plan_decides() -> None:
    world = await waiting()
    await world.deploy(AGE_V2, work=AnchorMigrationPolicy(update_downstream=False))
    assert questions(await world.say("hello")) == []
    session = await world.session()
    assert (place(session), session.pinned_to is not None) == ((1, "work"), True)
    await world.say("and again")
    assert len(await world.trail_entries()) == 1
    await world.deploy(asks_age(3))
    assert "What is your age?" in questions(await world.say("hello"))[0]


@pytest.mark.slow
async def test_a_deleted_step_relocates_without_a_word() -> None:
    world = await waiting()
    other = step("other", "end", collects_profile_fields=("age",), description="Another one.")
    await world.deploy(version(2, step("greet", "other", instructions="Greet."), other, END))
    assert questions(await world.say("hello")) == []
    session = await world.session()
    assert session.version == 2
    assert session.step in ("greet", "other")
    await assert_one_event(world, relocated=True)


@pytest.mark.slow
async def test_three_versions_behind_asks_only_what_the_last_one_needs() -> None:
    world = await waiting()
    await world.deploy(asks_age(2, name="email"))
    await world.deploy(version(3, GREET, WORK, END))
    await world.deploy(asks_age(4))
    assert questions(await world.say("hello")) == [
        "Before we continue, I need to confirm a few things. What is your age?"
    ]
    await world.say("41")
    assert place(await world.session()) == (4, "work")
    await assert_one_event(world, composite=True, from_version=1, to_version=4)


@pytest.mark.slow
async def test_a_rollback_brings_back_the_old_content_under_a_new_number() -> None:
    world = await waiting()
    await world.deploy(AGE_V2)
    await world.say("hello")
    await world.say("41")
    await world.deploy(version(3, GREET, WORK, END))
    assert questions(await world.say("hello")) == []
    assert place(await world.session()) == (3, "work")
    assert [event.to_version for event in await world.events()] == [2, 3]


def with_action(number: int) -> Graph:
    greet = step("greet", "check", instructions="Greet.")
    check = step("check", "work", kind="tool", tool="load_patient_data", is_required_action=True)
    return version(number, greet, check, WORK, END)


async def test_a_required_action_that_was_skipped_runs_once_under_its_key() -> None:
    world = await waiting()
    await world.deploy(with_action(2))
    await world.say("hello")
    assert place(await world.session()) == (2, "work")
    assert [one.tool for one in world.team.actions] == ["load_patient_data"]
    assert world.team.actions[0].idempotency_key
    await world.say("hello")
    assert len(world.team.actions) == 1
    await assert_one_event(world, actions_executed=["check"])


@pytest.mark.slow
async def test_an_action_that_fails_leaves_the_session_on_its_version_for_a_person() -> None:
    world = await waiting()
    await world.deploy(with_action(2))
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
async def test_switched_off_it_leaves_every_session_on_its_version() -> None:
    config = MigrationConfig(enabled=False, deployment=DeploymentConfig(require_approval=False))
    world = await waiting(config=config)
    await world.deploy(AGE_V2)
    assert questions(await world.say("hello")) == []
    assert place(await world.session()) == (1, "work")


async def test_unmarked_sessions_are_migrated_by_their_turn() -> None:
    config = MigrationConfig(
        deployment=DeploymentConfig(require_approval=False, auto_mark_sessions=False)
    )
    world = await waiting(config=config)
    await world.deploy(AGE_V2)
    assert "What is your age?" in questions(await world.say("hello"))[0]


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


@pytest.mark.slow
async def test_a_late_answer_is_read_although_the_question_has_lapsed() -> None:
    world = await waiting()
    await world.deploy(AGE_V2)
    await world.say("hello")
    world.clock.advance(3 * 86_400)
    assert questions(await world.say("41")) == []
    assert place(await world.session()) == (2, "work")
