"""What rows say in the language of the tools, told in that of the question."""

from services.language.charts.answer_words import answer_words
from tests.tables import with_cases


@with_cases("recorded", "told")
def test_what_tools_say_is_german_and_the_record_as_it_is(recorded: str, told: str) -> None:
    assert answer_words("de").in_words(recorded) == told
    assert answer_words("en").in_words(recorded) == recorded
