"""Whether one row says what a clause states."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from itertools import pairwise

from services.language.figures.quantities import Quantity
from services.language.figures.written_dates import FoundDate
from services.language.sentences.clauses import Clause
from services.language.sentences.name_kinds import kind_of_name
from services.language.words.statement_tables import saying, stems_told
from services.language.words.statement_words import group_of, statement_words
from services.statements.rows.happenings import COURSES, has_ended, is_otherwise, tells_happenings
from services.statements.rows.known_words import has_all, is_named, lacked
from services.statements.rows.one_of_several import (
    DONE_ONCE,
    excludes,
    has_reactions,
    is_age_then,
    is_compared,
    is_dose_of,
    is_mixture,
    is_plain,
    is_score,
    says_which,
)
from services.statements.rows.rows import BEGINNING, JUDGED, NOT_DONE, KnownRow, stems_of, told_of
from services.statements.rows.units import in_moles, is_same

_TO = "auf"
_LASTING = ("medication", "care plan")
_TELLING_NUMBERS = ("report", "medication")
_STATES = frozenset({"problem", "allergy", "device", "device use", "flag", "coverage"})


def fits(clause: Clause, row: KnownRow) -> bool:
    """Whether one row says all that a clause states besides its names."""
    return (
        clause.often <= row.often
        and (not clause.dates or all(_is_of_day(one, clause, row) for one in clause.dates))
        and (not clause.quantities or _measures(clause, row))
        and is_denied_alike(clause, row)
        and _is_as_sure(clause, row)
        and not (is_aim(row) and _names_problems(clause) and not clause.says("of_aims"))
        and not _is_visit_for(clause, row)
        and is_of_same_matter(clause, row)
        and is_age_then(clause, row)
        and not (row.is_plan and not is_hedged(clause, row))
        and all(any(map(one.fits, row.stages)) or is_plain(one, row) for one in clause.stages)
        and row.words.issuperset(clause.codes)
        and has_sites(clause, row)
        and not excludes(clause, row)
        and not _is_finding_beside(clause, row)
        and stands(clause, row)
        and not ("tolerates" in clause.cues and row.kind in ("medication", "procedure"))
        and tells_happenings(clause, row)
        and not is_otherwise(clause, row)
        and says_which(clause, row)
        and (not row.is_text or _is_told_there(clause, row))
        and not (row.kind.endswith(_TELLING_NUMBERS) and is_of_other_number(clause, row))
    )


def _is_former(clause: Clause, row: KnownRow) -> bool:
    """Whether a clause tells, as that of now, what a report gives as before: `14 mm (31 mm)`."""
    is_of_then = bool(clause.dates) or clause.says("was", "from", "formerly", "at_first")
    if is_of_then or clause.cues & (COURSES | {"before"}):
        return False
    told = clause.quantities if len(clause.quantities) == 1 else ()
    forms = ("{1} ({0:g} {1})", " from {0:g} {1} to ", " von {0:g} {1} auf ")
    if any(form.format(one.number, one.unit) in row.says for one in told for form in forms):
        return True
    figures = {word for word in clause.words if any(map(str.isdigit, word))}
    parts = [row.says.partition(f" {word} ") for word in saying("formerly") if figures]
    former = (stems_of(behind) - stems_of(before) for before, _, behind in parts if behind)
    return any(figures <= one for one in former)  # "i1, previously i3"


def is_hedged(clause: Clause, row: KnownRow) -> bool:
    """Whether a clause says with a row that it is only planned, suspected or somebody else's."""
    begun = {word[:BEGINNING] for word in clause.words}
    told = any(hedge[:BEGINNING] in begun or hedge[:4] in begun for hedge in row.hedges)
    told = told or ("suspected" in row.hedges and bool(clause.words & stems_told("unsure")))
    return told or not clause.cues.isdisjoint(NOT_DONE)


def _is_told_there(clause: Clause, row: KnownRow) -> bool:
    """Whether a text judges a thing alike, and tells its number by its words, not its title."""
    is_alike = clause.cues & JUDGED <= row.judged or is_compared(clause, row)
    if clause.sites and not clause.has_values and "normal" in row.judged - clause.cues:
        return False  # "Right breast unremarkable" is no word for "the right breast is affected"
    if not is_alike or is_of_other_number(clause, row) or _is_former(clause, row):
        return False
    if clause.sites and not clause.quantities:
        ills = {one for one in clause.names if kind_of_name(one) == "problem"}
        return not ills or any(one in row.name or is_named(one, row.name) for one in ills)
    if not clause.quantities or not clause.own_names:
        return True
    told = told_of(clause.words).union(clause.names)
    told = frozenset(one for one in told if group_of(one) != "modality")  # "on MRI"
    alike = saying("imaged_findings")
    is_alike = bool(told & alike and row.name & alike)  # "the tumour", of a mass
    return not told or is_alike or any(one in row.name or is_named(one, row.name) for one in told)


