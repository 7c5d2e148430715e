"""What kinds of things a text says, by the phrases of `phrases.yaml`. Pure.

A phrase is words, as people write them, and few signs: `(a|b)` one of several, `[a]` may be left
out, `...` up to eight words of the same sentence, `_` any word, `{name}` words to be given back,
`{name*}` all to the end, `{+name}` likewise, with what follows in the phrase, `<other>` the
phrases of another name, `end~` a word that begins so, `~end` one that ends so, `#-#-#` a day as
2026-12-02, `##` a day of a month, `^` the beginning of the message and `$` its end, polite words
apart. The English file lists every name.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import groupby, repeat
from typing import NamedTuple

from data_models.errors import ConfigurationError
from services.language.words.detection import language_of
from services.language.words.folding import fold, words_of
from services.language.words.in_english import in_english
from services.language.words.vocabulary import LANGUAGES, read_words, replies

LONGEST_READ_CHARS = 4_000
"""What is longer is a document: its beginning is read."""
_SIGNS = re.compile(r"\.\.\.|\{\+?\w+\*?\}|<\w+>|[()\[\]|^$:]|[^\s()\[\]|{}<>^$:]+")
_ISO_DAY = "#-#-#"
_BEGINS = r"(?<!\w)"
_ANCHORS = (_BEGINS, r"\A")
_BETWEEN = r"[^\w?!;\n]{1,4}"
_GAP = r"(?:(?:[^\w.?!;\n]|\.(?=\w))+\w+){0,8}?"
_WORD, _STEM = re.compile(r"\w+"), 4
_ENDS = re.compile(r"^[\s\"'\u201c\u201d,;.]+|[\s\"'\u201c\u201d,;.]+$")


def says(text: str, *names: str) -> bool:
    """Whether `text` holds a phrase of any of the `names`."""
    return any(map(_says, repeat(text[:LONGEST_READ_CHARS]), names))


def parts_in(text: str, name: str) -> Mapping[str, str] | None:
    """Return what stands in the braces of the first phrase of `name` that `text` holds.

    As written; what the phrase leaves open is not in it. None if there is no such phrase.
    """
    return next(every_part_in(text, name), None)


def every_part_in(text: str, name: str) -> Iterator[Mapping[str, str]]:
    """Yield the same of each place of `text` that is a phrase of `name`."""
    text = text[:LONGEST_READ_CHARS]
    plain, origin = fold(text)
    for pattern in _patterns_for(plain, name, _spoken(text)):
        for found in pattern.finditer(plain):
            yield {
                key: _ENDS.sub("", _original(text, origin, *found.span(key)))
                for key in pattern.groupindex
                if found[key]
            }


def found_in(text: str, name: str) -> list[str]:
    """Return every place of `text` that is a phrase of `name`, as written."""
    text = text[:LONGEST_READ_CHARS]
    return [text[start:end] for start, end in places_of(text, name)]


def without(text: str, name: str) -> str:
    """Return `text` with each phrase of `name` gone."""
    kept, rest = "", 0
    for start, end in places_of(text[:LONGEST_READ_CHARS], name):
        kept, rest = f"{kept}{text[rest:start]} ", max(rest, end)
    return kept + text[rest:]


@cache
def words_for(name: str) -> frozenset[str]:
    """Return the phrases of `name` in all languages, folded: a list of plain words."""
    return frozenset(
        " ".join(words_of(one))
        for language in LANGUAGES
        for one in _phrases(language).get(name, ())
    )


def places_of(text: str, name: str) -> list[tuple[int, int]]:
    """Return where phrases of `name` stand in `text`: first and last index, the last not in it."""
    plain, origin = fold(text)
    patterns = _patterns_for(plain, name, _spoken(text))
    places = [each.span() for one in patterns for each in one.finditer(plain)]
    found: list[tuple[int, int]] = []
    for start, end in sorted(places, key=lambda span: (span[0], -span[1])):
        if end > start and (not found or origin[start] >= found[-1][1]):
            found.append((origin[start], origin[end - 1] + 1))
    return found


def _original(text: str, origin: Sequence[int], start: int, end: int) -> str:
    return text[origin[start] : origin[end - 1] + 1]


@lru_cache(maxsize=4_096)
def _says(text: str, name: str) -> bool:
    plain, english = fold(text)[0], fold(in_english(text))[0]
    is_said = any(
        one.search(plain) is not None for one in _patterns_for(plain, name, _spoken(text))
    )
    if not is_said and english != plain:
        is_said = any(one.search(english) is not None for one in _patterns_for(english, name))
    return is_said


@lru_cache(maxsize=512)
def _spoken(text: str) -> Sequence[str]:
    """Return the language that the text is in, and English with it."""
    told = language_of(text, default="")
    return tuple(dict.fromkeys((told, "en"))) if told else LANGUAGES


def _patterns_for(
    plain: str, name: str, languages: Sequence[str] = ("en",)
) -> Iterator[re.Pattern[str]]:
    """Yield the expressions of which a text, folded, has a word that they need."""
    if name not in _phrases("en"):
        raise ConfigurationError(f"en/phrases.yaml has no {name}")
    keys = _keys_in(plain)
    for language in languages:
        for expression, needed in _expressions(language, name):
            if needed is None or not keys.isdisjoint(needed):
                yield _compiled(expression)


@lru_cache(maxsize=512)
def _keys_in(plain: str) -> frozenset[str]:
    words = {*_WORD.findall(plain)}
    return frozenset({*words, *(f"{one[:n]}~" for one in words for n in range(1, _STEM + 1))})


@cache
def _compiled(expression: str) -> re.Pattern[str]:
    return re.compile(expression, re.DOTALL)


@cache
def _phrases(language: str) -> Mapping[str, tuple[str, ...]]:
    """Return the phrases of a language by name.

    Raises:
        ConfigurationError: the file cannot be read or used.
    """
    return read_words(language, "phrases", dict[str, tuple[str, ...]])


@cache
def _expressions(language: str, name: str) -> tuple["_Part", ...]:
    """Return the expressions of a name; those without braces are one."""
    together: list[_Part] = []
    apart: list[_Part] = []
    for phrase in _phrases(language).get(name, ()):
        part = _Phrase(phrase=_expanded(phrase, language), language=language).part()
        (apart if "{" in phrase else together).append(part)
    return (*([_either(together)] if together else []), *apart)


def _expanded(phrase: str, language: str) -> str:
    """Return `phrase` with the phrases of other names written out."""
    known = _phrases(language)
    while (found := re.search(r"<(\w+)>", phrase)) is not None:
        phrase = phrase.replace(found[0], f"({'|'.join(known.get(found[1], ())) or '_'})")
    return phrase


class _Part(NamedTuple):
    """A part of an expression.

    Attributes:
        needed: Of these a text has one where the part matches; None if that cannot be told.
    """

    expression: str
    needed: frozenset[str] | None = None


class _Phrase:
    """One phrase while it is made an expression."""

    def __init__(self, *, phrase: str, language: str) -> None:
        self._signs = _SIGNS.findall(phrase)
        self._at = 0
        self._language = language

    def part(self) -> _Part:
        """Return the whole."""
        return self._choice(until="")

    def _choice(self, until: str) -> _Part:
        options, parts, is_first = list[_Part](), list[_Part](), True
        while self._at < len(self._signs):
            sign = self._signs[self._at]
            self._at += 1
            if sign == until:
                break
            if sign == "|":
                options.append(self._joined(parts))
                parts, is_first = [], True
                continue
            parts.append(self._one(sign, is_first=is_first))
            is_first = (is_first and sign in ("^", "[")) or sign.startswith("{+")
        return _either([*options, self._joined(parts)])

    def _joined(self, parts: Sequence[_Part]) -> _Part:
        """Return all of `parts`, and of what they need that which fewest texts have."""
        needed = [one.needed for one in parts if one.needed is not None]
        common = replies(self._language).small
        fewest = min(
            needed, key=lambda one: (len(one.intersection(common)), len(one)), default=None
        )
        return _Part("".join(one.expression for one in parts), fewest)

    def _one(self, sign: str, *, is_first: bool) -> _Part:
        before = "" if is_first else _BETWEEN
        match sign:
            case "^" | "$" | "..." | ":":
                return _Part(self._bound(sign))
            case _ if sign.startswith("{"):
                return _Part(f"{before}{_group(sign)}")
            case "(":
                inner = self._choice(until=")")
                return inner._replace(expression=f"{before}(?:{inner.expression})")
            case "[":
                option = f"(?:{self._choice(until=']').expression})"
                return _Part(f"(?:{option}{_BETWEEN})?" if is_first else f"(?:{before}{option})?")
            case _:
                return _Part(f"{before}{_word(sign)}", _key(sign))

    def _bound(self, sign: str) -> str:
        """Return what stands at an end, or between words."""
        if sign == "^":
            return rf"\A\W*(?:(?:{_polite(self._language)})\b\W*)*"
        if sign == "$":
            return rf"(?:\W+(?:{_polite(self._language)})\b)*\W*\Z"
        return _GAP if sign == "..." else r"\s*:\s*"


@cache
def _polite(language: str) -> str:
    return "|".join(
        _BETWEEN.join(map(re.escape, one.split()))
        for one in sorted(_phrases(language).get("polite", ()), key=len, reverse=True)
    )


def _either(options: Sequence[_Part]) -> _Part:
    """Return what any of `options` matches; where it may begin is looked for once, not in each."""
    found = []
    every = [one.expression for one in options]
    for begin, each in groupby(every, key=lambda one: next(filter(one.startswith, _ANCHORS), "")):
        rest = "|".join(f"(?:{one.removeprefix(begin)})" for one in each)
        found.append(f"{begin}(?:{rest})")
    needed = [one.needed for one in options if one.needed is not None]
    return _Part(
        found[0] if len(found) == 1 else f"(?:{'|'.join(found)})",
        frozenset().union(*needed) if len(needed) == len(options) else None,
    )


def _key(sign: str) -> frozenset[str] | None:
    """Return what a text has that holds the word of `sign`; see `_keys_in`."""
    begin = _WORD.match(fold(sign)[0])
    if begin is None or sign == "_":
        return None
    is_whole = begin[0] == fold(sign)[0]
    return frozenset({begin[0] if is_whole else f"{begin[0][:_STEM]}~"})


def _group(sign: str) -> str:
    name = sign.strip("{}*+")
    if sign.startswith("{+"):
        return rf"(?=(?P<{name}>.+))"
    return rf"(?P<{name}>.+)" if sign.endswith("*}") else rf"(?P<{name}>\S[^?!\n]*?)"


def _word(sign: str) -> str:
    if sign == _ISO_DAY:
        return r"(?<!\d)\d{4}-\d\d-\d\d(?!\d)"
    if sign == "##":
        return rf"{_BEGINS}\d{{1,2}}(?:st|nd|rd|th)?(?![\w:])"
    if sign == "_":
        return rf"{_BEGINS}\w+"
    if sign.startswith("~"):
        return rf"{_BEGINS}\w+{re.escape(sign[1:])}(?!\w)"
    stem = sign.removesuffix("~")
    written = re.escape(fold(stem)[0]).replace(r"\-", r"[-\s]?").replace("'", "['\u2019]?")
    end = r"\w*" if sign.endswith("~") else r"(?!\w)"
    return f"{_BEGINS}{written}{end}"
