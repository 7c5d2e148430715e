"""A message without the name of the patient whom it is about.

Whom a message is about is settled before it is read; the name itself asks for nothing.
"""

from collections.abc import Collection, Sequence

from services.language.full_dates import full_dates
from services.language.letters import folded, spellings
from services.language.mentions import Word, read_words

_PATIENT = "patient"
_PEOPLE = ("man", "woman", "patient")


def without_names(text: str, names: Collection[str], *, born: str = "") -> str:
    """Return `text` with the names of its subject replaced by `patient`, without the birth date.

    Args:
        names: The subject's names, as recorded; a word of common language that is one of them is
            replaced only where it stands as a name.
        born: The subject's birth date in ISO; it says who is meant and no time that is asked for.
    """
    for one in reversed(full_dates(text)):
        if born in {day.isoformat() for day in one.readings}:
            text = text[: one.start].rstrip(" ,(") + text[one.end :].removeprefix(")")
    known = {folded(part) for name in names for part in name.split()}
    known |= {spelt for part in known for spelt in spellings(part)}
    known = {part for part in known if len(part) > 1}
    words = read_words(text).words
    named = [_is_name(words, at, known) for at in range(len(words))]
    result, end = "", 0
    for at, word in enumerate(words):
        if not named[at]:
            continue
        is_first = at == 0 or not named[at - 1]
        if is_first:
            start = _start_of_title(words, at)
            result += f"{text[end:start]}{_PATIENT}"
        end = word.end
    return result + text[end:]


def _is_name(words: Sequence[Word], at: int, known: set[str]) -> bool:
    word = words[at]
    if word.text not in known and word.text.removesuffix("s") not in known:
        return False
    beside = [words[each].text for each in (at - 1, at + 1) if 0 <= each < len(words)]
    if any(one in known for one in beside):
        return True
    return word.stands_as_name or not word.is_common


def _start_of_title(words: Sequence[Word], at: int) -> int:
    """Return where the mention begins: at the title before the name, if it has one."""
    if words[at].title in _PEOPLE and at > 0 and words[at - 1].title is None:
        before = words[at - 1]
        is_title = len(before.raw.rstrip(".")) <= len("senyora") and before.raw[:1].isupper()
        return before.start if is_title else words[at].start
    return words[at].start