def is_of_other_number(clause: Clause, row: KnownRow) -> bool:
    """Whether a clause says "three" where a text says "two": no number of either is a value."""
    numbers = statement_words().numbers
    told = {numbers[word] for word in clause.words if word in numbers}
    is_few = len(told) > 1 or row.kind == "medication"  # "one of the drugs"
    told -= {one.number for one in clause.quantities} | ({1.0} if is_few else set())
    known = {numbers[word] for word in row.words | stems_of(row.says) if word in numbers}
    figures = {one.number for one in row.quantities if one.unit[:1] in ("", "{")}
    return bool(told and known) and not told <= known | figures


def _is_finding_beside(clause: Clause, row: KnownRow) -> bool:
    """Whether a clause calls a thing normal, and the row only tells that it was done, or is ill."""
    is_without = row.kind in ("problem", "imaging study", *DONE_ONCE)
    is_normal = "normal" in row.words and " for Normal " not in row.says
    return "normal" in clause.cues and row.number is None and is_without and not is_normal


def _is_as_sure(clause: Clause, row: KnownRow) -> bool:
    """Whether what a row only suspects is told as a suspicion, and one of two not as both."""
    prevented = saying("preventing") if row.kind == "medication" else frozenset[str]()
    if row.words & prevented and not clause.words & prevented:  # for prophylaxis of an illness
        return not any(kind_of_name(one) == "problem" for one in clause.names)
    if not row.hedges and not row.words.isdisjoint(stems_told("unsure")):
        return bool(clause.words & stems_told("unsure")) or "maybe" in clause.cues
    is_none = clause.says("lacking") or any(one.number == 0 for one in clause.quantities)
    if not is_none and lacked(row) & clause.words:
        return False
    if clause.says("all") and shares(row.quantities, row.words):
        return False
    told = shares(clause.quantities, clause.words)
    return not told or told <= shares(row.quantities, row.words)


def shares(
    quantities: Sequence[Quantity], words: AbstractSet[str]
) -> frozenset[tuple[float, float]]:
    """Return the parts of a whole that are told: `2 of 12`."""
    if len(quantities) < 2:
        return frozenset()
    numbers = [one.number for one in quantities if not (one.unit or one.comparator)]
    is_of = not words.isdisjoint(saying("of")) and _TO not in words  # "von 1,5 auf 2,5"
    return frozenset(pair for pair in pairwise(numbers) if is_of and pair[0] <= pair[1])


def is_of_same_matter(clause: Clause, row: KnownRow) -> bool:
    """Whether allergies are told by rows of allergies, drugs by rows of drugs, kin by rows of kin.

    A row of a penicillin allergy says nothing of who takes penicillin; that of ramipril, which
    somebody takes, nothing of an allergy to it.
    """
    is_told_of_kin = row.kind.startswith("family") or bool(row.words & stems_told("family"))
    if ("family" in clause.cues or "=family history" in clause.topics) != is_told_of_kin:
        return False
    kin = clause.words & stems_told("family") - saying("any_kin")
    if is_told_of_kin and not all(one in row.words or is_named(one, row.words) for one in kin):
        return False
    is_of_allergy = row.kind.startswith("allerg") or "=allergy" in row.words
    is_of_allergy = is_of_allergy or bool(row.words & stems_told("allergic"))
    if is_of_allergy and not has_reactions(clause.words & stems_told("reactions"), row):
        return False
    if clause.words & stems_told("allergic"):
        return is_of_allergy
    is_tolerated = row.is_text and "tolerates" in clause.cues  # "no penicillin, because of a rash"
    if is_tolerated and row.words.isdisjoint(stems_told("tolerates")):
        return False
    if not is_of_allergy:
        return True
    return clause.cues.isdisjoint({"takes", "tolerates"}) and not clause.says("treating")


