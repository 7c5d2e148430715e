"""What rules make of a message: of an answer what it answers, of anything else what it says."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_models.chat_context import AgentMessage, Turn
from data_models.memory_blocks import IntentClassification, MemoryBlocks
from services.memory_blocks.plain_reading import OTHER, IntentSpec, Understanding, understand
from tests.fakes import FixedClock
from tests.tables import with_cases

NOW = FixedClock().now()
INTENTS = (
    IntentSpec(
        name="GENERAL_HEALTH",
        description="A complaint.",
        agent="GeneralHealth",
        words=("headache", "fever", "pain"),
        phase="symptom_evaluation",
    ),
    IntentSpec(name="MENTAL_HEALTH", description="Mood.", agent="MentalHealth", words=("sad",)),
)


def turn(number: int, said: str, answer: str) -> Turn:
    at = NOW + timedelta(minutes=number)
    message = AgentMessage(
        message_id=f"m{number}", agent="GeneralHealth", text=answer, timestamp=at
    )
    return Turn(
        turn_id=number, run_id=f"run_{number}", timestamp=at, user="A", user_message=said,
        agent_responses=[message], turn_status="COMPLETED",
    )  # fmt: skip


def read(
    text: str,
    *earlier: tuple[str, str],
    memory: MemoryBlocks | None = None,
    intent: IntentClassification | None = None,
) -> Understanding:
    turns = [turn(number, *each) for number, each in enumerate(earlier, 1)]
    for one in turns[-1:]:
        one.intent_classification = intent
    return understand(text, earlier=turns, memory=memory or MemoryBlocks(), intents=INTENTS)


HEADACHE = ("I am having a headache", "How bad is it, 0-10?")


@with_cases("said", "number", "grade")
def test_a_number_after_a_scale_rates_what_is_spoken_of(said: str, number: int, grade: str) -> None:
    found = read(said, HEADACHE)
    assert found.enrichment.enriched_message == f"User rates the headache {number} of 10 ({grade})"
    assert found.enrichment.relevant_history == [1]
    assert (found.topic, found.interprets) == ("headache_severity", True)
    assert found.statements == (), "a complaint of the user's own states nothing of the patient"


def test_the_scale_may_be_asked_in_many_words() -> None:
    question = (
        "Can you tell me when they first started and how severe they are on a scale of 1 to 10?"
    )
    found = read("8", ("I am having a headache", question))
    assert found.enrichment.enriched_message == "User rates the headache 8 of 10 (severe)"


def test_the_turn_that_named_the_subject_is_relevant_too() -> None:
    found = read("8", ("My headache is back", "Since when?"), ("yesterday", "How bad is it, 0-10?"))
    assert found.enrichment.enriched_message == "User rates the headache 8 of 10 (severe)"
    assert found.enrichment.relevant_history == [1, 2]


@pytest.mark.parametrize("said", ["11", "80", "8 tablets", "8?"])
def test_another_number_is_no_rating(said: str) -> None:
    assert "rates" not in read(said, HEADACHE).enrichment.enriched_message


def test_a_number_that_answers_nothing_is_left_as_it_is() -> None:
    found = read("8", ("What did the CT show?", "A stable lesion."))
    assert (found.enrichment.enriched_message, found.interprets) == ("User says: 8", False)


@with_cases("question", "said", "enriched", "topic")
def test_a_short_answer_is_joined_with_its_question(
    question: str, said: str, enriched: str, topic: str
) -> None:
    found = read(said, ("I am having a headache", question))
    assert found.enrichment.enriched_message == enriched
    assert found.interprets
    if topic != "headache":
        assert found.topic == topic


def test_a_whole_sentence_after_a_question_stands_for_itself() -> None:
    found = read(
        "I am having a headache", ("switch to patient_4", "What would you like to review?")
    )
    assert found.enrichment.enriched_message == "User reports: I am having a headache"
    assert (found.topic, found.interprets) == ("headache_complaint", False)


def test_a_word_alone_changes_no_topic() -> None:
    memory = MemoryBlocks(active_topic="ct")
    assert read("yes", ("What did the CT show?", "It was stable."), memory=memory).topic == "ct"


def test_a_reference_takes_up_the_subject() -> None:
    found = read("and the one before that?", ("What did the last CT show?", "It was stable."))
    assert found.enrichment.enriched_message == (
        "User goes on about the ct: and the one before that?"
    )
    assert found.enrichment.relevant_history == [1]


@with_cases("said", "intent", "is_sure")
def test_rules_are_sure_of_an_intent_only_where_users_speak_of_themselves(
    said: str, intent: str, is_sure: bool
) -> None:
    found = read(said).intent
    assert (found.intent, found.confidence >= 0.7) == (intent, is_sure)


def test_an_answer_has_the_intent_of_what_was_asked() -> None:
    before = IntentClassification(intent="GENERAL_HEALTH", confidence=0.9)
    found = read("8", HEADACHE, intent=before).intent
    assert (found.intent, found.confidence) == ("GENERAL_HEALTH", 0.95)
    gone = IntentClassification(intent="GONE", confidence=0.9)
    assert read("8", HEADACHE, intent=gone).intent.intent == OTHER


def test_what_the_message_states_of_the_patient_is_read_with_it() -> None:
    assert [one.value for one in read("She is allergic to latex. Any imaging?").statements] == [
        "latex"
    ]


@pytest.mark.slow
@given(st.text(max_size=3_000), st.text(max_size=3_000), st.text(max_size=3_000))
def test_no_text_breaks_it_and_all_it_says_is_short(said: str, before: str, answer: str) -> None:
    found = read(said, (before, answer))
    assert len(found.enrichment.enriched_message) <= 500
    assert len(found.enrichment.previous_context) <= 500
    assert all(0 < one <= 1 for one in found.enrichment.relevant_history)


def test_words_that_say_nothing_are_no_topic() -> None:
    assert read("where are we?").topic == ""
