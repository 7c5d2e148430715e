"""People's names that no directory has: whoever they are, the open chart is not theirs."""

import pytest

from data_models.identifiers import PatientId
from services.identity.linking import Situation
from services.language.people.named_person import is_known_name, is_ordinary_name
from tests.services.identity.test_linking import linker
from tests.tables import with_cases

OPEN = PatientId("patient_7")


async def outcome_of(text: str) -> str:
    found = await linker().link(text, Situation(active=OPEN, roster={OPEN: None}))
    return f"{found.subject.outcome} {found.subject.reason}"


@with_cases("text")
@pytest.mark.slow
async def test_the_open_chart_does_not_answer_for_a_name_that_nobody_has(text: str) -> None:
    assert await outcome_of(text) == "unsure stranger"


async def test_a_phrase_that_names_nobody_opens_no_chart() -> None:
    found = await linker().link("Streich das", Situation(active=OPEN, roster={OPEN: None}))
    assert not found.is_plain


@with_cases("text")
@pytest.mark.slow
async def test_a_name_of_somebody_else_or_a_word_asks_nothing(text: str) -> None:
    assert await outcome_of(text) == "same nobody_else"


@with_cases("text", "outcome")
async def test_a_pronoun_before_anybodys_name_is_the_patients(text: str, outcome: str) -> None:
    assert await outcome_of(text) == outcome


async def test_a_short_form_of_the_open_patients_first_name_is_theirs() -> None:
    margaret = PatientId("patient_4")
    for said in ("peggy - meds?", "is maggie on apixaban?"):
        found = await linker().link(said, Situation(active=margaret, roster={margaret: None}))
        assert found.subject.outcome == "same"
    assert await outcome_of("peggy - meds?") == "unsure stranger"


@pytest.mark.parametrize("name", ["lopez", "nakamura", "okonkwo", "petrov", "nguyen", "yilmaz"])
def test_names_of_many_countries_are_known(name: str) -> None:
    assert is_known_name(name)
    assert not is_ordinary_name(name)


def test_a_word_is_no_name_and_a_name_may_be_a_word() -> None:
    assert not is_known_name("potassium")
    assert is_known_name("bridge")
    assert is_ordinary_name("bridge")


async def test_a_compound_before_a_family_name_is_no_first_name() -> None:
    said = "Trag am Montag um 14 Uhr Angehörigengespräch Adeyemi ein"
    assert await outcome_of(said) == "same named"
    assert await outcome_of("Zelda Adeyemi: Kalium?") == "unsure stranger"
