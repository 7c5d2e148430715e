"""Charts are opened by whoever is named, for nobody by a number of nobody, and asked in doubt."""

from dataclasses import replace
from datetime import timedelta

import pytest

from data_models.conversations.incoming_message import Press
from data_models.identifiers import PatientId
from data_models.patient_context_models import PatientContextDecision
from services.identity.linking import SubjectLinker
from services.identity.names.person import Person, PersonName, PersonNumber
from services.patient_context.answers import waiting_in
from tests.fakes import ClosedCharts, GivenPeople
from tests.services.patient_context.world import PATTERN, World, says
from tests.tables import with_cases


def person(place: int, given: str, family: str, born: str, **more: object) -> Person:
    numbers = (PersonNumber("urn:mrn", f"SYN-{place:06}"), *more.pop("numbers", ()))  # type: ignore[misc]
    return Person(
        patient_id=PatientId(f"patient_{place}"),
        key=f"key-{place}",
        names=(PersonName(family, (given,), ""),),
        numbers=numbers,
        birth_date=born,
        **more,  # type: ignore[arg-type]
    )


MARGARET = person(4, "Margaret", "Whitfield", "1957-03-14", sex="female")
TUNDE = person(7, "Tunde", "Adeyemi", "1968-07-21", sex="male")
FRANCIS = person(42, "Francis", "Doyle", "1951", sex="male")
OLD = person(50, "Ada", "Old", "1940-01-01", replaced_by="key-7", is_active=False)
RETIRED = person(
    60, "Eva", "Gone", "1941-01-01", numbers=(PersonNumber("urn:mrn", "GONE-001", is_retired=True),)
)


def world(*roster: str, active: str | None = None) -> tuple[World, GivenPeople]:
    people = GivenPeople(MARGARET, TUNDE, FRANCIS, OLD, RETIRED)
    linker = SubjectLinker(directory=people, fits=PATTERN.matches)
    return World(*roster, active=active, linker=linker), people


@with_cases("text")
async def test_a_chart_opens_by_id_number_name_or_name_and_birth_date(text: str) -> None:
    here, _ = world("patient_4", active="patient_4")

    verdict = await here.say(text)

    assert verdict.patient_id == "patient_7"
    assert verdict.reply is not None
    assert "Tunde Adeyemi, born 1968-07-21 (patient_7)" in verdict.reply


async def test_a_question_about_another_patient_is_answered_from_that_chart_and_says_so() -> None:
    here, _ = world("patient_4", active="patient_4")

    verdict = await here.say("what is Tunde Adeyemi's CEA?")

    assert (verdict.decision, verdict.patient_id, verdict.reply) == ("NEW_BLANK", "patient_7", None)
    assert "Tunde Adeyemi, born 1968-07-21 (patient_7)" in verdict.notice


@pytest.mark.parametrize("text", ["open patient_4444", "switch to patient_4444", "patient_4444"])
async def test_a_number_of_nobody_opens_nothing_and_asks_nothing(text: str) -> None:
    here, _ = world("patient_4", active="patient_4")

    verdict = await here.say(text)

    assert verdict.reply is not None
    assert "Nobody has the number `patient_4444`" in verdict.reply
    assert (verdict.patient_id, verdict.registry) == ("patient_4", None)
    assert "patient_4444" not in here.registry.patient_registry


@pytest.mark.slow
@with_cases("text")
async def test_who_was_open_before_is_asked_about_with_both_identifiers(text: str) -> None:
    here = World(
        "patient_7",
        "patient_4",
        active="patient_4",
        script=[says("ACTIVATE_NEW")],
        linker=SubjectLinker(directory=GivenPeople(MARGARET, TUNDE), fits=PATTERN.matches),
    )

    verdict = await here.say(text)

    assert verdict.reply is not None
    assert verdict.reply.startswith("Do you mean Tunde Adeyemi, born 1968-07-21 (`patient_7`)?")


@pytest.mark.parametrize("text", ["Tunde", "tunde?"])
async def test_a_first_name_that_is_all_of_a_message_is_asked_about(text: str) -> None:
    here, _ = world("patient_4", active="patient_4")

    verdict = await here.say(text)

    assert verdict.reply is not None
    assert "Tunde Adeyemi" in verdict.reply
    assert (verdict.patient_id, verdict.registry) == ("patient_4", None)


