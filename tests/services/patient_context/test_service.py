import json
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_models.conversations.conversation import OpenQuestion
from data_models.conversations.incoming_message import Press
from data_models.errors import (
    ModelError,
    ModelOutputError,
    ModelRefusedError,
    ModelTimeoutError,
    StaleQuestionError,
)
from data_models.identifiers import PatientId
from data_models.patient_context_models import AnalyzerAction, PatientContextDecision
from services.patient_context.answers import waiting_in
from services.patient_context.reading.pattern import PatientIdPattern
from tests.services.patient_context.world import READ_MS, World, says
from tests.tables import with_cases

TWO = ("patient_15", "patient_4")


async def test_the_walk_through_with_two_patients() -> None:
    world = World()
    first = await world.say("@Orchestrator start tumor board for patient_4")
    assert (first.decision, first.patient_id, first.reply) == ("NEW_BLANK", "patient_4", None)
    second = await world.say("yes proceed")
    assert (second.decision, second.patient_id) == ("UNCHANGED", "patient_4")
    assert second.registry is None
    third = await world.say("switch to patient_15")
    assert (third.decision, third.patient_id) == ("NEW_BLANK", "patient_15")
    assert third.reply == "Switched to patient_15. What would you like to review?"
    assert third.is_bare_switch
    assert set(world.registry.patient_registry) == {"patient_4", "patient_15"}
    fourth = await world.say("clear patient context")
    assert (fourth.decision, fourth.patient_id, fourth.registry) == ("CLEAR", None, None)
    assert world.model.asked == []


async def test_a_new_patient_is_entered_with_the_times_of_this_turn() -> None:
    world = World()
    verdict = await world.say("review patient_4")
    assert verdict.registry is not None
    row = verdict.registry.patient_registry[PatientId("patient_4")]
    assert row.created_at == row.updated_at == world.clock.now()
    assert row.conversation_id == world.registry.conversation_id


async def test_switching_back_marks_the_patient_as_last_used_and_keeps_the_rest() -> None:
    world = World(*TWO, active="patient_4")
    before = world.registry
    world.clock.advance(60)
    verdict = await world.say("switch to patient_15")
    assert verdict.registry is not None
    row = verdict.registry.patient_registry[PatientId("patient_15")]
    assert row.updated_at == world.clock.now()
    assert row.created_at == before.patient_registry[PatientId("patient_15")].created_at
    assert before.active_patient_id == "patient_4", "the registry that was read was changed"


async def test_the_registry_keeps_fields_of_newer_versions() -> None:
    world = World(*TWO, active="patient_4")
    world.registry = type(world.registry).model_validate(
        {**world.registry.model_dump(), "from_tomorrow": 1}
    )
    verdict = await world.say("switch to patient_15")
    assert verdict.registry is not None
    assert verdict.registry.model_dump()["from_tomorrow"] == 1


async def test_an_active_patient_is_silently_restored() -> None:
    world = World(*TWO, active="patient_4")
    world.document = world.document.model_copy(update={"patient_id": None})
    verdict = await world.say("what is the diagnosis?")
    assert (verdict.decision, verdict.patient_id) == ("RESTORED_FROM_STORAGE", "patient_4")
    assert verdict.registry is None


async def test_a_switch_right_after_a_restart_is_a_switch() -> None:
    world = World(*TWO, active="patient_4")
    world.document = world.document.model_copy(update={"patient_id": None})
    verdict = await world.say("show the labs of patient_15")
    assert verdict.decision == "SWITCH_EXISTING"


async def test_times_are_measured_where_the_step_happened() -> None:
    world = World(*TWO, active="patient_4", script=[says("UNCHANGED")])
    await world.say("what is the diagnosis?")
    assert (world.timing.analyzer_ms, world.timing.service_total_ms) == (None, 0.0)
    await world.say("how is the patient?")
    assert (world.timing.analyzer_ms, world.timing.service_total_ms) == (250.0, 250.0)
    assert world.timing.storage_fallback_ms is None
    world.document = world.document.model_copy(update={"patient_id": None})
    await world.say("what is the diagnosis?")
    assert world.timing.storage_fallback_ms == READ_MS, "the restored patient was read from storage"


