"""The words of a message as they may name people, each with the signs that stand beside it. Pure.

Who is meant is no business of this file: it knows no patient. It says of each word whether a
title, a possessive, a role or a place in the sentence speaks for or against a name.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from services.language.charts.chart_entries import measured_nouns
from services.language.figures.full_dates import month_numbers
from services.language.people.descriptions import (
    Sex,
    describes_somebody,
    is_of_both,
    says_of_patient,
    sex_of_owners,
    spoken_sex,
    things_asked,
)
from services.language.people.signed_word import Title, Word, is_of_either, is_pronoun
from services.language.words.detection import language_of
from services.language.words.letters import APOSTROPHES, folded, is_shouted
from services.language.words.people_words import common_words, of_people
from services.language.words.statement_tables import stem
from services.language.words.statement_words import is_clinical_name

TEXT_LIMIT_CHARS = 16_000
_NUMBER_BEHIND = re.compile(
    r"(?:[ _-]{0,2}|(?<=\b\w\w)\. ?)\d(?!\d{1,2}/\d\d)(?!\d{0,2}(?:[mfwj]| ?y(?:/?o|rs?)?)\b)"
)  # "in the room 165/95" is no room, "becker 52m" somebody's age
_WORD = re.compile(r"\b[aA]1[cC]\b|[^\W\d_]+(?:[\u200b-\u200d\u00ad][^\W\d_]+)*")
_OWN = re.compile(rf"([{APOSTROPHES}])(s\b)?", re.IGNORECASE)
_SENTENCE_ENDS = frozenset(".!?:;\n•*>")
_BED = re.compile(r"(?:\A|[\s:,;(])\d{1,3}\Z")
_BED_HEADS = re.compile(
    r"\s*(?:(?:\d{3}[/-]\d|\d-\d{1,2})[\s:,]+|\d{1,3}['’]s |\d\d+ - |#\d{1,3} |"
    r"\d{2,3}: (?=\w+\??\Z))(?=[^\W\d_])"
)
_BED_LETTERS = frozenset("abce")
_BEGINS = frozenset(":,;.\n")
HYPHENS = ("-", "\N{HYPHEN}", "\N{NON-BREAKING HYPHEN}")


@dataclass(frozen=True, slots=True)
class Message:
    """A message as words, and what it says of people besides names.

    Attributes:
        describes: Whether somebody is described rather than named: "the violin teacher".
        is_placed: Whether somebody is told apart by a bed or room: "room 4: sodium?".
        registers: Whether it speaks of registering somebody.
        compares: Whether it asks to compare.
        spoken_sex: The sex that pronouns give the one spoken of, if they agree and nobody else is
            in the message to whom they may belong.
        told_sex: The same of the whole message, whoever is named in it.
        pronoun_at: Where somebody is first spoken of as he or she, if anywhere.
    """

    text: str
    words: tuple[Word, ...]
    describes: bool = False
    is_placed: bool = False
    registers: bool = False
    compares: bool = False
    spoken_sex: Sex | None = None
    told_sex: Sex | None = None
    pronoun_at: int | None = None

    def around(self, word: Word) -> Sequence[Word]:
        """Return the words within a sentence's length of `word`: a letter is not read as one."""
        return self.words[max(word.at - _AROUND, 0) : word.at + _AROUND]


_DECIMAL = re.compile(r"(?<=[0-9])\.(?=[0-9])")
_DIGITS_OF_MS, _AROUND = 3, 40  # `bed 12 ms doyle`
_VOWELS = frozenset("aeiouy")


