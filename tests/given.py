"""What most tests take for granted, and what must be there."""

from datetime import datetime
from typing import Any, TypeVar

from data_models.conversations.incoming_message import IncomingMessage, Sender

T = TypeVar("T")


def present(value: T | None) -> T:
    """Return what may be missing elsewhere, and must not be here."""
    assert value is not None
    return value


def message_of(text: str = "hello", *, at: datetime, **changes: Any) -> IncomingMessage:
    """Return a message of Alice's to the web page, unless `changes` say otherwise."""
    given = {
        "conversation_id": "c",
        "channel": "web",
        "channel_id": "web",
        "owner": "alice",
        "sender": Sender(principal_id="alice", display_name="Alice"),
        "message_id": "m1",
    }
    return IncomingMessage(**{**given, **changes}, text=text, received_at=at)
