"""Charts are opened by whoever is named, for nobody by a number of nobody, and asked in doubt."""

from dataclasses import replace

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
from tests.work import counted_calls


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


@pytest.mark.slow
@pytest.mark.parametrize("said", ["a\n", "Tunde Adeyemi ", "Doyle, ", "nakamura ", "Mr Bauer "])
async def test_four_times_as_much_takes_about_four_times_the_work(said: str) -> None:
    here, _ = world("patient_4", active="patient_4")

    async def calls(number: int) -> int:
        with counted_calls() as made:
            await here.say(said * number)
        return made.count

    await calls(99)
    few = await calls(250)
    assert await calls(1_000) < 6 * few


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


@with_cases("text")
async def test_the_number_of_somebody_not_yet_spoken_of_is_asked_about(text: str) -> None:
    here, _ = world("patient_4", active="patient_4")

    verdict = await here.say(text)

    assert (verdict.decision, verdict.patient_id) == ("NEEDS_PATIENT_ID", "patient_4")
    assert (verdict.reply or "").startswith("Do you mean ")


@with_cases("text")
async def test_a_figure_that_is_a_patients_number_too_goes_on_with_the_open_one(text: str) -> None:
    here, _ = world("patient_4", active="patient_4")

    assert (await here.say(text)).decision == "UNCHANGED"


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


@pytest.mark.parametrize("said", ["yes", "ja", "ok", "yes please"])
async def test_a_bare_yes_means_the_one_bearer_of_the_name_and_the_message_runs(said: str) -> None:
    here, _ = world("patient_4", active="patient_4")
    asked = await here.say("what is Adeyemi's stage?")

    chosen = await here.say(said)

    assert "Answer with “yes” for the first" in (asked.reply or "")
    assert (chosen.patient_id, chosen.question) == ("patient_7", None)


@pytest.mark.parametrize("said", ["yes", "7777"])
async def test_what_chooses_none_of_several_leaves_the_message_waiting(said: str) -> None:
    here, people = world("patient_4", active="patient_4")
    people.people = (*people.people, person(43, "Ann", "Adeyemi", "1990-01-01", sex="female"))
    asked = await here.say("what is Adeyemi's stage?")
    assert asked.question is not None

    again = await here.say(said)

    assert again.question is not None
    assert again.question.kind == "subject"
    assert again.question.payload == asked.question.payload
    assert again.question.question_id == asked.question.question_id
    assert (await here.say("Tunde")).patient_id == "patient_7"


@with_cases("said", "meant")
async def test_one_of_those_offered_is_chosen_by_age_birth_or_sex(said: str, meant: str) -> None:
    here, people = world("patient_4", active="patient_4")
    people.people = (*people.people, person(43, "Ann", "Doyle", "1990-01-01", sex="female"))
    assert (await here.say("what is Doyle's stage?")).question is not None

    chosen = await here.say(said)

    assert (chosen.patient_id, chosen.question) == (meant, None)


@with_cases("said")
async def test_who_only_leads_to_a_number_is_told_that_the_chart_is_open(said: str) -> None:
    here, _ = world("patient_4", active="patient_4")

    opened = await here.say(said)

    assert opened.patient_id == "patient_7"
    assert (opened.reply or "").startswith("Switched to patient_7.")


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


async def with_two_kochs() -> World:
    """Both were open, and "Koch" was said to be Eva, who is open now."""
    here, people = world("patient_4", active="patient_4")
    kochs = [
        person(place, given, "Koch", born, sex="female")
        for place, given, born in ((8, "Ina", "1960-01-01"), (9, "Eva", "1961-03-11"))
    ]
    people.people = (*people.people, *kochs)
    await here.say("open patient_8")
    await here.say("open patient_9")
    await here.say("creatinine for Koch")
    assert (await here.say("Eva")).patient_id == "patient_9"
    return here


@with_cases("text")
async def test_a_name_that_two_of_the_conversation_bear_is_asked_about_each_time(text: str) -> None:
    here = await with_two_kochs()

    asked = await here.say(text)

    assert asked.question is not None, "it would be of the open one"
    assert set(asked.question.payload["options"]) == {"patient_8", "patient_9"}
    assert (await here.say("koch *11.03.1961: hb")).question is None, "her birth date tells her"


@pytest.mark.parametrize("text", ["hb koch", "koch crp?"])
async def test_a_value_is_asked_of_the_one_of_two_who_was_just_chosen(text: str) -> None:
    here = await with_two_kochs()
    assert (await here.say(text)).question is None

    await here.say("open patient_8")
    assert (await here.say(text)).question is not None, "another of that name was open since"


async def test_whom_one_user_chose_says_nothing_of_whom_another_one_means() -> None:
    here = await with_two_kochs()
    seen_by = {"somebody else": PatientId("patient_8")}
    here.registry = here.registry.model_copy(update={"seen_by": seen_by})

    assert (await here.say("hb koch")).question is not None


async def test_a_word_for_his_is_no_slip_in_a_name() -> None:
    here, people = world("patient_4", active="patient_4")
    people.people = (*people.people, person(8, "Heinz", "Stein", "1950-01-01", sex="male"))
    await here.say("open patient_8")

    assert (await here.say("sein crp")).question is None


@with_cases("said")
async def test_the_other_one_of_several_is_asked_about(said: str) -> None:
    here, _ = world("patient_4", "patient_7", "patient_42", active="patient_4")

    asked = await here.say(said)

    assert asked.question is not None
    assert set(asked.question.payload["options"]) == {"patient_7", "patient_42"}


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
