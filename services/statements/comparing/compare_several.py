"""Clauses whose parts stand in several rows: two values, two days, a drug and its reason. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache

from services.language.figures.written_dates import FoundDate, WrittenDate
from services.language.sentences.clauses import Clause
from services.language.sentences.name_kinds import kind_of_name
from services.language.words.statement_tables import saying, stem, stems_told
from services.language.words.statement_words import statement_words
from services.statements.comparing.against_texts import is_cancer_of
from services.statements.comparing.courses import plain
from services.statements.rows.fit import fits, has_date, is_aim, is_denied_alike, is_measured
from services.statements.rows.known import KnownRows
from services.statements.rows.one_of_several import DONE_ONCE, excludes
from services.statements.rows.rows import KnownRow, told_of
from services.statements.rows.subject import about, is_meant, of_state, refs, supported
from services.statements.rows.verdict import Verdict
from services.statements.times.durations import is_then

COUNTED_ONE_BY_ONE = frozenset({"immunization", "procedure", "encounter", "problem"})
_SINGLE = frozenset({"immunization", "medication", "problem"})
_TREATMENTS = frozenset({"medication", "procedure"})
REASON, _MANY = " for ", 20  # "thirty" is no place
_OF_A_TUMOR = frozenset({"", "stage", "T", "N", "M"})
_STAGED = frozenset({"=chronic kidney disease", "=hypertension", "=heart failure"})
"""Illnesses with stages of their own."""


def by_nearest(clause: Clause, rows: KnownRows, names: Sequence[str]) -> list[KnownRow]:
    """Return rows of what the clause speaks of first, where its other names stand in other rows.

    "He takes metformin 500 mg for diabetes": one row has the drug and its dose, another the
    diagnosis.
    """
    if len(names) < 2 or is_cancer_of(names):
        return []
    # "Adrenal metastasis" is not an insufficiency here and a metastasis there.
    units = [*map(tuple, clause.runs), *((name,) for name in names)]
    units += [tuple(names[:2])] if names[0] in saying("reports") else []  # "a biopsy of the lung"
    if not all(any(not is_aim(row) for row in rows.about(unit)) for unit in units):
        return []
    if not clause.has_values:
        # How it goes is said of the first: "Bilirubin is falling after the stent".
        rest = plain(clause)
        found = [
            [row for row in of_state(one, rows.about(unit), unit) if fits(one, row)]
            for unit in units
            for one in [clause if names[0] in unit else rest]
        ]
        is_told = all(found) and _is_in_time(clause, found, rows)
        allergies = [one for one in found if any(row.kind == "allergy" for row in one)]
        is_told = is_told and allergies == allergies[:1]  # a reaction is of its own allergy
        return [row for one in found for row in one[:1]] if is_told else []
    for size in range(len(names) - 1, 0, -1):
        group = names[:size]
        fitting = [
            row
            for row in of_state(clause, rows.about(group), group)
            if (row.is_text or is_meant(row, clause.words, group)) and fits(clause, row)
        ]
        if fitting:
            others = [
                [row for row in rows.about([name]) if _may_be_told(clause, row, fitting[0])]
                for name in names[size:]
            ]
            if not all(others):
                return []
            return fitting if _is_in_time(clause, [fitting, *others], rows) else []
    return []


def _may_be_told(clause: Clause, row: KnownRow, beside: KnownRow) -> bool:
    """Whether what is named beside is there as it is told, "severe", and was done on that day."""
    is_as_told = not excludes(clause, row) or not row.exclusive.isdisjoint(clause.exclusive)
    if row.kind in DONE_ONCE and not row.is_text and clause.dates and not clause.says("after"):
        last = written(beside.ended) if beside.ended else beside.order[:10]
        is_then = beside.order[:10] <= row.order[:10] <= last
        is_as_told &= is_then or any(has_date(day, row) for day in clause.dates)
    return is_as_told and is_denied_alike(clause, row)


def _is_in_time(clause: Clause, found: Sequence[Sequence[KnownRow]], rows: KnownRows) -> bool:
    """Whether a drug that is told as given for an illness was begun while that was there."""
    if not clause.says("treated_for"):
        return True
    told = clause.names
    rows_found = [row for own in found for row in own if row.order]
    drugs = [r for r in rows_found if r.kind == "medication" and not r.needs.isdisjoint(told)]
    illnesses = [row for row in rows_found if row.kind == "problem"]
    pairs = [(drug, illness) for drug in drugs for illness in illnesses]
    if any(is_for_another(clause, row) for row in rows_found):
        return False
    if drugs and not any(REASON in row.says for row in drugs):
        # "Torsemide was started for congestion".
        texts = (row for row in rows.about(drugs[0].needs & {*told}) if row.is_text)
        texts = (row for row in texts if not row.is_plan and REASON in row.says)
        begun_for = [row for row in texts if row.words & stems_told("begun")]
        is_told = any(not row.words.isdisjoint(_reasons_told(clause)) for row in begun_for)
        if _is_of_others(clause, rows) or (begun_for and not is_told):
            return False
    return not pairs or any(
        day >= illness.order[: len(day)] and not is_over(illness, day)
        for drug, illness in pairs
        for day in [drug.order[:10], *(written(one) for one in drug.dates)]
    )


def written(day: WrittenDate) -> str:
    """Return a day, or what is known of it, as rows have theirs: `2018-05`."""
    return "-".join(f"{part:02}" for part in (day.year, day.month, day.day) if part)


def is_for_another(clause: Clause, row: KnownRow) -> bool:
    """Whether the row of a drug or procedure that is told has another reason than what is told."""
    is_treatment = row.kind in _TREATMENTS and REASON in row.says
    if not is_treatment or row.needs.isdisjoint(clause.names) or not clause.says("treated_for"):
        return False
    parts = {name: {*map(stem, name.removeprefix("=").split())} for name in _reasons_told(clause)}
    return any(not (name in row.words or words <= row.words) for name, words in parts.items())


def _reasons_told(clause: Clause) -> list[str]:
    """Return the illnesses that a clause names, of themselves or by what is measured of them."""
    ills = statement_words().ills
    names = (ills.get(name, name) for name in clause.names)
    return [name for name in names if kind_of_name(name) == "problem"]


def _is_of_others(clause: Clause, rows: KnownRows) -> bool:
    """Whether another drug's row tells an illness that is told as the reason of one without."""
    others = [row for name in _reasons_told(clause) for row in rows.about([name])]
    return any(
        row.kind == "medication" and row.standing == "active" and REASON in row.says
        for row in others
    )


