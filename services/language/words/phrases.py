"""What kinds of things a text says, by the phrases of `phrases.yaml`. Pure.

A phrase is words, as people write them, and few signs: `(a|b)` one of several, `[a]` may be left
out, `...` up to eight words of the same sentence, `_` any word, `{name}` words to be given back,
`{name*}` all to the end, `{+name}` likewise, with what follows in the phrase, `<other>` the
phrases of another name, `end~` a word that begins so, `~end` one that ends so, `#-#-#` a day as
2026-12-02, `##` a day of a month, `^` the beginning of the message and `$` its end, polite words
apart. The English file lists every name.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import chain, groupby, repeat
from typing import TypeAlias

from data_models.errors import ConfigurationError
from services.language.words.detection import language_of
from services.language.words.folding import fold, with_plain_letters, words_of
from services.language.words.in_english import in_english
from services.language.words.vocabulary import LANGUAGES, read_words, replies

_Needed: TypeAlias = frozenset[str] | None
"""Of these a text has one where an expression matches; None if that cannot be told."""
LONGEST_READ_CHARS = 4_000
"""What is longer is a document: its beginning is read."""
_SIGNS = re.compile(r"\.\.\.|\{\+?\w+\*?\}|<\w+>|[()\[\]|^$:]|[^\s()\[\]|{}<>^$:]+")
_ISO_DAY = "#-#-#"
_BEGINS = r"(?<!\w)"
_ANCHORS = (_BEGINS, r"\A")
_BETWEEN = r"[^\w?!;\n]{1,4}"
_BOUNDS = {
    "^": r"\A\W*",
    "$": r"\W*\Z",
    "...": r"(?:(?:[^\w.?!;\n]|\.(?=\w))+\w+){0,8}?",
    ":": r"\s*:\s*",
}
_WORD, _STEM = re.compile(r"\w+"), 4
_MOST_POLITE = 4
"""So many polite words may be a phrase's own; each more would be another search of the text."""
_compiled = cache(re.compile)
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
    for found in _matches(plain, name, _spoken(text)):
        yield {
            key: _ENDS.sub("", text[origin[found.start(key)] : origin[found.end(key) - 1] + 1])
            for key in found.re.groupindex
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
    places = [one.span() for one in _matches(plain, name, _spoken(text))]
    found: list[tuple[int, int]] = []
    for start, end in sorted(places, key=lambda span: (span[0], -span[1])):
        if end > start and (not found or origin[start] >= found[-1][1]):
            found.append((origin[start], origin[end - 1] + 1))
    return found


@lru_cache(maxsize=4_096)
def _says(text: str, name: str) -> bool:
    return any(any(_matches(plain, name, languages)) for plain, languages in _readings(text))


@lru_cache(maxsize=512)
def _readings(text: str) -> Sequence[tuple[str, Sequence[str]]]:
    """Return the text folded, and in English where that differs, each with its languages."""
    plain, english = (with_plain_letters(one).lower() for one in (text, in_english(text)))
    own = (plain, _spoken(text))
    return (own,) if english == plain else (own, (english, ("en",)))


@lru_cache(maxsize=512)
def _spoken(text: str) -> Sequence[str]:
    """Return the language that the text is in, and English with it."""
    told = language_of(text, default="")
    return tuple(dict.fromkeys((told, "en"))) if told else LANGUAGES


def _matches(plain: str, name: str, languages: Sequence[str] = ("en",)) -> Iterator[re.Match[str]]:
    """Yield where a text, folded, matches; only expressions are tried that need a word of it."""
    keys = _keys_in(plain)
    for language in languages:
        expressions, any_needed = _expressions(language, name)
        if any_needed is not None and keys.isdisjoint(any_needed):
            continue
        for expression, needed in expressions:
            if needed is None or not keys.isdisjoint(needed):
                yield from _of_one(_compiled(expression, re.DOTALL), plain, language)


def _of_one(pattern: re.Pattern[str], plain: str, language: str) -> Iterator[re.Match[str]]:
    """Yield where one expression matches; polite words at an end of the text are none of it."""
    starts, ends = _polite_ends(plain, language)
    starts = starts if r"\A" in pattern.pattern else (0,)
    ends = ends if r"\Z" in pattern.pattern else (len(plain),)
    for start in starts:
        texts = (f"{' ' * start}{plain[start:end]}".ljust(len(plain)) for end in ends)
        found = [each for one in texts if (each := [*pattern.finditer(one)])]
        if found and pattern.groupindex:  # of what is left open the shortest: "pause {it} for now"
            yield from min(found, key=lambda each: each[0].regs[1:])
            return
        yield from chain.from_iterable(found)


@lru_cache(maxsize=512)
def _polite_ends(plain: str, language: str) -> tuple[Sequence[int], Sequence[int]]:
    """Return behind and before which polite words a text may begin and end, the inmost first.

    In the expressions themselves they would be most of what is compiled.
    """
    leads, tails = _polite(language)
    starts, ends = [0], [len(plain)]
    while (lead := leads.match(plain, starts[0])) is not None:
        starts.insert(0, lead.end())
    while (tail := tails.search(plain, 0, ends[0])) is not None:
        ends.insert(0, tail.start())
    return starts[:_MOST_POLITE], ends[:_MOST_POLITE]


@cache
def _polite(language: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return what finds a polite word at the beginning, and at the end."""
    said = sorted(_phrases(language).get("polite", ()), key=len, reverse=True)
    word = "|".join(_BETWEEN.join(map(re.escape, one.split())) for one in said) or r"(?!)"
    return re.compile(rf"\W*(?:{word})\b"), re.compile(rf"(?<!\W)\W+(?:{word})\b\W*\Z")


@lru_cache(maxsize=512)
def _keys_in(plain: str) -> frozenset[str]:
    words = {*_WORD.findall(plain)}
    return frozenset({*words, *(f"{one[:n]}~" for one in words for n in range(1, _STEM + 1))})


@cache
def _phrases(language: str) -> Mapping[str, tuple[str, ...]]:
    """Return the phrases of a language by name.

    Raises:
        ConfigurationError: the file cannot be read or used.
    """
    return read_words(language, "phrases", dict[str, tuple[str, ...]])


@cache
def _expressions(language: str, name: str) -> tuple[Sequence[tuple[str, _Needed]], _Needed]:
    """Return the expressions of a name, those without braces as one; what each, and any, needs."""
    if name not in _phrases("en"):
        raise ConfigurationError(f"en/phrases.yaml has no {name}")
    phrases, small = _phrases(language).get(name, ()), replies(language).small
    apart = [[one] for one in phrases if "{" in one]
    together = [one for one in phrases if "{" not in one]
    every = [_expanded("|".join(each), language) for each in (together, *apart) if each]
    signs = map(_SIGNS.findall, every)
    found = [(_expression(iter(each)), _needed(iter(each), small)) for each in signs]
    needs = [needed for _, needed in found if needed is not None]
    return found, frozenset().union(*needs) if len(needs) == len(found) else None


def _expanded(phrase: str, language: str) -> str:
    """Return `phrase` with the phrases of other names written out."""
    known = _phrases(language)
    while (found := re.search(r"<(\w+)>", phrase)) is not None:
        phrase = phrase.replace(found[0], f"({'|'.join(known.get(found[1], ())) or '_'})")
    return phrase


def _needed(signs: Iterator[str], small: Collection[str], until: str = "") -> _Needed:
    """Return of what a text has one where a phrase matches: what of it the fewest texts have."""
    options, parts = list[_Needed](), list[frozenset[str]]()
    for sign in chain(iter(lambda: next(signs, until), until), "|"):
        inner = _needed(signs, small, ")" if sign == "(" else "]") if sign in "([" else _key(sign)
        if sign == "|":
            rare = sorted(parts, key=lambda one: (len(one.intersection(small)), len(one)))
            options, parts = [*options, rare[0] if rare else None], []
        elif inner is not None and sign != "[":
            parts.append(inner)
    known = [one for one in options if one is not None]
    return frozenset().union(*known) if len(known) == len(options) else None


def _key(sign: str) -> _Needed:
    """Return what a text has that holds the word of `sign`; see `_keys_in`."""
    plain = fold(sign)[0]
    if (begin := _WORD.match(plain)) is None or sign == "_":
        return None
    return frozenset({plain if begin[0] == plain else f"{begin[0][:_STEM]}~"})


def _expression(signs: Iterator[str], until: str = "") -> str:
    """Return the expression of a phrase, or of a part of it that ends with `until`."""
    options, parts, is_first = [], "", True
    for sign in iter(lambda: next(signs, until), until):
        if sign == "|":
            options.append(parts)
            parts, is_first = "", True
            continue
        parts += _one(sign, signs, is_first=is_first)
        is_first = (is_first and sign in ("^", "[")) or sign.startswith("{+")
    return _either([*options, parts])


def _one(sign: str, signs: Iterator[str], *, is_first: bool) -> str:
    """Return the expression of a sign, and of what stands in its brackets."""
    before = "" if is_first else _BETWEEN
    if sign in _BOUNDS:
        return _BOUNDS[sign]
    if sign == "[":
        inner = _expression(signs, "]")
        return f"(?:(?:{inner}){_BETWEEN})?" if is_first else f"(?:{before}(?:{inner}))?"
    if sign == "(":
        return f"{before}(?:{_expression(signs, ')')})"
    return f"{before}{_group(sign) if sign.startswith('{') else _word(sign)}"


def _either(options: Sequence[str]) -> str:
    """Return what any of `options` matches; where it may begin is looked for once, not in each."""
    found = []
    for begin, each in groupby(options, key=lambda one: next(filter(one.startswith, _ANCHORS), "")):
        rest = "|".join(f"(?:{one.removeprefix(begin)})" for one in each)
        found.append(f"{begin}(?:{rest})")
    return found[0] if len(found) == 1 else f"(?:{'|'.join(found)})"


def _group(sign: str) -> str:
    name = sign.strip("{}*+")
    if sign.startswith("{+"):
        return rf"(?=(?P<{name}>.+))"
    return rf"(?P<{name}>.+)" if sign.endswith("*}") else rf"(?P<{name}>\S[^?!\n]*?)(?!\w)"


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
