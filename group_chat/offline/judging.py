"""Questions that ask for a judgement, which the offline rules never give. Pure."""

import re

_ADVICE = re.compile(
    r"(?i)\b(?:should (?:we|i|she|he|they|it|the patient)|recommend\w*|suggest\w*|advise|advice"
    r"|best (?:treatment|therapy|option|next)|what to do|what would you|what do you think|prognosis"
    r"|life expectancy|survival|dying|going to die|is (?:that|this|it|she|he) (?:still )?(?:ok|okay"
    r"|normal|safe|fine|good|bad|too \w+|fit|operable|resectable|curable)|can (?:she|he|they|we|i)"
    r" (?:have|take|get|receive|give|stop|start|combine)|safe to|contraindicat\w*|interact\w*"
    r"|eligible for)\b"
)
_COMPARISON = re.compile(
    r"(?i)\b(?:compare[ds]?|comparing|comparison|what(?:'s| has| is)? (?:\w+ )?changed?|changes? "
    r"(?:since|from|between)|what(?:'s| is) new|trends?|differences?|(?:got|getting|gotten) "
    r"(?:worse|better|bigger|smaller)|grown|shrunk)\b"
)
_REASON = re.compile(r"(?i)\bwhy\b|\bhow come\b|\bwhat (?:is|was) the reason\b")
_TERM = re.compile(
    r"(?i)\bwhat (?:does|do) [^?\n]{1,60}\bmean\b|\bwhat(?:'s| is) the meaning\b"
    r"|\b(?:define|explain)\b"
)
_DANGER = re.compile(
    r"(?i)\b(?:wants?|wish(?:es)?|threat\w+|tr(?:ied|ies|ying)|plans?|planning|going|intends?) to "
    r"(?:die|kill (?:him|her|them)sel(?:f|ves)|hurt (?:him|her|them)sel(?:f|ves)|jump"
    r"|end (?:his|her|their|it) ?(?:own )?(?:life|all)?)|\b(?:is|seems|acutely) suicidal\b"
    r"|\b(?:took|taken|takes) an overdose\b|\b(?:is not|isn['’]t|stopped) breathing\b"
)
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
    return any(pattern.search(text) for pattern in (_ADVICE, _COMPARISON, _REASON, _TERM))


def is_about_danger(text: str) -> bool:
    """Whether `text` tells of somebody who may be in danger now.

    Who calls for help themselves is answered before any rule here is asked.
    """
    return _DANGER.search(text) is not None


def compares(text: str) -> bool:
    """Whether `text` asks what changed."""
    return _COMPARISON.search(text) is not None


def caution_for(text: str) -> str:
    """Return what an answer from the record is not, said before it."""
    if _ADVICE.search(text):
        return _ADVICE_CAUTION
    if _COMPARISON.search(text):
        return _COMPARISON_CAUTION
    return _TERM_CAUTION if _TERM.search(text) else _REASON_CAUTION