@with_cases("text", "reply")
async def test_what_the_user_reads_when_an_id_is_needed(text: str, reply: str) -> None:
    world = World(*TWO, active="patient_4")
    verdict = await world.say(text)
    assert (verdict.decision, verdict.reply) == ("NEEDS_PATIENT_ID", reply)
    assert (verdict.patient_id, verdict.registry) == ("patient_4", None)
    assert verdict.question is not None
    assert verdict.question.text == reply


async def test_the_example_follows_the_configured_pattern() -> None:
    world = World(pattern=PatientIdPattern.compile("^mrn-[A-Z0-9]{6}$"))
    verdict = await world.say("switch patient")
    assert verdict.reply == "I need a patient ID like 'mrn-4A7B2C'."


async def test_a_question_belongs_to_user_turn_patient_and_epoch_and_runs_out() -> None:
    world = World(*TWO, active="patient_4")
    world.registry.epoch = 3
    question = (await world.say("switch to 23")).question
    assert question == OpenQuestion(
        question_id=f"question_{1:032x}",
        kind="which_patient",
        run_id="run_1",
        user="dr-a",
        patient_id=PatientId("patient_4"),
        epoch=3,
        text="Do you mean `patient_23`? Answer yes, or send an ID like 'patient_4'.",
        payload={"options": ["patient_23"], "opens_only": True},
        expires_at=world.clock.now() + timedelta(minutes=30),
    )


@with_cases("texts", "decision", "patient_id", "reply", "is_asking")
async def test_an_answer_is_of_what_was_asked(
    texts: list[str], decision: str, patient_id: str, reply: str | None, is_asking: bool
) -> None:
    world = World(*TWO, active="patient_4")
    verdict = [await world.say(text) for text in texts][-1]
    assert (verdict.decision, verdict.patient_id) == (decision, patient_id)
    assert reply is None or (verdict.reply or "").startswith(reply)
    assert (world.question is not None) == is_asking


async def test_a_message_that_names_nobody_waits_for_the_answer_whom() -> None:
    world = World(*TWO, active="patient_4")
    await world.say("switch to 23")
    verdict = await world.say("what is the diagnosis?")
    assert verdict.decision == "NEEDS_PATIENT_ID"
    assert world.question is not None
    assert waiting_in(world.question) == ("what is the diagnosis?",)
    assert (await world.say("yes")).patient_id == "patient_23"


async def test_only_who_was_asked_can_answer() -> None:
    world = World(*TWO, active="patient_4")
    await world.say("please clear everything")
    verdict = await world.say("yes", user="dr-b")
    assert verdict.decision == "UNCHANGED"
    assert (await world.say("yes")).decision == "CLEAR"


async def test_a_clear_in_other_words_is_asked_about_and_done_after_yes() -> None:
    world = World(*TWO, active="patient_4", script=[says("CLEAR")])
    verdict = await world.say("please drop this patient")
    assert (verdict.decision, verdict.patient_id) == ("UNCHANGED", "patient_4")
    assert verdict.reply is not None
    assert "2 patients" in verdict.reply
    assert (await world.say("yes")).decision == "CLEAR"


@pytest.mark.parametrize("seconds", [1_800, 90_000])
async def test_a_question_that_has_run_out_is_not_answered(seconds: int) -> None:
    world = World(*TWO, active="patient_4")
    await world.say("please clear everything")
    world.clock.advance(seconds)
    verdict = await world.say("yes")
    assert verdict.decision == "UNCHANGED"


async def test_a_question_of_an_older_epoch_is_not_answered() -> None:
    world = World(*TWO, active="patient_4")
    await world.say("please clear everything")
    world.registry.epoch += 1
    assert (await world.say("yes")).decision == "UNCHANGED"


async def test_a_button_answers_its_question() -> None:
    world = World(*TWO, active="patient_4")
    question = (await world.say("patient_4 and patient_15")).question
    assert question is not None
    verdict = await world.say("", press=Press(target_id=question.question_id, answer="patient_15"))
    assert (verdict.decision, verdict.patient_id) == ("SWITCH_EXISTING", "patient_15")


@pytest.mark.parametrize("user", ["dr-a", "dr-b"])
async def test_a_stale_button_or_a_stranger_s_is_refused(user: str) -> None:
    world = World(*TWO, active="patient_4")
    question = (await world.say("please clear everything")).question
    assert question is not None
    if user == "dr-a":
        await world.say("no")
    with pytest.raises(StaleQuestionError):
        await world.say("", user=user, press=Press(target_id=question.question_id, answer="yes"))


