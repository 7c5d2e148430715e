"""Whether the rows say what a clause states: all of it must fit one of them."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from services.language.clauses import Clause
from services.language.statement_words import statement_words
from services.statements.broader import by_broader_name, told_of
from services.statements.compare_series import (
    against_extreme,
    against_flag,
    against_step,
    against_trend,
    is_judged_without_range,
    is_not_newest,
    is_outdated,
    series_of,
)
from services.statements.fit import excludes, fits, has_date, has_sites, is_measured, stands
from services.statements.known import KnownRows
from services.statements.rows import KnownRow
from services.statements.units import is_comparable
from services.statements.verdict import Verdict

_ROWS_CITED = 3
_OF_A_PERSON = frozenset({"sex", "marriage", "life"})


def compare_values(
    clause: Clause, rows: KnownRows, *, names: Sequence[str], cited: Collection[str] = ()
) -> Verdict:
    """Return what `rows` say of a clause that states something to be so.

    Args:
        names: What the clause speaks of, perhaps by the sentence before.
        cited: Source ids that the sentence names.
    """
    if not names and clause.sites and not clause.has_values:
        subject = [row for row in rows.rows if any(clause.sites[0] <= one for one in row.sites)]
        return supported(subject) if subject else Verdict("unsupported")
    subject = _subject(clause, rows, names)
    is_by_values = not names and not person_groups(clause)
    candidates = subject or (_by_values(clause, rows) if is_by_values else [])
    fitting = [row for row in candidates if fits(clause, row)]
    fitting = [row for row in fitting if not row.is_earlier] or fitting
    if fitting:
        against = _against_polarity(clause, fitting, candidates)
        against = against or _against_part(clause, fitting, candidates)
        against = against or _objection(clause, fitting, candidates, cited=cited)
        return against if against is not None else supported(fitting)
    several = _by_each(clause, rows, names)
    if several is not None:
        return several
    if broader := by_broader_name(clause, rows, names):
        return supported(broader)
    relaxed = _by_nearest(clause, rows, names)
    if relaxed and (not clause.sites or any(has_sites(clause, row) for row in relaxed)):
        return supported(relaxed)
    counter = _contradicting(clause, [row for row in subject if not row.is_earlier])
    if counter is not None:
        return Verdict("contradicted", counter.sources, counter.says)
    return Verdict("unsupported", refs(subject[:1]))


def _subject(clause: Clause, rows: KnownRows, names: Sequence[str]) -> list[KnownRow]:
    """Return the rows that a clause speaks of."""
    if names:
        subject = _about(clause, rows, names)
        if clause.cues & {"takes", "current"}:
            # "under dexamethasone", in the row of another drug, does not say who takes that now.
            return [row for row in subject if not row.needs.isdisjoint(names)] or subject
        return subject
    if groups := person_groups(clause):
        return [row for row in rows.rows if not groups.isdisjoint(row.exclusive)]
    scales = {one.scale for one in clause.stages}
    return [row for row in rows.rows if scales & {one.scale for one in row.stages}]


def person_groups(clause: Clause) -> frozenset[str]:
    """Return the words of which a person is one, where a clause says one: man or woman."""
    groups = statement_words().exclusive
    said = {groups[word][0] for word in clause.exclusive} & _OF_A_PERSON
    return frozenset(word for word, (group, _) in groups.items() if group in said)


def _about(clause: Clause, rows: KnownRows, names: Sequence[str]) -> list[KnownRow]:
    found = rows.about(names)
    spoken = clause.words | set(names)
    return [row for row in found if row.is_text or is_meant(row, spoken, names)]


def is_meant(row: KnownRow, spoken: Collection[str], names: Sequence[str]) -> bool:
    """Whether a clause that names some of a row's words speaks of that row."""
    if row.needs_all:
        return row.needs <= set(spoken)
    return not row.needs.isdisjoint(spoken) or not row.words.isdisjoint(names)


