"""Whoever is pointed to by an earlier place in the talk is asked about, and no words are lost."""

from typing import Literal

import pytest

from data_models.identifiers import PatientId
from services.identity.linking import SubjectLinker
from services.identity.names.person import Person, PersonName
from tests.fakes import GivenPeople
from tests.services.patient_context.world import PATTERN
from tests.services.turn.talk_lines import Line, notices, play
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


@with_cases("talk")
@pytest.mark.slow
async def test_whoever_is_pointed_to_is_asked_about(talk: tuple[Line, ...]) -> None:
    await play(ward(), talk)


@pytest.mark.slow
@with_cases("pointed")
async def test_the_patient_before_is_asked_about_and_nothing_is_read_for_it(pointed: str) -> None:
    before = (Line(say="open Jane Smith"), Line(say="open Anna Müller"))
    await play(ward(), (*before, Line(say=pointed, told=("Jane Smith", "?"), asked=[])))


async def test_a_name_of_several_who_are_offered_asks_of_those_alone() -> None:
    world = ward()
    asked = (await world.tell("Anna Müller, John Smith and Jane Smith please")).texts[-1]
    assert "3. " in asked
    again = (await world.tell("Smith")).texts[-1]
    assert "John" in again
    assert "2. " in again
    assert "3. " not in again
    assert "Müller" not in again
    assert "Jane" in (await world.tell("2")).texts[-1]


async def test_who_is_of_another_age_is_refused_with_the_reason() -> None:
    world = ward()
    await world.tell("open Anna Müller")
    await world.tell("the 101yo: potassium?")
    told = notices(await world.tell("John Smith"))

    assert "“the 101yo: potassium?” was not answered: its age, birth date or pronoun" in told
    assert "is not that of John Smith" in told

    await world.tell("smith 101 yo hb")
    assert "“smith 101 yo hb” was not answered: its age" in notices(await world.tell("1"))


async def test_going_on_is_no_answer_and_the_question_before_is_of_nobody_open() -> None:
    world = ward()
    await world.tell("open Anna Müller")
    await world.tell("is there a fever?")
    for said in ("same for smith", "go on", "weiter", "continue"):
        asked = (await world.tell(said)).texts[-1]
        assert "2. " in asked
        assert "Müller" not in asked
    await world.tell("1")
    assert world.team.requests[-1].text == "is there a fever?"