async def test_another_spelling_of_a_number_is_asked_about() -> None:
    here, _ = world("patient_7", active="patient_7")

    verdict = await here.say("open patient_04")

    assert verdict.question is not None
    assert verdict.question.payload["options"][0] == "patient_4"


async def test_a_merged_chart_leads_to_its_survivor_and_that_is_said() -> None:
    here, _ = world("patient_4", active="patient_4")

    verdict = await here.say("open patient_50")

    assert verdict.patient_id == "patient_7"
    assert "`patient_50` leads to the chart of Tunde Adeyemi" in (verdict.reply or "")


async def test_a_retired_number_is_said_and_asked() -> None:
    here, _ = world("patient_4", active="patient_4")

    verdict = await here.say("open GONE-001")

    assert verdict.question is not None
    assert "no longer in use" in verdict.question.text
    assert verdict.patient_id == "patient_4"


async def test_the_answer_runs_the_message_in_the_chosen_chart_and_is_remembered() -> None:
    here, _ = world("patient_4", "patient_42", active="patient_4")

    asked = await here.say("what is Doyle's stage?")
    assert asked.question is not None
    assert asked.question.kind == "subject"
    assert asked.question.payload["asked"] == "what is Doyle's stage?"
    assert "1. **Francis Doyle**, born 1951, male (patient_42)" in asked.question.text

    chosen = await here.say("1", press=Press(target_id=asked.question.question_id, answer="1"))
    assert (chosen.decision, chosen.patient_id) == ("SWITCH_EXISTING", "patient_42")
    assert here.registry.settled == {"doyle": PatientId("patient_42")}

    await here.say("switch to patient_4")
    again = await here.say("and Doyle's CEA?")
    assert (again.patient_id, again.question) == ("patient_42", None)


async def test_none_of_them_changes_nothing() -> None:
    here, _ = world("patient_4", "patient_42", active="patient_4")
    await here.say("what is Doyle's stage?")

    verdict = await here.say("no")

    assert verdict.patient_id == "patient_4"
    assert verdict.registry is None
    assert here.question is None


async def test_names_beside_an_id_must_be_that_patients() -> None:
    here, _ = world("patient_4", active="patient_4")

    assert (await here.say("open patient_7 Tunde Adeyemi")).patient_id == "patient_7"
    assert (await here.say("open patient_4 Tunde Adeyemi")).question is not None


async def test_while_the_records_are_down_nobody_new_opens_and_the_known_do_with_a_word() -> None:
    here, people = world("patient_4", active="patient_4")
    await here.say("open patient_7")
    people.is_down = True

    refused = await here.say("open patient_42")
    assert refused.patient_id == "patient_7"
    assert "do not answer" in (refused.reply or "")

    known = await here.say("switch to patient_4")
    assert known.patient_id == "patient_4"
    assert "do not answer" in known.notice

    named = await here.say("what is Francis Doyle's stage?")
    assert named.question is not None
    assert named.patient_id == "patient_4"


async def test_a_question_of_who_runs_out() -> None:
    here, _ = world("patient_4", "patient_42", active="patient_4")
    asked = await here.say("what is Doyle's stage?")
    here.clock.advance(timedelta(minutes=31).total_seconds())

    verdict = await here.say("1")

    assert asked.question is not None
    assert verdict.patient_id == "patient_4"


async def test_another_users_switch_does_not_redirect_a_question() -> None:
    here, _ = world("patient_4", "patient_42", active="patient_4")
    await here.say("switch to patient_4", user="anna")
    await here.say("switch to patient_42", user="anna")
    await here.say("any allergies?", user="bert")
    await here.say("switch to patient_4", user="bert")

    asked = await here.say("what dose does he get?", user="anna")

    assert asked.question is not None
    assert asked.question.payload["options"] == ["patient_42", "patient_4"]
    assert asked.question.user == "anna"
    chosen = await here.say("1", user="anna")
    assert chosen.patient_id == "patient_42"
    assert (await here.say("and the stage?", user="anna")).question is None


@with_cases("text")
async def test_a_misspelt_id_is_asked_about_and_opens_nothing(text: str) -> None:
    here, _ = world("patient_42", active="patient_42")

    verdict = await here.say(text)

    assert (verdict.decision, verdict.patient_id) == ("NEEDS_PATIENT_ID", "patient_42")
    assert verdict.registry is None


