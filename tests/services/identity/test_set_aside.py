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
@with_cases("texts", "wanted")
async def test_whom_each_of_these_is_about(texts: list[str], wanted: dict[str, object]) -> None:
    """What `wanted` names is so of each text; `reason_is_not` is not."""
    for text in texts:
        found = await subject_of(text)
        people = [str(one.patient_id) for one in found.people]
        of_it = {"outcome": found.outcome, "reason": found.reason, "people": people}
        so = {name: value for name, value in wanted.items() if name != "reason_is_not"}
        assert of_it == of_it | so, text
        assert wanted.get("reason_is_not") != found.reason, text


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


@with_cases("text")
async def test_a_relative_who_is_called_by_name_opens_no_chart(text: str) -> None:
    assert (await subject_of(text)).outcome == "several"


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
