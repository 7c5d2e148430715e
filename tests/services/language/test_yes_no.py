import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.language.replies.yes_no import (
    is_consent,
    names_a_deed,
    says_no,
    says_yes,
    truth_in,
    yes_no_in,
)
from tests.tables import with_cases

YES = """
yes|Yes.|yep|yup|yeah|y|sure|of course|correct|alright|all right|ok|Okay!|do it|go ahead|
Yes, go ahead with the plan|looks good|LGTM|sounds good to me|yes please proceed|
ok, thanks|why not?|please do|yes \U0001f44d|\U0001f44d|\U0001f44d\U0001f3fd|fine by me|
let\u2019s do it|ok do it then|proceed|continue please|ja|ja bitte|na klar|einverstanden|
passt so|mach das|oui|d\u2019accord|bien s\u00fbr|s\u00ed|claro que s\u00ed|vale|
de acuerdo|yes, run the plan please|please carry it out|ja, führ den Plan aus|
Führen Sie ihn aus|bitte ausführen|starte den Plan|so machen wir das
"""
NO = """
none of these|Keiner davon.|
no|No.|nope|nah|not yet|no wait|no thanks|never mind|cancel|no, cancel|Don\u2019t!|stop|
ok, stop|cancel the plan|abort|hold on|not now|\U0001f44e|nein|nein danke|noch nicht|
lieber nicht|Abbrechen|non|non merci|pas encore|no gracias|todav\u00eda no|
doch nicht|nein, lieber doch nicht|bitte nicht ausführen|I changed my mind|do not run the plan
"""
NEITHER = """
please|ok?|yes?|ok?no|yes and no|yes to radiology|no new lesions|not allergic|
what is the stage?|cancel my appointment|yes, what is her potassium?|add pathology first|
stage|maybe|the plan|show me the ok reports|führ die Biopsie aus|starte Ramipril|run a CT|
start her on metformin|and k|und k|no and k
"""


def cases(text: str) -> list[str]:
    return [each.strip() for each in text.split("|")]


@pytest.mark.parametrize("text", cases(YES))
def test_people_say_yes_in_many_ways(text: str) -> None:
    assert yes_no_in(text) == "yes"
    assert not says_no(text)


@pytest.mark.parametrize("text", cases(NO))
def test_people_say_no_in_many_ways(text: str) -> None:
    assert yes_no_in(text) == "no"
    assert says_no(text)
    assert not says_yes(text)


@pytest.mark.parametrize("text", [*cases(NEITHER), "", "k+", "yes " * 40])
def test_what_says_more_or_neither_answers_nothing(text: str) -> None:
    assert yes_no_in(text) is None


@with_cases("text")
def test_a_yes_with_a_change_is_neither_yes_nor_no(text: str) -> None:
    assert yes_no_in(text) == "yes_with_changes"
    assert not says_yes(text)


@pytest.mark.parametrize("text", ["proceed", "continue", "sounds good", "looks good", "next"])
def test_going_on_is_no_yes_to_what_cannot_be_undone(text: str) -> None:
    assert yes_no_in(text) == "yes"
    assert not says_yes(text)


def test_a_question_may_have_a_yes_of_its_own() -> None:
    assert says_yes("clear it", also={"clear it"})
    assert not says_yes("clear it")


@with_cases("text", "truth")
def test_a_reply_about_a_person_is_true_false_or_open(text: str, truth: bool | None) -> None:
    assert truth_in(text) is truth


@pytest.mark.slow
@given(st.text(max_size=100))
def test_any_text_is_read(text: str) -> None:
    assert yes_no_in(text) in ("yes", "no", "yes_with_changes", None)
    assert is_consent(text) in (True, False)


def test_cancel_it_answers_a_question_and_is_an_order_where_there_is_none() -> None:
    assert says_no("cancel it")
    assert names_a_deed("please cancel it")
    assert not any(names_a_deed(text) for text in ("yes", "no", "go ahead", "never mind"))
