"""Which words are common language: said of a patient they claim nothing that a row has to say."""

from functools import lru_cache
from pathlib import Path

_HERE = Path(__file__).parent


@lru_cache(maxsize=1)
def ordinary_words() -> frozenset[str]:
    """Return stems of common words of English and German.

    Frequent words that no source holds for clinical; `python -m scripts.ordinary_words` writes
    them. A word that is rarer than these is taken for a name of something. Whose words they are
    stands in `docs/contributing.md`.
    """
    texts = (one.read_text("utf-8") for one in _HERE.glob("ordinary_words.*.txt"))
    return frozenset(word for text in texts for word in text.split())
