"""How strong somebody says that something is, from 0 to 10. Pure."""

from services.language.words.folding import words_of
from services.language.words.phrases import words_for
from services.language.words.vocabulary import numbers_of_all

MOST = 10


def rating_in(text: str) -> int | None:
    """Return the number that the whole of `text` rates with: "about seven", "7/10", "a 4"."""
    words = [word for word in words_of(text) if word not in words_for("around_rating")]
    short = {str(n): n for n in range(100)}
    numbers = [short.get(word, numbers_of_all().get(word)) for word in words]
    is_rating = len(numbers) == 1 or (len(numbers) == 2 and numbers[1] == MOST)
    first = numbers[0] if is_rating else None
    return first if first is not None and first <= MOST else None
