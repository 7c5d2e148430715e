"""Somebody described rather than named: "the violin teacher", "the man from this morning". Pure."""

from collections.abc import Collection, Iterator, Sequence
from functools import cache
from itertools import takewhile
from typing import Literal

from services.language.charts.chart_entries import chart_nouns, measured_nouns
from services.language.words.detection import language_of
from services.language.words.people_words import of_people
from services.language.words.statement_tables import stem
from services.language.words.statement_words import is_clinical_name

# The sex that pronouns give the one who is spoken of, as far as they can mean nobody else. Pure.
#
# `lui`, `son` and `su` are either's, `ihr` may be a thing's or several people's, and `er`, `sie`,
# `il` and `elle` may be a tumor, a scan or a dose: they count beside verbs and things that only
# people have.

Sex = Literal["male", "female", "both"]
_OWN = {
    **dict.fromkeys(("seine", "seins", "seines", "er"), "male"),
    **dict.fromkeys(("ihre", "ihres", "sie"), "female"),
}
"""What alone stands for somebody, or for a value of theirs, `und ihres?`, and of which sex."""
_WITH = {
    **dict.fromkeys(("ihr", "sie", "elle", "lei"), "female"),
    **dict.fromkeys(("ihm", "ihn", "lui"), "male"),
}
_OF_VERBS = {"er": "male", "il": "male", "elle": "female", "sie": "female"}
_SEXED = {*_WITH, *_OF_VERBS}


def spoken_sex(raws: Sequence[str], folds: Sequence[str]) -> Sex | None:
    """Return the sex that pronouns give; None if they may be another person's, or a thing's.

    Args:
        raws: The words as typed; `folds` the same, folded.
    """
    if (called := _sex_called(folds)) is not None:
        return called
    # Behind somebody else a pronoun may be theirs: `her husband called, he is ill`.
    somebody = (at for at in range(len(folds)) if _is_somebody(folds, at))
    end = next(somebody, len(folds))
    # `her son` may be the patient; `her oncologist` is the oncologist of the one spoken of.
    is_relative = end < len(folds) and folds[end] not in of_people("staff")
    end -= end > 0 and is_relative and folds[end - 1] in of_people("owners")
    owned = set(_owners_of_values(folds))
    raws, folds = raws[:end], folds[:end]
    said = {*folds, *owned}
    if "lange her" in (told := " ".join(folds)) or language_of(told, default="") == "de":
        said -= {"her"}  # "wie lange ist das her": of a time, and nobody's
    is_man, is_woman = bool(said & of_people("he")), bool(said & of_people("she"))
    is_man = is_man or any(one.lower() == "\N{LATIN SMALL LETTER E WITH ACUTE}l" for one in raws)
    found = set(_beside_verbs(raws, folds))
    found |= _owners_in_german(raws, folds)
    is_man = is_man or "male" in found
    is_woman = is_woman or "female" in found
    if is_man and is_woman:
        return "both"
    return "male" if is_man else "female" if is_woman else None


def is_of_hers_alone(folds: Sequence[str]) -> bool:
    """Whether "and hers?" is all that is said: of another woman, where two are spoken of."""
    *before, last = folds or [""]
    return last in {"hers", "his", *_OWN} and of_people("moves_on").issuperset(before)


def sex_of_owners(folds: Sequence[str]) -> Sex | None:
    """Return the sex of whose values are spoken of; None if of nobody's or of both."""
    owned = set(_owners_of_values(folds))
    is_woman = not owned.isdisjoint(of_people("she"))
    if not owned or (is_woman and owned - of_people("she")):
        return None
    return "female" if is_woman else "male"


def _owners_of_values(folds: Sequence[str]) -> Iterator[str]:
    """Yield the pronouns whose values are spoken of, whoever is named beside them.

    "The nurse asks about his allergies": they are no nurse's. A relative has an address as well.
    """
    has_kin = any(one in of_people("relatives", "people") for one in folds)
    theirs = first_parts(measured_nouns() if has_kin else chart_nouns())
    for one, first, second in zip(folds, folds[1:], [*folds[2:], ""], strict=False):
        of_what = second if first in of_people("newest") else first
        if one in of_people("he", "she", "sein") and of_what in theirs:
            yield one


@cache
def first_parts(nouns: frozenset[str]) -> frozenset[str]:
    """Return `nouns` as messages are read, which part words before a figure: `HbA1c`."""
    parts = ("".join(takewhile(str.isalpha, one)) for one in nouns)
    return nouns | {one for one in parts if len(one) > 1}


@cache
def values_asked(*beside: str) -> frozenset[str]:
    """Return the words, as messages are read, with which what is asked of a chart begins.

    Args:
        beside: Other lists of words that count here.
    """
    values = first_parts(measured_nouns()) | of_people("values_of_one")
    return values - of_people("of_no_value") | of_people(*beside)


@cache
def things_asked() -> frozenset[str]:
    """Return these words, and those for scans."""
    return values_asked() | of_people("scans")


