"""Whom a message begins with, or whose value it asks for, where no name says it. Pure.

"dialysis lady: K?", "the hip fracture's BP", "die am Fenster, Blutdruck?".
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import filterfalse, takewhile

from services.language.chart_nouns import (
    chart_nouns,
    illness_nouns,
    measured_nouns,
    organ_nouns,
    problem_nouns,
)
from services.language.descriptions import first_parts, is_kind_of_patient
from services.language.people_words import of_people
from services.language.signed_word import Word
from services.language.statement_tables import stem
from services.language.statement_words import is_clinical_name, ordinary_words
from services.language.vocabulary import drug_words

_LONGEST = 7
_SHORT_LETTERS = 6
_YEAR_CHARS = 4
_SIGNS = frozenset(":,;")


@dataclass(frozen=True, slots=True)
class PointedAt:
    """Somebody who is told by what they have, are, or where they lie.

    Attributes:
        ill: The words of an illness or organ that stands for its bearer; empty for others.
    """

    ill: str = ""


def pointed_at(words: Sequence[Word]) -> PointedAt | None:
    """Return who is pointed at; None where nobody is."""
    heading, sign = _heading(words)
    if heading and (_is_somebody(heading) or _is_at_a_bed(heading, sign)):
        return PointedAt()
    if heading and _stands_for_its_bearer(heading):
        return PointedAt(ill=_named(heading))
    ills = (one for at in range(len(words)) if (one := _ill_in_place(words, at)))
    return next((PointedAt(ill=_named(one)) for one in ills), None)


def _heading(words: Sequence[Word]) -> tuple[Sequence[Word], str]:
    """Return what stands before a sign behind which something of a chart is asked, and the sign."""
    leads = of_people("moves_on", "joins")
    begin = len([*takewhile(lambda one: one.text in leads, words)])
    asked = first_parts(measured_nouns()) | chart_nouns()
    for at in range(begin, min(len(words) - 1, begin + _LONGEST)):
        behind = words[at + 1]
        if words[at].heads or not _SIGNS.isdisjoint(behind.gap):
            is_asked = any(_is_of_chart(one.text, asked) for one in words[at + 1 :])
            return (words[begin : at + 1], behind.gap) if is_asked else ((), "")
    return (), ""


def _is_somebody(phrase: Sequence[Word]) -> bool:
    """Whether a kind of person is told closer, or told by a place alone: `die am Fenster`."""
    texts = [one.text for one in phrase]
    if not of_people("relatives", "pronouns", "owners", "here").isdisjoint(texts):
        return False
    alone = 1 + (texts[1:2] == ["one"])
    is_alone = len(phrase) > alone + 1 and (alone > 1 or texts[0] in of_people("alone"))
    if is_alone and texts[alone] in of_people("described_by", "told_apart_by"):
        return True
    people = of_people("people", "men", "women")
    if any(map(is_kind_of_patient, texts)):
        return True
    plain = of_people("definite", "articles", "plain_patients")
    return not people.isdisjoint(texts) and len([*filterfalse(plain.__contains__, texts)]) > 1


def _is_at_a_bed(phrase: Sequence[Word], sign: str) -> bool:
    """Whether a bed or room heads it: `hip fracture in 3: Hb?`, `isolation room, CRP?`."""
    number, last = sign.strip(" :,-"), phrase[-1]
    if last.is_in("places"):
        return len(phrase) > 1 and not phrase[0].is_in("within", "described_by", "before_staff")
    is_lettered = len(last.raw) == 1 and last.raw.isupper() and len(phrase) > 1
    if is_lettered and phrase[-2].is_in("places"):
        return True  # `cubicle C: Hb`
    return last.is_in("within") and number.isdigit() and len(number) < _YEAR_CHARS


def _is_of_chart(text: str, asked: frozenset[str]) -> bool:
    return text in asked or is_clinical_name(stem(text))


def _stands_for_its_bearer(phrase: Sequence[Word]) -> bool:
    """Whether an illness or organ heads the message for whose it is: `our lymphoma, …`."""
    if not phrase[0].is_in("definite") or len(phrase) < 2:
        return False
    told = _told_apart_at(phrase)
    head = phrase[told - 1] if told > 1 else phrase[-1]
    is_one = told > 1 or not phrase[0].is_in("articles", "alone")
    return any(map(_is_ill, phrase[1:])) or (is_one and _tells_whom(head))


@lru_cache(maxsize=1_024)
def _is_name_of_an_ill(text: str) -> bool:
    """Whether a folded word is an illness or operation, and no drug, value or list of a chart."""
    if text in of_people("signs"):
        return False
    if text in illness_nouns() or text in of_people("ill_people"):
        return True
    if text in chart_nouns() or text in measured_nouns() or text in drug_words():
        return False
    ends = (text.endswith(one) for one in illness_nouns() if len(one) > _SHORT_LETTERS)
    return any(ends) or is_clinical_name(stem(text))


def _is_ill(word: Word) -> bool:
    return _is_name_of_an_ill(word.text)


def _told_apart_at(phrase: Sequence[Word]) -> int:
    """Return where what tells one from others begins: `die Hüfte von gestern`; else 0."""
    ends = of_people("described_by", "told_apart_by")
    return next((at for at, one in enumerate(phrase) if at and one.text in ends), 0)


def _tells_whom(word: Word) -> bool:
    if word.text in organ_nouns():
        return True
    is_known = word.is_common or is_clinical_name(stem(word.text))
    return is_known and not (word.text in chart_nouns() or stem(word.text) in ordinary_words())


def _ill_in_place(words: Sequence[Word], at: int) -> Sequence[Word]:
    """Return an illness, from its article on, that owns a value or is booked; else nothing.

    `the hip fracture's BP`, `book the hip fracture for Monday`, not `book the colonoscopy`.
    """
    word, measured = words[at], first_parts(measured_nouns())
    near = range(at, max(at - 4, -1), -1)
    begin = next((one for one in near if words[one].is_in("definite")), at)
    if begin == at or not _is_ill(word):
        return ()
    is_owner = word.is_owner and not measured.isdisjoint((word.after, word.beyond))
    is_booked = begin > 0 and words[begin - 1].is_in("books") and word.after in of_people("for")
    return words[begin : at + 1] if is_owner or (is_booked and word.text in problem_nouns()) else ()


def _named(phrase: Sequence[Word]) -> str:
    leads = of_people("definite", "articles", "joins")
    told = phrase[: _told_apart_at(phrase) or None]
    return " ".join(one.text for one in told if one.text not in leads)
