"""What the clauses of a sentence measure, list and tell beside, each for itself. Pure."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

from services.language.sentences.clause_reader import ClauseReader
from services.language.sentences.clauses import Clause
from services.language.sentences.links import KINDS, REASONS, TOLD
from services.language.sentences.name_kinds import kind_of_name
from services.language.sentences.statement_parts import graded
from services.language.sentences.statements import Sentence
from services.language.words.statement_tables import saying, stems_told
from services.language.words.statement_words import group_of, is_clinical_name, statement_words
from services.statements.comparing.bounds import limits
from services.statements.comparing.compare import compare_values
from services.statements.comparing.linked import by_links
from services.statements.comparing.one_day import on_other_days
from services.statements.noticed import is_noticed_by_other
from services.statements.rows.fit import fits
from services.statements.rows.known import KnownRows
from services.statements.rows.known_words import has_all, has_none
from services.statements.rows.one_of_several import excludes
from services.statements.rows.rows import JUDGED, told_of
from services.statements.rows.subject import all_named, beside
from services.statements.rows.verdict import Verdict, worst
from services.statements.times.durations import TIMES
from services.statements.times.reckoned import by_reckoning, is_of_other_age
from services.statements.unknown_prose import adds_unknown, said_of

_LISTS = frozenset({"=medication", "=problem", "=allergy", "=procedure", "=immunization"})
CLINICAL_TOPICS = _LISTS | {"=metastasis", "=mutation", "=biomarker", "=infection"}
_DESTINATION = "destination"
_STANDING = (("problem", "active"), ("fact", ""))
_FEW, _MOST_CUTS = 1, 10
_MOST_STEPS = 3

_Read = list[tuple[Clause, Verdict]]


_JUDGING = JUDGED | {"no"}
_DOSES = frozenset({"mg", "ug", "g", "mg/m2"})
_TOLD, _BRACKETS = frozenset({"asserts", "about_patient"}), str.maketrans("", "", "[]")
_OF_OTHER_TIMES = frozenset({"ended", "begun", "when", "before", "no", "maybe", "planned"})


def is_plain_head(sentence: Sentence) -> bool:
    """Whether the words over a table's columns leave its values to be those of now."""
    return all(
        one.quantities or one.stages or (one.words <= saying("plain_heads") and not one.dates)
        for one in sentence.clauses
    )


def as_of_now(sentence: Sentence, *, has_heading: bool) -> Sentence:
    """Return names and values, or an item's dose, as told of now; items under a heading as ever."""
    clauses = sentence.clauses
    is_course = len({one.names for one in clauses}) < len(clauses)  # "PSA 148, 4.7 and 21.3 ng/mL"
    days = (day for one in clauses for day in one.dates)
    is_headed = any(":" in sentence.text[day.end :][:4] for day in days)  # `- 2022: ECOG 1`
    if not clauses or is_course or is_headed or sentence.refs or (sentence.is_item and has_heading):
        return sentence
    is_told = any(one.quantities or one.stages for one in clauses)
    told = {"is_now"} if is_told and all(map(_is_bare, clauses)) else frozenset[str]()
    is_dose = len(clauses) == 1 and (sentence.is_item or not sentence.cues & _TOLD)
    is_dose = is_dose and any(each.unit in _DOSES for each in clauses[0].quantities)
    if is_dose and not (clauses[0].dates or clauses[0].cues & _OF_OTHER_TIMES):
        told = {"current"}
    if not told:
        return sentence
    return replace(sentence, clauses=tuple(replace(one, cues=one.cues | told) for one in clauses))


def _is_bare(clause: Clause) -> bool:
    """Whether a clause is a name or its value and not a word more: `CEA: 18.4 ng/mL`, `Stage IVA`.

    "Baseline stage IVA" and "CEA fell to 3.1" are none.
    """
    if not clause.quantities and not clause.stages:
        return not clause.dates and "asserts" not in clause.cues
    units = {
        part
        for one in clause.quantities
        for part in one.unit.lower().translate(_BRACKETS).split("/")
    }
    known = units.union(clause.exclusive, clause.called)
    words = {one for one in clause.words - known if one[0].isalpha()}
    left = {one for one in words if not graded(one.upper())}
    named = left & set(clause.names)
    return len(left - named) <= (0 if named or clause.called else 1)


