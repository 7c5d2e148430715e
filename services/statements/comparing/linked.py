"""Whether two facts have to do with each other what a sentence says: order, cause, age. Pure."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import product

from services.language.sentences.clauses import Clause
from services.language.sentences.links import Link
from services.language.sentences.name_kinds import kind_of_name
from services.language.words.statement_tables import saying
from services.language.words.statement_words import statement_words
from services.statements.comparing.compare_several import places_told, written
from services.statements.rows.fit import fits, is_aim
from services.statements.rows.happenings import has_ended
from services.statements.rows.known import KnownRows
from services.statements.rows.known_words import has_all
from services.statements.rows.one_of_several import DONE_ONCE
from services.statements.rows.rows import KnownRow, told_of
from services.statements.rows.subject import about, refs, supported, without_setting
from services.statements.rows.verdict import Verdict
from services.statements.times.durations import is_apart

_REASONS = ("because", "given")
_TOLD_OF_ALL = frozenset({"recorded", "asserts", "doers"})
_AFTER, _EVER = Clause(words=saying("after")), "9999"
_NO_EVENT = frozenset({"fact", "personal", "coverage", "laboratory report", "goal"})


def against_links(links: Iterable[Link], rows: KnownRows) -> Verdict | None:
    """Return what rows say of links that are not so; None where all are, or none can be told."""
    found = (_judged(link, rows) for link in links)
    return next((one for one in found if one is not None and one.state != "supported"), None)


def by_links(
    links: Iterable[Link], rows: KnownRows, judge: Callable[[Clause], Verdict]
) -> tuple[Link, list[Verdict]] | None:
    """Return a link that is as told between two facts that are so, with the verdicts over all."""
    for link in links:
        found = _judged(link, rows)
        if found is None and (link.kind not in _REASONS or "maybe" not in link.first.cues):
            continue
        told = [found] if found is not None else []  # of advice its reason alone is a fact
        verdicts = [*told, *(judge(one) for one in link.clauses)]
        if all(one.state in ("supported", "unchecked") for one in verdicts):
            return link, verdicts
    return None


def _judged(link: Link, rows: KnownRows) -> Verdict | None:
    if link.kind == "given":
        return None  # "since" may tell a time
    if link.second.quantities and not (link.second.names or link.second.dates):
        return None  # "quit after 30 pack-years"
    if any(one.smoking for one in link.clauses) and "no" not in link.first.cues:
        return Verdict("unsupported")  # a status of a day does not say when, or why
    if link.kind in ("because", "therefore"):
        first = _caused(link.turned(), rows, _named_or_said(link))
        others = (_caused(one, rows, _named_or_said(link)) for one in _of_others(link))
        return next((one for one in others if first and one and one.state != "supported"), first)
    return (_meanwhile if link.kind == "during" else _in_order)(link.turned(), rows)


def excepted(link: Link, rows: KnownRows) -> tuple[list[Clause], list[KnownRow]]:
    """Return what is told but for something, and its rows: "no drug other than A and B".

    No rows are returned where one of the things that are excepted is in none.
    """
    main, second = [*link.clauses[: link.turn]], link.clauses[link.turn :]
    ends = (at for at, one in enumerate(second) if at and one.cues & {"no", "asserts"})
    end = next(ends, len(second))
    said = frozenset(cue for one in second[:end] for cue in one.cues) & _TOLD_OF_ALL
    main = [replace(one, cues=one.cues | said) for one in main] + [*second[end:]]
    units = [(one, unit) for one in second[:end] for unit in one.names or [""]]
    found = [_excepted(one, [unit] if unit else one.topics, rows) for one, unit in units]
    return main, [row for of_unit in found for row in of_unit] if all(found) else []


def _excepted(clause: Clause, unit: Sequence[str], rows: KnownRows) -> list[KnownRow]:
    plain = replace(clause, cues=frozenset(), names=tuple(unit))
    told = told_of(clause.words) - statement_words().neutral if not clause.names else frozenset()
    found = [row for row in rows.about(unit) if fits(plain, row) and has_all(told, row.words)]
    own = [row for row in found if not (row.is_text or row.needs.isdisjoint(unit))]
    return [*(own or found), *(row for row in rows.about(unit) if row.is_text)] if found else []


# -- order -----------------------------------------------------------------------------------------


def _in_order(link: Link, rows: KnownRows) -> Verdict | None:
    """Return whether the first was after the second, and as far as is told."""
    later = _events(link.first, link.second, rows)
    earlier = _events(link.second, link.first, rows)
    if not later or not earlier or later == earlier:
        return None
    for one, other in product(later, earlier):
        if (
            one is not other
            and _day(one) >= _day(other)[: len(_day(one))]
            and (not link.distance or is_apart(_AFTER, link.distance, one, other))
        ):
            return supported([one, other])
    says = f"{later[0].says}; {earlier[0].says}"
    return Verdict("contradicted", refs([later[0], earlier[0]]), says)


def _meanwhile(link: Link, rows: KnownRows) -> Verdict | None:
    """Return whether the first was, or began where that is told, while the second was so."""
    those = _events(link.first, link.second, rows)
    spans = [(r, one) for r in _events(link.second, link.first, rows) for one in _spans(r)]
    if not those or not spans or any(one is row for one in those for row, _ in spans):
        return None
    is_begun = bool(link.first.cues & {"begun", "when"})
    for one, (row, (first, last)) in product(those, spans):
        goes_on = not is_begun and any(first <= end for begin, end in _spans(one) if begin <= last)
        if goes_on or first <= _day(one) <= last:
            return supported([one, row])
    says = f"{those[0].says}; {spans[0][0].says}"
    return Verdict("contradicted", refs([those[0], spans[0][0]]), says)


def _spans(row: KnownRow) -> Iterator[tuple[str, str]]:
    """Yield from when to when it was so; nothing of what was done once, or ended who knows when."""
    if row.begun and (row.ended or row.standing == "active"):
        yield _day(row), written(row.ended)[:10] if row.ended else _EVER
    yield from ((written(one), written(end)) for one, end in row.earlier if one and end)


def _events(clause: Clause, other: Clause, rows: KnownRows) -> list[KnownRow]:
    """Return the rows with a day that say a clause; "it" is what the other names."""
    names = without_setting(clause)
    is_of_same = clause.says("it", "previous") or bool(places_told(clause))
    names = names or (without_setting(other) if is_of_same else ())
    plain = replace(clause, exclusive=(), cues=clause.cues - {"before", "newest", "current"})
    found = _said_by(plain, rows, names)
    if not found and names:  # "after a colonoscopy with biopsy", each a row of that day
        each_of = [_said_by(plain, rows, (one,)) for one in names]
        days = set.intersection(*({*map(_day, one)} for one in each_of))
        found = [row for row in each_of[0] if _day(row) in days]
    found = [row for row in found if row.needs <= clause.words | {*names}] or found
    if clause.says("got_over"):
        over = ((row, row.ended) for row in found if row.ended)
        found = [replace(row, begun=day, order=written(day)) for row, day in over]
    elif (clause.cues | other.cues) & {"ended", "altered"} and not other.says("got_over"):
        # Few rows say on which day a drug ended.
        found = [row for row in found if row.kind in DONE_ONCE]
    return _nth(clause, found)


def _said_by(clause: Clause, rows: KnownRows, names: Sequence[str]) -> list[KnownRow]:
    said = told_of(clause.words) - statement_words().neutral  # "the rebiopsy", of its report
    own = about(clause, rows, names) or [row for row in rows.rows if said and said <= row.name]
    return [row for row in own if _is_event(row) and fits(clause, row)]


def _nth(clause: Clause, found: Sequence[KnownRow]) -> list[KnownRow]:
    """Return of "the second colonoscopy" the second; all where no such word stands there."""
    which = places_told(clause)
    days = sorted({*map(_day, found)})
    meant = [day for at, day in enumerate(days, 1) if at in which]
    return [row for row in found if _day(row) in meant] if which else list(found)


def _is_event(row: KnownRow) -> bool:
    is_told = row.is_text or row.is_plan or is_aim(row) or row.kind in _NO_EVENT
    return bool(row.order) and not is_told


def _day(row: KnownRow) -> str:
    return row.order[:10]


# -- cause -----------------------------------------------------------------------------------------


def _named_or_said(link: Link) -> frozenset[str]:
    """Return by what a cause is called: its names, or behind "because" what else it says."""
    cause, vocabulary = link.turned().second, statement_words()
    names = frozenset(without_setting(cause))
    if names or link.kind == "therefore":
        return names
    told = told_of(cause.words)
    return told - vocabulary.neutral - vocabulary.spoken or told or frozenset(cause.topics)


def _of_others(link: Link) -> Iterator[Link]:
    """Yield a cause for what ended with the first: the A of "A and B were stopped because of C"."""
    for one in link.clauses[: link.turn - 1] if link.kind == "because" else ():
        is_drug = {*map(kind_of_name, one.names)} == {"medication"}
        if is_drug and "ended" in one.cues & link.first.cues and "link:because" not in one.cues:
            yield replace(link, first=one)


def _caused(link: Link, rows: KnownRows, said: frozenset[str]) -> Verdict | None:
    """Return whether a row has both what was so and its cause; None where neither is named."""
    effect, cause = link.first, link.second
    if not effect.names or not said or "maybe" in effect.cues | cause.cues:
        return None
    own = [row for name in effect.names for row in rows.about([name])]
    is_denied = "no" in effect.cues or not effect.words.isdisjoint(statement_words().refusing)
    named = [row for row in own if is_denied or not row.negated]
    both = [row for row in named if has_all(said, row.words)]
    if "ended" in effect.cues:  # what fell under a drug did not end it
        both = [row for row in both if has_ended(row)]
    if any(row.kind == "problem" for row in rows.about(said)):  # causes that are one illness
        both += [row for row in named if not said.isdisjoint(row.words - row.needs)]
    if both:
        return supported(both)
    is_open = "ended" not in effect.cues and _may_be_for(own, said, rows)
    ills = {_day(row) for row in rows.about(said) if row.kind == "problem"}  # "seen for a burn"
    is_open |= any(row.kind == "encounter" and _day(row) in ills for row in own)
    return None if is_open else Verdict("unsupported", refs(own[:1]))


def _may_be_for(own: Sequence[KnownRow], said: frozenset[str], rows: KnownRows) -> bool:
    """Whether a drug that tells no reason may be for an illness that no other drug is for."""
    drugs = [row for row in own if row.kind == "medication"]
    causes = [row for row in rows.about(said) if row.kind in ("problem", "medication")]
    is_of_others = any(row.kind == "medication" for row in causes)
    if drugs and not any(map(_reasons, rows.about(["=medication"]))):
        return True  # a record that tells no reasons
    return not is_of_others and any(
        _day(illness)[: len(_day(drug))] <= _day(drug)
        for drug in drugs
        for illness in causes
        if not _reasons(drug)
    )


def _reasons(row: KnownRow) -> list[str]:
    is_drug = row.kind == "medication"
    return [word for word in row.words - row.needs if is_drug and kind_of_name(word) == "problem"]