@with_cases("text")
async def test_an_id_beside_the_open_patient_asks_and_opens_nobody(text: str) -> None:
    here, _ = world("patient_4", active="patient_4")

    verdict = await here.say(text)

    assert verdict.decision == "NEEDS_PATIENT_ID"
    assert verdict.patient_id == "patient_4"


@with_cases("text")
async def test_a_number_of_another_however_written_is_never_the_open_patient(text: str) -> None:
    """Whatever a model says of it."""
    stays = PatientContextDecision(action="UNCHANGED", reasoning="the same patient")
    here = World("patient_4", "patient_15", active="patient_4", script=[stays])

    verdict = await here.say(text)

    assert verdict.decision == "NEEDS_PATIENT_ID" or verdict.patient_id == "patient_15"


@with_cases("text")
async def test_a_number_that_counts_or_measures_is_no_patient(text: str) -> None:
    stays = PatientContextDecision(action="UNCHANGED", reasoning="the same patient")
    here = World("patient_4", "patient_15", active="patient_4", script=[stays])

    verdict = await here.say(text)

    assert verdict.decision == "UNCHANGED"


@pytest.mark.parametrize("said", ["yes", "ja", "ok", "yes please", "7777"])
async def test_a_bare_yes_chooses_nobody_and_the_message_waits_on(said: str) -> None:
    here, _ = world("patient_4", active="patient_4")
    asked = await here.say("what is Adeyemi's stage?")
    assert asked.question is not None

    again = await here.say(said)

    assert again.question is not None
    assert again.question.kind == "subject"
    assert again.question.payload == asked.question.payload
    assert again.question.question_id == asked.question.question_id
    assert (await here.say("1")).patient_id == "patient_7"


async def test_what_names_nobody_while_it_is_open_who_is_meant_is_asked_about() -> None:
    here, _ = world("patient_4", "patient_42", active="patient_4")
    await here.say("back to Doyle")

    asked = await here.say("platelets?")

    assert asked.patient_id == "patient_4"
    assert asked.question is not None
    assert waiting_in(asked.question) == ("platelets?",)
    assert "“platelets?” now waits for your answer; “no” drops it." in (asked.reply or "")
    again = await here.say("write the report")
    assert again.question is not None
    assert waiting_in(again.question) == ("platelets?", "write the report"), "none is lost"
    assert (await here.say("no")).question is None, "a no lets go"


async def test_the_later_message_runs_in_the_chart_that_is_chosen() -> None:
    here, _ = world("patient_4", "patient_42", active="patient_4")
    await here.say("back to Doyle")
    await here.say("platelets?")

    chosen = await here.say("patient_42")

    assert chosen.patient_id == "patient_42"


@pytest.mark.parametrize("said", ["platelets", "CEA", "Gewicht", "his stage", "he smokes"])
async def test_a_short_message_without_a_question_mark_is_asked_about_as_well(said: str) -> None:
    here, _ = world("patient_4", "patient_7", "patient_42", active="patient_42")
    await here.say("no, back to Adeyemi")

    asked = await here.say(said)

    assert asked.question is not None
    assert waiting_in(asked.question) == (said,)


@pytest.mark.parametrize("said", ["thank you", "thanks a lot", "danke", "merci"])
async def test_thanks_are_not_asked_about_while_it_is_open_who_is_meant(said: str) -> None:
    here, _ = world("patient_4", "patient_7", "patient_42", active="patient_42")
    await here.say("no, back to Adeyemi")

    beside = await here.say(said)
    assert (beside.decision, beside.reply, beside.pending) == ("UNCHANGED", None, ())


@pytest.mark.parametrize(
    "said",
    ["Francis", "doyle", "Mr Doyle please", "I mean Francis", "the first one", "ich meine Doyle"],
)
async def test_one_of_those_offered_is_chosen_by_any_part_of_the_name(said: str) -> None:
    here, _ = world("patient_4", "patient_42", active="patient_4")
    await here.say("what is Doyle's stage?")

    chosen = await here.say(said)

    assert (chosen.patient_id, chosen.question) == ("patient_42", None)


@with_cases("said", "meant")
async def test_one_of_those_offered_is_chosen_by_age_birth_or_sex(said: str, meant: str) -> None:
    here, people = world("patient_4", active="patient_4")
    people.people = (*people.people, person(43, "Ann", "Doyle", "1990-01-01", sex="female"))
    assert (await here.say("what is Doyle's stage?")).question is not None

    chosen = await here.say(said)

    assert (chosen.patient_id, chosen.question) == (meant, None)