def each(clauses: Iterable[Clause]) -> Iterator[Clause]:
    """Yield clauses, each of their numbers for itself: `fell from 4.5 to 4.1`."""
    for clause in clauses:
        yield clause
        if len(clause.quantities) > 1:
            for one in clause.quantities:
                yield replace(clause, quantities=(one,), dates=())


def tells_value(clause: Clause, *, asks: bool) -> bool:
    """Whether a clause tells a value; how soon to do what is advised, and its aim, is none."""
    told = any(one.unit not in TIMES and not one.comparator for one in clause.quantities)
    if told and "of_value" in clause.cues and not clause.says("limits", "met", "supposing"):
        return True
    return any(one.unit and not (asks and one.unit in TIMES) for one in clause.quantities)


def value_alone(clause: Clause, *, asks: bool) -> Clause:
    """Return a clause; of advice about a value that value, and nothing of when to do what."""
    is_advice = (asks or "maybe" in clause.cues) and "of_value" in clause.cues
    if not (is_advice and tells_value(clause, asks=True)):
        return clause
    told = tuple(one for one in clause.quantities if one.unit not in TIMES)
    cues = clause.cues - {"family"}  # "discuss her MMSE of 11 with the family"
    return replace(clause, quantities=told, often=frozenset(), dates=(), cues=cues)


def cites_another(sentence: Sentence, known: KnownRows) -> bool:
    """Whether a value stands in none of the sources that its sentence names."""
    stated = [one for one in sentence.clauses if one.has_values]
    cited = [known.by_source(ref) for ref in sentence.refs if stated]
    if not cited or not all(rows and not any(row.is_text for row in rows) for rows in cited):
        return False  # what a document says is not all in rows
    return not any(fits(one, row) for rows in cited for row in rows for one in each(stated))


def is_of_record(name: str) -> bool:
    """Whether a name is of what records hold: a finding, a test, a drug."""
    return is_clinical_name(name) or (name[0] == "=" and kind_of_name(name) == "medication")


def listed_kinds(sentence: Sentence) -> frozenset[str]:
    """Return the kinds of things that a heading, or what stands before a colon, announces."""
    said = frozenset(topic for one in sentence.clauses for topic in one.topics)
    takes = {"=medication"} if "takes" in sentence.cues else frozenset[str]()
    return (said | takes) & _LISTS


def lists_unknown(sentence: Sentence, kinds: AbstractSet[str], rows: KnownRows) -> bool:
    """Whether a list of drugs, problems or allergies names what no row has a word of."""
    is_told = bool(kinds) and not sentence.asks
    return is_told and any(has_none(words, rows.words) for words in sentence.listed)


def as_headed(sentence: Sentence, stands: AbstractSet[str]) -> Sentence:
    """Return an item as its heading says that it stands: "Stopped medicines", "Active problems"."""
    told = stands & {"ended", "current"}
    is_plain = sentence.is_item and bool(sentence.clauses) and len(told) == 1
    if not is_plain or (sentence.cues | stands) & _OF_OTHER_TIMES - told - {"when"}:
        return sentence
    first, *rest = sentence.clauses
    first = replace(first, cues=first.cues | told)
    return replace(sentence, clauses=(first, *rest), cues=sentence.cues | told)


