"""Where the sentences of a message end, as people type them. Pure."""

import re
from collections.abc import Iterator

from services.language.words.folding import words_of
from services.language.words.people_words import of_people
from services.language.words.statement_words import statement_words

_SENTENCE = re.compile(r"[^.!?;\n]*(?:[.!?;](?!\s|$)[^.!?;\n]*)*(?:[.!?;\n]+|$)")
_DAY_AT_END = re.compile(r"(?<![\d.])\d{1,2}\.\d{1,2}\.$")
_SPACES = re.compile(r"\s+")


def sentences_of(text: str) -> Iterator[str]:
    """Yield the sentences of `text`; "Dr. Lee" and "im 3. Stock" end none."""
    begun = ""
    for found in _SENTENCE.finditer(text):
        piece = _SPACES.sub(" ", found[0]).strip()
        if begun and not (piece and _goes_on(begun, piece)):
            yield begun
            begun = ""
        begun = f"{begun} {piece}".strip()
    if begun:
        yield begun


def _goes_on(sentence: str, behind: str) -> bool:
    """Whether a sentence ends with no full stop: "tel. 0123", "Dr. Lee", "im 3. Stock"."""
    if _DAY_AT_END.search(sentence) and behind[0].islower():
        return True  # "remember that on 3.12. she leaves"
    *_, title, word = ["", *(one.rstrip(".") for one in sentence.casefold().split())]
    if sentence.endswith(".") and word.isdecimal():
        nouns = of_people("behind_ordinals")
        return title in of_people("before_ordinals") or not nouns.isdisjoint(words_of(behind)[:1])
    if not sentence.endswith(".") or word not in statement_words().abbreviations:
        return False
    titles = of_people("staff", "titles_of_men", "titles_of_women")
    return not behind[0].isupper() or not titles.isdisjoint((title, word))
