"""What a model takes for a statement is a sentence of the user about the patient, or nothing."""

from services.language.told.read_statements import statements_read
from tests.tables import with_cases


@with_cases("quote", "message")
def test_a_sentence_of_the_user_is_held_word_for_word(quote: str, message: str) -> None:
    found = statements_read([quote], message)
    assert [one.value.casefold() for one in found] == [quote.rstrip(".").casefold()]
    assert all(" ".join(one.quote.split()) in " ".join(message.split()) for one in found)
    assert {one.read_by for one in found} == {"model"}


@with_cases("quote", "message")
def test_what_is_no_plain_sentence_about_the_patient_is_dropped(quote: str, message: str) -> None:
    assert statements_read([quote], message) == ()


def test_three_at_most_and_each_once() -> None:
    message = "She is deaf. She is blind. She lives alone. She is tall."
    quotes = ["She is deaf", "She is deaf.", "She is blind", "She lives alone", "She is tall"]
    assert [one.value for one in statements_read(quotes, message)] == [
        "She is deaf",
        "She is blind",
    ]
