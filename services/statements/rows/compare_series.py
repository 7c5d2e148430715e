"""Compares a value with the others of its series: newest, highest, course and flag. Pure."""

from collections.abc import Collection, Sequence
from itertools import pairwise

from services.language.sentences.clauses import Clause
from services.language.words.statement_tables import saying, stems_told
from services.language.words.statement_words import statement_words
from services.statements.rows.fit import has_date
from services.statements.rows.happenings import is_plainly_otherwise
from services.statements.rows.rows import KnownRow
from services.statements.rows.verdict import Verdict

_STEADY = 0.1
"""What is called stable may have changed by this share of its value."""
_UNCHANGED = 0.05
_SAME = 0.0005
"""What differs by less differs in how it was rounded."""


def series_of(clause: Clause, row: KnownRow, candidates: Sequence[KnownRow]) -> list[KnownRow]:
    """Return the values of what a row is about, and stages on a clause's scale, oldest first."""
    scales = {one.scale for one in clause.stages}
    found = [
        one
        for one in candidates
        if not one.is_text
        and one.order
        and (one.name == row.name or scales & {each.scale for each in one.stages})
    ]
    return sorted(found, key=lambda one: one.order)


def value_of(row: KnownRow) -> float:
    """Return a row's number, of a pair the first: the systolic pressure."""
    return row.number if row.number is not None else row.quantities[0].number


def has_value(row: KnownRow) -> bool:
    """Whether a row is of a number or of a pair."""
    return row.number is not None or (
        len(row.quantities) == 1 and row.quantities[0].pair is not None
    )


def of_other_place(
    clause: Clause, fitting: Sequence[KnownRow], series: Sequence[KnownRow], places: Sequence[int]
) -> KnownRow | None:
    """Return the value that is the first, or second, where a clause calls another one so."""
    at = places[0] if places else int(clause.says("at_first"))
    days = sorted({one.order[:10] for one in series})
    if not (clause.stages or clause.quantities) or clause.dates or not 0 < at <= len(days):
        return None
    meant = next(one for one in series if one.order[:10] == days[at - 1])
    is_so = clause.stages and all(any(map(one.fits, meant.stages)) for one in clause.stages)
    return None if is_so or any(one.order[:10] == days[at - 1] for one in fitting) else meant


def is_not_newest(clause: Clause, fitting: Sequence[KnownRow], newest: KnownRow) -> bool:
    """Whether a clause calls a value the latest that is not."""
    if "newest" not in clause.cues or not clause.has_values:
        return False
    return all(one.order < newest.order for one in fitting if one.order)


def against_extreme(
    clause: Clause, fitting: Sequence[KnownRow], numbers: Sequence[KnownRow]
) -> Verdict | None:
    """Return what speaks against calling a value the highest or the lowest."""
    top = max(numbers, key=value_of)
    bottom = min(numbers, key=value_of)
    told = fitting
    if clause.cues & {"is_now", "newest"} and not clause.has_values:
        told = [max(numbers, key=lambda one: one.order)]
    for cue, extreme in (("highest", top), ("lowest", bottom)):
        if cue in clause.cues and all(value_of(one) != value_of(extreme) for one in told):
            return Verdict("contradicted", extreme.sources, extreme.says)
    return None


def is_outdated(
    clause: Clause, fitting: Sequence[KnownRow], newest: KnownRow, cited: Collection[str]
) -> bool:
    """Whether an earlier value is told as if it held now: `CEA is 3.1` where it is 9.7 since."""
    cues, others = clause.cues, OF_OTHER_TIMES
    if is_since := clause.says("since") and bool(cues & {"rising", "falling"}):
        others = others - {"begun", "when"}  # "it is 3.1 and has fallen since 2024"
    if "is_now" not in cues or cues & others or (clause.dates and not is_since):
        return False
    if not (clause.stages or len(clause.quantities) == 1):
        return False
    is_course = bool(cues & {"rising", "falling"} and clause.says("from"))
    if is_course or "maybe" in cues or any(one.is_earlier for one in fitting):
        return False
    # A stage by another source than the newest is right of that source.
    if clause.stages and any(set(one.sources) & set(cited) for one in fitting):
        return False
    told = [one for one in fitting if not one.is_text]
    return all(one.order and one.order[:10] < newest.order[:10] for one in told)


