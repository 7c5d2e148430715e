"""Names that a message sets aside open no chart, and numbers and initials tell namesakes apart."""

import pytest

from data_models.identifiers import PatientId
from services.identity.directory import NoDirectory, Sought
from services.identity.linking import Linked, Situation, SubjectLinker
from services.identity.names.index import PersonIndex
from services.identity.names.matching import Mention
from services.identity.names.person import Person, PersonName, PersonNumber, Sex
from services.identity.said import Said, without_set_against
from services.identity.subject import Subject
from services.language.people.mentions import read_words
from tests.tables import with_cases
from tests.work import counted_calls

ANNA, MARIA, JOHN = PatientId("p-1"), PatientId("p-2"), PatientId("p-3")


def person(one: PatientId, given: str, family: str, born: str, sex: Sex) -> Person:
    name = PersonName(text=f"{given} {family}", family=family, given=tuple(given.split()))
    number = PersonNumber(system="", value=f"T{one[-1] * 4}")
    return Person(one, f"Patient/{one}", (name,), (number,), birth_date=born, sex=sex)


PEOPLE = PersonIndex(
    people=[
        person(ANNA, "Anna", "Tolva", "1951-04-02", "female"),
        person(MARIA, "Anna Maria", "Tolva", "1990-12-30", "female"),
        person(JOHN, "Elvio", "Brandt", "1956-08-03", "male"),
    ]
)


class Register(NoDirectory):
    """A directory that holds three people."""

    async def people_for(self, sought: Sought) -> PersonIndex:
        return PEOPLE


async def linked(text: str) -> Linked:
    linker = SubjectLinker(directory=Register(), fits=lambda _: False, seconds=30)
    roster = dict.fromkeys((ANNA, MARIA, JOHN))
    return await linker.link(text, Situation(active=ANNA, roster=roster))


async def subject_of(text: str) -> Subject:
    return (await linked(text)).subject


@pytest.mark.slow
@with_cases("text")
async def test_a_name_that_is_set_aside_opens_no_chart(text: str) -> None:
    assert (await subject_of(text)).outcome in ("several", "unsure")


@pytest.mark.slow
@with_cases("text")
async def test_a_name_that_is_asked_about_still_opens_its_chart(text: str) -> None:
    found = await subject_of(text)

    assert found.outcome == "other"
    assert [one.patient_id for one in found.people] == [JOHN]


@with_cases("text")
async def test_a_first_name_that_somebody_turns_to_is_asked_about(text: str) -> None:
    found = await subject_of(text)

    assert found.outcome != "same"
    assert JOHN in [one.patient_id for one in found.people]


async def test_an_initial_tells_namesakes_apart() -> None:
    found = await subject_of("Anna M. Tolva potassium")

    assert [one.patient_id for one in found.people] == [MARIA]


@pytest.mark.parametrize("text", ["T9999: potassium", "patient T9999", "T-9999", "MRN 471"])
async def test_a_number_of_the_hospital_that_nobody_has_is_asked(text: str) -> None:
    assert (await subject_of(text)).reason == "nobody"


@pytest.mark.parametrize("text", ["T3333 potassium", "T-3333 potassium", "T 3333 potassium"])
async def test_a_number_is_found_however_it_is_parted(text: str) -> None:
    assert [one.patient_id for one in (await subject_of(text)).people] == [JOHN]


@pytest.mark.parametrize("text", ["Anna Tolva, 2 April 1952: sodium", "Tolva, Anna (04.02.1951)"])
async def test_a_birth_date_with_a_slip_beside_the_name_is_asked(text: str) -> None:
    assert (await subject_of(text)).outcome == "unsure"


@pytest.mark.parametrize("text", ["Frau Tolva Kalium", "Mrs Tolva Potassium"])
async def test_what_is_measured_behind_a_name_is_nobody(text: str) -> None:
    assert (await subject_of(text)).reason != "stranger"


@pytest.mark.parametrize(
    "text", ["ct done, no mets, vessels clear", "eyes clear", "and smith thurs 10.15"]
)
async def test_what_a_body_has_in_the_plural_is_nobody(text: str) -> None:
    assert (await subject_of(text)).reason != "stranger"


@pytest.mark.slow
@pytest.mark.parametrize(
    "text", ["last Kolo", "show the last Abdo please", "letztes Kappa?", "New York Heart class?"]
)
async def test_what_stands_behind_last_is_a_thing(text: str) -> None:
    assert (await subject_of(text)).outcome == "same"


@pytest.mark.parametrize("text", ["Kowalski last potassium", "the last Kowalski's potassium"])
async def test_a_stranger_beside_last_is_asked_about(text: str) -> None:
    assert (await subject_of(text)).reason == "stranger"


@pytest.mark.parametrize("text", ["Und bei ihm?", "Sein Kalium?"])
async def test_a_german_pronoun_of_the_other_sex_asks(text: str) -> None:
    assert (await subject_of(text)).reason == "pronoun"


async def test_a_namesake_born_in_the_year_that_is_said_is_offered() -> None:
    found = await subject_of("Anna Tolva born 1990: potassium")

    assert [one.patient_id for one in found.people] == [MARIA]


async def test_another_day_beside_the_name_asks_for_values() -> None:
    assert (await subject_of("Anna Tolva, 12 May 2024: sodium")).outcome == "same"


@pytest.mark.parametrize("text", ["the gentleman's blood pressure", "what about the boy?"])
async def test_who_is_called_a_man_is_no_woman(text: str) -> None:
    found = await subject_of(text)

    assert (found.outcome, found.reason) == ("unsure", "pronoun")


@pytest.mark.parametrize("text", ["is the lady awake?", "the man called about her dose"])
async def test_who_may_be_the_open_patient_is_not_asked_for(text: str) -> None:
    assert (await subject_of(text)).outcome == "same"


@with_cases("text")
async def test_a_relative_who_is_called_by_name_opens_no_chart(text: str) -> None:
    assert (await subject_of(text)).outcome == "several"


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "The doctor says he is on warfarin",
        "Dr. Weber says he is on warfarin",
        "the nurse reports he had a fall",
        "Der Arzt sagt, er nimmt Marcumar",
    ],
)
async def test_what_staff_say_of_him_is_asked_about_where_she_is_open(text: str) -> None:
    subject = await subject_of(text)
    assert (subject.outcome, subject.reason) == ("unsure", "pronoun")


@pytest.mark.parametrize(
    "text",
    ["The doctor says he will come at noon", "the surgeon wants his coffee", "both kidneys ok?"],
)
async def test_what_staff_do_themselves_is_about_the_open_patient(text: str) -> None:
    assert (await subject_of(text)).outcome == "same"


@pytest.mark.parametrize(
    "text", ["both: potassium", "potassium of both patients", "Kalium bei beiden"]
)
async def test_both_is_not_answered_for_the_open_patient_alone(text: str) -> None:
    assert (await subject_of(text)).reason == "described"


@with_cases("text", "is_plain")
async def test_a_word_that_leads_to_a_name_asks_behind_it(text: str, is_plain: bool) -> None:
    assert (await linked(text)).is_plain is is_plain


@pytest.mark.slow
def test_four_times_as_many_names_are_set_against_one_another_in_four_times_the_work() -> None:
    def calls(number: int) -> int:
        message = read_words("not grant but doyle " * number)
        names = [one for one in message.words if one.text in ("grant", "doyle")]
        said = Said(message, [Mention(one.text, (), "stranger", span=(one,)) for one in names])
        with counted_calls() as made:
            without_set_against(said)
        return made.count

    calls(2)
    assert calls(200) < 6 * calls(50)