@lru_cache(maxsize=64)  # all rules that read a message, and one turn after the other
def read_words(text: str) -> Message:
    """Return the words of the first 16,000 characters of `text` with their signs."""
    text = text[:TEXT_LIMIT_CHARS]
    found = [one for one in _WORD.finditer(text) if not _is_part_of_word(text, one)]
    folds = [folded(one.group()) for one in found]
    shouted = is_shouted([one.group() for one in found])
    german = len(of_people("german") & set(folds)) >= 2
    french = len(of_people("french") & set(folds)) >= 2
    english = language_of(text, default="") == "en"
    leads = of_people("opening", "moves_on", "titles_of_patients", "about")
    words: list[Word] = []
    for at, one in enumerate(found):
        raw, end = one.group(), one.end()
        gap = text[found[at - 1].end() if at else 0 : one.start()]
        ends = _SENTENCE_ENDS & set(_DECIMAL.sub("", gap))
        starts = at == 0 or (bool(ends) and not _is_short_form(words[-1], gap))
        own = _OWN.match(text, end)
        behind = text[own.end() if own else end :][:2].lstrip(" ")
        is_capital = raw[0].isupper() and not starts and not shouted
        # A German sentence may write a noun so, whoever is called so.
        is_usual = folds[at] in common_words() and folds[at] not in of_people("uninflected")
        word = Word(
            raw=raw,
            text=folds[at],
            at=at,
            start=one.start(),
            end=end,
            gap=gap,
            title=None
            if _is_abbreviation(words, shouted)
            else _title(folds, words, at, gap, french),
            is_owner=own is not None
            and (own.group(2) is not None or raw[-1] in "sxzSXZ")
            and not (raw.isupper() and not any(map(str.isalpha, text[own.end() :]))),  # "OP's?"
            is_capital=is_capital and not (german and is_usual),
            is_heading=not words and behind[:1] in (*":;,-–(&+",),
            heads=behind[:1] == ":" or (behind[:1] in ("-", "–") and text[end : end + 1] == " "),
            closes=behind[:1] in ("", *"?!.,;:)+\n")
            or of_people("lingers").issuperset(folds[at + 1 :]),
            is_first=at == 0 or (gap.strip() == ":" and leads.issuperset(folds[:at])),
            is_in_date=_is_in_date(folds, at, gap, text[end:]),
            before=folds[at - 1] if at and not starts else "",
            after=folds[at + 1] if at + 1 < len(folds) else "",
            beyond=folds[at + 2] if at + 2 < len(folds) else "",
            is_of_head=_is_of_head(words, at),
            is_another=_is_another(folds, at),
            has_number=_NUMBER_BEHIND.match(text, end) is not None,
            is_english=english,
        )
        words.append(word)
    return _message(text, words, folds, french=french)


def _message(text: str, words: Sequence[Word], folds: Sequence[str], *, french: bool) -> Message:
    sexed = [one for at, one in enumerate(words) if not is_of_either(words, at)]
    sexed_folds = [one.text for one in sexed]
    return Message(
        text=text,
        words=tuple(words),
        describes=describes_somebody(folds)
        or any(  # "Dr Weber's patient"
            one.title == "staff" and one.is_owner and after.is_in("titles_of_patients", "people")
            for one, after in pairwise([one for one in words if not one.is_in("newest")])
        )
        or is_of_both(folds, heads=bool(words) and words[0].is_heading),
        is_placed=any(_is_place_of_somebody(words, at) for at in range(len(words)))
        or (_BED_HEADS.match(text) is not None and folds[0] in things_asked()),
        registers=any(one in of_people("registers") for one in folds),
        compares=_compares(text, folds),
        spoken_sex=_spoken_sex(sexed, sexed_folds),
        told_sex=spoken_sex([one.raw for one in sexed], sexed_folds),
        pronoun_at=next((one.start for one in words if is_pronoun(one, french)), None),
    )


def _compares(text: str, folds: Sequence[str]) -> bool:
    """Whether it compares people; behind "Doyle: " things of that one are compared."""
    places = [at for at, one in enumerate(folds) if one in of_people("compares")]
    heading, colon, _ = text.partition(":")
    return bool(places) and not (colon and places[0] >= len(_WORD.findall(heading)) > 0)


