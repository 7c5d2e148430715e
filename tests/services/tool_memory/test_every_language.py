"""References mean the same in each language, and a model's right id is not refused for a word."""

from pathlib import Path

import pytest

from tests.services.tool_memory.memory_world import ask
from tests.tables import tables_beside, with_cases

RIGHT_IDS = (
    ("i wanna cancel the dentist", "evt_1"),
    ("gotta drop the all hands", "evt_4"),
    ("I think we should cancel the tumor board", "evt_3"),
    ("cancel the lunch thanks a lot", "evt_2"),
    ("cancel dentist wed", "evt_1"),
    ("Cancel Standup, Bob can't come", "evt_7"),
    ("Sag den Termin beim Dentist ab", "evt_1"),
    ("Lösche bitte den Lunch mit Bob", "evt_2"),
    ("Kannst du den Standup verschieben?", "evt_7"),
    ("Das Tumor board am Freitag absagen", "evt_3"),
    ("Sag die Besprechung mit Anna ab, sie ist krank", "evt_3"),
    ("annule le dentist", "evt_1"),
    ("annuler la réunion Standup s'il te plaît", "evt_7"),
    ("borra la reunión Standup por favor", "evt_7"),
)
REFUSALS: tuple[str, ...] = tuple(tables_beside(Path(__file__))["refusals"])


@pytest.mark.slow
@pytest.mark.parametrize(("message", "right"), RIGHT_IDS)
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
