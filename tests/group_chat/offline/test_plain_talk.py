"""What is answered to people who greet, thank, mistype, paste, or want what nobody here can do."""

import pytest

from services.language.reading import read
from services.language.replies.judging import caution_for
from services.language.words.detection import is_unread
from services.language.words.phrases import says
from tests.group_chat.offline.conftest import SITUATION, conversation
from tests.tables import with_cases


async def answer_to(text: str) -> str:
    """Return all that is said to `text`, the agents' names included."""
    heard = await conversation().say(text)
    return "\n".join(f"[{agent}] {said}" for agent, said in heard.said)


@pytest.mark.slow
@with_cases("text", "words")
async def test_what_needs_no_record_is_answered_plainly_and_at_once(text: str, words: str) -> None:
    said = await answer_to(text)
    assert words in said
    assert said.count("[") - said.count("[Orchestrator]") == 0, "no other agent is troubled"


@pytest.mark.slow
async def test_a_pasted_letter_is_not_taken_for_a_wish() -> None:
    letter = "Dear colleague, thank you for your help with this. " * 40
    said = await answer_to(letter)
    assert "I cannot make sense of a long text" in said
    assert "ReportCreation" not in said


@pytest.mark.slow
async def test_who_is_not_asked_whose_a_long_request_is_learns_what_to_name() -> None:
    text = "What is the latest potassium? " * 80
    [(_, said)] = (await conversation(patient_id=None).say(text)).said
    assert "Name one to begin" in said


@pytest.mark.parametrize(
    "text",
    ["the word is that she feels well", "in other words, what is the stage?", "file a claim"],
)
def test_the_word_word_asks_for_no_document(text: str) -> None:
    assert read(text, SITUATION).agent != "ReportCreation"


@with_cases("text")
def test_who_wants_a_document_gets_one(text: str) -> None:
    assert says(text, "document_asked")


@pytest.mark.slow
@with_cases("text", "caution")
async def test_who_wants_a_judgement_is_told_that_rules_give_none(text: str, caution: str) -> None:
    said = await answer_to(text)
    assert caution in said.partition("The built-in rules ")[2].partition("\n")[0]


@with_cases("text")
def test_what_something_cost_is_told_not_to_be_read(text: str) -> None:
    assert caution_for(text) == "no_cost"


@with_cases("text", "agent")
@pytest.mark.slow
async def test_a_question_about_an_appointment_holds_nobody_back(text: str, agent: str) -> None:
    talk = conversation()
    await talk.say("book an appointment")
    first = await talk.say(text)
    assert first.speakers[-1] == agent
    assert "doctor" not in first.said[-1][1].casefold().splitlines()[0]


@pytest.mark.parametrize(
    "text",
    ["is it operable?", "What would you do?", "can she take ibuprofen", "did it get bigger? why"],
)
def test_a_judgement_is_told_from_a_fact(text: str) -> None:
    assert caution_for(text)


@pytest.mark.parametrize(
    "text",
    ["what is the stage?", "the last scan", "is she EGFR positive?", "since when does she smoke"],
)
def test_a_fact_is_no_judgement(text: str) -> None:
    assert not caution_for(text)


@with_cases("text")
def test_english_with_foreign_names_is_english(text: str) -> None:
    assert not is_unread(text)