def _spoken_sex(words: Sequence[Word], folds: Sequence[str]) -> Sex | None:
    """Return the sex of the pronouns that stand before anybody's name: `book him with Dr Chen`."""
    named = (
        place
        for place, one in enumerate(words)
        if _may_be_spoken_of(one) and not (one.title == "staff" and says_of_patient(folds, place))
    )
    end = next(named, len(words))
    return spoken_sex([one.raw for one in words[:end]], folds[:end]) or sex_of_owners(folds)


def _is_of_head(words: Sequence[Word], at: int) -> bool:
    if at and words[-1].is_in("volumes") and words[-1].gap.rstrip()[-1:].isdigit():
        return True  # `1l hartmanns`
    return at > 1 and words[-1].is_in("particles") and words[-2].is_in("eponym_heads")


def _is_another(folds: Sequence[str], at: int) -> bool:
    is_told_apart = at + 1 < len(folds) and folds[at + 1] in of_people("generations")
    if at and folds[at - 1] in of_people("titles_of_men", "titles_of_women"):
        at -= 1
    return is_told_apart or (at > 0 and folds[at - 1] in of_people("others"))


def _is_part_of_word(text: str, word: re.Match[str]) -> bool:
    """Whether it is no word by itself: the s of a possessive, an age's y, no "her" in HER2."""
    if text[word.end() : word.end() + 1].isdigit() and folded(word.group()) == "her":
        return True
    if text[: word.start()][-1:].isdigit() and folded(word.group()) in of_people("units_of_age"):
        return True
    is_s = word.group().lower() == "s" and word.start() > 0
    return is_s and text[word.start() - 1] in APOSTROPHES


def _is_short_form(word: Word, gap: str) -> bool:
    """Whether a full stop ends an abbreviation: `Dr. Weber`, `M. Whitfield`."""
    titles = of_people("titles_of_men", "titles_of_women", "staff", "titles_of_patients")
    titles |= of_people("before_letters")
    return gap.strip(" ,") == "." and (len(word.raw) == 1 or word.text in titles)


def _is_abbreviation(words: Sequence[Word], shouted: bool) -> bool:
    """Whether the word before is no title but a scan, a disease or a unit: MR, MS, `440 ms`."""
    if words and words[-1].raw == "ms":
        number = words[-1].gap.strip(" ,:=")
        return number.isdecimal() and len(number) >= _DIGITS_OF_MS
    shorts = ("HR", "MR", "MS", "SR", "FR", "PT", "PR")
    return bool(words) and not shouted and words[-1].raw in shorts


def _is_in_date(folds: Sequence[str], at: int, gap: str, behind: str) -> bool:
    """Whether a month stands beside a number, or where only a time can stand."""
    is_after = at > 0 and folds[at - 1] in of_people("before_months")
    if folds[at] in of_people("seasons"):
        return is_after
    if folds[at] not in month_numbers():
        return False
    is_after |= at > 0 and folds[at - 1] in measured_nouns()  # "hb june"
    beside = folds[max(0, at - 2) : at][::-1], folds[at + 1 : at + 3]  # "feb or march"
    is_after |= any(
        joint in of_people("joins") and other in month_numbers()
        for joint, other in (pair for pair in beside if len(pair) > 1)
    )
    has_number = gap.rstrip(" .,-")[-1:].isdigit() or behind.lstrip(" .,-")[:1].isdigit()
    return has_number or is_after


