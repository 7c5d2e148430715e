"""The sex that pronouns give the one who is spoken of, as far as they can mean nobody else. Pure.

`ihr`, `sie`, `lui`, `son` and `su` are either's, and `er`, `il` and `elle` may be a tumor, a scan
or a dose: they count beside verbs and things that only people have.
"""

from collections.abc import Collection, Sequence
from typing import Literal

from services.language.people_words import people_words

Sex = Literal["male", "female", "both"]
_MEN = frozenset({"he", "him", "his"})
_WOMEN = frozenset({"she", "her", "hers", "ella"})
_HIS = frozenset({"seine", "seinen", "seinem", "seiner"})
_OF_VERBS = {"er": "male", "il": "male", "elle": "female"}
_BETWEEN = frozenset({"t"})
_OPENS = frozenset({"und", "et", "qu", "que", "ob", "si"})


def spoken_sex(raws: Sequence[str], folds: Sequence[str]) -> Sex | None:
    """Return the sex that pronouns give; None if they may be another person's, or a thing's.

    Args:
        raws: The words as typed; `folds` the same, folded.
    """
    known, said = people_words(), set(folds)
    if any(_is_somebody(folds, at) for at in range(len(folds))):
        return None
    is_man, is_woman = bool(said & _MEN), bool(said & _WOMEN)
    is_man = is_man or any(one.lower() == "\N{LATIN SMALL LETTER E WITH ACUTE}l" for one in raws)
    found = set(_beside_verbs(folds)) if not said & known.masculine_things else set()
    is_man = is_man or "male" in found
    is_woman = is_woman or "female" in found
    if is_man and is_woman:
        return "both"
    if not (is_man or is_woman):
        return None
    return "male" if is_man else "female"


def _is_somebody(folds: Sequence[str], at: int) -> bool:
    """Whether somebody else is spoken of; `a smoker` says what the one who is spoken of is."""
    known = people_words()
    if folds[at] in known.relatives | known.staff:
        return True
    return folds[at] in known.people and not (at and folds[at - 1] in known.articles)


def _beside_verbs(folds: Sequence[str]) -> Collection[str]:
    known = people_words()
    found = []
    for at, one in enumerate(folds):
        behind = folds[at + 1] if at + 1 < len(folds) else ""
        if one in _HIS and behind in known.patients_own:
            found.append("male")
        elif one in _OF_VERBS and (behind in known.person_verbs or _is_asked(folds, at)):
            found.append(_OF_VERBS[one])
    return found


def _is_asked(folds: Sequence[str], at: int) -> bool:
    """Whether the verb stands before the pronoun: `Raucht er?`, `A-t-elle des allergies ?`."""
    known = people_words()
    before = at - 2 if at > 1 and folds[at - 1] in _BETWEEN else at - 1
    if before < 0:
        return False
    if folds[before] in known.open_verbs:
        return before == 0 or folds[before - 1] in _OPENS
    return folds[before] in known.person_verbs
