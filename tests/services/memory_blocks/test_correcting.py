"""A correction takes the place of the note that begins alike, or of its quantity."""

from datetime import UTC, datetime

import pytest

from data_models.chat_context import ChatContext, Turn
from services.language.held_statements import held_statements
from services.memory_blocks.remembering import hold


def held_after(*said: str) -> list[str]:
    context = ChatContext(conversation_id="c1")
    for number, text in enumerate(said, 1):
        turn = Turn(
            turn_id=number,
            run_id=f"run-{number}",
            user="Dr A",
            user_message=text,
            timestamp=datetime(2026, 1, 2, tzinfo=UTC),
        )
        for statement in held_statements(text):
            hold(context, statement, turn=turn)
    return [one.text for one in context.memory.key_points if one.status == "active"]


@pytest.mark.parametrize(
    ("said", "held"),
    [
        (
            ("remember that she lives alone", "correction: she lives with her son"),
            ["Noted: she lives with her son"],
        ),
        (("remember that she walks 500 m", "no, 200 m"), ["Noted: she walks 200 m"]),
        (
            ("remember that she walks 500 m", "correction: she walks 200 m"),
            ["Noted: she walks 200 m"],
        ),
        (("merke dir, dass sie allein lebt", "nein, 200 m"), ["Noted: dass sie allein lebt"]),
        (
            ("merke dir, dass sie allein lebt", "nein, sie lebt bei ihrer Tochter"),
            ["Noted: sie lebt bei ihrer Tochter"],
        ),
        (
            ("remember that she smokes 5 a day", "correction: 10 a day"),
            ["Smoking: smokes 10 a day"],
        ),
        (("remember that she has 3 children", "no, 4 children"), ["Noted: she has 4 children"]),
        (("remember that she has 3 children", "no, 4 nights"), ["Noted: she has 3 children"]),
        (("remember that she lives alone", "correction: he is late"), ["Noted: she lives alone"]),
        (("remember that she has 3 children", "no, 4"), ["Noted: she has 4 children"]),
        (("she smokes 10 a day", "no wait, she quit"), ["Smoking: quit"]),
        (("she weighs 61 kg", "no wait, she quit"), ["Weight: 61 kg"]),
        (("she weighs 61 kg", "58, not 61"), ["Weight: 58 kg"]),
        (("she weighs 61 kg", "not 61 but 58.5 kg"), ["Weight: 58.5 kg"]),
        (("sie wiegt 61 kg", "58, nicht 61"), ["Weight: 58 kg"]),
        (("sie wiegt 61 kg", "nicht 61, sondern 58"), ["Weight: 58 kg"]),
        (("she weighs 61 kg", "I meant 58"), ["Weight: 58 kg"]),
        (("she takes metformin 500 mg", "make that 850 mg"), ["Takes: metformin 850 mg"]),
        (("she takes metformin 500 mg", "it's 850 mg"), ["Takes: metformin 850 mg"]),
        (("remember that she walks 100 m", "no, 200 metres"), ["Noted: she walks 200 m"]),
        (("she weighs 61 kg", "58, not 62"), ["Weight: 61 kg"]),
        (("she weighs 61 kg", "58, not 61?"), ["Weight: 61 kg"]),
        (("she weighs 61 kg", "it's 5 pm"), ["Weight: 61 kg"]),
        (("she weighs 61 kg", "any allergies?", "58, not 61"), ["Weight: 61 kg"]),
        (("her bp is 120/80", "no, 58"), ["Blood pressure: 120/80"]),
        (("correction: she lives with her son",), []),
        (("remember that she lives alone", "she lives in Leeds"), ["Noted: she lives alone"]),
        (
            ("remember that she walks 500 m", "any allergies?", "no, 200 m"),
            ["Noted: she walks 500 m"],
        ),
    ],
)
def test_a_correction_replaces_what_it_is_about(said: tuple[str, ...], held: list[str]) -> None:
    assert held_after(*said) == held
