"""The ranking of texts by their words (BM25)."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

_SATURATION, _BY_LENGTH = 1.5, 0.75


@dataclass(frozen=True, slots=True)
class Ranking:
    """How rare words are, and where they stand.

    Attributes:
        places: Of each word the numbers of the texts that hold it, as often as they do.
        dampings: How little a text that holds a word once is about it: longer ones less.
    """

    places: Mapping[str, Sequence[int]]
    dampings: Sequence[float]

    def scores(self, words: Iterable[str]) -> Mapping[int, float]:
        """Return how well each text that holds one of `words` fits them."""
        found = defaultdict[int, float](float)
        for word in words:
            times = Counter(self.places.get(word, ()))
            rarity = math.log1p((len(self.dampings) - len(times) + 0.5) / (len(times) + 0.5))
            for number, count in times.items():
                found[number] += rarity * count / (count + self.dampings[number])
        return found


def ranking_of(texts: Sequence[Sequence[str]]) -> Ranking:
    """Return the ranking of `texts`, each as its words."""
    places = defaultdict[str, list[int]](list)
    for number, words in enumerate(texts):
        for word in words:
            places[word].append(number)
    usual = sum(map(len, texts)) / (len(texts) or 1) or 1
    longer = [_BY_LENGTH * (len(words) / usual - 1) for words in texts]
    return Ranking(dict(places), [_SATURATION * (1 + one) for one in longer])
