"""Finds rows by the words that people remember of them. Pure."""

import unicodedata


def fits(words: str, *texts: str) -> bool:
    """Tell whether every word of `words` begins a word of `texts`; case and accents are folded."""
    held = folded(" ".join(texts))
    return all(any(one.startswith(word) for one in held) for word in folded(words))


def folded(text: str) -> list[str]:
    """Return the words of `text` without case, accents and punctuation."""
    plain = unicodedata.normalize("NFKD", text.casefold())
    letters = (each for each in plain if not unicodedata.combining(each))
    return "".join(each if each.isalnum() else " " for each in letters).split()
