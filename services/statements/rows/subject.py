"""Which rows a clause speaks of, and what a verdict names of them."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from services.language.figures.quantities import TIME_UNITS
from services.language.sentences.clauses import SETTINGS, Clause
from services.language.sentences.statements import Sentence
from services.language.words.statement_tables import saying, stems_told
from services.language.words.statement_words import group_of, statement_words
from services.statements.rows.fit import has_date, is_aim
from services.statements.rows.known import KnownRows
from services.statements.rows.one_of_several import DONE_ONCE, excludes
from services.statements.rows.rows import KnownRow, told_of
from services.statements.rows.verdict import Verdict

_ROWS_CITED = 3
_OF_A_PERSON = frozenset({"sex", "marriage", "life"})
_STATES = frozenset({"takes", "current", "ended", "begun"})
_STANDING_KINDS = frozenset({"problem", "medication", "care plan"})
_DONE_THEN = DONE_ONCE | {"care plan"}
_CANCER = frozenset({"cancer", "tumor"})  # "the tumor is ER-positive"
_FINDINGS = frozenset({"fact", "biomarker", "genetic finding"})


def called_by_source(sentence: Sentence, clause: Clause, rows: KnownRows) -> tuple[str, ...]:
    """Return what the source is called of "The last one was on 2 May [Observation/cea-3]"."""
    if len(sentence.refs) != 1 or told_of(clause.words):
        return ()
    return next((tuple(row.needs) for row in rows.by_source(sentence.refs[0]) if row.needs), ())


def of_state(clause: Clause, subject: list[KnownRow], names: Sequence[str]) -> list[KnownRow]:
    """Return those of `subject` that say how a thing stands, where a clause says so.

    "Under dexamethasone", in the row of another drug, does not say who takes that now; that of a
    visit for a disease, which has ended, not that the disease has.
    """
    if not clause.cues & _STATES:
        return subject
    own = [row for row in subject if not row.needs.isdisjoint(names)]
    if any(row.kind.endswith("report") for row in own):
        return subject  # what its sentences say began is theirs to tell
    # A body mass index since 2012 is told by its values, not by the obesity that is called so.
    standing = [row for row in own if row.kind in _STANDING_KINDS]
    is_then = any(has_date(day, row) for row in standing for day in clause.dates)
    measured = [row for row in own if row.needs_all] if clause.quantities and not is_then else []
    return measured or standing or own or subject


def person_groups(clause: Clause) -> frozenset[str]:
    """Return the words of which a person is one, where a clause says one: man or woman."""
    said = _groups_of(clause) & _OF_A_PERSON if clause.exclusive else set[str]()
    if not said or clause.says("offspring"):  # "Her second child was a girl."
        return frozenset()
    groups = statement_words().exclusive
    return frozenset(word for word, (group, _) in groups.items() if group in said)


def without_setting(clause: Clause) -> tuple[str, ...]:
    """Return the names of a clause; of a value "at the last check-up" not that of the visit."""
    is_tested = bool(clause.exclusive) and not _CANCER.isdisjoint(clause.words)
    generic = SETTINGS | _CANCER if is_tested else SETTINGS
    rest = tuple(one for one in clause.names if one not in generic | saying("check_ups"))
    is_beside = clause.quantities or is_tested or clause.differences or clause.says("during")
    return rest if rest and is_beside else clause.names


def is_of_picture(clause: Clause) -> bool:
    """Whether a clause names a kind of picture, as that which shows something."""
    measures = any(one.unit not in TIME_UNITS for one in clause.quantities)
    is_named = "modality" in _groups_of(clause) or clause.says("pictures")
    return is_named and (measures or clause.says("finds"))


def is_of_other_picture(clause: Clause, row: KnownRow) -> bool:
    """Whether what an MRI found, or did not, is told of a CT."""
    told, made = (
        {w for w in one if group_of(w) == "modality"} for one in (clause.words, row.words)
    )
    return bool(told and made) and told.isdisjoint(made)


def without_picture(clause: Clause) -> Clause:
    """Return a clause without the name of the picture by which something was found, or not."""
    if not is_of_picture(clause):
        return clause
    names = [one for one in clause.names if group_of(one) != "modality"]
    return replace(clause, names=tuple(one for one in names if one not in saying("pictures")))


def is_setting(clause: Clause) -> bool:
    """Whether a clause only says at which visit what follows was so."""
    is_bare = bool(clause.names) and not clause.has_values and "asserts" not in clause.cues
    return is_bare and "newest" in clause.cues and SETTINGS.issuperset(clause.names)


def of_another_person(clause: Clause, rows: KnownRows) -> Verdict | None:
    """Return what the record says of who is called single or married otherwise."""
    is_told = "marriage" in _groups_of(clause) and not (clause.says("single") and clause.names)
    if "family" in clause.cues or not is_told:
        return None
    other = next((r for r in rows.personal if r.kind == "personal" and excludes(clause, r)), None)
    return Verdict("contradicted", other.sources, other.says) if other is not None else None


def by_each_of_kin(clause: Clause, names: Sequence[str]) -> list[tuple[Clause, tuple[str, ...]]]:
    """Return the clause of each of "her father and one sibling", with what it names."""
    known = stems_told("family") - saying("any_kin")
    kin = clause.words & known
    if clause.says("parents") and clause.says("all"):
        kin |= saying("each_parent")
        names = [one for one in names if one not in saying("parents")]
    if "family" not in clause.cues or clause.dates or clause.quantities:
        return []
    return [
        (
            replace(clause, words=(clause.words - kin - saying("parents")) | {one}),
            tuple(each for each in names if each not in kin - {one}),
        )
        for one in sorted(kin)
    ]


def _groups_of(clause: Clause) -> set[str]:
    return set(map(group_of, clause.exclusive))


def about(clause: Clause, rows: KnownRows, names: Sequence[str]) -> list[KnownRow]:
    """Return the rows of what a clause names."""
    found = rows.about(names)
    spoken = clause.words | set(names)
    units = {one.unit for one in clause.quantities} - {""}
    meant = [
        row
        for row in found
        if row.is_text
        or is_meant(row, spoken, names)
        or (units & {one.unit for one in row.quantities} and is_level_of(row, spoken))
    ]
    return without_variants(meant, spoken)


def is_level_of(row: KnownRow, spoken: Collection[str]) -> bool:
    """Whether a value is that of a drug in the blood, told by the drug: "Lithium 0.7 mmol/L"."""
    levels = saying("measured_level")
    return not row.name.isdisjoint(levels) and row.name - levels <= {*spoken}


def without_variants(rows: list[KnownRow], spoken: Collection[str]) -> list[KnownRow]:
    """Return `rows` without those that deny a variant of what was found: T790M, of EGFR."""
    told, denying = {*spoken}, stems_told("denying")
    if not any(_is_finding_of(row, told) for row in rows):
        return rows
    is_denial = not denying.isdisjoint(told)
    return [
        row
        for row in rows
        if not (row.negated or (is_denial and row.is_text and row.words & denying))
        or (row.needs and row.needs <= told)
    ]


def _is_finding_of(row: KnownRow, told: set[str]) -> bool:
    """Whether a row found what is told, and not only that of which it names a variant: C797S."""
    if row.kind not in _FINDINGS or row.negated or not row.needs <= told:
        return False
    variants = {word for word in told if any(map(str.isdigit, word))}
    return bool(row.needs) and variants <= row.words


def beside(
    found: Iterable[KnownRow], rows: KnownRows, names: Collection[str] = ()
) -> list[KnownRow]:
    """Return the visits of the days of `found`, and what else is named by `names` on these days."""
    days = {row.order[:10]: row.begun for row in found if row.begun is not None and row.begun.day}
    return [
        row
        for order, day in days.items()
        for row in rows.with_day(day.year, day.month)
        if row.order[:10] == order
        and (
            row.kind == "encounter" or (row.kind in _DONE_THEN and not row.words.isdisjoint(names))
        )
    ]


def all_named(rows: KnownRows, names: Collection[str]) -> list[KnownRow]:
    """Return the rows whose whole name is among `names`; a goal proves nothing of a value."""
    found = [row for name in names for row in rows.about((name,)) if row.needs <= {*names}]
    return [row for row in found if not is_aim(row)]


def is_meant(row: KnownRow, spoken: Collection[str], names: Sequence[str]) -> bool:
    """Whether a clause that names some of a row's words speaks of that row."""
    if row.needs_all:
        return row.needs <= {*spoken} or row.name <= {*spoken}
    return not row.needs.isdisjoint(spoken) or not row.words.isdisjoint(names)


def supported(rows: Sequence[KnownRow]) -> Verdict:
    """Return that the first of `rows` says it."""
    return Verdict("supported", refs(rows[:_ROWS_CITED]), rows[0].says)


def refs(rows: Iterable[KnownRow]) -> tuple[str, ...]:
    """Return the sources of `rows`, each once."""
    return tuple(dict.fromkeys(ref for row in rows for ref in row.sources))
