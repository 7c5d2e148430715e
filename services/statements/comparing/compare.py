"""Whether the rows say what a clause states: all of it must fit one of them."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from services.language.sentences.clauses import Clause
from services.statements.comparing import compare_several
from services.statements.comparing.against_texts import (
    against_texts,
    by_broader_name,
    gives_way,
    is_of_other_part,
)
from services.statements.comparing.by_values import (
    by_values,
    is_of_other_report,
    is_of_other_setting,
    latest_of_kind,
    of_other_end,
)
from services.statements.comparing.changes import compared, is_against_own_numbers
from services.statements.comparing.courses import by_each
from services.statements.comparing.one_day import by_one_day, with_reports
from services.statements.rows import compare_series, fit
from services.statements.rows.happenings import COURSES, taken_away
from services.statements.rows.known import KnownRows
from services.statements.rows.one_of_several import excludes
from services.statements.rows.rows import KnownRow
from services.statements.rows.subject import (
    about,
    by_each_of_kin,
    of_another_person,
    of_state,
    person_groups,
    refs,
    supported,
)
from services.statements.rows.units import is_comparable
from services.statements.rows.verdict import Verdict, worst
from services.statements.times.durations import against_age, age_told, persons_in, without_age

_OF_TUMOUR = "wider:=cancer"
_SIDES, _BOTH_SIDES = ("left", "right"), "bilateral"


def compare_values(
    clause: Clause, rows: KnownRows, *, names: Sequence[str], cited: Collection[str] = ()
) -> Verdict:
    """Return what `rows` say of a clause that states something to be so.

    Args:
        names: What the clause speaks of, perhaps by the sentence before.
        cited: Source ids that the sentence names.
    """
    if (other := of_another_person(clause, rows)) is not None:
        return other
    if is_against_own_numbers(clause):
        return Verdict("unsupported")
    clause = with_reports(clause, rows)
    if len(of_kin := by_each_of_kin(clause, names)) > 1:
        return worst([compare_values(one, rows, names=own, cited=cited) for one, own in of_kin])
    if (age := age_told(clause)) is None:
        return _compared(clause, rows, names, cited)
    rest = without_age(clause, age)
    found = against_age(clause, rows)
    if found is None and not names and not rest.exclusive:
        return supported(persons_in(rows))
    return found or _compared(rest, rows, names, cited)


def _compared(
    clause: Clause, rows: KnownRows, names: Sequence[str], cited: Collection[str]
) -> Verdict:
    if not names and clause.sites and not clause.has_values:
        subject = [row for row in rows.rows if any(clause.sites[0] <= one for one in row.sites)]
        subject = [row for row in subject if fit.fits(clause, row)]
        return supported(subject) if subject else Verdict("unsupported")
    subject = _subject(clause, rows, names)
    if is_of_other_setting(clause, rows, names):
        return Verdict("unsupported", refs(subject[:1]))
    is_series = any(compare_series.has_value(row) for row in subject if not row.is_text)
    if is_series and clause.says("than") and not clause.has_values:
        ways = ("rising", "falling")[:: -1 if "than_lately" in clause.cues else 1]  # "than now"
        cues = {
            cue for cue, word in zip(ways, ("higher", "lower"), strict=True) if clause.says(word)
        }
        clause = replace(clause, cues=clause.cues - {"before"} | cues)  # "niedriger als früher"
    found = latest_of_kind(clause, rows, names) or of_other_end(clause, rows, names)
    found = found or compare_several.stages_in_turn(clause, rows) or compared(clause, subject)
    if found is not None:
        return found
    is_by_values = not names and not person_groups(clause)
    candidates = subject or (by_values(clause, rows) if is_by_values else [])
    if fitting := _fitting(clause, candidates, subject, names):
        if is_of_other_report(clause, fitting, rows):
            return Verdict("unsupported", refs(fitting[:1]))
        against = _against(clause, fitting, _of_tumour(clause, rows, candidates), cited=cited)
        against = against or compare_several.against_order(clause, fitting, rows, names)
        return against or supported(fitting)
    return by_each(clause, rows, names) or _by_parts(
        clause, rows, names, subject, candidates, cited
    )


def _fitting(
    clause: Clause,
    candidates: Sequence[KnownRow],
    subject: Sequence[KnownRow],
    names: Sequence[str],
) -> list[KnownRow]:
    """Return the rows that say all that a clause states, the best first."""
    found = [row for row in candidates if fit.fits(clause, row)]
    found = [row for row in found if not row.is_earlier] or found
    if clause.cues & {"ended", *(["begun"] if clause.dates else [])}:  # "due to osteoporosis"
        own = [row for row in subject if row.kind == "problem" and row.needs == {*names}]
        found = [row for row in found if row in own or row.kind != "problem" or not own]
    found = [row for row in found if not _is_only_written_then(clause, row, subject)]
    found = [r for r in found if not (gives_way(clause, r, subject) or is_of_other_part(clause, r))]
    # What a row is called before what it is for; which has more of the words before others.
    is_stage_now = bool(clause.stages and clause.cues & {"is_now", "newest", "current"})
    return sorted(
        found,
        key=lambda row: (
            is_stage_now and row.is_text,
            row.needs.isdisjoint(names),
            not (row.flag or row.ranges),
            -len(row.words & clause.words),
        ),
    )


def _by_parts(
    clause: Clause,
    rows: KnownRows,
    names: Sequence[str],
    subject: Sequence[KnownRow],
    candidates: Sequence[KnownRow],
    cited: Collection[str],
) -> Verdict:
    """Return the verdict over a clause whose parts stand in several rows, or in none."""
    of_days = compare_several.by_each_day(clause, candidates)
    of_days = of_days or compare_several.by_each_stage(clause, rows, names)
    if others := of_days or by_broader_name(clause, rows, names):
        series = _of_tumour(clause, rows, candidates or others)
        return _against(clause, others, series, cited=cited) or supported(others)
    relaxed = compare_several.by_nearest(clause, rows, names) or by_one_day(clause, rows, names)
    is_other = any(_is_only_written_then(clause, row, subject) for row in relaxed[:1])
    relaxed = [] if is_other or is_of_other_report(clause, relaxed, rows) else relaxed
    if relaxed and (not clause.sites or any(fit.has_sites(clause, row) for row in relaxed)):
        series = [*about(clause, rows, names[:1]), *relaxed]
        against = _against(clause, relaxed, series, cited=cited)
        against = against or compare_several.not_alone(clause, relaxed[0], rows, names)
        return against or supported(relaxed)
    # A row that only speaks of a thing, such as where a biopsy was taken, does not deny it.
    own = [row for row in subject if not names or not row.needs.isdisjoint(names)]
    counter = _contradicting(clause, [row for row in own if not row.is_earlier])
    if counter is not None and not _is_of_unseen_day(clause, counter, own):
        return Verdict("contradicted", counter.sources, counter.says)
    return Verdict("unsupported", refs(subject[:1]))


def _is_of_unseen_day(clause: Clause, counter: KnownRow, own: Sequence[KnownRow]) -> bool:
    """Whether a value is told of a day of which no value was looked up: "0 in September 2024"."""
    is_told = clause.dates and clause.has_values and compare_series.has_value(counter)
    values = filter(compare_series.has_value, own)
    return bool(is_told) and not any(_agreement(clause, row) for row in values)


def _is_only_written_then(clause: Clause, row: KnownRow, subject: Sequence[KnownRow]) -> bool:
    """Whether a text is of the day that is told, and what it speaks of was done on another."""
    is_told = "when" in clause.cues or clause.says("taking_place")
    if row.written is None or not (is_told and clause.dates):
        return False
    others = tuple(one for one in row.dates if one is not row.written)
    is_deed = any(one.kind == "procedure" and not one.is_text for one in subject)
    return is_deed and not fit.has_date(clause.dates[0], replace(row, dates=others))


def _subject(clause: Clause, rows: KnownRows, names: Sequence[str]) -> list[KnownRow]:
    """Return the rows that a clause speaks of."""
    if names:
        return of_state(clause, about(clause, rows, names), names)
    if groups := person_groups(clause):
        return [row for row in rows.rows if not groups.isdisjoint(row.exclusive)]
    return _staged(clause, rows)


def _of_tumour(
    clause: Clause, rows: KnownRows, candidates: Sequence[KnownRow]
) -> Sequence[KnownRow]:
    """Return, of a tumour's stage, the rows of all its stages: no row of them names the tumour."""
    is_of_tumour = _OF_TUMOUR in clause.cues and any(one.scale == "stage" for one in clause.stages)
    staged = [row for row in _staged(clause, rows) if row.kind != "problem" and not row.is_text]
    return staged if is_of_tumour and len(staged) > 1 else candidates