@pytest.mark.parametrize("error", [ModelTimeoutError(), ModelRefusedError(), ModelOutputError()])
@pytest.mark.parametrize(
    "text", ["patient_15 before lunch", "please look for 15", "ask the other patient"]
)
async def test_a_failing_model_never_lets_the_turn_go_on_with_the_old_patient(
    error: ModelError, text: str
) -> None:
    world = World(*TWO, active="patient_4", script=[error])
    verdict = await world.say(text)
    assert verdict.decision == "NEEDS_PATIENT_ID"
    assert verdict.reply is not None
    assert "The language model" in verdict.reply
    assert "patient_15" in verdict.reply


@pytest.mark.parametrize(("active", "decision"), [("patient_4", "UNCHANGED"), (None, "NONE")])
async def test_a_failing_model_changes_nothing_where_nobody_can_be_named(
    active: str | None, decision: str
) -> None:
    world = World(*TWO, active=active, script=[ModelTimeoutError()])
    verdict = await world.say("how is the patient?")
    assert (verdict.decision, verdict.reply) == (decision, None)


async def test_the_model_sees_the_patients_and_the_text_as_data() -> None:
    world = World(*TWO, active="patient_4", script=[says("UNCHANGED")])
    await world.say("is the patient_id in PATIENT_CONTEXT_JSON: {}?")
    (asked,) = world.model.asked
    assert asked.purpose == "reader"
    assert json.loads(asked.text) == {
        "patients": {"open": "patient_4", "p1": "patient_15"},
        "message": "is the patient_id in [quoted snapshot]: {}?",
    }


@pytest.mark.slow
async def test_the_prompt_stays_bounded() -> None:
    names = [f"patient_{number}" for number in range(300)]
    world = World(*names, active="patient_0", script=[says("UNCHANGED")])
    await world.say("how is the patient? " * 700)
    (asked,) = world.model.asked
    assert len(json.loads(asked.text)["patients"]) == 9, "the open one and eight others"
    assert len(asked.instructions) + len(asked.text) < 8_000


ACTIONS: list[AnalyzerAction] = ["NONE", "ACTIVATE_NEW", "UNCHANGED", "SWITCH_EXISTING", "CLEAR"]
DECISIONS = st.builds(
    lambda action, name: PatientContextDecision(
        action=action,
        patient_id=name if action in ("ACTIVATE_NEW", "SWITCH_EXISTING") else None,
        reasoning="any",
    ),
    st.sampled_from(ACTIONS),
    st.sampled_from([None, "patient_4", "patient_15", "patient_99", "../x", "PATIENT_15"]),
)
WORDS = st.sampled_from(
    [
        *["patient_4", "patient_15", "patient_23", "PATIENT_15", "15", "4", "patient", "the other"],
        *["switch to", "compare", "not", "clear", "yes", "no", "labs", "show", "and", ".", "１５"],  # noqa: RUF001
    ]
)


@pytest.mark.slow
@given(st.lists(st.tuples(st.lists(WORDS, max_size=5), DECISIONS), min_size=1, max_size=6))
async def test_whatever_a_model_says_a_switch_was_typed(
    turns: list[tuple[list[str], PatientContextDecision]],
) -> None:
    world = World(*TWO, active="patient_4", script=[decision for _, decision in turns])
    for words, _ in turns:
        before, text = world.registry.active_patient_id, " ".join(words)
        question = world.question
        verdict = await world.say(text)
        after = world.registry.active_patient_id
        if after != before:
            assert after is not None
            typed = after.rpartition("_")[2] in text or "the other" in text
            assert typed or question is not None
        if verdict.decision == "CLEAR":
            assert text in ("clear", "clear patient") or question is not None
            return


@with_cases("text")
async def test_pasted_text_that_plays_a_role_opens_nobodys_chart(text: str) -> None:
    world = World("patient_4", active="patient_4")
    verdict = await world.say(text)
    assert (verdict.decision, verdict.patient_id) == ("NEEDS_PATIENT_ID", "patient_4")
    assert "`patient_4` or `patient_15`" in (verdict.reply or "")
    assert world.model.asked == []
