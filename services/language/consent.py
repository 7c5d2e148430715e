"""Whether a message that says more than yes or no agrees all the same. Rules over words; pure."""

from typing import Literal

from services.language.folding import words_of
from services.language.yes_no import is_consent, says_no, yes_no_in

_QUOTES = {'"': '"', "“": "”", "„": "“", "«": "»", "`": "`"}
_CONDITIONS = frozenset({"if", "unless", "once", "when", "wenn", "falls", "sobald", "si", "cuando"})
_CLAUSE_ENDS = ",.;:!\n—–"


def consent_in(text: str) -> Literal["yes", "no"] | None:
    """Return what `text` says in its writer's own words, outside of quotes; None if neither.

    A question agrees to nothing, and neither does a yes with an if or a but.
    """
    own = _unquoted(text)
    if "?" in own or _CONDITIONS.intersection(words_of(own)):
        return None
    if yes_no_in(own) == "yes" or (is_consent(own) and yes_no_in(own) is None):
        return "yes"
    return "no" if says_no(own) or says_no(_first_clause(own)) else None


def _unquoted(text: str) -> str:
    """Return `text` without what it quotes: between marks, and lines that begin with ">"."""
    lines = (line for line in text.splitlines() if not line.lstrip().startswith(">"))
    kept: list[str] = []
    until = ""
    for each in "\n".join(lines):
        if until:
            until = "" if each == until else until
        elif each in _QUOTES:
            until = _QUOTES[each]
        else:
            kept.append(each)
    return "".join(kept)


def _first_clause(text: str) -> str:
    at = min((text.find(end) for end in _CLAUSE_ENDS if end in text), default=len(text))
    return text[:at]
