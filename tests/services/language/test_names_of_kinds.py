"""Names that were left out, said once for several, or taken for another: each by wordings."""

import pytest

from tests.services.language.test_kinds_of_questions import asked, named
from tests.tables import with_cases


@pytest.mark.parametrize(
    "text", ["vaccinated against hep A and B?", "gegen Hepatitis A und B geimpft?"]
)
def test_a_name_said_once_for_several_names_each(text: str) -> None:
    first, second = named(text)
    assert first[0] == second[0] == "immunizations"
    assert (first[1].split()[:2], second[1].split()[:2]) == (["hepatitis", "a"], ["hepatitis", "b"])


@pytest.mark.parametrize("text", ["cardiovascular risk factors?", "kardiovaskuläre Risikofaktoren"])
def test_risk_factors_are_values_and_illnesses(text: str) -> None:
    assert {tool for tool, _ in named(text)} == {"results", "problems"}


@pytest.mark.slow
@with_cases("text", "tools")
def test_what_is_asked_for_goes_to_its_list(text: str, tools: set[str]) -> None:
    assert {tool for tool, _ in named(text)} == tools


def test_an_event_is_read_over_the_verb_within_it() -> None:
    (pressure,) = asked("bp when the ankle was sprained")
    assert [one.name for one in pressure.around] == ["ankle sprain"]


def test_a_word_that_begins_with_an_abbreviation_is_another() -> None:
    assert ("results", "troponin") not in named("Gibt es Hinweise auf eine Tropenkrankheit?")


def test_whether_i_may_give_a_drug_is_no_order() -> None:
    assert [tool for tool, _ in named("can I give her co-trimoxazole")] == ["allergies"]


@with_cases("text", "name")
def test_a_german_name_of_an_illness_is_read_in_every_form(text: str, name: str) -> None:
    assert named(text) == [("problems", name)]


@with_cases("text")
def test_protection_against_tetanus_is_its_vaccination(text: str) -> None:
    assert named(text) == [("immunizations", "tetanus")]
