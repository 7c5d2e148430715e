"""Whoever is pointed to by an earlier place in the talk is asked about, and no words are lost."""

from typing import Literal

from data_models.identifiers import PatientId
from services.identity.linking import SubjectLinker
from services.identity.person import Person, PersonName
from tests.fakes import GivenPeople
from tests.services.patient_context.world import PATTERN
from tests.services.world import World
from tests.tables import with_cases


def person(place: int, given: str, family: str, sex: Literal["male", "female"]) -> Person:
    name = PersonName(family, (given,), "")
    born = f"19{40 + place}-01-02"
    return Person(PatientId(f"patient_{place}"), given, (name,), birth_date=born, sex=sex)


JOHN, JANE = person(1, "John", "Smith", "male"), person(2, "Jane", "Smith", "female")
ANNA, SEAN = person(3, "Anna", "Müller", "female"), person(4, "Sean", "Weiß", "male")


def ward() -> World:
    people = GivenPeople(JOHN, JANE, ANNA, SEAN)
    return World(linker=SubjectLinker(directory=people, fits=PATTERN.matches))


async def last_of(world: World, *texts: str) -> str:
    """Say `texts`, and return what is answered to the last."""
    answer = ""
    for text in texts:
        answer = "\n".join((await world.say(text)).texts)
    return answer


async def test_the_nurses_question_about_his_value_is_not_answered_from_a_womans_chart() -> None:
    world = ward()
    said = await last_of(world, "open Anna Müller", "The nurse asks about his potassium")
    assert "does not fit the sex recorded" in said
    assert world.team.requests == []


@with_cases("pointed")
async def test_the_patient_before_is_asked_about_and_nothing_is_read_for_it(pointed: str) -> None:
    world = ward()
    said = await last_of(world, "open Jane Smith", "open Anna Müller", pointed)
    assert "Jane Smith" in said
    assert "?" in said
    assert world.team.requests == []


async def test_the_other_of_a_name_is_not_the_one_who_was_meant_by_it() -> None:
    world = ward()
    said = await last_of(world, "open Anna Müller", "Smith", "1", "sorry, the other Smith")
    assert "**Jane Smith**" in said
    assert world.team.requests == []


async def test_a_family_name_alone_that_is_a_word_as_well_is_asked_about() -> None:
    said = await last_of(ward(), "open Anna Müller", "Weiss")
    assert "**Sean Weiß**" in said


async def test_a_pronoun_that_does_not_fit_the_open_one_is_of_who_was_asked_about() -> None:
    world = ward()
    await last_of(world, "open Sean Weiß", "next is Jane", "is she on warfarin?")
    await world.scheduler.idle()
    assert [(one.patient_id, one.text) for one in world.team.requests] == [
        ("patient_2", "is she on warfarin?")
    ]


async def test_a_question_about_him_is_not_answered_for_a_woman_who_is_named_next() -> None:
    world = ward()
    texts = ("open John Smith", "open Jane Smith", "is he on metformin?", "Anna Müller")
    said = await last_of(world, *texts)
    await world.scheduler.idle()
    assert "“is he on metformin?” was not answered" in said
    assert world.team.requests == []


async def test_what_was_said_while_it_was_open_whose_it_is_is_said_to_be_unanswered() -> None:
    texts = ("open Jane Smith", "Weiss", "the K was 6.1", "Anna Müller please")
    said = await last_of(ward(), *texts)
    assert "“the K was 6.1” was not answered" in said


async def test_a_wish_does_not_take_the_place_of_what_was_stated_for_the_same_answer() -> None:
    world = ward()
    texts = ("open John Smith", "open Jane Smith", "wrong patient", "the K was 6.1")
    await last_of(world, *texts, "show the CT of today", "yes")
    await world.scheduler.idle()
    assert [one.text for one in world.team.requests] == ["the K was 6.1", "show the CT of today"]


async def test_two_who_are_named_are_compared_though_a_third_chart_is_open() -> None:
    said = await last_of(ward(), "open Anna Müller", "compare John Smith and Jane Smith")
    assert said.startswith("Lay these two charts side by side?")
    assert "Anna" not in said


async def test_what_was_taken_back_is_told_once() -> None:
    world = ward()
    texts = ("open Jane Smith", "open Anna Müller", "remember that she lives alone")
    told = await last_of(world, *texts, "wrong patient")
    assert "no longer held" in told
    assert "no longer held" not in await last_of(world, "any allergies?")


async def test_who_is_called_anothers_sister_is_not_left_for_that_one() -> None:
    world = ward()
    said = await last_of(world, "open Anna Müller", "the patient is Jane Smith's sister")
    assert said.startswith("Your message may be about more than one patient.")
    assert world.team.requests == []


async def test_what_only_told_one_of_a_name_from_the_other_is_no_wish_of_its_own() -> None:
    world = ward()
    texts = ("open John Smith", "sorry, I meant the other Smith", "1")
    assert "Opened the chart of Jane Smith" in await last_of(world, *texts)
    assert world.team.requests == []


async def test_what_names_two_is_not_held_of_a_third_who_is_opened_next() -> None:
    world = ward()
    texts = ("open Anna Müller", 'remember: "Jane Smith is allergic to latex"', "John Smith")
    said = await last_of(world, *texts)
    assert "was not answered" in said
    assert "latex" not in await last_of(world, "what did I tell you about him?")