def is_denied_alike(clause: Clause, row: KnownRow) -> bool:
    """Whether a row that denies something is told so: `EGFR T790M is absent`."""
    denying = stems_told("denying")
    is_denied = row.negated or (row.is_text and not row.words.isdisjoint(denying))
    told = denying | saying("without") | statement_words().refusing | saying("in_error")
    if row.kind == "medication" or (row.kind == "procedure" and clause.says("was")):
        # "prescribed, and never given"
        told |= saying("of_a_prescription")
    if row.negated and row.words & saying("carried_out"):  # "not tested" is not negative
        told -= denying
    is_gene = row.kind in ("fact", "genetic finding") and "normal" in clause.cues  # without variant
    return not (is_denied and clause.words.isdisjoint(told)) or is_gene


def has_sites(clause: Clause, row: KnownRow) -> bool:
    """Whether a row has every side beside the same place; what is there may stand elsewhere."""
    if not clause.sites:
        return True
    sides = frozenset(statement_words().sides.values())
    whole = frozenset().union(*row.sites)  # "left breast, upper outer quadrant" are of one side
    there = row.sites if len(whole & {"left", "right"}) > 1 else (*row.sites, whole)
    there = there if row.sites else (row.words,)  # "small right pleural effusion"
    fewest = 1 + (row.is_text or len(whole & sides) > 1)  # "port, right subclavian", of one side
    return all(
        any(one & sides <= k and len(one & k) >= fewest and one <= k | row.words for k in there)
        for one in clause.sites
    )


def _measures(clause: Clause, row: KnownRow) -> bool:
    is_about = "approximately" in clause.cues and len(clause.quantities) == 1
    is_other = row.kind == "medication" and not is_dose_of(clause, row)
    goals = {one.number for one in row.quantities} if row.kind == "goal" else set[float]()
    if goals and any(one.comparator and one.number not in goals for one in clause.quantities):
        return False  # no value, but the bound itself
    ends = {one.number for one in row.ranges}
    if is_other or any(one.number not in ends for one in clause.limits):
        return False
    known = row.quantities
    if row.needs_all:
        known = (*known, *(other for one in known for other in in_moles(one, row.needs)))
    if clause.often and not row.needs_all:  # "1 mg twice daily" is no strength
        known = tuple(one for one in known if not _is_among(one, row.figures)) or known
    if clause.cues & {"range", "normal"}:
        known = (*known, *row.ranges)
    if clause.names and not row.is_text and row.needs.isdisjoint(clause.names):
        is_bounded = any(one.comparator for one in clause.quantities)
        known = tuple(one for one in known if one.comparator or not is_bounded)
    others = [
        one
        for one in clause.quantities
        if not (_is_among(one, known, is_about=is_about) or is_score(one, row))
        and not (row.kind in DONE_ONCE and not one.unit and f"{one.number:g}" in row.name)
        and (one.pair is None or not is_mixture(one, row))
    ]
    if not others or len(others) == len(clause.quantities):
        return not others
    # Who repeats a whole name repeats its figures, too; alone they are no value.
    return all(not one.comparator and _is_among(one, row.figures) for one in others)


def _is_among(one: Quantity, known: Sequence[Quantity], *, is_about: bool = False) -> bool:
    return any(is_same(one, there, is_about=is_about) for there in known)


def has_date(found: FoundDate, row: KnownRow) -> bool:
    """Whether the row has the date, perhaps more exactly."""
    return any(reading.fits(known) for reading in found.readings for known in row.dates)


def _is_of_day(found: FoundDate, clause: Clause, row: KnownRow) -> bool:
    """Whether the row has the date; when a text was written is not when a thing began."""
    if not has_date(found, row):
        return False
    things = {one for one in clause.names if group_of(one) != "modality"}  # a report tells its scan
    title = row.words - row.name - statement_words().fillers - things
    is_of_title = not clause.words.isdisjoint(title)
    is_later = "when" in clause.cues and not row.words.isdisjoint(saying("behind"))
    if row.written is None or is_of_title or not (clause.cues & {"begun", "ended"} or is_later):
        return True
    own = [one for one in row.dates if one is not row.written]
    return any(reading.fits(known) for reading in found.readings for known in own)


