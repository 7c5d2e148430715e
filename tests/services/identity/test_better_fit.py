"""Of several who bear a name the one means whom the words fit best; the open one only if so."""

from datetime import date

import pytest

from data_models.identifiers import PatientId
from services.identity.linking import Situation, SubjectLinker
from services.identity.names.person import Person, PersonName, PersonNumber, Sex
from services.identity.subject import Subject
from services.identity.wording import option_line
from tests.fakes import GivenPeople
from tests.tables import with_cases

TODAY = date(2026, 11, 26)


def person(number: int, given: str, family: str, born: str, sex: Sex) -> Person:
    name = PersonName(text=f"{given} {family}", family=family, given=tuple(given.split()))
    ids = (PersonNumber(system="", value=f"QX-0{number * 111}"),)
    return Person(PatientId(f"p-{number}"), f"p{number}", (name,), ids, birth_date=born, sex=sex)


PEOPLE = [
    person(1, "Inês", "da Costa", "1977-01-01", "female"),
    person(2, "Inês", "Costa", "1979-09-09", "female"),
    person(3, "Karl Otto", "Bremer", "1950-04-04", "male"),
    person(4, "Karl-Otto", "Brémer", "1951-04-04", "male"),
    person(5, "Sung-Ho", "Lee", "1980-02-02", "male"),
    person(6, "Lee", "Sung", "1981-03-03", "female"),
    person(7, "Boyd", "Marsh", "1965-09-09", "male"),
    person(8, "Nils", "Boyd", "1956-10-01", "male"),
    person(9, "Ida", "Rusk", "1955-01-02", "female"),
    person(10, "Ida", "Rusk", "1955-02-01", "female"),
    person(12, "Timo", "Falk", "2026-03-15", "male"),
    person(13, "Summer", "Day", "1992-06-21", "female"),
    person(14, "Constance", "Weir", "1948-06-21", "female"),
    person(15, "Thomas", "Reed", "1971-05-02", "male"),
    person(16, "Omar", "al-Rashid", "1964-01-12", "male"),
    person(17, "Hedda", "Lindqvist", "1939", "female"),
]


async def subject_of(
    text: str, *, active: int, roster: tuple[int, ...] = (), beside: tuple[str, ...] = ()
) -> Subject:
    linker = SubjectLinker(directory=GivenPeople(*PEOPLE), fits=lambda _: False, seconds=30)
    known = {PatientId(f"p-{one}"): None for one in (active, *roster)}
    situation = Situation(active=PatientId(f"p-{active}"), roster=known, today=TODAY, beside=beside)
    return (await linker.link(text, situation)).subject


def ids(subject: Subject) -> list[str]:
    return [str(one.patient_id) for one in subject.people]


@with_cases("active", "text", "meant")
async def test_who_bears_just_that_name_is_asked_about(active: int, text: str, meant: str) -> None:
    found = await subject_of(text, active=active)

    assert found.outcome == "unsure"
    assert ids(found) == [meant]


@with_cases("active", "text")
async def test_the_open_one_is_meant_by_their_own_name(active: int, text: str) -> None:
    assert (await subject_of(text, active=active)).outcome == "same"


async def test_an_age_tells_the_open_one_from_a_namesake_of_the_conversation() -> None:
    assert (await subject_of("boyd 61 potassium", active=7, roster=(8,))).outcome == "same"


@with_cases("text")
async def test_who_is_put_against_another_is_not_meant(text: str) -> None:
    found = await subject_of(text, active=9, roster=(8, 12))

    assert found.outcome == "other"
    assert ids(found) == ["p-8"]


async def test_the_open_one_is_meant_against_another() -> None:
    found = await subject_of("potassium of Ida Rusk, not of Timo Falk", active=9, roster=(12,))

    assert (found.outcome, found.reason) == ("same", "named")


@with_cases("text")
async def test_it_is_asked_where_a_name_may_not_be_meant(text: str) -> None:
    found = await subject_of(text, active=9, roster=(8, 10, 12))

    assert found.outcome in ("several", "unsure")


@pytest.mark.parametrize("text", ["Ida Rusk, DOB 02/01/1955, potassium", "born 02/01/1955: CRP"])
async def test_a_date_that_two_namesakes_may_be_born_on_is_asked(text: str) -> None:
    found = await subject_of(text, active=9)

    assert found.outcome == "unsure"
    assert ids(found) == ["p-10"]


async def test_a_birth_date_of_one_reading_tells_namesakes_apart() -> None:
    found = await subject_of("Ida Rusk, DOB 1955-01-02, potassium", active=9)

    assert found.outcome == "same"


@pytest.mark.parametrize("text", ["day Summer bloods?", "potassium on a summer day?"])
async def test_words_of_common_language_open_nobody(text: str) -> None:
    assert (await subject_of(text, active=9, roster=(13,))).outcome != "other"


@pytest.mark.parametrize(
    "text", ["the 8-month-old: sodium", "das 8 Monate alte Baby: Natrium", "the 36 year old's CRP"]
)
async def test_an_age_that_is_not_the_open_one_s_asks(text: str) -> None:
    found = await subject_of(text, active=9, roster=(12,))

    assert (found.outcome, found.reason) == ("unsure", "described")


@with_cases("text")
async def test_an_age_that_fits_or_is_a_thing_s_asks_nothing(text: str) -> None:
    assert (await subject_of(text, active=9, roster=(12,))).outcome == "same"


async def test_the_age_of_a_baby_is_told_in_months_and_of_a_newborn_in_days() -> None:
    assert "8 months" in option_line(PEOPLE[10], TODAY)
    assert ", 7 days," in option_line(PEOPLE[10], date(2026, 3, 22))
    assert "71 years" in option_line(PEOPLE[8], TODAY)


async def test_a_first_name_is_no_doctors_where_a_patient_bears_it() -> None:
    found = await subject_of("how's Timo doing?", active=9, beside=("Dr. Timo Keller",))

    assert (found.outcome, ids(found)) == ("unsure", ["p-12"])