async def test_whoever_is_asked_about_is_asked_about_without_an_open_chart_as_well() -> None:
    here, _ = world()
    await here.say("start with Doyle please")

    asked = await here.say("what about the drugs?")

    assert asked.question is not None
    assert waiting_in(asked.question)[-1] == "what about the drugs?"
    assert (await here.say("1")).patient_id == "patient_42"


async def test_who_alone_of_those_offered_is_a_he_is_meant_by_it() -> None:
    here, _ = world()
    await here.say("start with Doyle please")

    opened = await here.say("what is he on?")

    assert (opened.patient_id, opened.question) == ("patient_42", None)
    assert opened.pending == ("what is he on?",)


@with_cases("said")
async def test_who_only_leads_to_a_number_is_told_that_the_chart_is_open(said: str) -> None:
    here, _ = world("patient_4", active="patient_4")

    opened = await here.say(said)

    assert opened.patient_id == "patient_7"
    assert (opened.reply or "").startswith("Switched to patient_7.")


async def test_who_goes_on_in_the_other_chart_wants_more_than_to_open_it() -> None:
    here, _ = world("patient_4", active="patient_4")

    assert (await here.say("switch to patient_7 and go on")).reply is None


@pytest.mark.parametrize("said", ["who is open?", "help", "hello"])
async def test_what_is_of_the_talk_is_answered_while_it_is_open_who_is_meant(said: str) -> None:
    here, _ = world("patient_4", active="patient_4")
    await here.say("back to Doyle")

    beside = await here.say(said)
    assert beside.decision == "UNCHANGED"
    assert beside.question is not None  # what waits for the answer waits on


async def test_what_was_said_of_a_man_says_nothing_of_a_woman_of_that_name() -> None:
    here, people = world("patient_4", active="patient_4")
    people.people = (*people.people, person(43, "Ann", "Doyle", "1990-01-01", sex="female"))
    await here.say("Mr Doyle")
    assert (await here.say("1")).patient_id == "patient_42"

    asked = await here.say("Mrs Doyle: what is she on?")

    assert asked.decision == "NEEDS_PATIENT_ID", "he is not answered for her"


@pytest.mark.parametrize(
    ("said", "meant"), [("Mrs Doyle: weight?", "patient_43"), ("Herr Doyle", "patient_42")]
)
async def test_a_title_tells_who_of_the_conversation_is_meant(said: str, meant: str) -> None:
    here, people = world("patient_4", "patient_42", "patient_43", active="patient_4")
    people.people = (*people.people, person(43, "Ann", "Doyle", "1990-01-01", sex="female"))

    verdict = await here.say(said)

    assert (verdict.patient_id, verdict.question) == (meant, None)


@pytest.mark.parametrize(
    ("roster", "more"),
    [
        (["patient_4"], [person(43, "Ann", "Doyle", "1990-01-01", sex="female")]),
        (["patient_4", "patient_42"], []),
        (["patient_4", "patient_42"], [person(43, "Tom", "Doyle", "1990-01-01", sex="male")]),
    ],
)
async def test_a_title_is_asked_about_beside_another_or_of_nobody_spoken_of(
    roster: list[str], more: list[Person]
) -> None:
    here, people = world(*roster, active="patient_4")
    people.people = (*people.people, *more)

    assert (await here.say("Mr Doyle: weight?")).question is not None


async def test_a_name_that_was_settled_is_asked_again_behind_a_namesake_by_whole_name() -> None:
    here, people = world("patient_4", active="patient_4")
    people.people = (*people.people, person(43, "Tom", "Doyle", "1990-01-01", sex="male"))
    await here.say("Doyle")
    assert (await here.say("the older one")).patient_id == "patient_42"
    assert (await here.say("Tom Doyle")).patient_id == "patient_43"

    asked = await here.say("Mr Doyle, is he on anything?")

    assert asked.question is not None, "it would be answered of the other one"


@with_cases("said")
async def test_the_other_one_of_several_is_asked_about(said: str) -> None:
    here, _ = world("patient_4", "patient_7", "patient_42", active="patient_4")

    asked = await here.say(said)

    assert asked.question is not None
    assert set(asked.question.payload["options"]) == {"patient_7", "patient_42"}


