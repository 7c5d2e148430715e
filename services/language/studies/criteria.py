"""What a criterion of a study asks for, as far as code can tell; the rest is told apart. Pure.

A criterion is read whole or not at all: words that no form takes remain as `other`, and whoever
judges must know them or leave the criterion open. English, the language of the registers.
"""

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

from services.language.studies.criteria_forms import FORMS, READ_FORMS, Asked, Make

Joint: TypeAlias = Literal["and", "or", "mixed"]
_WITHIN = READ_FORMS.compiled("within")
_DAYS = {"day": 1, "week": 7, "month": 30, "year": 365}
_SPLIT = re.compile(r"\s*(?:;|,\s*(?:and|or)\b|,|\band/or\b|\band\b|\bor\b)\s*", re.IGNORECASE)
_MARK = re.compile("\ue000(\\d+)\ue001")


@dataclass(frozen=True, slots=True)
class Piece:
    """What stands between two joints.

    Attributes:
        asked: All of it has to hold.
        other: Words that no form takes.
    """

    asked: tuple[Asked, ...]
    other: str = ""
    is_negated: bool = False


@dataclass(frozen=True, slots=True)
class Criterion:
    """A criterion as read.

    Attributes:
        joint: How its pieces are joined; `mixed`: nobody can tell without reading.
        within_days: How old what it speaks of may be.
    """

    pieces: tuple[Piece, ...]
    joint: Joint = "and"
    within_days: int | None = None


def read_criterion(text: str) -> Criterion:
    """Return what a criterion asks for."""
    if READ_FORMS.compiled("conditional").search(text):
        return Criterion(())
    found: list[Asked] = []
    within = _WITHIN.search(text)
    text = _WITHIN.sub(" ", text)
    text = READ_FORMS.compiled("both_sexes").sub(" ", text)
    for pattern, make in FORMS:

        def take(match: re.Match[str], make: Make = make) -> str:
            if not (asked := make(match)):
                return match[0]
            marks = []
            for one in asked:
                found.append(one)
                marks.append(f"\ue000{len(found) - 1}\ue001")
            return f" {' '.join(marks)} "

        text = pattern.sub(take, text)
    joints = {_joint(one) for one in _SPLIT.findall(text)}
    pieces = [_piece(part, found) for part in _SPLIT.split(text)]
    kept = tuple(piece for piece in pieces if piece.asked or piece.other)
    joint: Joint = "and" if len(kept) < 2 or "or" not in joints else "or"
    if len(kept) > 1 and {"and", "or"} <= joints:
        joint = "mixed"
    days = int(within["n"]) * _DAYS[within["unit"].lower().rstrip("s")] if within else None
    return Criterion(kept, joint, days)


def _joint(said: str) -> str:
    word = said.strip(" ,;").lower()
    return {"and/or": "or", "": "," if "," in said else "and"}.get(word, word)


def _piece(part: str, found: list[Asked]) -> Piece:
    asked = tuple(found[int(number)] for number in _MARK.findall(part))
    rest = _MARK.sub(" ", part).strip(" .:()[]-–•*")
    if (negated := READ_FORMS.compiled("negation").match(rest)) is not None:
        rest = rest[negated.end() :]
    other = " ".join(rest.split()).strip(" .:()[]-–")
    if not READ_FORMS.compiled("filling").sub(" ", other).strip(" .:()[]-–"):
        other = ""
    return Piece(asked, other, is_negated=negated is not None)


_HISTORY = re.compile(r"\b(?:history|prior|previous)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Named:
    """A treatment or a disease that a criterion names.

    Attributes:
        when: `past`: ever before now, `now`: at present; of a disease `any` where history counts.
    """

    name: str
    when: Literal["past", "now", "any"]


def therapy_in(other: str) -> Named | None:
    """Return the treatment that words name; None where they name none."""
    if READ_FORMS.compiled("now_words").match(other):
        return Named(READ_FORMS.compiled("now").sub("", other).strip(), "now")
    if READ_FORMS.compiled("past_words").search(other) is None:
        return None
    return Named(
        READ_FORMS.compiled("past").sub("", other).removesuffix(" received").strip(), "past"
    )


def disease_in(other: str) -> Named:
    """Return the words as a disease."""
    name = READ_FORMS.compiled("disease").sub("", other).removesuffix(" with").strip()
    return Named(name, "any" if _HISTORY.search(other) else "now")
