"""What the queue keeps of a message: enough to find it, not a word of what it says."""

from pydantic import ValidationError

from data_models.errors import CorruptDocumentError
from data_models.incoming_message import IncomingMessage


def note_of(message: IncomingMessage) -> str:
    """Return the note of a message that its conversation holds durably."""
    found = message.model_copy(update={"text": "", "press": None})
    return found.model_dump_json()


def message_of(note: str) -> IncomingMessage:
    """Return the message that a note is about, without its text.

    Raises:
        CorruptDocumentError: it is no note of ours.
    """
    try:
        return IncomingMessage.model_validate_json(note)
    except ValidationError:
        # `from None`: pydantic quotes what it rejects.
        raise CorruptDocumentError("a note of the queue of turns") from None
