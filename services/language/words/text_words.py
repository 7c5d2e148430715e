"""Which words of a text say what it is about. Pure."""

import re
from collections.abc import Sequence
from functools import cache

from services.language.words.folding import fold, words_of
from services.language.words.in_english import is_word_of_request
from services.language.words.phrases import places_of, says, words_for

_BEGINNING_CHARS, _STEM = 4, 5
_STATEMENT_WORD_CHARS = 3
_FENCED = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_WORD = re.compile(r"[^\W\d_][\w-]+")
_QUOTED = re.compile(r"[\"“„«]([^\"“”»]+)[\"“”»]")
_OWNER = re.compile(r"\b([A-Z][\w-]+(?: [A-Z][\w-]+)*)['’]s\b")
_NEXT_WORDS = re.compile(r"\s*([\w.@'’-]+(?:\s+[\w.@'’-]+)*)")
_ADDRESS = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_LINK = re.compile(r"\S*(?:@|://|www\.)\S*")
_FIGURE = re.compile(r"(\d+)(?:[:.](\d\d)(?!\d))?")
_NOON, _DAY = 12, 24
_PHONE = re.compile(r"\+?\d[\d ()/-]{5,}\d")
_JOINED_WORD = re.compile(r"[\w'-]+")
_WORD_OR_NUMBER = re.compile(r"[^\W_]+")
_SENTENCE_END = re.compile(r"(?<=[.!?\u3002\uff01\uff1f])\s+")
_NAME_WORD = re.compile(r"[^\W\d_][\w'’-]*|[,(?!;:.\d]")
_NAME_WORDS = range(2, 7)


def telling_words(text: str) -> list[str]:
    """Return the words of `text` that are no small words, as written; of a fenced block none."""
    idle = words_for("idle_in_search")
    return [
        word
        for word in _WORD.findall(_FENCED.sub(" ", text))
        if fold(word)[0] not in idle and not is_word_of_request(word)
    ]


def all_words(text: str) -> list[str]:
    """Return all words of two letters and more, as written."""
    return _WORD.findall(text)


def words_of_statement(text: str) -> frozenset[str]:
    """Return how the words begin that say what a statement is about, folded.

    "The smoking" is what "she smokes" says. Shorter words than of three letters say nothing.
    """
    words = {word for word in words_of(text) if len(word) >= _STATEMENT_WORD_CHARS}
    telling = words - words_for("no_part_of_statement")
    return frozenset(map(beginning, telling))


def beginning(word: str) -> str:
    """Return how `word` begins, to tell it by: "alle" begins no "allergy", and is a small word."""
    return word[: _BEGINNING_CHARS + (word[:_BEGINNING_CHARS] in words_for("idle_in_search"))]


def asks_question(text: str) -> bool:
    """Whether `text` is a question by its end or by its first word."""
    return text.rstrip().endswith("?") or says(text, "question")


def quoted_in(text: str) -> list[str]:
    """Return what stands between quotation marks, without them."""
    return _QUOTED.findall(text)


def owner_in(text: str) -> str | None:
    """Return the name that something is said to be of: "Anna Keller's number"."""
    found = _OWNER.search(text)
    return None if found is None else found[1]


def named_after(text: str, name: str) -> str | None:
    """Return the words behind the first phrase of `name`, up to the end of the clause."""
    ends = (_NEXT_WORDS.match(text, end) for _, end in places_of(text, name))
    return next((found[1] for found in ends if found is not None), None)


def mail_addresses_in(text: str) -> list[str]:
    """Return the addresses of mail in `text`."""
    return _ADDRESS.findall(text)


def full_name_in(text: str) -> str | None:
    """Return the first and family name that `text` gives; None where it gives no two words."""
    named: list[str] = []
    for word in [*_NAME_WORD.findall(text), ","]:
        is_around = fold(word)[0] in words_for("around_person")
        if word[0].isalpha() and not is_around:
            named.append(word)
        elif len(named) in _NAME_WORDS and named[-1][0].isupper():
            return " ".join(named)
        else:
            named = []
    return None


def phone_number_in(text: str) -> str | None:
    """Return the first telephone number of `text`."""
    found = _PHONE.search(_ADDRESS.sub("", text))
    return None if found is None else found[0]


def without_ways_to_reach(text: str) -> str:
    """Return `text` without telephone numbers and addresses of mail."""
    return _PHONE.sub("", _ADDRESS.sub("", text))


def words_as_written(text: str) -> list[str]:
    """Return the words of `text` with the hyphens and apostrophes in them."""
    return _JOINED_WORD.findall(text)


def words_with_places(text: str) -> list[tuple[int, str]]:
    """Return the words and numbers of `text`, each with the index of its first letter."""
    return [(found.start(), found[0]) for found in _WORD_OR_NUMBER.finditer(text)]


def sentences_in(text: str) -> list[str]:
    """Return the sentences of `text`, at least one."""
    return _SENTENCE_END.split(text)


def subject_in(text: str) -> str | None:
    """Return the complaint or the topic that `text` names first, folded and in the singular."""
    named = [*places_of(text, "complaint_or_topic"), *places_of(text, "complaint_or_topic_many")]
    if not named:
        return None
    start, end = min(named)
    word = fold(text[start:end])[0]
    known = words_for("complaint_or_topic_words")
    shorter = (word.removesuffix(end) for end in ("", "es", "s"))
    return next((one for one in shorter if one in known), word)


def words_of_list(text: str, words: tuple[str, ...]) -> list[str]:
    """Return what of `text` is one of `words` or its plural, as written."""
    return _one_of(words).findall(text)


@cache
def _one_of(words: tuple[str, ...]) -> re.Pattern[str]:
    longest_first = sorted(words, key=len, reverse=True)
    found = "|".join(re.escape(word) for word in longest_first) or r"(?!)"
    return re.compile(rf"\b(?:{found})(?:s|es|ing)?\b", re.IGNORECASE)


def addresses_in(text: str) -> list[str]:
    """Return what may be an address of mail or of a page in `text`, as written."""
    return _LINK.findall(text)


def figures_said(text: str, *, is_known: bool = False) -> frozenset[str]:
    """Return figures and times of day; of known times also "2 pm" and the hour alone."""
    found: set[str] = set()
    for first, minute in _FIGURE.findall(text):
        hour = int(first)
        forms = [hour, hour - _NOON] if is_known and minute and _NOON < hour < _DAY else [hour]
        found |= {f"{one}:{minute}" if minute else str(one) for one in forms}
        if is_known and minute:
            found |= {*map(str, forms), str(int(minute))}
    return frozenset(found)


def says_words(told: str, words: Sequence[str]) -> bool:
    """Whether `told` says each of `words`, with any ending: "rechts", "rechten"."""
    said = words_of(told)
    return all(any(one.startswith(each[:_STEM]) for one in said) for each in words)