def _staged(clause: Clause, rows: KnownRows) -> list[KnownRow]:
    """Return the rows that have a stage on a scale of those that are told."""
    scales = {one.scale for one in clause.stages}
    staged = (row for row in rows.rows if row.stages and scales)
    return [row for row in staged if scales & {one.scale for one in row.stages}]


def _against(
    clause: Clause,
    fitting: Sequence[KnownRow],
    candidates: Sequence[KnownRow],
    *,
    cited: Collection[str],
) -> Verdict | None:
    """Return what speaks against a clause that rows fit; None where nothing does."""
    if clause.says("all") and any(fit.shares(row.quantities, row.words) for row in candidates):
        return Verdict("unsupported", refs(fitting[:1]))  # "both nodes", where it was one of two
    if {"ended", "takes"} <= clause.cues and not clause.dates:  # "no longer uses contraception"
        own = (row for row in candidates if not row.needs.isdisjoint(clause.names))
        if goes_on := [row for row in own if row.standing == "active"]:
            return Verdict("contradicted", goes_on[0].sources, goes_on[0].says)
    if taken_away(clause, fitting, candidates):
        return Verdict("unsupported", refs(fitting[:1]))
    most = max(len(row.words & clause.words) for row in fitting)
    nearest = [row for row in fitting if len(row.words & clause.words) == most]
    sides = {side for row in nearest for side in row.exclusive & {*_SIDES, _BOTH_SIDES}}
    if clause.says("both") and len(sides) == 1 and _BOTH_SIDES not in sides:
        return Verdict("unsupported", refs(fitting[:1]))
    return against_texts(clause, fitting, candidates) or _objection(
        clause, fitting, candidates, cited=cited
    )