def _title(
    folds: Sequence[str], words: Sequence[Word], at: int, gap: str, french: bool
) -> Title | None:
    """Return what stands before the name that this word may belong to."""
    is_led = at > 0 and gap in APOSTROPHES and len(words[-1].raw) == 1  # Mrs O'Brien
    if at == 0 or (gap.strip(" .-\t") and not is_led) or "\n" in gap:
        return None
    before, earlier = folds[at - 1], folds[at - 2] if at > 1 else ""
    is_role = before in ("is", "ist") and earlier in of_people("staff")  # `registrar is Hannah`
    is_role |= before in of_people("staff")
    if is_role and not (before == "sister" and earlier in of_people("owners")):
        return "staff"
    if before in of_people("relatives") and (
        earlier in of_people("owners") or before not in of_people("kin_too")
    ):
        return "relative"
    if before in of_people("titles_of_women"):
        is_kin = before in of_people("kin_too") and earlier in of_people("owners")
        return "relative" if is_kin else "woman"
    is_monsieur = before == "m" and gap.startswith(".")
    is_monsieur &= french or earlier in of_people("about", "french", "person_verbs")
    if before in of_people("titles_of_men") or is_monsieur:
        return "man"
    if before in of_people("titles_of_patients"):
        return "patient"
    last = words[-1]
    # A title holds for given name and family name: "Dr Anna Weber", "her son Jan Kowalski".
    carries = last.title is not None and last.title != "patient" and not last.is_owner
    is_capital = last.raw[0].isupper() or len(last.raw) == 1
    is_capital |= last.is_in("particles")  # `dr. al-Rashid`
    carries = carries and is_capital and (len(words) < 2 or words[-2].title is None)
    if "." in gap:  # "Frau Th. Weber", and not "Mrs Whitfield. She was well"
        carries = carries and (len(last.raw) == 1 or _VOWELS.isdisjoint(last.text))
    return last.title if carries else None


def _is_place_of_somebody(words: Sequence[Word], at: int) -> bool:
    """Whether a room or bed stands for who lies there: `bed 12`, `Doyle in room 4`, `4B's`.

    Not `she is in room 4`, `moved to bed 12`, `CKD 3b`.
    """
    place = words[at]
    is_code = _BED.search(place.gap) is not None and place.raw.lower() in _BED_LETTERS
    is_code = is_code and not place.has_number and (at == 0 or not place.gap[0].isdigit())  # A1c
    if not is_code and not (place.is_in("places") and place.has_number):
        return False
    told = [w for w in words[:at] if not w.is_in("definite", "places", "units")]
    before = [w for w in told if not w.gap[-1:].isdigit()]  # `9th floor, rm 12`
    leads = of_people("opening", "moves_on", "within")
    begins = leads.issuperset(one.text for one in before)
    near = of_people("within", "about")
    if is_code:
        begins = begins or bool(_BEGINS & set(place.gap))
        rest = {one.text for one in words[at + 1 :]}
        is_said = not place.closes and place.after not in of_people("joins")
        is_asked = is_said or place.is_owner or not things_asked().isdisjoint(rest)
        if begins or not (before and before[-1].text in near | of_people("booked_for")):
            return begins and is_asked
    elif place.after in of_people("does_or_is") or begins:  # `remember: bed 4 is NPO`
        return True
    elif before[-1].is_in("before_beds"):  # `can we discharge bed 3`, but not `is bed 3 free`
        return not words[-1].is_in("qualities")
    last = next((one for one in reversed(before) if one.text not in near), before[0])
    is_name = last.raw[0].isupper() and not last.is_common and last is not words[at - 1]
    of_whom = last.is_in("booked_for", "babies", "people", "called_patients")  # `pt in 7C lasix`
    of_whom |= is_code and place.heads  # `hip fx in 12B: hb`
    of_whom |= at == 1 and "," in place.gap and last is words[0]  # `fisher, bed 9, k`
    return is_name or of_whom or last.text in things_asked()


def _may_be_spoken_of(word: Word) -> bool:
    """Whether a pronoun may belong to whom the word names: `Peter called, tell him`."""
    if not word.raw[0].isupper() or word.raw.isupper() or word.is_common:
        return False
    is_verb = word.is_first and word.is_in("person_verbs")
    is_verb = is_verb or word.before in of_people("owners")  # `ihre Nierenwerte?`
    return not (is_verb or word.is_in("patients_own") or is_clinical_name(stem(word.text)))