def reasons_of(sentence: Sentence) -> Sequence[Sentence]:
    """Return why something is advised, each as a sentence: a reason is told as a fact."""
    is_advice = bool(sentence.cues & REASONS) and (sentence.asks or "maybe" in sentence.cues)
    if not is_advice or sentence.reader is None:
        return ()
    told_by = (one.clauses[one.turn :] for one in sentence.reader.links("because", "given"))
    told = [(one, frozenset(cue for c in one for cue in c.cues)) for one in told_by]
    return [
        replace(sentence, clauses=clauses, cues=cues, asks=False, reader=None)
        for clauses, cues in told
        if "about_patient" in cues and "maybe" not in cues
    ]


def adds_beside(
    sentence: Sentence, sources: Sequence[str], known: KnownRows, own_names: AbstractSet[str]
) -> bool:
    """Whether a sentence says more than the rows on `sources` and those beside them."""
    clauses = sentence.clauses
    if on_other_days(clauses, known) or is_noticed_by_other(sentence, known):
        return True
    named = {name for one in clauses for name in one.names}
    cited = [row for ref in sources for row in known.by_source(ref)]
    rows = [row for row in cited if row.is_text or not named or not named.isdisjoint(row.words)]
    rows += [row for one in clauses for row in known.about(one.names) if row.is_text]
    rows += beside(rows, known, named)
    of_names = [row for name in named for row in known.about([name])]
    rows += [row for row in of_names if row.kind == "goal" and limits(sentence, row)]
    rows += [row for row in of_names if (row.kind, row.standing) in _STANDING]
    topics = {topic for one in clauses if one.quantities for topic in one.topics}
    rows += [row for one in topics for row in known.about([one]) if row.kind == "procedure"]
    rows += [row for row in known.personal if row.kind != "personal" or named & row.words]
    gone = [word for one in clauses for word in one.exclusive if group_of(word) == _DESTINATION]
    went = Clause(exclusive=tuple(gone))
    if any(excludes(went, row) for ref in sources[:1] for row in known.by_source(ref)):
        return True  # "was discharged home", where the stay ended in a hospice
    if not adds_unknown(sentence, rows, own_names):
        return False
    rows += all_named(known, named)
    for parts in (clauses, sentence.reader.segments() if sentence.reader is not None else clauses):
        left = tuple(one for one in parts if not _is_told_by_one(one, known, own_names))
        if not adds_unknown(replace(sentence, clauses=left), rows, own_names):
            return False
    return True


def _is_told_by_one(clause: Clause, known: KnownRows, own_names: AbstractSet[str]) -> bool:
    """Whether one sentence of a text says all that a clause does: "MRI: enlarged pituitary"."""
    said = said_of(clause, own_names).union(clause.names)
    texts = (row for row in known.rows if row.is_text and has_all(said, row.words))
    return len(said) > _FEW and "maybe" not in clause.cues and any(fits(clause, r) for r in texts)


def judged(
    sentence: Sentence, rows: KnownRows, judge: Callable[[Clause], Verdict], before: Sequence[str]
) -> tuple[Sentence, list[Verdict]]:
    """Return a sentence with the verdicts over its clauses; of several facts in one, over each."""
    verdicts = [judge(clause) for clause in sentence.clauses]
    state = worst(verdicts).state
    if state == "supported" and is_of_other_age(sentence, verdicts, rows):
        return sentence, [Verdict("unsupported")]
    if state in ("supported", "unchecked") or sentence.reader is None:
        return sentence, verdicts
    if (reckoned := by_reckoning(sentence, rows, judge, before)) is not None:
        return reckoned

    def alone(clause: Clause) -> Verdict:  # "… and healed within two weeks" is reckoned of itself
        of_same = (one for one in sentence.clauses if not {*clause.names}.isdisjoint(one.names))
        dates = clause.dates or tuple(day for one in of_same for day in one.dates)
        own = replace(clause, own_names=True, dates=dates)
        told = by_reckoning(replace(sentence, clauses=(own,)), rows, judge, before)
        return worst(told[1]) if told is not None and clause.quantities else judge(clause)

    kinds = KINDS if "maybe" in sentence.cues else TOLD
    if (linked := by_links(sentence.reader.links(*kinds), rows, alone)) is not None:
        return replace(sentence, clauses=linked[0].clauses), linked[1]
    of_specimen = any(one.says("of_a_specimen") for one in sentence.clauses)
    if state == "contradicted" or of_specimen:  # each value is of its own, and not parted from it
        return sentence, verdicts
    if not (pieces := _in_pieces(sentence.reader, alone)):
        return sentence, verdicts
    told = tuple(clause for clause, _ in pieces)
    return replace(sentence, clauses=told), [verdict for _, verdict in pieces]


