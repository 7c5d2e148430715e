"""Whether a message is in a language that the offline rules do not understand. Pure."""

import re
import unicodedata

_WORD = re.compile(r"[^\W\d_]+")
_GERMAN = (
    "ist das der dem ein eine einen wie wann warum welche welcher welches gibt es und nicht bitte "
    "zeig zeige mir ich sie bei mit für von zum zur letzte letzten aktuelle aktueller aktuellen "
    "wurde haben hatte oder auf"
)
_SPANISH = (
    "cuál cual qué es el la los las una por para con cómo cuándo dónde muéstrame muestra tiene "
    "paciente última último del su"
)
_FRENCH = (
    "quel quelle est le les des une pour avec dans montre moi quand comment pourquoi du et "
    "dernier dernière patiente"
)
_FOREIGN = frozenset(f"{_GERMAN} {_SPANISH} {_FRENCH}".split())
_SMALL = "the is are was what which when who how of for and with show me my her his in on at to"
_ENGLISH = frozenset(_SMALL.split())
_LEAST_WORDS = 2


def is_foreign(text: str) -> bool:
    """Whether the small words, or the script, are not English."""
    words = [word.casefold() for word in _WORD.findall(text)]
    if not words:
        return False
    foreign = sum(word in _FOREIGN for word in words)
    english = sum(word in _ENGLISH for word in words)
    is_other_script = sum(not _is_latin(word) for word in words) * 2 > len(words)
    return is_other_script or (foreign >= _LEAST_WORDS and foreign > english)


def _is_latin(word: str) -> bool:
    return all("LATIN" in unicodedata.name(letter, "") for letter in word)