def _by_values(clause: Clause, rows: KnownRows) -> list[KnownRow]:
    found: list[KnownRow] = []
    for one in clause.quantities:
        found += rows.with_number(one.readings)
    for day in clause.dates:
        for reading in day.readings:
            found += rows.with_day(reading.year, reading.month)
    if clause.stages or clause.codes or clause.often:
        found += [
            row for row in rows.rows if row.stages or row.often or set(clause.codes) & row.words
        ]
    if clause.dates and not clause.quantities and not clause.stages:
        # A day alone does not say what was on it.
        meant = frozenset(clause.topics) | told_of(clause.words)
        found = [row for row in found if not meant or not meant.isdisjoint(row.words)]
    return list({id(row): row for row in found}.values())


def _by_nearest(clause: Clause, rows: KnownRows, names: Sequence[str]) -> list[KnownRow]:
    """Return rows of what the clause speaks of first, where its other names stand in other rows.

    "He takes metformin 500 mg for diabetes": one row has the drug and its dose, another the
    diagnosis.
    """
    if len(names) < 2:
        return []
    others = [name for name in names if not rows.about([name])]
    if others:
        return []
    if not clause.has_values:
        found = [[row for row in rows.about([name]) if fits(clause, row)] for name in names]
        return [row for one in found for row in one[:1]] if all(found) else []
    for size in range(len(names) - 1, 0, -1):
        group = names[:size]
        spoken = clause.words
        fitting = [
            row
            for row in rows.about(group)
            if (row.is_text or is_meant(row, spoken, group)) and fits(clause, row)
        ]
        if fitting:
            return fitting
    return []


def _by_each(clause: Clause, rows: KnownRows, names: Sequence[str]) -> Verdict | None:
    """Return the verdict over "fell from 4.5 to 4.1": each number is a row of the same name."""
    if len(clause.quantities) < 2 or not names or len(clause.dates) > len(clause.quantities):
        return None
    unit = next((one.unit for one in reversed(clause.quantities) if one.unit), "")
    measured = [one if one.unit else replace(one, unit=unit) for one in clause.quantities]
    if any(one.unit != unit for one in measured):
        return None
    behind = (*((),) * (len(measured) - 1), clause.dates)  # of "from 4.5 to 4.1 on 2 March"
    if len(clause.dates) == len(measured):
        behind = tuple((date,) for date in clause.dates)
    single = replace(clause, cues=clause.cues - {"newest"})
    parts = [
        replace(single, quantities=(one,), dates=dates)
        for one, dates in zip(measured, behind, strict=True)
    ]
    found = [
        [row for row in _about(part, rows, names) if fits(part, row) and row.needs_all]
        for part in parts
    ]
    if not all(found):
        return None
    first, last = (one[0].number or 0.0 for one in (found[0], found[-1]))
    is_trend = bool(clause.cues & {"rising", "falling"})
    if is_trend and not clause.dates and found[0][0].order > found[-1][-1].order:
        return Verdict("contradicted", refs(found[-1]), f"{found[-1][0].says}; {found[0][0].says}")
    if ("rising" in clause.cues and last < first) or ("falling" in clause.cues and last > first):
        return Verdict("contradicted", refs(found[-1]), f"{found[0][0].says}; {found[-1][0].says}")
    return supported([one[0] for one in found])


def _against_polarity(
    clause: Clause, fitting: Sequence[KnownRow], candidates: Sequence[KnownRow]
) -> Verdict | None:
    """Return the row that says absent where a clause says present, for all that texts may say."""
    if not clause.exclusive or not all(row.is_text for row in fitting):
        return None
    for row in candidates:
        if not row.is_text and not row.is_earlier and excludes(clause, row):
            return Verdict("contradicted", row.sources, row.says)
    return None


