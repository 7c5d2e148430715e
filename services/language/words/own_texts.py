"""The server's own sentences in the language of the user.

Code writes them in English; `<language>/own.yaml` maps each to its translation, `{…}` standing for
what is filled in and kept as it is. A sentence that is not there is shown in English.
"""

import re
from collections.abc import Mapping
from functools import cache, lru_cache

from services.language.words.detection import language_of
from services.language.words.talk_texts import day_shown
from services.language.words.vocabulary import read_words

SPOKEN = ("de", "fr", "es")
"""Languages besides English that have the file; French and Spanish only of deeds and of memory."""
_PART = re.compile(r"\\\{(\w+)\\\}")
_FILLED_IN = re.compile(r"\{\w+\}")
_OF_USERS = frozenset({"said", "now", "before", "shown"})
_OF_MEMORY = frozenset({"listed", "gone", "back"})
_LABEL = re.compile(r"(?<=“)([A-Z][a-z ]+)(?=: )")
"""What a statement is called that is held: “Noted: she lives alone”."""
_OF_OPTIONS = re.compile(", born | or ")
_AND_OF_USERS = "”, “"
_QUOTED = re.compile("“([^“”„\n]*)”")
_CHOICE = " yes / no"
_ITEM = "- "
_END = re.compile(r"(?<=[.?!:”])(?<!Dr\.)(?<!Prof\.)(?<!\b[A-Z]\.) (?=[A-Z`“*])")


def in_own_language(text: str, language: str) -> str:
    """Return `text`, one of the server's own, in `language`, ISO 639-1, as far as that has it."""
    if language not in SPOKEN:
        return text
    marks = r"\1".join(_texts(language).get(one, one) for one in "“”")
    return _QUOTED.sub(marks, "\n".join(_line(line, language) for line in text.split("\n")))


def problem_told(error: str, language: str) -> str:
    """Return what went wrong; what a tool says behind that is advice for a model."""
    return in_own_language(error.partition(";")[0].rstrip("."), language)


def told_to(text: str, said: str, *, language: str) -> str:
    """Return `text`, one of the server's own, in the language of what was `said`, if it has one."""
    return in_own_language(text, language_of(said[:1_000], default=language))


def ends_with_own(text: str, english: str) -> bool:
    """Whether `text` ends, in any language, with `english`, which has nothing filled in."""
    return text.rstrip().endswith(_in_all_languages(english))


def before_own(text: str, english: str) -> str:
    """Return what stands before `english`, in any language, which begins with words of ours."""
    begins = (one.partition("{")[0] for one in _in_all_languages(english))
    return next((text.partition(one)[0].rstrip() for one in begins if one in text), "")


@lru_cache(maxsize=512)
def _in_all_languages(english: str) -> tuple[str, ...]:
    return (english, *(in_own_language(english, language) for language in SPOKEN))


def is_own_choice(line: str, english: str) -> bool:
    """Whether `line` asks, in any language, what `english` asks with a yes or no behind it.

    Args:
        english: As in the files, such as `Move {name}?`.
    """
    asked = [(english, _CHOICE)]
    for language in SPOKEN:
        texts = _texts(language)
        asked.append((texts.get(english, english), f" {texts[_CHOICE.strip()]}"))
    return any(
        line.endswith(choice)
        and re.fullmatch(re.sub(_PART, ".+?", re.escape(text)), line.removesuffix(choice))
        for text, choice in asked
    )


def _line(line: str, language: str) -> str:
    """Return a line with the shortest runs of sentences that are known put into the language."""
    if line.startswith(_ITEM):
        return f"{_ITEM}{_line(line.removeprefix(_ITEM), language)}"
    choice = _texts(language)[_CHOICE.strip()] if line.endswith(_CHOICE) else ""
    rest, said = _END.split(line.removesuffix(_CHOICE)), list[str]()
    while rest:
        runs = ((size, " ".join(rest[:size])) for size in range(1, len(rest) + 1))
        found = ((size, _translated(run, language)) for size, run in runs)
        size, text = next((one for one in found if one[1] is not None), (1, rest[0]))
        said.append(text or "")
        rest = rest[size:]
    return " ".join(filter(None, [*said, choice]))


def _translated(sentence: str, language: str) -> str | None:
    for form, text in _forms(language):
        if (found := form.fullmatch(sentence)) is not None:
            parts = found.groupdict()
            told = {name: _part(name, one, language) for name, one in parts.items()}
            return text.format(**told)
    return None


def _part(name: str, filled_in: str, language: str) -> str:
    """Return what is filled in: a word of ours, such as "event", a person, an age."""
    if name in _OF_USERS:
        return filled_in.replace(_AND_OF_USERS, _texts(language).get(_AND_OF_USERS, _AND_OF_USERS))
    if name in _OF_MEMORY:
        return _LABEL.sub(lambda one: _texts(language).get(f"held: {one[1]}", one[1]), filled_in)
    if name == "options":
        return _OF_OPTIONS.sub(lambda one: _texts(language).get(one[0], one[0]), filled_in)
    if name == "day":
        return day_shown(filled_in, language)
    if name in ("name", "names"):
        named = filled_in.split("; ")
        return "; ".join(_translated(one, language) or one for one in named)
    if name == "changes":
        return ", ".join(_part("change", one, language) for one in filled_in.split(", "))
    known = _texts(language).get(filled_in)
    if known is None and name in ("person", "age", "change"):
        known = _translated(f"{name}: {filled_in}", language)
    return filled_in if known is None else known


@cache
def _forms(language: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    """Return what each text looks like; those that say most themselves are tried first."""
    texts = sorted(_texts(language).items(), key=lambda one: -len(_FILLED_IN.sub("", one[0])))
    return tuple(
        (re.compile(_PART.sub(r"(?P<\1>.+?)", re.escape(english))), text) for english, text in texts
    )


@cache
def _texts(language: str) -> Mapping[str, str]:
    return read_words(language, "own", dict[str, str])
