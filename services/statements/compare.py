"""Whether the rows say what a clause states: all of it must fit one of them."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from services.language.clauses import Clause
from services.language.statement_words import statement_words
from services.statements.fit import excludes, fits, has_date, has_sites, is_measured, stands
from services.statements.known import KnownRows
from services.statements.rows import KnownRow
from services.statements.units import is_comparable
from services.statements.verdict import UNCHECKED, Verdict

_ROWS_CITED = 3
_STEADY = 0.1
"""What is called stable may have changed by this share of its value."""
_FROM = frozenset({"from", "von"})
_OF_A_PERSON = frozenset({"sex", "marriage", "life"})
_WITHOUT = frozenset({"without", "ohne"})


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
        return _supported(subject) if subject else Verdict("unsupported")
    subject = _subject(clause, rows, names)
    candidates = subject or ([] if names else _by_values(clause, rows))
    fitting = [row for row in candidates if fits(clause, row)]
    fitting = [row for row in fitting if not row.is_earlier] or fitting
    if fitting:
        against = _against_polarity(clause, fitting, candidates)
        against = against or _objection(clause, fitting, candidates, cited=cited)
        return against if against is not None else _supported(fitting)
    several = _by_each(clause, rows, names)
    if several is not None:
        return several
    relaxed = _by_nearest(clause, rows, names)
    if relaxed and (not clause.sites or any(has_sites(clause, row) for row in relaxed)):
        return _supported(relaxed)
    counter = _contradicting(clause, [row for row in subject if not row.is_earlier])
    if counter is not None:
        return Verdict("contradicted", counter.sources, counter.says)
    return Verdict("unsupported", _refs(subject[:1]))


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
    return [row for row in found if row.is_text or _is_meant(row, spoken, names)]


def _is_meant(row: KnownRow, spoken: Collection[str], names: Sequence[str]) -> bool:
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
            if (row.is_text or _is_meant(row, spoken, group)) and fits(clause, row)
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
        return Verdict("contradicted", _refs(found[-1]), f"{found[-1][0].says}; {found[0][0].says}")
    if ("rising" in clause.cues and last < first) or ("falling" in clause.cues and last > first):
        return Verdict("contradicted", _refs(found[-1]), f"{found[0][0].says}; {found[-1][0].says}")
    return _supported([one[0] for one in found])


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
    flagged = _against_flag(clause, row)
    if flagged:
        return Verdict("contradicted", row.sources, flagged)
    if _is_judged_without_range(clause, row):
        return Verdict("unsupported", row.sources)
    series = _series(clause, row, candidates)
    if not series:
        return None
    if _is_not_newest(clause, fitting, series[-1]) or _is_outdated(
        clause, fitting, series[-1], cited
    ):
        return Verdict("contradicted", series[-1].sources, series[-1].says)
    told = {(one.order[:10], one.number): one for one in series if one.number is not None}
    numbers = list(told.values())
    if len(numbers) < 2:
        return None
    if not clause.quantities:
        return _against_trend(clause, numbers)
    return _against_step(clause, row, numbers) or _against_extreme(clause, fitting, numbers)


def _series(clause: Clause, row: KnownRow, candidates: Sequence[KnownRow]) -> list[KnownRow]:
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


def _is_not_newest(clause: Clause, fitting: Sequence[KnownRow], newest: KnownRow) -> bool:
    """Whether a clause calls a value the latest that is not."""
    if "newest" not in clause.cues or not clause.has_values:
        return False
    return all(one.order < newest.order for one in fitting if one.order)


def _against_extreme(
    clause: Clause, fitting: Sequence[KnownRow], numbers: Sequence[KnownRow]
) -> Verdict | None:
    top = max(numbers, key=lambda one: one.number or 0.0)
    bottom = min(numbers, key=lambda one: one.number or 0.0)
    for cue, extreme in (("highest", top), ("lowest", bottom)):
        if cue in clause.cues and all(one.number != extreme.number for one in fitting):
            return Verdict("contradicted", extreme.sources, extreme.says)
    return None


def _is_outdated(
    clause: Clause, fitting: Sequence[KnownRow], newest: KnownRow, cited: Collection[str]
) -> bool:
    """Whether an earlier value is told as if it held now: `CEA is 3.1` where it is 9.7 since."""
    cues = clause.cues
    if "is_now" not in cues or cues & {"before", "highest", "lowest", "begun", "when", "ended"}:
        return False
    if clause.dates or not (clause.stages or len(clause.quantities) == 1):
        return False
    is_course = bool(cues & {"rising", "falling"} and clause.words & _FROM)
    if is_course or "maybe" in cues or any(one.is_earlier for one in fitting):
        return False
    # A stage by another source than the newest is right of that source.
    if clause.stages and any(set(one.sources) & set(cited) for one in fitting):
        return False
    told = [one for one in fitting if not one.is_text]
    return all(one.order and one.order[:10] < newest.order[:10] for one in told)


def _is_judged_without_range(clause: Clause, row: KnownRow) -> bool:
    """Whether a value is called normal, high or low where neither flag nor range says so."""
    is_judged = len(clause.cues & {"high", "low", "normal"}) == 1 and "no" not in clause.cues
    return is_judged and row.number is not None and not row.flag and not row.ranges


def _against_step(clause: Clause, row: KnownRow, numbers: Sequence[KnownRow]) -> Verdict | None:
    """Return what speaks against "rose to 4.1" or "stable at 4.1": the value before it."""
    if len(clause.quantities) != 1 or not clause.cues & {"rising", "falling", "steady"}:
        return None
    earlier = [one for one in numbers if one.order < row.order]
    if not earlier or clause.words & _FROM or row.number is None:
        return None
    before, now = earlier[-1].number or 0.0, row.number
    is_wrong = (
        ("rising" in clause.cues and now <= before)
        or ("falling" in clause.cues and now >= before)
        or ("steady" in clause.cues and _has_changed(before, now))
    )
    if not is_wrong:
        return None
    return Verdict("contradicted", row.sources, f"{earlier[-1].says}; {row.says}")


def _has_changed(before: float, now: float) -> bool:
    return abs(now - before) > _STEADY * max(abs(before), abs(now))


def _against_trend(clause: Clause, numbers: Sequence[KnownRow]) -> Verdict | None:
    first, before, last = (one.number or 0.0 for one in (numbers[0], numbers[-2], numbers[-1]))
    rises = last > first or last > before
    falls = last < first or last < before
    steady = not _has_changed(before, last)
    for cue, holds in (("rising", rises), ("falling", falls), ("steady", steady)):
        if cue in clause.cues and not holds:
            return Verdict(
                "contradicted", numbers[-1].sources, f"{numbers[0].says}; {numbers[-1].says}"
            )
    return None


def _against_flag(clause: Clause, row: KnownRow) -> str:
    if row.number is None:
        return ""
    flag = row.flag.lower() or _flag_by_range(row)
    said = clause.cues & {"high", "low", "normal"}
    if len(said) != 1 or not flag or "no" in clause.cues:
        return ""
    holds = {"high": "high" in flag, "low": "low" in flag, "normal": flag == "normal"}
    if flag in ("critical", "abnormal"):
        holds = {"high": True, "low": True, "normal": False}
    return "" if holds[next(iter(said))] else f"{row.says}{_range_text(row)} ({flag})"


def _flag_by_range(row: KnownRow) -> str:
    if len(row.ranges) != 2 or row.number is None:
        return ""
    low, high = row.ranges[0].number, row.ranges[1].number
    return "low" if row.number < low else "high" if row.number > high else "normal"


def _range_text(row: KnownRow) -> str:
    if len(row.ranges) != 2:
        return ""
    return f", range {row.ranges[0].number:g}-{row.ranges[1].number:g}"


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
    if any(not is_measured(one, row) for one in clause.quantities):
        return any(
            is_comparable(one, known) for one in clause.quantities for known in row.quantities
        ) or (row.number is not None)
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


def _agreement(clause: Clause, row: KnownRow) -> int:
    agreed = sum(is_measured(one, row) for one in clause.quantities)
    return agreed + sum(has_date(one, row) for one in clause.dates)


def _supported(rows: Sequence[KnownRow]) -> Verdict:
    return Verdict("supported", _refs(rows[:_ROWS_CITED]), rows[0].says)


def _refs(rows: Iterable[KnownRow]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(ref for row in rows for ref in row.sources))


def compare_absence(clause: Clause, rows: KnownRows, *, names: Sequence[str]) -> Verdict:
    """Return what `rows` say of a clause that states that something is not so."""
    named = [*rows.about(names), *(rows.about(clause.names) if clause.names else ())]
    found = [row for row in {id(one): one for one in named}.values() if not row.is_earlier]
    meant = [
        row for row in found if row.is_text or _is_meant(row, clause.words | set(names), names)
    ]
    if "family" in clause.cues or "=family history" in names:
        meant = [row for row in meant if row.kind.startswith("family")]
    denied = [
        row
        for row in meant
        if (row.negated and row.standing != "absent")
        or row.words & _WITHOUT & clause.words
        or row.smoking == "never"
    ]
    if "recorded" in clause.cues or "nothing" in clause.cues:
        return _not_recorded(rows, meant, names)
    plain = [row for row in meant if not row.negated and not row.is_text]
    if denied:
        return _supported(denied)
    ended = [row for row in plain if row.standing == "ended"]
    if plain and len(ended) == len(plain) and clause.cues & {"takes", "current"}:
        return _supported(ended)
    if plain and not clause.has_values:
        return Verdict("contradicted", plain[0].sources, plain[0].says)
    if clause.has_values and not names:
        return UNCHECKED
    return Verdict("unsupported", _refs(meant[:1]))


def _not_recorded(rows: KnownRows, meant: Sequence[KnownRow], names: Sequence[str]) -> Verdict:
    there = [row for row in meant if not row.negated and not row.is_text]
    if there:
        return Verdict("contradicted", there[0].sources, there[0].says)
    wanted = set(names)
    for empty in rows.empty:
        if wanted and wanted <= empty.words:
            return Verdict("supported", (), empty.says)
    if any(row.standing == "absent" for row in meant):
        return _supported([row for row in meant if row.standing == "absent"])
    return Verdict("unsupported")