OF_OTHER_TIMES = frozenset({"before", "highest", "lowest", "begun", "when", "ended"})
_MEASURED_KINDS = frozenset({"vital sign", "laboratory"})


def is_told_beyond(clause: Clause, row: KnownRow) -> bool:
    """Whether a thing is judged, or called changed, where its row does not say so."""
    is_judged = _is_judged_without_range(clause, row) or _is_judged_beyond(clause, row)
    return is_judged or _is_changed_otherwise(clause, row)


def _is_judged_without_range(clause: Clause, row: KnownRow) -> bool:
    """Whether a value is called normal, high or low where neither flag nor range says so."""
    is_measured = row.number is not None or row.kind in _MEASURED_KINDS
    if not is_measured or row.flag or row.ranges or "no" in clause.cues:
        return False
    is_polar = row.number is not None and bool(clause.words & saying("polar") - row.words)
    is_judged = len(clause.cues & {"high", "low", "normal"}) == 1 or is_polar
    is_judged = is_judged or clause.says("abnormal", "unharmed")
    if is_judged and clause.quantities and not is_polar:
        return is_plainly_otherwise(clause, row)  # the value stands there to be judged
    return is_judged


def against_step(clause: Clause, row: KnownRow, numbers: Sequence[KnownRow]) -> Verdict | None:
    """Return what speaks against "rose to 4.1" or "stable at 4.1": the value before it."""
    if len(clause.quantities) != 1 or not clause.cues & {"rising", "falling", "steady"}:
        return None
    earlier = [one for one in numbers if one.order[:10] < row.order[:10]]
    if clause.says("from") or row.number is None:
        return None
    newest = numbers[-1]
    if (
        "steady" in clause.cues
        and (not clause.dates or "begun" in clause.cues)
        and has_changed(row.number, newest.number or 0)
    ):
        return Verdict("contradicted", newest.sources, f"{row.says}; {newest.says}")
    if not earlier:
        return None if "steady" in clause.cues else Verdict("unsupported", row.sources)
    before, now = earlier[-1].number or 0.0, row.number
    is_wrong = (
        ("rising" in clause.cues and now - before <= _SAME * abs(before))
        or ("falling" in clause.cues and before - now <= _SAME * abs(before))
        or ("steady" in clause.cues and has_changed(before, now))
    )
    if not is_wrong:
        return None
    return Verdict("contradicted", row.sources, f"{earlier[-1].says}; {row.says}")


def has_changed(before: float, now: float, share: float = _STEADY) -> bool:
    """Whether a value is no longer what is called stable."""
    return abs(now - before) > share * max(abs(before), abs(now))


def against_trend(clause: Clause, numbers: Sequence[KnownRow]) -> Verdict | None:
    """Return what speaks against a rise, a fall or a steady course."""
    # One view rounds what another does not.
    numbers = list({row.order[:10]: row for row in since(clause, numbers)}.values())
    if len(numbers) < 2:
        return None
    first, before, last = (value_of(one) for one in (numbers[0], numbers[-2], numbers[-1]))
    is_now = bool(clause.cues & {"is_now", "newest"}) or clause.words >= saying("until_now")
    is_now = is_now and not clause.dates
    rises = last > before or (last > first and not (is_now and last < before))
    falls = last < before or (last < first and not (is_now and last > before))
    if clause.dates:
        rises, falls = last > first, last < first
    if clause.says("going_on"):
        rises, falls = rises and last >= before, falls and last <= before
    if clause.says("step_by_step"):
        steps = list(pairwise(value_of(one) for one in numbers))
        rises = all(now >= then for then, now in steps)
        falls = all(now <= then for then, now in steps)
    is_since = "begun" in clause.cues and bool(clause.dates)
    share = _UNCHANGED if clause.says("not_changed") else _STEADY
    steady = not has_changed(first if is_since else before, last, share)
    courses = (("rising", rises), ("falling", falls), ("steady", steady))
    is_so = all(holds for cue, holds in courses if cue in clause.cues)
    if is_so and is_multiplied(clause, first, last):
        return None
    says = f"{numbers[0].says}; {numbers[-1].says}"
    return Verdict("contradicted", numbers[-1].sources, says)


