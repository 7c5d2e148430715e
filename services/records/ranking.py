"""The ranking of texts by their words (BM25), whose library loads numpy where it is first used."""

import threading
from collections.abc import Sequence
from typing import Any

# Semantic Kernel is imported with a placeholder in the place of numpy. What is imported meanwhile
# would keep the placeholder, and no search of this process would work again.
IMPORTS_NUMPY = threading.RLock()


def ranking_of(texts: Sequence[Sequence[str]]) -> Any:
    """Return the ranking of `texts`, each as its words; it has no word where there are none."""
    with IMPORTS_NUMPY:
        import bm25s
    ranking = bm25s.BM25()
    if texts:
        ranking.index([list(words) for words in texts], show_progress=False)
    return ranking
