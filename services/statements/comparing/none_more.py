"""Denials of more, of what came later, and of why: "no second dose", "none since 2018". Pure."""

from collections.abc import Sequence
from dataclasses import replace

from services.language.sentences.clauses import Clause
from services.language.sentences.name_kinds import kind_of_name
from services.language.words.statement_tables import saying
from services.language.words.statement_words import group_of, statement_words
from services.statements.comparing.compare_several import (
    COUNTED_ONE_BY_ONE,
    REASON,
    begun_days,
    places_told,
)
from services.statements.rows.fit import has_date
from services.statements.rows.known import KnownRows
from services.statements.rows.one_of_several import DONE_ONCE
from services.statements.rows.rows import KnownRow, stems_of, told_of
from services.statements.rows.subject import about, refs, supported
from services.statements.rows.verdict import UNCHECKED, Verdict
from services.statements.times.counting import as_in_rows, within

_GIVEN = frozenset({"medication", "procedure"})
_SAY_NO_MORE = DONE_ONCE | {"problem", "medication", "care plan", "goal", "order"}


def not_told(
    clause: Clause, before: Clause | None, rows: KnownRows, names: Sequence[str]
) -> Verdict | None:
    """Return the verdict over "it does not say why she stopped"; None for a denial of a thing."""
    asking = saying("asks_why", "asks_when", "asks_histology", "asks_outcome")
    asked = next((one for one in (clause, before) if one and one.words & asking), None)
    is_of_record = clause.cues & {"recorded", "of_chart"} or clause.says("tells")
    if asked is None or "no" not in clause.cues or not is_of_record:
        return None
    found = about(clause, rows, [one for one in names if one not in asking])
    subject = [row for row in found if not (row.negated or row.standing == "absent")]
    told = [row for row in subject if _tells(asked, row)]
    if told:
        return Verdict("contradicted", told[0].sources, told[0].says)
    return UNCHECKED if subject else None


def _tells(asked: Clause, row: KnownRow) -> bool:
    """Whether a row tells what is asked for; why and when something ended, where it says so."""
    is_end, ending = "ended" in asked.cues, statement_words().ending
    whole = [stems_of(part) for part in row.says.replace(", ", "; ").split("; ")]
    parts = [one for one in whole if not is_end or one & ending]
    if asked.words & saying("asks_why"):
        return any(one & saying("for_a_reason") for one in parts)
    if asked.words & saying("asks_when"):
        return not is_end or row.ended is not None or any(w[0].isdigit() for p in parts for w in p)
    if asked.words & saying("asks_histology"):
        return not row.words.isdisjoint(saying("asks_histology"))
    return not row.is_plan and bool(row.kind not in _SAY_NO_MORE or told_of(whole[0] - row.name))


def none_more(clause: Clause, rows: KnownRows, plain: Sequence[KnownRow]) -> Verdict | None:
    """Return the verdict over a denial of one more; None where a clause denies none."""
    is_done = bool(plain and clause.dates) and all(row.kind in DONE_ONCE for row in plain)
    told = _not_so_many(clause, rows, plain) or _none_later(clause, rows, plain)
    told = told or _not_treated(clause, rows, plain) or _not_prescribed(clause, rows)
    return told or (not_then(clause, plain, rows) if is_done else None)


def _not_so_many(clause: Clause, rows: KnownRows, plain: Sequence[KnownRow]) -> Verdict | None:
    """Return the verdict over "a second dose is not documented": there are fewer."""
    which = [one for one in places_told(clause) if one > 1]
    which = which or [2] * (clause.says("again") and not clause.says("after"))
    plain = [row for row in plain if not row.needs.isdisjoint(clause.names)] or plain
    kinds = {row.kind for row in plain if not row.needs_all}
    is_part = any(places_told(replace(clause, words=row.words)) for row in plain)  # "second toe"
    is_told = plain and len(which) == 1 and len(kinds) < 2 and not (is_part or clause.dates)
    counted = (rows.named | rows.whole.keys()) & {*COUNTED_ONE_BY_ONE, "medication"}
    if not is_told or not kinds <= counted:
        return None
    is_drug = kinds == {"medication"}
    given = {one for row in plain for one in ([row.needs] if is_drug else begun_days(row))}
    is_so = len(given) < which[0]
    return supported(plain) if is_so else Verdict("contradicted", refs(plain[:1]), plain[0].says)


