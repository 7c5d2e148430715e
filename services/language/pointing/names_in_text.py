"""Finds names and ids in a message before anything else is read into their words."""

import re
from collections.abc import Iterable, Sequence

from services.language.pointing import vocabulary
from services.language.pointing.draft_text import DraftText
from services.language.pointing.folding import tokens_of
from services.language.pointing.lexicon import Lexicon

_QUOTED = re.compile(r'"([^"\n]{1,200})"|(?<![\w])\'([^\'\n]{2,200})\'(?![\w])|\*([^*\n]{1,200})\*')
_WORD = re.compile(r"[^\s,;!?\"()]+")
_TOKEN = re.compile(r"[^\W_]+")
_GENERAL_ID = vocabulary.WORDS.compiled("general_id")
_AFTER_ID = vocabulary.WORDS.compiled("after_id")
_PATIENT = re.compile(r"patient[_-]", re.IGNORECASE)
_ANNOUNCING = frozenset(vocabulary.WORDS.words("announcing"))
_EMPTY = (vocabulary.STOP_WORDS | vocabulary.VERB_FORMS).union(
    vocabulary.WORDS.words("times"),
    vocabulary.TYPE_NOUNS,
    vocabulary.PLURAL_NOUNS,
    vocabulary.ORDINALS,
    vocabulary.NUMBER_WORDS,
)


def hide_quotes(text: DraftText) -> None:
    """Take names in quotes out of the text."""
    while (match := _QUOTED.search(text.rest)) is not None:
        phrase = match[1] or match[2] or match[3]
        text.hide(match.start(), match.end(), phrase, is_quoted=True)


def hide_names(text: DraftText, names: Iterable[Sequence[str]]) -> None:
    """Take whole names of entities out of the text, longest first.

    Only what stands after a verb and says something of its own, or beside what it is: a mail called
    "don't cancel it" or "all meetings" must not change what such words mean.
    """
    tokens = [
        (match[0].casefold(), match.start(), match.end()) for match in _TOKEN.finditer(text.rest)
    ]
    words = [word for word, _, _ in tokens]
    verb = next((index for index, word in enumerate(words) if word in vocabulary.VERB_FORMS), None)
    if verb is None:
        return
    known = set(words)
    for name in names:
        if not known.issuperset(name):
            continue
        start = _place_of(name, words, verb + 1)
        beside = () if start is None else (words[start - 1], *words[start + len(name) :][:1])
        is_named = not set(name) <= _EMPTY or not vocabulary.TYPE_NOUNS.keys().isdisjoint(beside)
        if start is not None and is_named:
            first, last = tokens[start][1], tokens[start + len(name) - 1][2]
            is_called_so = words[start - 1] in _ANNOUNCING
            text.hide(first, last, " ".join(name), is_quoted=is_called_so)
            return


def _place_of(name: Sequence[str], words: Sequence[str], begin: int) -> int | None:
    last = len(words) - len(name)
    places = (at for at in range(begin, last + 1) if list(words[at : at + len(name)]) == list(name))
    return next(places, None)


def take_ids(text: DraftText, lexicon: Lexicon) -> list[str]:
    """Take ids that the user typed out of the text: stored ones, and what can only be one."""
    after = [match[1].strip(".") for match in _AFTER_ID.finditer(text.rest)]
    found = [lexicon.id_of(one) or one for one in after]
    for match in _WORD.finditer(text.rest):
        word = match[0].strip(".:'`*#<>[]").removesuffix("'s")
        stored = lexicon.id_of(word)
        if stored is not None and _is_typed_id(stored):
            found.append(stored)
        elif _looks_like_id(word, lexicon) and not set(tokens_of(word)) <= lexicon.tokens.keys():
            found.append(word)
    for one in found:
        text.rest = re.sub(re.escape(one), " ", text.rest, flags=re.IGNORECASE)
    return list(dict.fromkeys(found))


def _is_typed_id(stored: str) -> bool:
    if stored.isdecimal():
        return len(stored) >= 5
    return any(one.isdigit() for one in stored) or "_" in stored or "@" in stored


def _looks_like_id(word: str, lexicon: Lexicon) -> bool:
    if _PATIENT.match(word) or not any(one.isdigit() for one in word):
        return False
    return _GENERAL_ID.fullmatch(word) is not None or lexicon.has_shape(word)
