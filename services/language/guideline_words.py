"""What a question to the guidelines is about: its words without those of asking. Pure."""

from services.language.phrases import says, without

GUIDELINES = "search_guidelines"
"""The tool for what guidelines say."""
_FRAMES = ("asks_guideline", "frame_of_guideline", "polite")


def asks_guidelines(text: str) -> bool:
    """Whether a message asks what guidelines say."""
    return says(text, "asks_guideline")


def telling_words(text: str) -> str:
    """Return the words of a question that say what it is about."""
    for name in _FRAMES:
        text = without(text, name)
    return text
