"""How a reply of a model is read."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_models.errors import EntityDeltaError
from services.entities.delta import EntityDelta, parse_entity_delta
from tests.tables import with_cases

BODY = {
    "entities_to_update": {"time_preference": "3pm"},
    "derived_entities_to_update": {"available_slots": ["3pm", "4pm"]},
    "entities_to_remove": ["doctor_preference"],
}
DELTA = EntityDelta.model_validate(BODY)


@pytest.mark.parametrize(
    "payload",
    [
        pytest.param(BODY, id="an object"),
        pytest.param({"response": BODY}, id="an object under response"),
        pytest.param(json.dumps(BODY), id="text"),
        pytest.param(json.dumps({"response": BODY}, indent=2), id="text under response"),
        pytest.param(f"\ufeff  {json.dumps(BODY)}\n", id="text with a byte order mark"),
        pytest.param(f"```json\n{json.dumps(BODY)}\n```", id="a fence"),
        pytest.param(f"```\n{json.dumps(BODY)}```", id="a fence without a language"),
        pytest.param(
            f"Here it is:\n```json\n{json.dumps(BODY)}\n```\nDone.", id="a fence in prose"
        ),
        pytest.param({**BODY, "response": "Done.", "thinking": "…"}, id="beside other fields"),
    ],
)
def test_every_wrapping_gives_the_same_delta(payload: Any) -> None:
    assert parse_entity_delta(payload) == DELTA


@pytest.mark.parametrize("payload", [{}, "{}", {"response": "Hello"}, {"response": {"text": "x"}}])
def test_a_reply_that_speaks_of_no_entities_is_an_empty_delta(payload: Any) -> None:
    assert parse_entity_delta(payload) == EntityDelta()


def test_null_in_place_of_a_part_is_nothing() -> None:
    payload = {"entities_to_update": None, "entities_to_remove": None, "entities": {"a": 1}}
    assert parse_entity_delta(payload) == EntityDelta()


@pytest.mark.parametrize(
    ("payload", "place"),
    [
        ('{"entities_to_update": }', "line 1 column 24 (position 23)"),
        ('{\n "entities_to_update": {"a": 1,}\n}', "line 2 column"),
        ("```json\n{oops}\n```", "line 2 column 2 (position 9)"),
        ("", "line 1 column 1 (position 0)"),
        ("I would love to help.", "line 1 column 1"),
        ("[1]", "expected a JSON object"),
        ('{"entities_to_update": {"a": NaN}}', "finite"),
        ("[" * 100_000, "nested too deeply"),
        ({"entities_to_update": [1]}, "entities_to_update: Input should be a valid dictionary"),
        (
            {"response": {"entities_to_update": 3}},
            "response.entities_to_update: Input should be a valid dictionary",
        ),
        ({"entities_to_remove": "a"}, "entities_to_remove: Input should be a valid list"),
        ({"entities_to_remove": ["a", 2]}, "entities_to_remove.1: Input should be a valid string"),
        ({"entities": ["a"]}, "entities: expected an object"),
        ({"handover": ["a"]}, "handover: expected the name"),
        ("x" * 300_000, "too long"),
    ],
)
def test_malformed_input_is_an_error_with_its_position(payload: Any, place: str) -> None:
    with pytest.raises(EntityDeltaError, match=r".*") as caught:
        parse_entity_delta(payload)
    assert place in str(caught.value)


def test_two_fences_are_no_answer() -> None:
    with pytest.raises(EntityDeltaError):
        parse_entity_delta("```\n{}\n```\nor\n```\n{}\n```")


@with_cases("payload")
def test_a_hand_over_names_keys_and_the_agent(payload: Any) -> None:
    delta = parse_entity_delta(payload)
    assert (delta.handover, delta.handover_to) == (["a_id"], "Registration")


def test_the_complete_state_can_be_switched_off() -> None:
    assert parse_entity_delta({"entities": {"a": 1}}).is_legacy
    with pytest.raises(EntityDeltaError, match="switched off"):
        parse_entity_delta({"entities": {"a": 1}}, legacy=False)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)
names = st.sampled_from(
    [
        "entities_to_update",
        "derived_entities_to_update",
        "entities_to_remove",
        "entities",
        "response",
    ]
)


@pytest.mark.slow
@given(st.dictionaries(names, json_values))
def test_anything_is_a_delta_or_an_error_and_text_says_the_same(payload: dict[str, Any]) -> None:
    def outcome(given: Any) -> EntityDelta | str:
        try:
            return parse_entity_delta(given)
        except EntityDeltaError as error:
            return str(error)

    assert outcome(payload) == outcome(json.dumps(payload))


@given(st.text(max_size=200))
def test_no_text_breaks_the_reader(text: str) -> None:
    with pytest.raises(EntityDeltaError, match="position"):
        parse_entity_delta(f"}}{text}")
