"""What rows say in the language of the tools, told in that of the question."""

from services.language.charts.answer_words import answer_words
from tests.services.records.test_said_otherwise import row, said
from tests.tables import with_cases


@with_cases("recorded", "told")
def test_what_tools_say_is_german_and_the_record_as_it_is(recorded: str, told: str) -> None:
    assert answer_words("de").in_words(recorded) == told
    assert answer_words("en").in_words(recorded) == recorded


def test_what_is_absent_is_named_with_its_kind_and_the_quotes_of_the_language() -> None:
    told = said("nimmt er Warfarin?", {})
    assert told.startswith("Medikament „warfarin“: steht nicht in der Akte.")


def test_a_german_answer_says_of_a_drug_in_german_what_the_tools_say() -> None:
    drug = row("medication", "Ibuprofen", value="as needed", status="stopped", detail="prescribed")
    told = said("nimmt er noch Ibuprofen?", {"medications": (drug,)})
    assert "bei Bedarf, abgesetzt, 2020-01-01; verordnet" in told
