"""What sessions hold: asked again, used once, corrected, revoked, and only what was said (13)."""

import pytest

from data_models.chat_context import ChatContext
from data_models.conversations.turn_events import RunFailed
from data_models.documents import parse_document
from services.scenarios.definition.graph import Graph
from tests.services.scenario_world import ScenarioWorld, questions, sample, step, version
from tests.tables import with_cases

GREET = step("greet", "size", instructions="Greet.")
END = step("end", instructions="End.")
FORK = version(
    1,
    GREET,
    step("size", "smokes", collects_profile_fields=("size",)),
    step("smokes", "which", collects_profile_fields=("smokes",)),
    step("which", ("size > 5", "big"), "small"),
    step("big", "end", collects_profile_fields=("weight",)),
    step("small", "end", collects_profile_fields=("pain",)),
    END,
    smokes="boolean",
)


async def answering(graph: Graph) -> ScenarioWorld:
    """A session that waits in the step behind the greeting."""
    world = ScenarioWorld()
    await world.publish(graph)
    await world.begin()
    await world.say("fine")
    return world


async def at_small() -> ScenarioWorld:
    world = await answering(FORK)
    await world.say("3", size=3)
    await world.say("no", smokes=False)
    assert (await world.session()).step == "small"
    return world


@pytest.mark.parametrize(("said", "before"), [("no", ()), ("stop", ()), ("stop", ("fine",))])
async def test_a_no_to_going_on_and_a_stop_leave_the_scenario(
    said: str, before: tuple[str, ...]
) -> None:
    world = ScenarioWorld()
    await world.publish(FORK)
    await world.begin()
    for one in before:
        await world.say(one)
    step_before = (await world.session()).step
    assert "Left" in " ".join((await world.say(said)).texts)
    await world.say("resume")
    assert (await world.session()).step == step_before


# -- a run begins empty ---------------------------------------------------------------------------


@pytest.mark.slow
async def test_two_scenarios_with_a_field_of_one_name_share_nothing() -> None:
    world = await answering(FORK)
    await world.publish(sample("age_note"))
    await world.say("3", size=3)
    other = version(1, step("ask", "end", collects_profile_fields=("size",)), END)
    scenario = other.scenario.model_copy(update={"id": "other", "name": "Other"})
    await world.publish(Graph(scenario=scenario))
    await world.say("start other")
    session = await world.session()
    assert (session.scenario_id, session.step, session.variables) == ("other", "ask", {})


async def test_a_consent_of_an_earlier_run_counts_in_no_later_one() -> None:
    world = ScenarioWorld()
    graph = version(
        1,
        step("ask", ("consent", "recorded"), "end", collects_profile_fields=("consent",)),
        step("recorded", "end", is_checkpoint=True, checkpoint_description="Consent"),
        END,
        consent="boolean",
    )
    await world.publish(graph)
    await world.begin()
    await world.say("yes", consent=True)
    assert len((await world.session()).completed_checkpoints) == 1
    await world.say("start visit")
    session = await world.session()
    assert (session.step, session.completed_checkpoints) == ("ask", [])


async def lasting_age(answer: str) -> tuple[ScenarioWorld, str]:
    world = ScenarioWorld()
    await world.publish(sample("age_note"))
    await world.begin("age note")
    await world.say("I am 41", age=41)
    heard = await world.say("start age note")
    assert (await world.session()).variables == {}
    await world.say(answer)
    return world, heard.texts[-1]


async def test_what_is_declared_lasting_is_confirmed_in_one_question() -> None:
    world, asked = await lasting_age("yes")
    assert asked == "From last time: your age is 41. Is that still right? (yes or no)"
    session = await world.session()
    assert session.variables == {"age": 41}
    assert session.evidence["age"].quote == "yes"


@pytest.mark.parametrize("answer", ["no", "what does the CT say?"])
async def test_what_is_not_confirmed_is_asked_for(answer: str) -> None:
    world, _ = await lasting_age(answer)
    session = await world.session()
    assert (session.step, session.variables, session.to_confirm) == ("age", {}, {})


async def test_what_has_expired_is_not_offered() -> None:
    world = ScenarioWorld()
    await world.publish(sample("age_note"))
    await world.begin("age note")
    await world.say("I am 41", age=41)
    world.clock.advance(27 * 7 * 86_400)
    assert questions(await world.say("start age note")) == []


