"""Whether a message asks what is new in the whole chart. Pure."""

from services.language.phrases import says

CHANGES = "changes"
"""The tool for what is new, changed, ended or resulted."""


def asks_what_changed(text: str, *, has_days: bool) -> bool:
    """Whether it asks so since the last look, or, where it names days, since then."""
    return says(text, "since_last_looked") or (has_days and says(text, "what_is_new"))
