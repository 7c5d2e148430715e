"""Questions that ask for a judgement, which the offline rules never give. Pure."""

from services.language.phrases import says


def asks_for_judgement(text: str) -> bool:
    """Whether `text` wants advice, a comparison or a reason, and not only what is on record."""
    return says(text, "advice", "comparison", "reason", "term")


def caution_for(text: str) -> str:
    """Return the name of our text that says what an answer from the record is not."""
    if says(text, "advice"):
        return "no_advice"
    if says(text, "comparison"):
        return "no_comparison"
    return "no_terms" if says(text, "term") else "no_reasons"