def _against_part(
    clause: Clause, fitting: Sequence[KnownRow], candidates: Sequence[KnownRow]
) -> Verdict | None:
    """Return the row that says present of one of several, where a clause calls all absent.

    `EGFR wild-type` is more than that `EGFR T790M` is absent.
    """
    if not clause.words & statement_words().denying or not all(row.negated for row in fitting):
        return None
    for row in candidates:
        own = fitting[0].needs - row.needs
        is_present = not row.is_text and not row.negated and excludes(clause, row)
        if is_present and own and own.isdisjoint(clause.words):
            return Verdict("contradicted", row.sources, row.says)
    return None


def _objection(
    clause: Clause,
    fitting: Sequence[KnownRow],
    candidates: Sequence[KnownRow],
    *,
    cited: Collection[str],
) -> Verdict | None:
    """Return what speaks against a clause whose values are in rows: flags, order, extremes."""
    row = fitting[0]
    if row.is_text:
        return None
    flagged = against_flag(clause, row)
    if flagged:
        return Verdict("contradicted", row.sources, flagged)
    if is_judged_without_range(clause, row) or _is_changed_otherwise(clause, row):
        return Verdict("unsupported", row.sources)
    series = series_of(clause, row, candidates)
    if not series:
        return None
    if is_not_newest(clause, fitting, series[-1]) or is_outdated(
        clause, fitting, series[-1], cited
    ):
        return Verdict("contradicted", series[-1].sources, series[-1].says)
    told = {(one.order[:10], one.number): one for one in series if one.number is not None}
    numbers = list(told.values())
    if len(numbers) < 2:
        return None
    if not clause.quantities:
        return against_trend(clause, numbers)
    return against_step(clause, row, numbers) or against_extreme(clause, fitting, numbers)


def _is_changed_otherwise(clause: Clause, row: KnownRow) -> bool:
    """Whether a drug's dose or course is called changed, of which its row says nothing."""
    return row.kind == "medication" and "altered" in clause.cues and not clause.has_values


def _contradicting(clause: Clause, subject: Sequence[KnownRow]) -> KnownRow | None:
    """Return the row that says otherwise: of the same thing, and of the same kind of value."""
    if clause.cues & {"maybe", "family", "before"}:
        return None
    own = [row for row in subject if not row.is_text]
    opposed = [row for row in own if _is_opposed(clause, row)]
    if not opposed:
        return None
    return max(opposed, key=lambda row: (_agreement(clause, row), row.order))


def _is_opposed(clause: Clause, row: KnownRow) -> bool:
    if row.negated:
        return True
    if "tolerates" in clause.cues and row.kind.startswith("allerg"):
        return True
    if any(not is_measured(one, row) for one in clause.quantities):
        return _is_other_value(clause, row)
    for stage in clause.stages:
        if any(one.scale == stage.scale and not stage.fits(one) for one in row.stages):
            return True
    if excludes(clause, row) or not stands(clause, row):
        return True
    if clause.often - row.often and row.often:
        return True
    is_dated = bool(
        clause.quantities or clause.stages or clause.cues & {"when", "begun", "ended", "newest"}
    )
    is_other_day = any(not has_date(one, row) for one in clause.dates)
    return bool(is_dated and row.dates and is_other_day and not row.is_text)


def _is_other_value(clause: Clause, row: KnownRow) -> bool:
    is_course = len(clause.quantities) > 1 and clause.cues & {"rising", "falling"}
    if is_course and any(is_measured(one, row) for one in clause.quantities):
        return False  # the other value may be one that nobody looked up
    is_alike = any(
        is_comparable(one, known) for one in clause.quantities for known in row.quantities
    )
    return is_alike or row.number is not None


def _agreement(clause: Clause, row: KnownRow) -> int:
    agreed = sum(is_measured(one, row) for one in clause.quantities)
    return agreed + sum(has_date(one, row) for one in clause.dates)


def supported(rows: Sequence[KnownRow]) -> Verdict:
    """Return that the first of `rows` says it."""
    return Verdict("supported", refs(rows[:_ROWS_CITED]), rows[0].says)


def refs(rows: Iterable[KnownRow]) -> tuple[str, ...]:
    """Return the sources of `rows`, each once."""
    return tuple(dict.fromkeys(ref for row in rows for ref in row.sources))
