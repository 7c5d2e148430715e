"""Questions that ask for a judgement, which the offline rules never give. Pure."""

from services.language.phrases import says

DANGER_FIRST = (
    "If anybody is in danger now, a person has to help now: call the local emergency number or "
    "the team on duty."
)
_ADVICE_CAUTION = (
    "The built-in rules give no advice and judge no value; that is a clinician's to do."
)
_COMPARISON_CAUTION = (
    "The built-in rules compare nothing; entries stand with their dates, for you to compare."
)
_REASON_CAUTION = "The built-in rules give no reasons; they repeat what the record says."

_TERM_CAUTION = "The built-in rules explain no terms; they repeat what the record says."


def asks_for_judgement(text: str) -> bool:
    """Whether `text` wants advice, a comparison or a reason, and not only what is on record."""
    return says(text, "advice", "comparison", "reason", "term")


def is_about_danger(text: str) -> bool:
    """Whether `text` tells of somebody who may be in danger now.

    Who calls for help themselves is answered before any rule here is asked.
    """
    return says(text, "danger")


def compares(text: str) -> bool:
    """Whether `text` asks what changed."""
    return says(text, "comparison")


def caution_for(text: str) -> str:
    """Return what an answer from the record is not, said before it."""
    if says(text, "advice"):
        return _ADVICE_CAUTION
    if says(text, "comparison"):
        return _COMPARISON_CAUTION
    return _TERM_CAUTION if says(text, "term") else _REASON_CAUTION