@pytest.mark.parametrize("said", ["no, the open one", "this patient", "nein, die offene"])
async def test_the_open_one_of_those_offered_is_meant(said: str) -> None:
    here, _ = world("patient_4", "patient_42", active="patient_4")
    await here.say("what is Doyle's stage?")

    assert (await here.say(said)).patient_id == "patient_4"


@pytest.mark.parametrize("said", ["not Francis", "Francis or Margaret", "Tunde"])
async def test_what_names_nobody_or_more_of_those_offered_chooses_nobody(said: str) -> None:
    here, _ = world("patient_4", "patient_42", active="patient_4")
    await here.say("what is Doyle's stage?")

    assert (await here.say(said)).question is not None


async def test_a_name_that_two_of_those_offered_bear_is_asked_again() -> None:
    brother = person(43, "Tom", "Doyle", "1960-01-01", sex="male")
    here, people = world("patient_4", "patient_42", active="patient_4")
    people.people = (*people.people, brother)
    await here.say("what is Doyle's stage?")

    assert (await here.say("Doyle")).question is not None
    assert (await here.say("Tom")).patient_id == "patient_43"


@pytest.mark.parametrize("is_down", [False, True])
async def test_who_writes_on_after_a_switch_that_failed_is_asked_about_the_open_chart(
    is_down: bool,
) -> None:
    here, people = world("patient_4", active="patient_4")
    people.is_down = is_down

    failed = await here.say("switch to patient_4444")
    asked = await here.say("what is the stage?")

    assert failed.patient_id == "patient_4"
    assert is_down or (failed.question and failed.question.payload["number"] == "patient_4444")
    assert asked.question is not None
    assert waiting_in(asked.question) == ("what is the stage?",)
    chosen = await here.say("1")
    assert (chosen.patient_id, chosen.question) == ("patient_4", None)
    assert here.registry.settled == {}


@pytest.mark.parametrize("is_down", [False, True])
async def test_a_switch_that_failed_names_no_chart_that_was_closed_meanwhile(is_down: bool) -> None:
    people = GivenPeople(MARGARET)
    linker = SubjectLinker(directory=people, fits=PATTERN.matches)
    here = World("patient_4", active="patient_4", linker=linker, access=ClosedCharts("patient_4"))
    noted = {"name": "Margaret Whitfield", "birth_date": "1957-03-14", "sex": "female"}
    here.registry.patient_registry[PatientId("patient_4")].facts.update(noted)
    people.is_down = is_down

    failed = await here.say("switch to patient_4444")

    assert "Whitfield" not in (failed.reply or "")
    assert failed.question is None


@pytest.mark.parametrize("text", ["Adeyemi's potassium?", "Adeyemi: potassium", "Tunde?"])
async def test_part_of_a_name_never_tells_that_a_closed_chart_exists(text: str) -> None:
    answers = []
    for people in (GivenPeople(MARGARET, TUNDE), GivenPeople(MARGARET)):
        linker = SubjectLinker(directory=people, fits=PATTERN.matches)
        closed = ClosedCharts("patient_7")
        here = World("patient_4", active="patient_4", linker=linker, access=closed)
        answers.append((await here.say(text)).reply)
    assert answers[0] == answers[1]


@pytest.mark.parametrize(
    "text", ["open patient_50", "open 48-000-007", "open Tunde Adeyemi, born 1968-07-21"]
)
async def test_who_names_a_closed_chart_beyond_doubt_learns_how_an_emergency_opens_it(
    text: str,
) -> None:
    """The old number of a merged record, a record number, or name and birth date."""
    tunde = replace(TUNDE, numbers=(PersonNumber("urn:mrn", "48-000-007"),))
    linker = SubjectLinker(directory=GivenPeople(MARGARET, tunde, OLD), fits=PATTERN.matches)
    closed = ClosedCharts("patient_7")
    here = World(linker=linker, access=closed, break_glass_minutes=30)

    assert "`break glass:`" in ((await here.say(text)).reply or "")
    assert (await here.say("break glass: unconscious in the ward")).patient_id == "patient_7"


async def test_a_whole_name_alone_of_a_closed_chart_opens_no_way_to_it() -> None:
    linker = SubjectLinker(directory=GivenPeople(MARGARET, TUNDE), fits=PATTERN.matches)
    here = World(linker=linker, access=ClosedCharts("patient_7"), break_glass_minutes=30)
    assert "break glass" not in ((await here.say("open Tunde Adeyemi")).reply or "")