def is_over(illness: KnownRow, day: str) -> bool:
    """Whether an illness had ended by a day."""
    last = written(illness.ended) if illness.ended else ""
    return bool(last) and day[: len(last)] > last


def by_each_day(clause: Clause, candidates: Sequence[KnownRow]) -> list[KnownRow]:
    """Return the rows of "in 2015 and 2017", each of one of the days."""
    if len(clause.dates) < 2 or clause.quantities or clause.says("spans"):
        return []
    plain = replace(clause, cues=clause.cues - {"ended"})  # "completed in 2017 and 2019"
    found = [
        [
            row
            for row in candidates
            for one in [plain if row.kind in DONE_ONCE else clause]
            if not row.is_text and fits(replace(one, dates=(day,)), row)
        ]
        for day in clause.dates
    ]
    return [row for rows in found for row in rows[:1]] if all(found) else []


def against_order(
    clause: Clause, fitting: Sequence[KnownRow], rows: KnownRows, names: Sequence[str]
) -> Verdict | None:
    """Return which rows are "her second dose", or what speaks against it and "her only drug"."""
    first = fitting[0]
    if first.is_text or (other := not_alone(clause, first, rows, names)) is not None:
        return None if first.is_text else other
    told = places_told(clause)
    told = told or ([*range(2, _MANY)] if clause.says("another") and not clause.dates else [])
    if first.kind == "medication" and told and max(told) > len({row.needs for row in fitting}):
        return Verdict("contradicted", first.sources, first.says)  # "a second antihypertensive"
    is_over = clause.says("series") and "ended" in clause.cues
    is_last = clause.dates and (is_over or (first.kind == "problem" and "newest" in clause.cues))
    if first.kind not in COUNTED_ONE_BY_ONE or not (told or is_last):
        return None
    said = frozenset() if names else told_of(clause.words) & first.words
    of_kind = [row for row in rows.about(names or clause.topics) if row.kind == first.kind]
    given = {day for row in of_kind if said <= row.words for day in begun_days(row)}
    meant = [
        row
        for row in fitting
        if row.kind == first.kind
        for day in begun_days(row, clause.dates)
        if (sum(one <= day for one in given) in told if told else day >= max(given))
    ]
    return supported(meant) if meant else Verdict("contradicted", first.sources, first.says)


