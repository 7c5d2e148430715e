"""Whether one row says what a clause states."""

from services.language.clauses import Clause
from services.language.quantities import Quantity
from services.language.statement_words import statement_words
from services.language.written_dates import FoundDate
from services.statements.rows import KnownRow
from services.statements.units import is_same


def fits(clause: Clause, row: KnownRow) -> bool:
    """Whether one row says all that a clause states besides its names."""
    return (
        is_denied_alike(clause, row)
        and is_of_same_matter(clause, row)
        and all(has_date(one, row) for one in clause.dates)
        and _measures(clause, row)
        and all(
            any(one.fits(known) for known in row.stages) or _says_plainly(one.value, row)
            for one in clause.stages
        )
        and all(code in row.words for code in clause.codes)
        and clause.often <= row.often
        and has_sites(clause, row)
        and not excludes(clause, row)
        and stands(clause, row)
    )


def is_of_same_matter(clause: Clause, row: KnownRow) -> bool:
    """Whether allergies are told by rows of allergies, drugs by rows of drugs, kin by rows of kin.

    A row of a penicillin allergy says nothing of who takes penicillin; that of ramipril, which
    somebody takes, nothing of an allergy to it.
    """
    vocabulary = statement_words()
    is_told_of_kin = row.kind.startswith("family") or bool(row.words & vocabulary.kin)
    if ("family" in clause.cues) != is_told_of_kin and (is_told_of_kin or not row.is_text):
        return False
    is_of_allergy = row.kind.startswith("allerg") or "=allergy" in row.words
    is_of_allergy = is_of_allergy or bool(row.words & vocabulary.allergic)
    if clause.words & vocabulary.allergic:
        return is_of_allergy
    return not (is_of_allergy and clause.cues & {"takes", "tolerates"})


def is_denied_alike(clause: Clause, row: KnownRow) -> bool:
    """Whether a row that denies something is told so: `EGFR T790M is absent`."""
    return not row.negated or bool(clause.words & statement_words().denying)


def has_sites(clause: Clause, row: KnownRow) -> bool:
    """Whether a row has every side beside the same words."""
    return all(any(site <= known for known in row.sites) for site in clause.sites)


def _measures(clause: Clause, row: KnownRow) -> bool:
    is_about = "approximately" in clause.cues
    for one in clause.quantities:
        known = row.quantities
        if clause.cues & {"range", "normal"}:
            known = (*known, *row.ranges)
        if not any(is_same(one, there, is_about=is_about) for there in known):
            return False
    return True


def has_date(found: FoundDate, row: KnownRow) -> bool:
    """Whether the row has the date, perhaps more exactly."""
    return any(reading.fits(known) for reading in found.readings for known in row.dates)


def _says_plainly(value: str, row: KnownRow) -> bool:
    """Whether a score stands in the row as a plain number: `ECOG 1` with the value 1."""
    return value.isdigit() and any(
        not one.unit and one.number == float(value) for one in row.quantities
    )


def excludes(clause: Clause, row: KnownRow) -> bool:
    """Whether the row has another word of a group of which one holds, such as left and right."""
    if not clause.exclusive or not row.exclusive:
        return False
    groups = statement_words().exclusive
    for word in clause.exclusive:
        if word in row.exclusive:
            continue
        here = [groups[other] for other in row.exclusive if groups[other][0] == groups[word][0]]
        if here and groups[word] not in here:
            return True
    return False


def stands(clause: Clause, row: KnownRow) -> bool:
    """Whether a row holds now, where the clause says now; has ended, where it says so."""
    cues = clause.cues
    if row.standing == "ended" and cues & {"current", "takes"} and "ended" not in cues:
        return False
    if row.standing == "active" and "ended" in cues and not row.ended:
        return False
    if clause.dates and "ended" in cues and row.ended is not None and "begun" not in cues:
        return any(reading.fits(row.ended) for one in clause.dates for reading in one.readings)
    if clause.dates and "begun" in cues and row.begun is not None and row.ended is not None:
        return any(
            reading.fits(known)
            for one in clause.dates
            for reading in one.readings
            for known in row.dates
            if known != row.ended
        )
    return True


def is_measured(one: Quantity, row: KnownRow) -> bool:
    """Whether the row has the number."""
    return any(is_same(one, known) for known in row.quantities)
