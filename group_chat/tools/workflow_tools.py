"""Tools that steps of scenarios run: a note for the team, and a payment that is only played."""

from pydantic import Field

from data_models.identifiers import hashed
from data_models.values import ClosedValue
from group_chat.tools.tool import Tool, ToolOutput
from group_chat.turn_context import TurnContext, action_key
from services.group_chat_port import NoteWritten

WORKFLOW_TOOLS = ("write_note", "pretend_payment")
_RECEIPT_CHARS = 8


class NoteArguments(ClosedValue):
    """What is noted."""

    title: str = Field(min_length=1, max_length=80, description="What the note is.")
    text: str = Field(min_length=1, max_length=1_000, description="What the user answered.")


class PaymentArguments(ClosedValue):
    """What would be paid."""

    amount: str = Field(min_length=1, max_length=40, description="With its currency.")
    purpose: str = Field(min_length=1, max_length=120, description="For what.")


def workflow_tools() -> tuple[Tool, ...]:
    """Return the tools of this file."""
    return (
        Tool(
            "write_note",
            "Notes what the user answered, so that the team and the tumor board document have it.",
            NoteArguments,
            _note,
        ),
        Tool(
            "pretend_payment",
            "Plays a payment for demonstrations: no money moves.",
            PaymentArguments,
            _pay,
        ),
    )


async def _note(turn: TurnContext, asked: NoteArguments) -> ToolOutput:
    turn.patient_id  # noqa: B018 - a note is about a patient; without one it is refused
    title = " ".join(asked.title.split())
    turn.emit(NoteWritten(f"{title}: {asked.text}", title))
    return {"noted": title}


async def _pay(_: TurnContext, asked: PaymentArguments) -> ToolOutput:
    receipt = hashed(action_key() or asked.purpose)[:_RECEIPT_CHARS]
    return {"paid": True, "receipt": f"DEMO-{receipt}", "money_moved": False}
