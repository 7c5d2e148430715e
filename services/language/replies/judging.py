"""Questions that ask for a judgement, which the offline rules never give. Pure."""

from services.language.words.phrases import says

_CAUTIONS = ("sign_out", "cost", "advice", "comparison", "term", "reason")
_OF_OTHERS = ("asks_guideline", "asks_trials")
"""What others advise is quoted; that is no advice of ours."""


def caution_for(text: str) -> str:
    """Return the name of our text that says what an answer from the record is not; else "".

    Advice, a comparison, a term or a reason is wanted, and not only what is on record.
    """
    if any(says(text, one) for one in _OF_OTHERS):
        return ""
    return next((f"no_{one}" for one in _CAUTIONS if says(text, one)), "")
