"""Whether a message asks what is new in the whole chart. Pure."""

from collections.abc import Sequence

from services.language.chart_pieces import Piece
from services.language.phrases import says

CHANGES = "changes"
"""The tool for what is new, changed, ended or resulted."""


def asks_what_changed(text: str, pieces: Sequence[Piece], *, has_days: bool) -> bool:
    """Whether it asks so of all since the last look, or, where it names days, since then."""
    if any("name" in piece.by_kind for piece in pieces):
        return False
    return says(text, "since_last_looked") or (has_days and says(text, "what_is_new"))
