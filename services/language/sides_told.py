"""The places in the body that a sentence tells with their sides. Pure."""

from collections.abc import Iterator, Sequence

from services.language.statement_parts import placed
from services.language.statement_words import statement_words

_OF = frozenset({"of", "the", "der", "des", "im", "in"})
_SITE_WORDS = 4


def sites_in(
    lower: Sequence[str], start: int, end: int, taken: set[int]
) -> Iterator[frozenset[str]]:
    """Yield each side with up to four words beside it: `right upper lobe of the lung`."""
    vocabulary = statement_words()
    done = start
    for at in range(start, end):
        if at < done or lower[at] not in vocabulary.sides:
            continue
        found: set[str] = set()
        beside = 0
        for done in range(at, end):
            word = lower[done]
            if word in _OF:
                continue
            is_other = word in vocabulary.fillers and word not in vocabulary.sides
            if beside == _SITE_WORDS or not word[0].isalpha() or done in taken or is_other:
                break
            found.update(placed(word))
            beside += 1
        if len(found) > 1:
            yield frozenset(found)