def stands(clause: Clause, row: KnownRow) -> bool:
    """Whether a row holds now, where the clause says now; has ended, where it says so."""
    cues = clause.cues
    is_value = row.number is not None or any(one.pair is not None for one in row.quantities)
    is_said = bool(clause.exclusive) and row.exclusive.issuperset(clause.exclusive)
    # "Stopped because the eGFR had fallen": the course is of the reason.
    is_said = (
        is_said
        or bool(clause.words & row.words & (saying("of_a_complaint") | saying("because_of")))
        or ("link:given" in cues and bool(row.words & saying("because_of")))
    )
    if cues & COURSES and not row.is_text and not is_value and not is_said:
        return False  # "LVEF is unchanged" is not told by a drug that is given for it
    of_now = cues - {"current"} if clause.says("after") else cues  # "now progressing after X"
    if row.standing == "ended" and of_now & {"current", "takes"} and "ended" not in cues:
        return bool(clause.dates) and clause.says("until") and _stands_then(clause, row)
    is_to_end = row.is_plan and not cues.isdisjoint(NOT_DONE)
    is_all = not (clause.counted and clause.quantities)  # not "completed two of three"
    is_done = row.kind in DONE_ONCE and is_all and clause.says("completed")
    if "ended" in cues and not (is_to_end or has_ended(row) or is_done):
        return False
    if row.standing == "ended" and row.kind in _STATES and _is_told_of_now(clause):
        return False
    return _stands_then(clause, row)


def _stands_then(clause: Clause, row: KnownRow) -> bool:
    """Whether a row ended, or began, on the days that a clause tells of its end or beginning."""
    cues = clause.cues
    if clause.counted and "newest" in cues and row.earlier and row.begun and clause.dates:
        last = tuple(day for day in (row.begun, row.ended) if day)  # not when it was before
        return has_date(clause.dates[0], replace(row, dates=last))
    if len(clause.dates) == 1 and row.kind in _LASTING and clause.says("until"):
        return row.ended is not None and has_date(clause.dates[0], replace(row, dates=(row.ended,)))
    if clause.dates and {"ended", "day_before_end"} <= cues:
        return True
    if clause.dates and "ended" in cues and row.ended is not None:
        is_then = any(reading.fits(row.ended) for one in clause.dates for reading in one.readings)
        if is_then or "begun" not in cues:
            return is_then
    return not is_begun_otherwise(clause, row)


def is_begun_otherwise(clause: Clause, row: KnownRow) -> bool:
    """Whether a day that is told as a thing's beginning is its end, or of a later prescription."""
    is_told = len(clause.dates) == 1 and not clause.cues.isdisjoint({"begun", "when"})
    is_told = is_told and "ended" not in clause.cues and row.kind in ("medication", "problem")
    if not is_told or row.begun is None:
        return False
    is_start = row.kind == "medication" and ("begun" in clause.cues or clause.says("at_first"))
    is_last = "newest" in clause.cues  # "last given on the day of its end"
    others = () if is_start else (day for day in row.dates if is_last or day != row.ended)
    days = [row.begun, *others, *(first for first, _ in row.earlier if first)]
    return not has_date(clause.dates[0], replace(row, dates=tuple(days)))


def is_aim(row: KnownRow) -> bool:
    """Whether a row is of a plan: who follows one for diabetes may have prediabetes."""
    return row.kind in ("care plan", "goal")


def _is_visit_for(clause: Clause, row: KnownRow) -> bool:
    """Whether a row is of a visit for something else, or over, where an illness is of now."""
    if row.kind == "encounter" and clause.says("for_what") and " for " in row.says:
        told = told_of(clause.words) - statement_words().neutral - statement_words().spoken
        return not has_all(frozenset(one for one in told if one[0] != "="), row.words)
    is_over = row.kind in DONE_ONCE or (
        row.standing == "ended" and row.kind in ("medication", "care plan")
    )
    is_told = _is_told_of_now(clause) or (row.kind == "encounter" and "ended" in clause.cues)
    return is_over and is_told and _names_problems(clause)


def _names_problems(clause: Clause) -> bool:
    kinds = {kind_of_name(one) for one in clause.names}
    return "problem" in kinds and kinds <= {"problem", ""}


def _is_told_of_now(clause: Clause) -> bool:
    """Whether a clause says that somebody has something now: "She is pregnant."."""
    is_of_past = clause.cues & {"ended", "before", "when", "maybe"} or clause.says("past")
    return {"is_now", "about_patient"} <= clause.cues and not (is_of_past or clause.dates)


def is_measured(one: Quantity, row: KnownRow) -> bool:
    """Whether the row has the number."""
    return _is_among(one, row.quantities)
