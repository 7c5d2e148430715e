"""A correction takes the place of the note that begins alike, or of its quantity."""

from datetime import UTC, datetime

from data_models.chat_context import ChatContext, Turn
from services.language.told.held_statements import held_statements
from services.memory_blocks.remembering import hold
from tests.tables import with_cases


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


@with_cases("said", "held")
def test_a_correction_replaces_what_it_is_about(said: tuple[str, ...], held: list[str]) -> None:
    assert held_after(*said) == held
