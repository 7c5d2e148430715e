"""The runs of words between which a name goes on, over the apostrophe inside it, too. Pure."""

import re
from collections.abc import Sequence
from itertools import pairwise

from services.language.people.mentions import HYPHENS, TEXT_LIMIT_CHARS
from services.language.people.signed_word import Word
from services.language.words.letters import APOSTROPHES

_DIVIDED = re.compile(r"([^\W\d_]+)[-\u00ad\u2010]\s*\n\s*([^\W\d_]+)")
_FILLERS = re.compile(r"\b(?:uh|uhm|um|erm|hmm|äh|ähm|euh)\b,?", re.IGNORECASE)
# `k-o-e-p-p`, `K O E P P`: as many signs between the letters, and each the same.
_SPELLED = re.compile(r"(?<![^\W_])[^\W\d_](?:([- .]) ?)[^\W\d_](?:\1 ?[^\W\d_]){2,}(?![^\W_])")
_LEAD_LETTERS = 2
_LONG_LEAD_LETTERS = 5


def leads_a_name(last: Word, word: Word) -> bool:
    """Whether an apostrophe joins both: O'Neil, o'neil, d'Angelo, Dell'Orto; French d'Anna, too."""
    if word.gap.strip() not in APOSTROPHES or not word.gap.strip():
        return False
    if word.gap != word.gap.strip():  # `O' Neil`; a blank may also stand before a quotation
        return len(last.raw) == 1 and last.raw.isupper() and word.raw[0].isupper()
    is_capital = last.raw[0].isupper() and word.raw[0].isupper()
    return len(last.raw) <= (_LONG_LEAD_LETTERS if is_capital else _LEAD_LETTERS)


def is_behind_letter(run: Sequence[Word], place: int) -> bool:
    """Whether a message begins with a letter and this word, as with a name: `m. estrella trop`."""
    is_begun = place == 1 and run[0].is_first and len(run[0].raw) == 1
    return is_begun and run[1].gap[:1] == "." and len(run[1].raw) > _LEAD_LETTERS


def neighbours(words: Sequence[Word]) -> Sequence[Sequence[Word]]:
    """Return runs of words between which a name goes on: blanks, a comma, a hyphen, a full stop."""
    if not words:
        return ()
    runs: list[list[Word]] = [[words[0]]]
    for last, word in pairwise(words):
        goes_on = word.gap.strip() in ("", ",", *HYPHENS) or (
            word.gap.strip() in (".", ".,") and len(last.raw) == 1
        )
        goes_on = goes_on or leads_a_name(last, word)
        if goes_on and "\n" not in word.gap and not last.is_owner:
            runs[-1].append(word)
        else:
            runs.append([word])
    return runs


def with_joined_words(text: str) -> str:
    """Return `text` with each word that a line's end divides once more, whole, at its end.

    What fills a pause in speech is blank: `creatinine on uh jacoby`. A name that is spelled out
    is a word that ends where its letters do.
    """
    text = _FILLERS.sub(lambda one: " " * len(one[0]), text[:TEXT_LIMIT_CHARS])
    text = _SPELLED.sub(lambda one: "".join(filter(str.isalpha, one[0])).rjust(len(one[0])), text)
    whole = [f"{one[1]}{one[2]}" for one in _DIVIDED.finditer(text)]
    return "\n".join([text, *whole])