def places_told(clause: Clause) -> list[int]:
    """Return which of several is told, 2 of "the second dose" and "der zweiten Dosis"."""
    parts = frozenset().union(*clause.sites)  # "the left second toe"
    said = (w.rstrip("rs") if w.endswith(("er", "es")) else w for w in clause.words - parts)
    every = (_places().get(w) or _places().get(f"{w}n") for w in said)
    return [one for one in every if one is not None]


@cache
def _places() -> Mapping[str, int]:
    nth = statement_words().nth.items()
    return {stem(word): at for word, at in nth if at <= _MANY}


def begun_days(row: KnownRow, dates: Sequence[FoundDate] = ()) -> list[str]:
    """Return on which days a thing began, each time of those that are told."""
    begun = [day for day in (row.begun, *(first for first, _ in row.earlier)) if day is not None]
    then = [day for day in begun if not dates or any(is_then(one, day) for one in dates)]
    return [written(day) for day in then or begun[:1]]


def not_alone(
    clause: Clause, first: KnownRow, rows: KnownRows, names: Sequence[str]
) -> Verdict | None:
    """Return another of the kind of which somebody is said to have, or ever had, one alone.

    Where the row of the one does not say that it is of the kind, the others do not either.
    """
    if clause.says("lone"):
        alike = [row for row in rows.about(names) if row.kind == first.kind]
        is_alone = len({day for row in alike for day in begun_days(row)}) <= 1
        return None if is_alone else Verdict("contradicted", refs(alike[:2]), alike[0].says)
    groups = [one for one in names if one.startswith("=")]
    groups = groups if "is_now" in clause.cues and "ended" not in clause.cues else []
    kind = sorted(groups, key=lambda one: len(rows.about([one])))[-1:]
    if {*clause.topics} == {f"={first.kind}"}:
        further = [one for one in names if one not in first.needs]  # "only antihypertensive drug"
        kind = further or (kind if len(groups) > 1 else [*clause.topics])
    own = {*names}.difference(kind)
    several = clause.words & statement_words().numbers.keys() - saying("one")  # "only two drugs"
    if several or not clause.says("sole") or not (kind and own) or first.kind not in _SINGLE:
        return None
    alike = [row for row in rows.about(kind) if row.kind == first.kind]
    is_ever = clause.says("ever")
    if first.kind == "problem" and clause.says("chronic"):
        return None  # which of the others are so nobody says
    others = (row for row in alike if is_ever or row.standing == first.standing)
    other = next((row for row in others if row.needs.isdisjoint(own)), None)
    if other is None:
        return None if first in alike else Verdict("unsupported", first.sources)
    return Verdict("contradicted", other.sources, other.says)