def _in_pieces(reader: ClauseReader, judge: Callable[[Clause], Verdict]) -> _Read:
    """Return the facts of a sentence that rows say one by one; none where they do not say all.

    A cut is kept where it leaves less that no row says. Each piece names what it is about: a value
    and its day, or a thing and its place, are never parted.
    """
    candidates, cuts = reader.cuts()[:_MOST_CUTS], tuple[int, ...]()
    if any("family" in one.cues and one.quantities for one in reader.segments()):
        candidates = candidates[:0]  # at what age who died, or fell ill
    facts = [one for one in reader.segments() if one.has_values or told_of(one.words)]
    if len(facts) < 2 and not candidates:
        return []
    apart = [(one, judge(one)) for one in reader.clauses(are_apart=True)]
    rest = [one for one, verdict in apart if verdict.state == "unchecked"]
    judging = stems_told("judging")  # "…, which is low"
    is_open = any(one.exclusive or one.cues & _JUDGING or one.words & judging for one in rest)
    is_open |= any(one.says("apart") and not one.own_names for one, _ in apart)
    if len(apart) > 1 and not is_open and worst([one for _, one in apart]).state == "supported":
        return apart
    least = _weight(apart)
    for _ in range(_MOST_STEPS):
        tried = [
            (_weight(found), at, found)
            for at in candidates
            if at not in cuts
            for found in [_read(reader, judge, (*cuts, at), apart)]
            if found
        ]
        weight, at, found = min(tried, key=lambda one: one[:2], default=(least, 0, []))
        if weight >= least:
            return []
        if worst([one for _, one in found]).state == "supported":
            return found
        least, cuts = weight, (*cuts, at)
    return []


def _read(
    reader: ClauseReader, judge: Callable[[Clause], Verdict], cuts: Sequence[int], whole: _Read
) -> _Read:
    """Return the facts between cuts; none where a cut parts what is told to belong together."""
    clauses, uncut = reader.clauses(cuts, are_apart=True), [one.words for one, _ in whole]
    if any(clause.says("related") and clause.words not in uncut for clause in clauses):
        return []
    return [(one, judge(one)) for one in clauses]


def _weight(found: _Read) -> int:
    """Return how much of what is told no row says."""
    bad = [clause for clause, verdict in found if verdict.state in ("unsupported", "contradicted")]
    parts = (each for one in bad for each in (one.names, one.quantities, one.dates, one.stages))
    return len(bad) + sum(map(len, parts))


def names_measured(rows: KnownRows, clause: Clause, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return of names those of the value: of names told before, or beside a drug it is under."""
    units = {one.unit for one in clause.quantities}
    if len(names) < 2 or not units or rows.about(names) or units & _DOSES:
        return names
    measured = tuple(one for one in names if any(row.needs_all for row in rows.about([one])))
    others = [rows.about([one]) for one in names if one not in measured]
    is_under = all(any(row.kind == "medication" for row in of_one) for of_one in others)
    return (measured or names) if is_under or not clause.own_names else names


def by_own_words(clause: Clause, names: Sequence[str], found: Verdict, rows: KnownRows) -> Verdict:
    """Return what was found of a value; of one that no list names, "and QTc 428 ms", by its row."""
    if found.state != "unsupported" or not (names and clause.quantities) or clause.own_names:
        return found
    own = tuple(told_of(clause.words) - statement_words().neutral)
    told = compare_values(replace(clause, names=own), rows, names=own)
    return told if own and told.state == "supported" else found
