"""In which language a message is written, by its small words. Pure."""

from collections import Counter
from collections.abc import Mapping
from functools import cache

from services.language.folding import words_of
from services.language.vocabulary import LANGUAGES, replies


def language_of(text: str, *, default: str = "en") -> str:
    """Return the language whose small words `text` holds most of; `default` if it holds none."""
    counts: Counter[str] = Counter()
    for word in words_of(text):
        for language in _small().get(word, ()):
            counts[language] += 1
    if not counts:
        return default
    best = max(counts.values())
    leading = [language for language in LANGUAGES if counts[language] == best]
    return default if default in leading else leading[0]


@cache
def _small() -> Mapping[str, tuple[str, ...]]:
    """Return of each small word the languages that have it."""
    found: dict[str, tuple[str, ...]] = {}
    for language in LANGUAGES:
        lists = replies(language)
        replies_of_one_word = (one for one in (*lists.yes, *lists.no) if len(words_of(one)) == 1)
        telling = (*lists.small, *replies_of_one_word)
        for word in {each for phrase in telling for each in words_of(phrase)}:
            found[word] = (*found.get(word, ()), language)
    return found
