"""Reads what a sentence of an agent states of a patient; what is true of it, rows say."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from services.language.clause_reader import ClauseReader
from services.language.clauses import Clause
from services.language.listed_things import listed_in
from services.language.numbers_in_words import with_digits
from services.language.quantities import quantities_in
from services.language.statement_numbers import days_in
from services.language.statement_parts import (
    REFERENCE,
    SOURCE_TYPE,
    WORD,
    blank,
    hyphened_in,
    is_bold,
    masked,
    short_names_in,
)
from services.language.statement_text import parted, without_label
from services.language.statement_words import is_clinical_name, statement_words

_BRACKETS = re.compile(
    rf"[\[(]\s*(?:[Ss]ources?:?\s*)?(?:{SOURCE_TYPE}[\w.-]+(?:\s*[,;]\s*)?)+\s*[\])]"
)
_CELL_EDGE = re.compile(r"\s*\|\s*")
_MARKS = re.compile(r"[_`~#|\"“”„]+|(?<!\d)\*+|\*+(?!\d)|^\s*>+")
_DIGIT = re.compile(r"\d")
_LEAD = re.compile(r"\s*(?:(?P<item>[-*•+]|\d{1,3}[.)])\s+|(?P<heading>#{1,6})\s|(?P<row>\|))")


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence as read.

    Attributes:
        refs: Source ids that it names.
        is_item: Whether it is a list item or a row of a table: naming something states it.
        is_heading: Whether what follows in lists is about it.
        is_question: Whether it asks.
        asks: Whether it tells somebody to do something.
        listed: Stems of the first words of each thing that it lists, whatever they are.
        short_names: Stems of what is written in capitals: `HPV`.
        hyphened: For stems of words with hyphens those of their parts: `two-dose`.
        reader: Reads parts of it once more, where it is to be cut otherwise.
    """

    text: str
    clauses: tuple[Clause, ...] = ()
    refs: tuple[str, ...] = ()
    is_item: bool = False
    is_heading: bool = False
    is_question: bool = False
    asks: bool = False
    cues: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()
    listed: tuple[tuple[str, ...], ...] = ()
    short_names: frozenset[str] = frozenset()
    hyphened: Mapping[str, frozenset[str]] = field(default_factory=dict)
    reader: ClauseReader | None = field(default=None, compare=False, repr=False)


def read_sentence(text: str, *, is_name: Callable[[str], bool] = is_clinical_name) -> Sentence:
    """Return what `text`, one sentence, states.

    What stands before the colon of a list item is its heading, where what follows has a name.

    Args:
        is_name: Whether a stem names something that can be stated of a patient.
    """
    if (rest_of_item := without_label(text)) is not None:
        rest = _read(rest_of_item, is_name)
        if rest.clauses and rest.clauses[0].names and "no" not in rest.cues:
            return replace(rest, text=text)
    return _read(text, is_name)


def _read(text: str, is_name: Callable[[str], bool]) -> Sentence:
    lead = _LEAD.match(text)
    refs = refs_in(text)
    body = parted(with_digits(text[lead.end() :] if lead else text))
    if refs:
        body = REFERENCE.sub(blank, _BRACKETS.sub(blank, body))
    body = _MARKS.sub(blank, _CELL_EDGE.sub(" ", body) if "|" in body else body)
    plain = body.rstrip()
    has_numbers = _DIGIT.search(body) is not None
    dates = list(days_in(body)) if has_numbers else []
    shown = masked(body, [(one.start, one.end) for one in dates])
    quantities = quantities_in(shown) if has_numbers else []
    words = [(one.start(), one[0]) for one in WORD.finditer(shown)]
    reader = ClauseReader(words=words, dates=dates, quantities=quantities, is_name=is_name)
    clauses = reader.clauses()
    is_item = bool(lead and (lead["item"] or lead["row"]))
    first = next((word.lower() for _, word in words if word[0].isalpha()), "")
    return Sentence(
        text=text,
        clauses=tuple(clauses),
        refs=refs,
        is_item=is_item,
        is_heading=bool(lead and lead["heading"]) or plain.endswith(":") or is_bold(text),
        is_question=plain.endswith("?"),
        asks=first in statement_words().imperatives,
        cues=frozenset().union(*[one.cues for one in clauses]),
        words=frozenset().union(*[one.words for one in clauses]),
        short_names=short_names_in(words),
        hyphened=hyphened_in(words),
        reader=reader,
        listed=listed_in(plain, is_item=is_item),
    )


def refs_in(text: str) -> tuple[str, ...]:
    """Return the source ids that `text` names, each once, from the left."""
    return tuple(dict.fromkeys(one.rstrip(".-") for one in REFERENCE.findall(text)))
