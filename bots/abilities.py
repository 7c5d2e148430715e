"""What the channel of a conversation can show."""

from dataclasses import dataclass
from typing import Literal

from bots.reference import Reference

TEAMS = "msteams"


@dataclass(frozen=True, slots=True)
class Abilities:
    """What may be sent into one conversation.

    Attributes:
        streams: Text while it is written; Teams knows it in one-to-one chats only.
        cites: Sources that are marks with a card each, not lines of text.
        takes_feedback: Thumbs under a message.
        draws_tables: Tables and charts in cards; elsewhere a table is text.
        suggests: Buttons for what the user may say next.
        is_quiet: Nothing is said twice: a plan's card goes with the message that proposes it, is
            brought up to date there, and stands for the lines that call its steps.
        files: How a file gets there: into the user's own drive after a yes, within the message,
            or not at all.
    """

    streams: bool = False
    cites: bool = False
    takes_feedback: bool = False
    draws_tables: bool = False
    suggests: bool = False
    is_quiet: bool = False
    files: Literal["consent", "inline", "none"] = "none"


_PERSONAL = Abilities(
    streams=True,
    cites=True,
    takes_feedback=True,
    draws_tables=True,
    suggests=True,
    is_quiet=True,
    files="consent",
)
# Teams shows suggested actions, streams and file consent to one person only.
_GROUP = Abilities(cites=True, takes_feedback=True, draws_tables=True, is_quiet=True)


def abilities_of(reference: Reference) -> Abilities:
    """Return what the conversation of `reference` can show."""
    place = reference["conversation"]
    if reference.get("channelId") != TEAMS:
        return Abilities(suggests=not place.get("isGroup"), files="inline")
    kind = place.get("conversationType")
    return _PERSONAL if kind == "personal" else _GROUP