def _sex_called(folds: Sequence[str]) -> Sex | None:
    """Return the sex of who is called so and no more: `the gentleman`, `the boy's weight`.

    With a pronoun of the other sex it is somebody beside the patient: `the man who brought her`.
    """
    said = set(folds)
    if not first_parts(chart_nouns()).isdisjoint(folds[2:3]):  # `der Mann: Kalium`
        said -= of_people("spouses")
    behind = {
        one.removesuffix("s")
        for before, one, after in zip(folds, folds[1:], [*folds[2:], ""], strict=False)
        if before in of_people("definite") and after not in of_people("described_by")
    }
    is_man, is_woman = bool(behind & of_people("men")), bool(behind & of_people("women"))
    if is_man == is_woman or said & of_people("she" if is_man else "he", "relatives"):
        return None
    return "male" if is_man else "female"


def _is_somebody(folds: Sequence[str], at: int) -> bool:
    """Whether somebody else is spoken of; `a smoker` says what the one who is spoken of is."""
    if folds[at] in of_people("staff"):
        return not says_of_patient(folds, at)
    if folds[at] in of_people("relatives"):
        return True
    return folds[at] in of_people("people") and not (at and folds[at - 1] in of_people("articles"))


def says_of_patient(folds: Sequence[str], at: int) -> bool:
    """Whether staff at `at` say something of the patient: "the doctor says he is on warfarin".

    Of what he will do they may speak themselves: "the doctor says he will come".
    """
    if of_people("says").isdisjoint(folds[at + 1 : at + 3]):
        return False
    pairs = zip(folds[at + 1 :], [*folds[at + 2 :], ""], strict=True)
    spoken = of_people("pronouns") | set(_OF_VERBS)
    return not any(one in spoken and verb in of_people("verbs_of_plans") for one, verb in pairs)


def is_of_both(folds: Sequence[str], *, heads: bool) -> bool:
    """Whether two patients are meant and nobody is named: "both: potassium", "of both patients".

    Args:
        heads: Whether a sign parts the first word from the rest.
    """
    if first_parts(chart_nouns()).isdisjoint(folds):
        return False  # two appointments, or tasks
    theirs = of_people("them") | {
        f"{one}{end}" for one in of_people("titles_of_patients") for end in ("", "s")
    }
    return any(
        one in of_people("both")
        and (
            not theirs.isdisjoint(folds[at + 1 : at + 3])
            or (at == 0 and heads)
            or (at + 1 == len(folds) and bool(of_people("before_names") & set(folds[at - 1 : at])))
        )
        for at, one in enumerate(folds)
    )


def _owners_in_german(raws: Sequence[str], folds: Sequence[str]) -> set[str]:
    """Return the sex that `ihr Kalium` or `und seines?` gives; "Was sind Ihre …" is polite."""
    theirs, measured = of_people("patients_own"), measured_nouns()
    ends = len(folds) == 2 and {*folds[:1]} <= of_people("opens_clause") and folds[-1] in _OWN
    found = {_OWN[folds[-1]]} if ends else set()
    for at, (one, first, second) in enumerate(
        zip(folds, folds[1:], [*folds[2:], ""], strict=False)
    ):
        of_what = second if first in of_people("newest") else first
        if of_what in theirs or of_what in measured or of_what.endswith("werte"):
            is_hers = one in of_people("ihr") and (at == 0 or raws[at].islower())
            found |= {"female"} if is_hers else {"male"} if one in of_people("sein") else set()
    return found


def _beside_verbs(raws: Sequence[str], folds: Sequence[str]) -> Collection[str]:
    found, things, do = [], of_people("masculine_things"), of_people("masculine_things_do")
    for at, one in enumerate(folds):
        behind = folds[at + 1] if at + 1 < len(folds) else ""
        is_polite = behind == "sie" and raws[at + 1][0].isupper()  # "für Sie"
        if one in of_people("set_against") and behind in _SEXED and not is_polite:
            found += ["male", "female"]  # `pas lui, elle : poids ?`
        elif one in of_people("near") and behind in _WITH and not is_polite:
            found.append(_WITH[behind])
        elif one in _WITH and at == 0 and behind in of_people("happens_to", "owners"):
            found.append(_WITH[one])
        elif (
            at == 1
            and one in ("ihr", "ihm")
            and behind in of_people("given")
            and folds[0][-1] != "t"
        ):
            found.append(_WITH[one])  # "buch ihr einen Termin", not "verschieb ihn eine Stunde"
        elif one == "er" and not (things.isdisjoint(folds[:at]) and do.isdisjoint(folds)):
            continue
        elif one in _OF_VERBS and (
            behind in of_people("person_verbs", "told_of_people")
            or _is_asked(folds, at)
            or (at == 0 and (one == "elle" or (one, behind) == ("il", "a")))
            or _opens_statement(raws, folds, at)
        ):
            found.append(_OF_VERBS[one])
    return found


