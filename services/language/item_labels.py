"""The labels of list items: "- Systemic therapy: pembrolizumab 200 mg". Pure."""

import re

from services.language.name_kinds import kind_of_name
from services.language.statement_parts import WORD
from services.language.statement_tables import stem
from services.language.statement_words import statement_words

_LABEL = re.compile(
    r"(?P<item>\s*(?:[-*•+]|\d{1,3}[.)])\s+)(?P<label>\*{0,2}[^:|*\d]{3,40}(?::\*{0,2}|\*\*:))\s+(?=\S)"
)


def without_label(text: str) -> str | None:
    """Return a list item without the label before its colon; None where none is only a heading."""
    found = _LABEL.match(text)
    if found is None or _is_claim(found["label"]):
        return None
    return f"{found['item']}{text[found.end() :]}"


def _is_claim(label: str) -> bool:
    """Whether a label is itself a claim: the name of an illness or a drug, "current", "no"."""
    words = [word.lower() for word in WORD.findall(label) if word[0].isalpha()]
    said = {tag for one in statement_words().found_in(words) for tag in one.tags}
    is_cue = any(not tag.startswith(("same:", "means:", "topic:")) for tag in said)
    return is_cue or any(kind_of_name(stem(word)) for word in words)