def test_a_running_session_of_0_1_keeps_its_values_and_an_ended_one_leaves_none() -> None:
    run = {
        "session_id": "s1",
        "scenario_id": "visit",
        "version": 1,
        "checksum": "",
        "step": "size",
        "created_at": "2030-01-01T00:00:00Z",
        "updated_at": "2030-01-01T00:00:00Z",
    }
    old = {
        "schema_version": 1,
        "min_reader": 1,
        "conversation_id": "c",
        "scenario": {**run, "variables": {"size": 3}},
        "left_scenarios": [{**run, "session_id": "s0", "step": None}],
        "profile": {"fields": {"age": {"value": 41, "source": "user"}}},
    }
    import json

    document = parse_document(json.dumps(old).encode(), ChatContext, conversation_id="c")
    assert document.scenario is not None
    assert document.scenario.variables == {"age": 41, "size": 3}
    assert {one.source for one in document.scenario.evidence.values()} == {"0.1"}
    assert document.left_scenarios[0].variables == {}
    assert document.profile.fields == {}


# -- one answer, one step -------------------------------------------------------------------------


async def test_an_answer_to_a_gap_fills_no_step() -> None:
    waits = step("b", "end", collects_profile_fields=("qm",))
    old = version(1, step("greet", "b", instructions="Greet."), waits, END)
    asks = step("k", "b", collects_profile_fields=("qk",))
    end = step("end", instructions="End.", uses=("qk",))
    new = version(2, step("greet", "k", instructions="Greet."), asks, waits, end)
    world = await answering(old)
    await world.deploy(new)
    assert "What is your qk?" in questions(await world.say("hello"))[0]
    heard = await world.say("7", qm=7)
    assert isinstance(heard.end, RunFailed)  # the scripted team does not mend its call
    assert (await world.session()).variables == {"qk": 7}
    await world.say("8", qm=8)
    assert (await world.session()).variables == {"qk": 7, "qm": 8}


async def test_one_number_fills_one_field_of_a_step_and_two_fill_two() -> None:
    both = step("size", "end", collects_profile_fields=("size", "weight"))
    world = await answering(version(1, GREET, both, END))
    await world.say("7", size=7, weight=7)
    assert (await world.session()).variables == {"size": 7}
    await world.say("7 again", weight=7)
    assert (await world.session()).variables == {"size": 7, "weight": 7}


# -- nothing that was not said --------------------------------------------------------------------


async def test_a_model_stores_nothing_that_the_user_did_not_say() -> None:
    world = await answering(FORK)
    world.quotes = False
    heard = await world.say("what do you mean?", size=9)
    assert isinstance(heard.end, RunFailed)
    assert (await world.session()).variables == {}


async def test_words_of_before_the_run_are_no_answer_to_it() -> None:
    world = ScenarioWorld(quotes=False)
    await world.publish(FORK)
    await world.say("hello patient_4, the lesion has 9 mm")
    await world.say("start visit")
    await world.say("fine")
    await world.say("hm", size=9)
    assert (await world.session()).variables == {}


async def test_a_quote_that_says_another_value_proves_nothing() -> None:
    world = await answering(FORK)
    await world.say("it is 8", size=9)
    assert (await world.session()).variables == {}


# -- corrections ----------------------------------------------------------------------------------


@pytest.mark.slow
@with_cases("text")
async def test_a_correction_decides_the_forks_again_and_says_where_we_are(text: str) -> None:
    world = await at_small()
    told = questions(await world.say(text))
    plain = [one.translate(str.maketrans("„“”", '"' * 3)) for one in told]
    assert plain == ['Corrected: size is 7. That changes the way: from "small" to "big".']
    session = await world.session()
    assert session.variables == {"size": 7, "smokes": False}
    assert session.path == ["greet", "size", "smokes", "which", "big"]
    assert session.evidence["size"].quote == text


@pytest.mark.slow
@with_cases("text")
async def test_a_value_behind_a_no_is_the_last_answers_and_no_answer_to_what_is_asked(
    text: str,
) -> None:
    world = await answering(FORK)
    await world.say("3", size=3)
    assert questions(await world.say(text))[0].startswith("Corrected: size is 7.")
    session = await world.session()
    assert (session.step, session.variables) == ("smokes", {"size": 7})


@pytest.mark.slow
async def test_a_correction_runs_the_tool_again_that_was_given_the_old_value() -> None:
    look = step("look", "smokes", kind="tool", tool="load_patient_data", parameters={"n": "{size}"})
    size = step("size", "look", collects_profile_fields=("size",))
    smokes = step("smokes", "end", collects_profile_fields=("smokes",))
    world = await answering(version(1, GREET, size, look, smokes, END, smokes="boolean"))
    await world.say("3", size=3)
    told = questions(await world.say("no, 7"))
    assert told[0].startswith("Corrected: size is 7. That changes the way")
    assert [one.parameters for one in world.team.actions] == [{"n": 3}, {"n": 7}]
    assert (await world.session()).step == "smokes"