def by_each_stage(clause: Clause, rows: KnownRows, names: Sequence[str]) -> list[KnownRow]:
    """Return the rows of "stage IIIB (pT3 pN1b)" or "stage IVA with liver metastases".

    Each stage is in a row of its own, and what else is named in another.
    """
    is_of_tumor = all(one.scale in _OF_A_TUMOR for one in clause.stages)
    is_of_tumor = is_of_tumor and _STAGED.isdisjoint(names)
    is_told = bool(clause.stages) and (is_of_tumor or bool(names))
    is_told &= not clause.says("numbered_parts")  # what is in the liver is not in segment IV
    is_course = len(clause.dates) == len(clause.stages) > 1
    if not is_told or (len(clause.stages) < 2 and not names):
        return []
    if any(not rows.about([code]) for code in clause.codes):
        return []
    clause, measured = replace(clause, quantities=(), codes=()), clause.quantities
    told = clause
    if len(clause.stages) > 1 or (is_of_tumor and names):
        told = replace(clause, exclusive=(), sites=(), cues=clause.cues - {"ended"})
    parts = [replace(told, stages=(one,)) for one in clause.stages]
    if is_course:  # "from stage 1 in 2001 to stage 2 in 2004"
        pairs = zip(parts, clause.dates, strict=True)
        parts = [replace(one, dates=(day,)) for one, day in pairs]
    found = [
        [
            row
            for row in rows.rows
            if any(one.stages[0].fits(each) for each in row.stages)
            and fits(one, row)
            and (is_of_tumor or not row.words.isdisjoint(names))
        ]
        for one in parts
    ]
    names = [one for one in names if one not in {each.scale for each in clause.stages}]
    if names:
        rest = replace(clause, stages=(), dates=() if is_course else clause.dates)
        whole = [row for row in about(rest, rows, names) if fits(rest, row)]
        found.append(whole or by_nearest(rest, rows, names))
    said = [row for one in found for row in one]
    is_measured_so = all(any(is_measured(one, row) for row in said) for one in measured)
    return [row for one in found for row in one[:1]] if all(found) and is_measured_so else []


def stages_in_turn(clause: Clause, rows: KnownRows) -> Verdict | None:
    """Return the verdict over "from stage IIIB to IVA in 2025": the second came after the first."""
    scales = [one.scale for one in clause.stages]
    if scales != ["stage", "stage"] or len(clause.dates) > 1 or not clause.says("from"):
        return None
    told = clause.stages[::-1] if "turned" in clause.cues else clause.stages
    staged = [row for row in rows.rows if row.order and row.stages and not row.is_text]
    then, now = ([row for row in staged if all(map(one.fits, row.stages))] for one in told)
    now = [row for row in now if all(has_date(day, row) for day in clause.dates)]
    is_so = any(one.order[:10] < other.order[:10] for one in then for other in now)
    return supported([*now, *then]) if is_so else Verdict("unsupported", refs([*now, *then]))


def switched(clause: Clause, rows: KnownRows, names: Sequence[str]) -> Verdict | None:
    """Return the rows of both drugs, where the first says that it ended for the second.

    What is told of a day is of the second, which begins then.
    """
    if not clause.says("switched") or clause.quantities or len(names) < len(("from", "to")):
        return None
    before = [row for row in _drugs(rows, names[0]) if row.standing == "ended"]
    for one in before:
        after = [
            row
            for row in _drugs(rows, names[-1])
            if row.order >= one.order
            and one.words.issuperset(names[1:])
            and all(has_date(day, row) for day in clause.dates)
        ]
        if after:
            return supported([one, after[0]])
    return None


def advises_untaken(clause: Clause, rows: KnownRows) -> bool:
    """Whether it is advised to go on with, or to change, a drug or a device that nobody has."""
    devices = clause.words & saying("devices")
    if devices and clause.says("goes_on_with", "changes_a_drug", "sees_to_a_device"):
        return devices.isdisjoint(rows.words)
    named = {one: rows.about([one]) for one in clause.names}
    drugs = [
        found
        for name, found in named.items()
        if kind_of_name(name) == "medication" or any(row.kind == "medication" for row in found)
    ]
    is_changed = clause.says("changes_a_drug") and len(drugs) == len(named)
    if "no" in clause.cues or not (clause.says("goes_on_with") or is_changed):
        return False
    is_again = clause.says("takes_up_again")
    taken = (
        [row for row in one if row.standing == "active" or (row.is_text and not row.negated)]
        for one in drugs
    )
    return not all(taken) and not (is_again and all(drugs))


def _drugs(rows: KnownRows, name: str) -> list[KnownRow]:
    found = [row for row in rows.about([name]) if row.kind == "medication"]
    return [row for row in found if name in row.needs]