_MULTIPLES = {
    "doubled": 2.0, "tripled": 3.0, "quadrupled": 4.0, "halved": 0.5,
    "verdoppelt": 2.0, "verdreifacht": 3.0, "vervierfacht": 4.0, "halbiert": 0.5,
}  # fmt: skip
_ROUGHLY = 0.15


def is_multiplied(clause: Clause, first: float, last: float) -> bool:
    """Whether a value is as many times the first as "doubled" says; "more than" is at least."""
    times = next((_MULTIPLES[word] for word in clause.words if word in _MULTIPLES), None)
    if clause.words >= saying("by_half") and "falling" in clause.cues:
        times = _MULTIPLES["halved"]
    if times is None or not first:
        return True
    ratio = last / first
    if clause.words & {"more", "mehr"}:
        return ratio <= times if times < 1 else ratio >= times
    return abs(ratio - times) <= _ROUGHLY * times


def since(clause: Clause, numbers: Sequence[KnownRow]) -> Sequence[KnownRow]:
    """Return the values since the day that a clause names: `falling since March 2024`."""
    if len(clause.dates) != 1 or "begun" not in clause.cues:
        return numbers
    days = [one for one in clause.dates[0].readings if one.year is not None]
    if not days:
        return numbers
    begin = f"{days[0].year}" + (f"-{days[0].month:02}" if days[0].month else "")
    later = [one for one in numbers if one.order >= begin]
    is_then = "since_then" in clause.cues  # "dipped in 2016 but has been above 60 ever since"
    return [one for one in later if not (is_then and has_date(clause.dates[0], one))]


def against_flag(clause: Clause, row: KnownRow) -> str:
    """Return what the record says where it flags a value otherwise; "" where it does not."""
    is_denied = "not_yet" in clause.cues  # "is not yet normal"
    if "no" in clause.cues or is_judged_rightly(clause, row) is not is_denied:
        return ""
    ends = [f"{one.number:g}" for one in row.ranges]
    told = f", range {'-'.join(ends)}" if len(ends) == 2 else ""
    return f"{row.says}{told} ({_flag_of(row)})"


def is_judged_rightly(clause: Clause, row: KnownRow) -> bool | None:
    """Whether a value is what a clause calls it, high, low or normal; None where nothing says so.

    A "not" before the word is not looked at.
    """
    flag, said = _flag_of(row), clause.cues & {"high", "low", "normal"}
    said = said or frozenset({"abnormal"} if clause.says("abnormal") else ())
    if row.number is None or len(said) != 1 or not flag:
        return None
    is_out = flag in ("critical", "abnormal")
    holds = {"high": is_out or "high" in flag, "low": is_out or "low" in flag}
    holds |= {"normal": flag == "normal", "abnormal": flag != "normal"}
    return holds[next(iter(said))]


def _flag_of(row: KnownRow) -> str:
    """Return how a value is flagged, or stands to its range."""
    if row.flag or not row.ranges or row.number is None:
        return row.flag.lower()
    ends, is_least = [one.number for one in row.ranges], row.ranges[0].comparator[:1] == ">"
    low = ends[0] if is_least or len(ends) == 2 else row.number
    high = row.number if is_least else ends[-1]
    return "low" if row.number < low else "high" if row.number > high else "normal"


_EXTREME = frozenset({"high", "low"})


def _is_judged_beyond(clause: Clause, row: KnownRow) -> bool:
    """Whether a clause says how a thing without a value was, and the row does not: "normal"."""
    known = statement_words()
    judging = stems_told("judging") - known.ending
    said = clause.words & (judging | saying("high_or_low") if clause.cues & _EXTREME else judging)
    if "begun" in clause.cues:
        said -= {"back"}  # "dates back to 1975"
    if row.kind == "procedure":
        said -= saying("carried_out")
    is_valued = row.number is not None or row.quantities or clause.stages or row.negated
    return not is_valued and not said <= row.words


def _is_changed_otherwise(clause: Clause, row: KnownRow) -> bool:
    """Whether a drug's dose or course is called changed, of which its row says nothing."""
    is_unlike = not clause.has_values or (clause.says("resumes") and row.standing == "ended")
    return row.kind == "medication" and "altered" in clause.cues and is_unlike
