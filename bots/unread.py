"""What users did with messages that is not read, and what they are told of it. Pure."""

from bots.cards import SAY_LIMIT_CHARS, said_anew_card
from bots.inbound import Inbound
from bots.reference import Activity
from bots.rendering import card_activity, text_activity

CHANGES = ("messageUpdate", "messageDelete")
_UNDELETED = "undeleteMessage"
# Every formatted message comes as HTML once more; a card brings no words that the text lacks.
_READ_AS_TEXT = ("text/html", "text/plain", "application/vnd.microsoft.card.")
_FILES = (
    "*I cannot see pictures or read files that are sent here, and nothing of what I say is about "
    "them. A letter or report can be given on Rounds' page, with* Attach*.*"
)
_QUOTES = "*I read what you write, not the message that you quote.*"
_CHANGED = (
    "A message was changed after it was sent. I do not go back to what I have read: what I said "
    "and noted is about the words as they were. If I am to answer the new ones, send them anew."
)
_DELETED = (
    "*A message was deleted here. What I had read and answered stays with the conversation; "
    '"clear patient context" puts all of it away.*'
)


def note_of_unread(activity: Inbound) -> str:
    """Return what the user of a message is told about what came with it; empty: nothing did."""
    kinds = [(one.content_type or "").lower() for one in activity.attachments or ()]
    has_files = any(not kind.startswith(_READ_AS_TEXT) for kind in kinds)
    has_quotes = any(one.type == "quotedReply" for one in activity.entities or ())
    notes = [_FILES] if has_files else []
    return "\n\n".join([*notes, *([_QUOTES] if has_quotes else [])])


def note_of_change(activity: Inbound, text: str) -> Activity | None:
    """Return what is said of a message that was changed or deleted; None where nothing is.

    Args:
        text: Its words as they are now.
    """
    if activity.event == _UNDELETED:
        return None
    if activity.type == "messageDelete":
        return text_activity(_DELETED)
    if not 0 < len(text) <= SAY_LIMIT_CHARS:
        return text_activity(_CHANGED)
    return card_activity(said_anew_card(_CHANGED, text), summary="A message was changed.")