def _objection(
    clause: Clause,
    fitting: Sequence[KnownRow],
    candidates: Sequence[KnownRow],
    *,
    cited: Collection[str],
) -> Verdict | None:
    """Return what speaks against a clause whose values are in rows: flags, order, extremes."""
    if (row := fitting[0]).is_text:
        return None
    is_of_now = not clause.has_values and clause.cues & {"is_now", "current", "newest"}
    judged = max(candidates, key=lambda one: one.order) if is_of_now and row.order else row
    if flagged := compare_series.against_flag(clause, judged):
        return Verdict("contradicted", judged.sources, flagged)
    days = {one.order for one in candidates if one.kind == row.kind == "medication"}
    if "altered" in clause.cues and len(days) > 1 and row.order == min(days):
        return Verdict("unsupported", row.sources)  # "was reduced to 50", with which it began
    if compare_series.is_told_beyond(clause, row):
        return Verdict("unsupported", row.sources)
    return _against_series(
        clause, fitting, compare_series.series_of(clause, row, candidates), cited
    )


def _against_series(
    clause: Clause, fitting: Sequence[KnownRow], series: Sequence[KnownRow], cited: Collection[str]
) -> Verdict | None:
    """Return what the other values of the same thing say against one that is told."""
    if not series:
        return None
    places = compare_several.places_told(clause)
    if other := compare_series.of_other_place(clause, fitting, series, places):
        return Verdict("contradicted", other.sources, other.says)
    if compare_series.is_not_newest(clause, fitting, series[-1]) or compare_series.is_outdated(
        clause, fitting, series[-1], cited
    ):
        return Verdict("contradicted", series[-1].sources, series[-1].says)
    told = {
        (one.order[:10], compare_series.value_of(one)): one
        for one in series
        if compare_series.has_value(one)
    }
    numbers = list(told.values())
    if len(numbers) < 2:
        # One value is no course.
        is_course = not clause.quantities and clause.cues & COURSES and numbers
        return Verdict("unsupported", series[-1].sources) if is_course else None
    against = (
        compare_series.against_step(clause, fitting[0], numbers)
        if clause.quantities
        else compare_series.against_trend(clause, numbers)
    )
    return against or compare_series.against_extreme(clause, fitting, numbers)