def _opens_statement(raws: Sequence[str], folds: Sequence[str], at: int) -> bool:
    """Whether `er` or `sie` begins what is told: `sie wird entlassen`, `merk dir, dass er fällt`.

    Whoever tells something names a thing before pointing at it; of several the verb is another.
    """
    lead, behind = folds[at - 1] if at else "", folds[at + 1 :]
    is_clause = lead in of_people("subordinators")
    is_first = at == 0 or is_clause or lead in of_people("before_statements")
    names_thing = any(raw[0].isupper() for raw in raws[1:at]) or {"er", "sie"} <= {*folds}
    if not (is_first and behind and folds[at] in of_people("subjects")) or names_thing:
        return False
    verb = behind[-1 if is_clause else 0]
    return verb in of_people("verbs_of_one") or verb.endswith("t")


def _is_asked(folds: Sequence[str], at: int) -> bool:
    """Whether the verb stands before the pronoun: `Raucht er?`, `A-t-elle des allergies ?`."""
    before = at - 2 if at > 1 and folds[at - 1] == "t" else at - 1
    if before < 0:
        return False
    opens = before == 0 or folds[before - 1] in of_people("opens_clause")
    is_then = before > 0 and of_people("times_before").issuperset(folds[:before])
    if is_then and folds[before] in of_people("verbs_of_one"):
        return True  # "morgen kommt er zum CT"
    is_own = before > 0 and folds[before - 1] in of_people("patients_own")
    is_own &= folds[before] in of_people("open_verbs", "copulas")  # `wie alt ist er`
    is_led = (opens or is_then) and folds[before] in of_people("open_verbs")
    return is_own or is_led or folds[before] in of_people("person_verbs")


def describes_somebody(folds: Sequence[str]) -> bool:
    """Whether the words describe somebody: an article, up to three words, and a kind of person."""
    for at, one in enumerate(folds):
        if one in of_people("titles_of_patients") and _describes_patient(folds, at):
            return True
        # `Dialysepatientin`
        ends = (one.endswith(kind) and len(one) > len(kind) + 2 for kind in of_people("kinds"))
        is_kind = folds[at - 1] in of_people("definite") and one not in of_people("no_patients")
        if at and is_kind and any(ends):
            return True
        if one not in of_people("people") or at == 0:
            continue
        is_kind = _is_kind(folds[:at])
        if is_kind and folds[2:] and one.removesuffix("s") in of_people("men", "women"):
            return True  # `osteoporosis lady's dexa`
        if _has_article(folds, at):
            return True
    return False


def _is_kind(folds: Sequence[str]) -> bool:
    """Whether an illness, or an organ that is ill, is all of `folds`: `breast ca`, `prostate`."""
    lists = (chart_nouns("problems", "search_record"), of_people("organs", "ill_people"))
    is_ill = any(folds[0] in one for one in lists) or is_clinical_name(stem(folds[0]))
    return is_ill and (len(folds) == 1 or {*folds[1:]} <= {"ca", "cancer", "tumor", "tumour"})


def _has_article(folds: Sequence[str], at: int) -> bool:
    """Whether an article makes one person of the word at `at`: `the pilot's`, `and the lady`."""
    places = range(at - 1, max(at - 4, -1), -1)
    article = next((one for one in places if folds[one] in of_people("definite")), None)
    if article is None:
        return False
    behind = folds[at + 1] if at + 1 < len(folds) else ""
    has_more = at - article > 1
    if has_more and folds[at] == "one" and of_people("newest").issuperset(folds[article + 1 : at]):
        return False  # "and the previous one?" is a scan, or a value
    moves = article > 0 and folds[article - 1] in of_people("moves_on", "tells")
    ends = not behind or behind in of_people("lingers")
    is_told_apart = behind in of_people("described_by", "told_apart_by")
    is_told_apart &= folds[-1] not in of_people("lines")  # "this lady in three lines"
    return is_told_apart or (has_more and (moves or ends or article == 0))


def _describes_patient(folds: Sequence[str], at: int) -> bool:
    """Whether "patient" stands with words that tell one from another: "the breast cancer patient".

    "The patient" alone, and "the current patient", are the open one.
    """
    article = next(
        (i for i in range(at - 1, max(at - 5, -1), -1) if folds[i] in of_people("definite")), -1
    )
    if article < 0 or (folds[at] == "fall" and folds[article] in ("the", "our", "my", "this")):
        return False  # `did the dust mite ige fall`
    between = folds[article + 1 : at]
    before, behind = folds[article - 1 : article], [*folds[at + 1 : at + 3], "", ""]
    moves = not before or before[0] in of_people("moves_on")
    if not between:
        if behind[0] == "in" and behind[1] in of_people("manners"):
            return False
        is_told_apart = behind[0] in of_people("described_by", "told_apart_by")
        has_place = behind[1] in of_people("places", "staff")
        if folds[article] == "this":  # is the open one, but for where another lies
            return is_told_apart and has_place
        # "The patient in pain" may be the open one; "the patient with the fall" begins anew.
        begins = moves and (bool(before) or behind[0] not in of_people("vague_places"))
        return is_told_apart and (has_place or begins)
    if any(one in of_people("plain_patients", "told_apart_by") for one in between):
        return False
    return moves or not behind[0] or behind[0] in of_people("lingers")
