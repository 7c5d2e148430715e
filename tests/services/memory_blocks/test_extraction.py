"""What is believed of a model's reading: what can be true, within its limits."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_models.chat_context import ChatContext
from data_models.memory_blocks import MemoryBlocks
from services.memory_blocks.extraction import ContextExtraction, instructions, question, understood
from services.memory_blocks.plain_reading import OTHER, understand
from services.memory_blocks.understanding import Intent, Understanding

INTENTS = (Intent(name="GENERAL_HEALTH", description="A complaint.", agent="GeneralHealth"),)
TEXT = "Please book Dr. Lee for tomorrow"
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=900),
    lambda inner: st.lists(inner, max_size=12),
    max_leaves=15,
)


def believed(turn_id: int = 5, **found: Any) -> Understanding:
    plain = understand(TEXT, earlier=(), memory=MemoryBlocks(), intents=INTENTS)
    answer = ContextExtraction.model_validate(found)
    return understood(answer, plain, turn_id=turn_id, text=TEXT, intents=INTENTS)


def test_references_to_turns_that_cannot_be_are_dropped() -> None:
    found = believed(relevant_turn_ids=[4, "turn_2", 5, 6, -1, 0, "x", 10**12])
    assert found.enrichment.relevant_history == [2, 4]


def test_an_intent_that_is_not_listed_is_not_believed() -> None:
    assert believed(intent="ROOT", confidence=1).intent.intent == OTHER
    assert believed(intent="ROOT", confidence=1).intent.confidence == 0.5
    assert believed(intent="GENERAL_HEALTH", confidence=7).intent.confidence == 1.0


@pytest.mark.parametrize(("digits", "believed_share"), [("1", 1.0), ("-1", 0.0)])
def test_a_confidence_that_no_float_holds_breaks_nothing(
    digits: str, believed_share: float
) -> None:
    answer = ContextExtraction.model_validate_json(f'{{"confidence": {digits}{"0" * 400}}}')
    assert answer.confidence == believed_share


def test_a_wish_that_the_user_did_not_say_is_not_believed() -> None:
    wishes = [
        {"key": "doctor_preference", "value": "dr. lee"},
        {"key": "date_preference", "value": "tomorrow"},
        {"key": "time_preference", "value": "15:00"},
        {"key": "date_preference_x", "value": "tomorrow"},
        {"key": "doctor_uuid", "value": "Lee"},
    ]
    assert believed(entities=wishes).entities == {
        "doctor_preference": "dr. lee",
        "date_preference": "tomorrow",
    }


def test_what_the_model_leaves_out_the_rules_say() -> None:
    found = believed()
    assert found.enrichment.enriched_message == f"User says: {TEXT}"
    assert found.enrichment.source == "model"


@given(st.fixed_dictionaries({}, optional=dict.fromkeys(ContextExtraction.model_fields, ANYTHING)))
def test_an_answer_of_any_shape_is_cut_to_one_that_fits(answer: dict[str, Any]) -> None:
    answer.pop("entities", None)  # rows of it have a shape of their own
    found = believed(**answer)
    assert len(found.enrichment.enriched_message) <= 300
    assert 0 <= found.intent.confidence <= 1
    assert all(0 < one < 5 for one in found.enrichment.relevant_history)


def test_every_text_and_list_of_the_schema_has_a_limit() -> None:
    schema = ContextExtraction.model_json_schema()
    rows = [*schema["properties"].values(), *schema["$defs"]["Wish"]["properties"].values()]
    assert [row for row in rows if row["type"] == "string" and "maxLength" not in row] == []
    assert [row for row in rows if row["type"] == "array" and "maxItems" not in row] == []


def test_the_model_is_told_the_intents_and_shown_the_message_once() -> None:
    assert "- GENERAL_HEALTH: A complaint." in instructions(INTENTS)
    shown = question(ChatContext(conversation_id="c"), TEXT)
    assert shown.count(TEXT) == 1
