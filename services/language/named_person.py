"""Whom a sentence begins with by name."""

import re

from services.language.statement_tables import stem
from services.language.statement_words import is_clinical_name, statement_words

_PERSON = re.compile(
    r"(?P<name>[A-ZÄÖÜ][a-zà-ÿ]+ [A-ZÄÖÜ][a-zà-ÿ]+)(?:['’]s)? "
    r"(?:has|had|is|was|takes|took|lives|denies|hat|hatte|ist|war|nimmt|leidet)\b"
)


def person_named_in(text: str) -> frozenset[str]:
    """Return the words of a name that a sentence begins with: `John Miller has …`."""
    found = _PERSON.match(text.lstrip())
    if found is None:
        return frozenset()
    words = {stem(word) for word in found["name"].split()}
    known = statement_words().phrases
    is_name = not any(word in known or is_clinical_name(word) for word in words)
    return frozenset(words) if is_name else frozenset()
