"""Whether a message may ask for a change of something. Pure.

A model that read a mail or a note with an order in it must not act on that: the change has to be
asked for by the user's own words. What cannot be told for an order or against one is let through,
as people say a change in many ways ("the letters are done", "Anna's new number is 555"); a
question, thanks, and a wish to see something are not.
"""

import re

from services.language.pointing.clauses import read_clauses
from services.language.pointing.folding import plain
from services.language.pointing.vocabulary import ADDING_FORMS, GIVING_FORMS, TARGET_FORMS
from services.language.replies.addressing import without_address
from services.language.replies.yes_no import yes_no_in
from services.language.words.expressions import expressions
from services.language.words.in_english import in_english
from services.language.words.phrases import says

_READ_CHARS = 2_000
_WORDS = expressions("orders")
_CHANGING = TARGET_FORMS | ADDING_FORMS | GIVING_FORMS | _WORDS.forms("making")
_LOOKING = frozenset(_WORDS.words("looking"))
_ASKING = frozenset(_WORDS.words("asking"))
_MAY_YOU = frozenset(_WORDS.words("may_you"))
_SUGGESTS = _WORDS.compiled("suggests")
_SENTENCE = re.compile(r"[^.!?\n]+[.!?\n]*")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")


def may_order_change(text: str) -> bool:
    """Whether some sentence of `text` may ask for something to be made or changed.

    Not from the head of a pasted mail on: where the mail ends, nothing tells.
    """
    heads = [one.start() for one in _WORDS.compiled("mail_head").finditer(text)]
    text = text[: heads[0]] if len(heads) > 1 else text
    said = without_address(text[:_READ_CHARS]).strip(" \t\n.!")
    if says(text[:_READ_CHARS], "new_task", "addresses_mail"):
        return True  # "task: check the CBC" asks to see nothing, a mail its reader
    if says(said, "thanks") or says(said, "greeting"):
        return False
    english = plain(in_english(without_address(text[:_READ_CHARS]))).casefold()
    sentences = [one.strip() for one in _SENTENCE.findall(english)]
    return any(_may_order(one) for one in sentences if _WORD.search(one))


def _may_order(sentence: str) -> bool:
    words = [one.casefold() for one in _WORD.findall(sentence)]
    bare = sentence.strip(" .!")
    if says(bare, "thanks") or says(bare, "greeting"):
        return False
    if yes_no_in(bare) == "no" and not any(map(_is_changing, words)):
        return False
    if words[0] in _ASKING and not _SUGGESTS.match(sentence):
        return False
    verb = read_clauses(sentence).verb
    if verb in _CHANGING or words[0] in _CHANGING:
        return True
    if sentence.endswith("?"):
        is_polite = words[0] in _MAY_YOU or _SUGGESTS.match(sentence) is not None
        return is_polite and any(map(_is_changing, words))
    is_looking = verb in _LOOKING or words[0] in _LOOKING
    return not is_looking or any(map(_is_changing, words[1:]))


def orders_change(text: str) -> bool:
    """Whether `text` begins with an order to make or change something."""
    english = plain(in_english(without_address(text[:_READ_CHARS]))).casefold()
    return read_clauses(english).verb in _CHANGING


def _is_changing(word: str) -> bool:
    """Whether a word is such a verb, or its past: "can the board be moved to 5?"."""
    stem = word.removesuffix("ed")
    return not _CHANGING.isdisjoint({word, stem, f"{stem}e", stem[:-1]})


_BETWEEN = re.compile(r"\s*(?:[,;&+]|\b(?:and|plus|und|sowie)\b)\s*", re.IGNORECASE)


def things_joined_in(text: str) -> list[str]:
    """Return what "CBC and a creatinine" joins, each without its article."""
    parts = (_WORDS.compiled("article").sub("", part.strip()) for part in _BETWEEN.split(text))
    return [part for part in parts if part]
