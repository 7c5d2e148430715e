"""In which language a message is written, by its small words. Pure."""

import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache

from services.language.words.folding import words_of
from services.language.words.people_words import of_people
from services.language.words.vocabulary import LANGUAGES, replies

WELL_READ = ("en", "de")
"""Languages whose requests the rules read throughout; of others they read the chart's questions."""

_LETTERS_THAT_ARE_WORDS = frozenset("aeiouy")
_LETTERS = {"¿": "es", "¡": "es", "ñ": "es", "œ": "fr", **dict.fromkeys("ßäöü", "de")}


def language_of(text: str, *, default: str = "en") -> str:
    """Return the language whose small words `text` holds most of; `default` if it holds none.

    The parts of an address, such as jo@example.org, abbreviations, such as ER and er/pr, and what
    ends in a figure, such as HER2, are words of no language.
    """
    leading, most = _leading(text)
    # "Para seit?" in a German talk asks for a drug, and is no Spanish.
    is_stray = most == 1 and default == "de" and {*leading}.isdisjoint(WELL_READ)
    return default if is_stray or default in leading or not leading else leading[0]


@lru_cache(maxsize=512)
def _leading(text: str) -> tuple[Sequence[str], int]:
    """Return the languages whose small words `text` holds most of, and how many it holds."""
    heard = list[str]()
    is_loud = text.isupper()
    text = text.replace("’m ", "'m ").replace("'m ", " ")  # "I'm", which is no German "im"
    spoken = (one for one in text.split() if not one.rstrip("?!.,:+")[-1:].isdecimal())
    said = words_of(" ".join(one for one in spoken if is_loud or not _is_short(one)))
    known, by_letters = _small(), of_people("told_by_a_letter")
    for before, word, behind in zip(("", *said), said, (*said[1:], ""), strict=False):
        if word not in known or before in by_letters:
            continue  # the "a" of "hep a" is no English
        # The "er" of "er pr her2?" is no German.
        is_marker = word == "er" and (said == ("er",) or behind in of_people("beside_er"))
        is_marker |= word == "im" and behind in of_people("behind_i_am")  # "im back"
        heard += () if is_marker else known[word]
    written = text.rstrip("?!. ").split()
    # A capital may begin a name, which is of no language: "open Katharina Groß".
    telling = " ".join(one for one in written if len(written) == 1 or not one[0].isupper()).lower()
    heard += [language for letter, language in _LETTERS.items() if letter in telling]
    if not heard:
        own = tuple(of_people("german_endings"))
        return ["de"] * any(one.islower() and one.endswith(own) for one in written), 0
    counts = Counter(heard)
    most = max(counts.values())
    return [language for language in LANGUAGES if counts[language] == most], most


def _is_short(part: str) -> bool:
    """Whether a part of a text is an address or an abbreviation."""
    if "/" not in part and "@" not in part and not part.isupper():
        return False
    sides = part.strip("?.,!").split("/")
    is_pair = len(sides) > 1 and all(len(side) < 4 for side in sides)
    return "@" in part[1:] or is_pair or (1 < len(sides[0]) < 5 and part.isupper())


def is_unread(text: str) -> bool:
    """Whether `text` is in a script, or by its small words a language, that rules barely know."""
    words = words_of(text)
    strange = sum(
        any(each.isalpha() and "LATIN" not in unicodedata.name(each, "") for each in word)
        for word in words
    )
    told = language_of(text, default="")
    return strange * 2 > len(words) or told not in ("", *WELL_READ)


@cache
def _small() -> Mapping[str, tuple[str, ...]]:
    """Return of each small word the languages that have it."""
    found: dict[str, tuple[str, ...]] = {}
    for language in LANGUAGES:
        lists = replies(language)
        replies_of_one_word = (one for one in (*lists.yes, *lists.no) if len(words_of(one)) == 1)
        telling = (*lists.small, *replies_of_one_word)
        words = {each for phrase in telling for each in words_of(phrase)}
        # A consonant inside a phrase is no word by itself: the t of "a-t-il".
        for word in {one for one in words if len(one) > 1 or one in _LETTERS_THAT_ARE_WORDS}:
            found[word] = (*found.get(word, ()), language)
    return found
