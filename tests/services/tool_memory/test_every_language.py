"""References mean the same in each language, and a model's right id is not refused for a word."""

from pathlib import Path

import pytest

from tests.services.tool_memory.memory_world import ask
from tests.tables import tables_beside, with_cases

REFUSALS: tuple[str, ...] = tuple(tables_beside(Path(__file__))["refusals"])


@pytest.mark.slow
@with_cases("message", "right")
def test_a_right_id_is_taken_and_found_without_it(message: str, right: str) -> None:
    assert ask(message, given={"event_id": right}) == right
    assert ask(message) == right


@pytest.mark.parametrize("message", REFUSALS)
def test_a_refusal_is_one_in_each_language_whatever_the_model_says(message: str) -> None:
    assert ask(message, focus="evt_1") is None
    assert ask(message, focus="evt_1", given={"event_id": "evt_1"}) is None


@with_cases("message", "named")
def test_an_id_of_something_else_than_is_named_is_asked_about(message: str, named: str) -> None:
    assert ask(message, given={"event_id": "evt_5"}) == sorted([named, "evt_5"])


def test_a_word_that_no_entity_has_takes_no_id_where_nobody_is_asked() -> None:
    assert ask("complete the physio", given={"event_id": "evt_5"}) is None
