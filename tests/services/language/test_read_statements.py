"""What a model takes for a statement is a sentence of the user about the patient, or nothing."""

import pytest

from services.language.read_statements import statements_read


@pytest.mark.parametrize(
    ("quote", "message"),
    [
        ("He refuses blood transfusions.", "He refuses blood transfusions. What is the stage?"),
        ("she cannot swallow tablets", "Hello. she cannot  swallow tablets"),
        ("The patient uses a hearing aid", "The patient uses a hearing aid."),
        ("Sie verträgt kein Aspirin", "Sie verträgt kein Aspirin."),
    ],
)
def test_a_sentence_of_the_user_is_held_word_for_word(quote: str, message: str) -> None:
    found = statements_read([quote], message)
    assert [one.value.casefold() for one in found] == [quote.rstrip(".").casefold()]
    assert all(" ".join(one.quote.split()) in " ".join(message.split()) for one in found)
    assert {one.read_by for one in found} == {"model"}


@pytest.mark.parametrize(
    ("quote", "message"),
    [
        ("She is allergic to sulfa", "What is the stage?"),
        ("She refuses surgery", "She refuses surgery and wants chemotherapy"),
        ("Does she refuse surgery?", "Does she refuse surgery?"),
        ("She may refuse surgery", "She may refuse surgery"),
        ("Her mother refuses surgery", "Her mother refuses surgery"),
        ("I cannot swallow tablets", "I cannot swallow tablets"),
        ("The letter says she refuses surgery", "The letter says she refuses surgery"),
        ("We will operate on her tomorrow", "We will operate on her tomorrow"),
        ("It is raining today", "It is raining today"),
        ("you are the patient's doctor", "you are the patient's doctor"),
        ("she refuses", "If she refuses, call me"),
        ("Elle refuse les transfusions", "Elle refuse les transfusions"),
        ("Vielleicht will sie keine Operation", "Vielleicht will sie keine Operation"),
    ],
)
def test_what_is_no_plain_sentence_about_the_patient_is_dropped(quote: str, message: str) -> None:
    assert statements_read([quote], message) == ()


def test_three_at_most_and_each_once() -> None:
    message = "She is deaf. She is blind. She lives alone. She is tall."
    quotes = ["She is deaf", "She is deaf.", "She is blind", "She lives alone", "She is tall"]
    assert [one.value for one in statements_read(quotes, message)] == [
        "She is deaf",
        "She is blind",
    ]