@pytest.mark.slow
async def test_a_correction_that_changes_no_way_only_changes_the_field() -> None:
    world = await at_small()
    assert questions(await world.say("no, 4 not 3")) == ["Corrected: size is 4."]
    session = await world.session()
    assert (session.step, session.variables["size"]) == ("small", 4)


@pytest.mark.slow
async def test_a_model_corrects_by_recording_another_value() -> None:
    world = await at_small()
    await world.say("it was rather something like 7", size=7)
    assert (await world.session()).step == "big"


@pytest.mark.slow
async def test_an_answer_that_only_looks_like_a_correction_is_an_answer() -> None:
    world = await at_small()
    assert questions(await world.say("6, not 5", pain=6)) == []
    assert (await world.session()).variables["pain"] == 6


@pytest.mark.slow
async def test_what_is_right_is_asked_where_only_the_wrong_is_said() -> None:
    world = await at_small()
    told = questions(await world.say("my first answer was wrong"))
    assert told == ["What is right for size? Say for example: “size is …”."]
    assert (await world.session()).variables["size"] == 3


@pytest.mark.slow
async def test_a_completed_checkpoint_keeps_the_session_and_says_so() -> None:
    graph = version(
        1,
        GREET,
        step("size", "which", collects_profile_fields=("size",)),
        step("which", ("size > 5", "big"), "pay"),
        step("big", "end", instructions="Big."),
        step("pay", "rate", is_checkpoint=True, checkpoint_description="Payment"),
        step("rate", "end", collects_profile_fields=("rate",)),
        END,
    )
    world = await answering(graph)
    await world.say("3", size=3)
    told = questions(await world.say("no, 7 not 3"))
    assert "Corrected: size is 7." in told[0]
    assert "“Payment” is completed and cannot be undone" in told[0]
    session = await world.session()
    assert (session.step, session.variables["size"]) == ("rate", 7)


# -- consent --------------------------------------------------------------------------------------


async def consented() -> ScenarioWorld:
    world = ScenarioWorld()
    await world.publish(sample("oncology_intake"))
    await world.begin("oncology intake")
    await world.say("fine")
    await world.say("yes", consent_given=True)
    await world.say(
        "1957-03-14 and 0151 23456", date_of_birth="1957-03-14", contact_phone="0151 23456"
    )
    await world.say("a shadow on the lung", referral_reason="a shadow on the lung")
    assert (await world.session()).step == "condition"
    return world


@pytest.mark.slow
async def test_a_revoked_consent_is_stored_as_that_and_as_no_answer() -> None:
    world = await consented()
    told = questions(await world.say("no actually I revoke the consent", weight_loss=False))
    assert told[0].startswith("The consent is revoked: consent to share records.")
    assert "“Consent recorded” is completed" in told[0]
    session = await world.session()
    assert session.variables["consent_given"] is False
    assert "weight_loss" not in session.variables
    assert session.step == "condition"


@pytest.mark.slow
async def test_a_consent_is_revoked_after_the_scenario_was_left_too() -> None:
    world = await consented()
    await world.say("leave")
    await world.say("leave the scenario")
    told = await world.say("I withdraw my consent")
    assert "The consent is revoked" in told.texts[0]
    assert (await world.session()).variables["consent_given"] is False


@pytest.mark.slow
async def test_a_question_about_revoking_revokes_nothing() -> None:
    world = await consented()
    await world.say("can I revoke the consent?")
    assert (await world.session()).variables["consent_given"] is True


# -- what is asked again --------------------------------------------------------------------------


@pytest.mark.slow
async def test_a_value_out_of_range_is_asked_again_twice_and_then_a_person_is_offered() -> None:
    world = ScenarioWorld()
    await world.publish(sample("age_note"))
    await world.begin("age note")
    for _ in range(2):
        await world.say("I am 410", age=410)
        assert (await world.session()).review is None
    await world.say("I am 410", age=410)
    session = await world.session()
    assert session.variables == {}
    assert session.review is not None
    assert session.review.reason == "answer_not_read"


async def test_the_no_of_a_correction_that_names_nothing_answers_no_question() -> None:
    world = await answering(FORK)
    await world.say("3", size=3)
    heard = await world.say("no, I meant she did lose weight", smokes=False)
    assert questions(heard) == ["Which answer do you mean? Say for example: “size is …”."]
    assert (await world.session()).variables == {"size": 3}