def _not_prescribed(clause: Clause, rows: KnownRows) -> Verdict | None:
    """Return the verdict over "no antibiotics were prescribed for the pharyngitis"."""
    drugs = [one for one in clause.names if kind_of_name(one) == "medication"]
    of_drug = rows.about(drugs[:1])
    is_told = len(drugs) == 1 and clause.says("prescribed") and "medication" in rows.whole
    if not is_told or any(row.is_text and not row.negated for row in of_drug):
        return None
    reasons = frozenset(clause.names) - {*drugs}
    given = [row for row in of_drug if row.kind == "medication"]
    if reasons or clause.dates:
        given = [row for row in given if _is_of_then(clause, [row]) or reasons & row.words]
    elif "is_now" in clause.cues and not clause.says("never", "past"):
        given = [row for row in given if row.standing != "ended"]
    if given:
        return Verdict("contradicted", given[0].sources, given[0].says)
    return Verdict("supported", (), rows.whole["medication"])


def _not_treated(clause: Clause, rows: KnownRows, plain: Sequence[KnownRow]) -> Verdict | None:
    """Return the verdict over "no treatment for the anemia is on record": none for it, or then."""
    ills = [row for row in plain if row.kind == "problem"]
    is_told = clause.says("treatment") and ills and not clause.topics
    if not is_told or "recorded" not in clause.cues or not rows.whole.keys() >= _GIVEN:
        return None
    names, days = frozenset(clause.names), {row.order[:10] for row in ills}
    given = [
        row
        for kind in sorted((*_GIVEN, "care plan"))
        for row in rows.about([f"={kind}"])
        if row.kind == kind
        and (names & row.words if REASON in row.says else row.order[:10] in days)
        and all(has_date(day, row) for day in clause.dates)
    ]
    if given:
        return Verdict("contradicted", given[0].sources, given[0].says)
    return Verdict("supported", (), rows.whole["medication"])


def _none_later(clause: Clause, rows: KnownRows, plain: Sequence[KnownRow]) -> Verdict | None:
    """Return the verdict over "no visit after the fall of 3 May", "not repeated since then".

    None where no row is of that day.
    """
    if not clause.dates or not clause.says("later") or not _is_of_then(clause, plain):
        return None
    of_kind = rows.about(clause.topics[:1]) if clause.topics and clause.names else plain
    return _not_since(clause, [row for row in of_kind if row.order and not row.is_text])


def not_then(clause: Clause, there: Sequence[KnownRow], rows: KnownRows) -> Verdict:
    """Return the verdict over "none in 2016": sure where rows are of before and after it."""
    if clause.says("later"):
        return _not_since(clause, there)
    if then := _of_days(clause, there):
        return Verdict("contradicted", then[0].sources, then[0].says)
    days = sorted(row.order[:4] for row in there if row.order)
    years = [str(one.year) for day in clause.dates for one in day.readings if one.year]
    is_within = bool(days and years) and days[0] <= min(years) and max(years) <= days[-1]
    # What a whole list does not hold is not recorded, of whatever year.
    is_within |= "recorded" in clause.cues and {row.kind for row in there} <= rows.whole.keys()
    return supported(there) if is_within else Verdict("unsupported", refs(there[:1]))


def _of_days(clause: Clause, rows: Sequence[KnownRow]) -> list[KnownRow]:
    """Return the rows of the days that are told; of two with "between", those between them."""
    if len(clause.dates) == len(("first", "last")) and clause.says("between"):
        ends = [row for row in rows if any(has_date(day, row) for day in clause.dates)]
        return [row for row in within(clause, rows) if row not in ends]
    return [row for row in rows if any(has_date(day, row) for day in clause.dates)]


def _not_since(clause: Clause, there: Sequence[KnownRow]) -> Verdict:
    """Return the verdict over "none since 2018"."""
    last = max(map(as_in_rows, clause.dates))
    later = [row for row in there if row.order[: len(last)] > last]
    if later:
        return Verdict("contradicted", later[0].sources, later[0].says)
    is_so = "begun" not in clause.cues or _is_of_then(clause, there)
    return supported(there) if is_so else Verdict("unsupported", refs(there[:1]))


def _is_of_then(clause: Clause, rows: Sequence[KnownRow]) -> bool:
    return any(has_date(day, row) for day in clause.dates for row in rows)


def is_new_then(clause: Clause, meant: Sequence[KnownRow]) -> bool:
    """Whether a text of the day has something new, where a clause says that nothing new was."""
    new = {word for word in clause.exclusive if group_of(word) == "novelty"}
    there = (row for row in meant if row.is_text and not (row.negated or row.is_plan))
    return bool(clause.dates) and any(
        new & row.exclusive and all(has_date(day, row) for day in clause.dates) for row in there
    )