def _contradicting(clause: Clause, subject: Sequence[KnownRow]) -> KnownRow | None:
    """Return the row that says otherwise: of the same thing, and of the same kind of value."""
    if clause.cues & {"maybe", "planned", "family", "before"}:
        return None
    own = [row for row in subject if not row.is_text]
    opposed = [row for row in own if _is_opposed(clause, row)]
    if not opposed or _tells_unknown_range(clause, own):
        return None
    return max(opposed, key=lambda row: (_agreement(clause, row), row.order))


def _tells_unknown_range(clause: Clause, own: Sequence[KnownRow]) -> bool:
    """Whether all that no row has is a range, and the record gives none: "4.3 (ref 3.5-5.1)"."""
    if not clause.says("reference") or any(row.ranges for row in own):
        return False
    untold = [one for one in clause.quantities if not any(fit.is_measured(one, r) for r in own)]
    return not untold if clause.limits else len(clause.quantities) == len(("lowest", "highest"))


def _is_opposed(clause: Clause, row: KnownRow) -> bool:
    is_denied = row.negated or (row.is_plan and not fit.is_hedged(clause, row))
    if is_denied or ("tolerates" in clause.cues and row.kind.startswith("allerg")):
        return True
    is_paper = row.kind.endswith(("report", "study"))  # it counts its images
    others = [one for one in clause.quantities if not fit.is_measured(one, row)]
    if others and not is_paper:
        is_course = len(clause.quantities) > 1 and clause.cues & {"rising", "falling"}
        if is_course and len(others) < len(clause.quantities):
            return False  # the other value may be one that nobody looked up
        is_alike = any(is_comparable(one, known) for one in others for known in row.quantities)
        # "1.6 mg/dL (clearance 42 mL/min)": of what is of another kind the row says nothing.
        return is_alike or (row.number is not None and len(others) == len(clause.quantities))
    for stage in clause.stages:
        if any(one.scale == stage.scale and not stage.fits(one) for one in row.stages):
            return True
    of_state = replace(clause, cues=clause.cues - COURSES)  # no drug tells a course
    if excludes(clause, row) or not (is_paper or fit.stands(of_state, row)):
        return True
    if clause.often - row.often and row.often:
        return True
    is_dated = bool(
        clause.quantities or clause.stages or clause.cues & {"when", "begun", "ended", "newest"}
    )
    of_others = [one for one in clause.dates if not fit.has_date(one, row)]
    # Of "on osimertinib since March, with response in May and progression in June" one is its own.
    is_other_day = bool(of_others) and not (len(clause.dates) > 2 and of_others != [*clause.dates])
    return bool(is_dated and row.dates and is_other_day and not row.is_text)


def _agreement(clause: Clause, row: KnownRow) -> int:
    agreed = sum(fit.is_measured(one, row) for one in clause.quantities)
    return agreed + sum(fit.has_date(one, row) for one in clause.dates)
