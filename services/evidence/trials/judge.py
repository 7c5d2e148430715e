"""Judges a criterion: met, not met, or unknown. Pure; what code cannot decide stays open.

Met and not met say whether the criterion's words hold for the patient. Nothing recorded is never
a "not met": a chart does not list what somebody does not have.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal, TypeAlias

from data_models.chart_view import ViewRow
from services.evidence.trials.facts import (
    UNKNOWN,
    PatientFacts,
    Truth,
    all_of,
    any_of,
    judge_disease,
    judge_therapy,
    of_row,
    readings_of,
    refs_of,
)
from services.language.figures.quantities import quantities_in, unit_code
from services.language.figures.unit_sizes import converted
from services.language.studies import criteria
from services.language.studies.criteria_forms import Asked
from services.records.resources.dates import first_day

# Judges what criteria say of genes, receptors and PD-L1 by the record's marker rows. Pure.

_SEVERAL = {"BRCA1/2": ("BRCA1", "BRCA2"), "BRCA": ("BRCA1", "BRCA2"), "RAS": ("KRAS", "NRAS")}
_PRESENT = ("present", "positive", "amplified", "detected", "mutated")
_ABSENT = ("absent", "negative", "not ", "wild", "no ")
_OPEN = ("activating", "sensiti", "pathogenic")
"""Whether a mutation is such has to be read."""
_BY_NAME = ("amplif", "rearrang", "fusion", "germline", "somatic")
_MSI = {"high": True, "msi-h": True, "stable": False, "mss": False, "low": False}
_MMR = {"deficient": True, "loss": True, "proficient": False, "intact": False}
_LETTERS = {
    "A": "Ala", "R": "Arg", "N": "Asn", "D": "Asp", "C": "Cys", "Q": "Gln", "E": "Glu",
    "G": "Gly", "H": "His", "I": "Ile", "L": "Leu", "K": "Lys", "M": "Met", "F": "Phe",
    "P": "Pro", "S": "Ser", "T": "Thr", "W": "Trp", "Y": "Tyr", "V": "Val",
}  # fmt: skip


def judge_marker(asked: Asked, rows: Sequence[ViewRow]) -> Truth:
    """Return whether the record's markers say so."""
    if asked.name == "PD-L1":
        own = [row for row in rows if row.name.upper().startswith(("PD-L1", "PDL1"))]
        for row in own:
            numbers = quantities_in(row.value)
            if len(numbers) == 1 and not row.status and numbers[0].unit == "%":
                return of_row(row, holds=asked.within.holds(numbers[0].number))
        return Truth(None, "PD-L1: not in the record") if not own else of_row(own[0], holds=None)
    if asked.name == "MSI":
        found = _agreed(list(_instability(rows)), "microsatellite instability")
    else:
        sense, variant, what = asked.values
        genes = _SEVERAL.get(asked.name, (asked.name,))
        found = any_of([_gene(gene, variant, what, rows) for gene in genes])
        return found.negated() if sense == "absent" else found
    return found.negated() if asked.values[0] == "absent" else found


def _instability(rows: Sequence[ViewRow]) -> Iterator[Truth]:
    for row in rows:
        name, said = row.name.casefold(), row.value.casefold()
        words = _MSI if "microsatellite" in name else _MMR if "mismatch repair" in name else {}
        answers = {truth for word, truth in words.items() if word in said}
        if words:
            yield of_row(row, holds=answers.pop() if len(answers) == 1 else None)


def _gene(gene: str, variant: str, what: str, rows: Sequence[ViewRow]) -> Truth:
    own = [row for row in rows if row.name.split()[0].upper() == gene]
    if not own:
        return Truth(None, f"{gene}: not in the record")
    if what in _BY_NAME:
        own = [row for row in own if what in row.name.casefold()]
        return _agreed([of_row(row, holds=_state(row)) for row in own], f"{gene} {what}")
    plain = [row for row in own if (not row.name.partition("(")[0].split()[1:])]
    if not variant:
        # A row of one variant tells nothing of the others, unless it is there.
        judged = [of_row(row, holds=_state(row)) for row in plain]
        if what in _OPEN:
            judged = [
                Truth(None if one.holds else one.holds, one.reason, one.sources) for one in judged
            ]
        return _agreed(judged, gene)
    named = [row for row in own if variant.casefold() in row.name.casefold()]
    if named:
        return _agreed([of_row(row, holds=_state(row)) for row in named], f"{gene} {variant}")
    return _agreed([of_row(row, holds=_has(row, variant)) for row in plain], f"{gene} {variant}")


def _state(row: ViewRow) -> bool | None:
    said = row.value.casefold()
    if row.status or not said.startswith((*_ABSENT, *_PRESENT)):
        return None
    return not said.startswith(_ABSENT)


def _has(row: ViewRow, variant: str) -> bool | None:
    """Whether a variant is what the row found; another one found leaves it open."""
    state = _state(row)
    if state is not True:
        return state
    first, figures, last = variant[0], variant[1:-1], variant[-1]
    spelt = f"{_LETTERS.get(first, '?')}{figures}{_LETTERS.get(last, '?')}".casefold()
    return True if spelt in row.value.casefold() or variant in row.value else None


def _agreed(found: Sequence[Truth], name: str) -> Truth:
    if not found:
        return Truth(None, f"{name}: not in the record")
    holds = {one.holds for one in found}
    whole = any_of(found)
    return whole if len(holds) == 1 else Truth(None, whole.reason, whole.sources)


Verdict: TypeAlias = Literal["met", "not met", "unknown"]
_CELLS = frozenset({"/ul", "/µl", "/μl", "/mcl", "/mm3", "/mm^3", "/mm³"})
_THOUSANDTH = 0.001


@dataclass(frozen=True, slots=True)
class Judgement:
    """A criterion, whether it holds, and the rows that say so or what is missing."""

    text: str
    verdict: Verdict
    reason: str
    sources: tuple[str, ...] = ()


def judge(text: str, facts: PatientFacts, *, is_exclusion: bool = False) -> Judgement:
    """Return whether a criterion's words hold for the patient."""
    criterion = criteria.read_criterion(text)
    found = _whole(criterion, facts, is_exclusion=is_exclusion)
    verdict: Verdict = {True: "met", False: "not met", None: "unknown"}[found.holds]  # type: ignore[assignment]
    reason = found.reason or "has to be read by a person"
    return Judgement(text, verdict, reason, tuple(dict.fromkeys(found.sources)))


def _whole(criterion: criteria.Criterion, facts: PatientFacts, *, is_exclusion: bool) -> Truth:
    if not criterion.pieces:
        return UNKNOWN
    judged = [
        _piece(piece, facts, criterion.within_days, is_exclusion=is_exclusion)
        for piece in criterion.pieces
    ]
    if criterion.joint == "and":
        return all_of(judged)
    if criterion.joint == "or":
        return any_of(judged)
    holds = {one.holds for one in judged}
    agree = all_of(judged)
    return agree if len(holds) == 1 else Truth(None, agree.reason, agree.sources)


def _piece(
    piece: criteria.Piece, facts: PatientFacts, within_days: int | None, *, is_exclusion: bool
) -> Truth:
    found = [_asked(one, facts, within_days) for one in piece.asked]
    if piece.other:
        if (named := criteria.therapy_in(piece.other)) is not None:
            found.append(judge_therapy(named, facts, within_days))
        elif within_days is not None:
            found.append(judge_therapy(criteria.Named(piece.other, "past"), facts, within_days))
        else:
            found.append(judge_disease(criteria.disease_in(piece.other), facts))
    whole = all_of(found)
    is_conditional = any(one.kind == "sex" for one in piece.asked) and bool(piece.other)
    if is_conditional and whole.holds is False and not is_exclusion:
        return Truth(None, whole.reason, whole.sources)  # "women must not …" says nothing of men
    return whole.negated() if piece.is_negated else whole


def _asked(asked: Asked, facts: PatientFacts, within_days: int | None) -> Truth:
    if asked.kind == "value":
        if not (rows := facts.values(asked.name)):
            return Truth(None, f"{asked.name}: not in the record")
        judged = [_row(asked, row, facts, within_days) for row in rows]
        holds = {one.holds for one in judged}
        whole = all_of(judged)
        return whole if len(holds) == 1 else Truth(None, whole.reason, whole.sources)
    if within_days is not None and asked.kind != "age":
        return Truth(None, "the time that it has to be from has to be read by a person")
    return _JUDGES[asked.kind](asked, facts)


def _age(asked: Asked, facts: PatientFacts) -> Truth:
    ages = [float(word) for said in readings_of(facts.age) for word in said.split()
            if word.isdigit()]  # fmt: skip
    said = facts.age.value
    return _each(ages, asked, f"age {said}", refs_of(facts.age), missing="age")


def _ecog(asked: Asked, facts: PatientFacts) -> Truth:
    said = readings_of(facts.ecog)
    values = [float(one) for one in said if one.isdigit()]
    if len(values) < len(said):
        values = []
    reason = f"ECOG {' versus '.join(said)}"
    return _each(values, asked, reason, refs_of(facts.ecog), missing="ECOG")


def _karnofsky(asked: Asked, facts: PatientFacts) -> Truth:
    rows = facts.values("Karnofsky")
    numbers = [row.number for row in rows if row.number is not None]
    reason = "; ".join(f"{row.name} {row.value}" for row in rows)
    refs = tuple(ref for row in rows for ref in row.sources)
    return _each(numbers, asked, reason, refs, missing="Karnofsky index")


def _each(
    numbers: Sequence[float], asked: Asked, reason: str, refs: tuple[str, ...], *, missing: str
) -> Truth:
    """Return what all numbers agree on."""
    if not numbers:
        return Truth(None, f"{missing}: not in the record")
    holds = {asked.within.holds(number) for number in numbers}
    return Truth(holds.pop() if len(holds) == 1 else None, reason, refs)


def _sex(asked: Asked, facts: PatientFacts) -> Truth:
    sex = facts.sex.value
    if sex not in ("male", "female"):
        return Truth(None, "sex: not in the record")
    return Truth(sex in asked.values, f"sex {sex}", refs_of(facts.sex))


def _stage(asked: Asked, facts: PatientFacts) -> Truth:
    active = [row for row in facts.problems if row.status == "active"]
    metastases = [row for row in active if row.name.casefold().startswith("metasta")]
    if not (readings := readings_of(facts.stage)):
        if asked.values == ("IV",) and metastases:
            return of_row(metastases[0], holds=True)
        return Truth(None, "stage: not in the record")
    reason = f"stage {' versus '.join(readings)}"
    found = [_is_stage(one.removeprefix("Stage ").strip(), asked.values) for one in readings]
    holds = found[0] if len(set(found)) == 1 else None
    return Truth(holds, reason, refs_of(facts.stage))


def _is_stage(own: str, wanted: Iterable[str]) -> bool | None:
    """Whether a stage is among those wanted: IVB is IV, but III may be IIIB."""
    group = own.rstrip("ABC0123456789")
    answers = set[bool | None]()
    for one in wanted:
        if own == one or (one == group and own.startswith(one)):
            return True
        is_part = one.rstrip("ABC0123456789") == own
        answers.add(None if is_part else False)
    return None if None in answers else False


def _row(asked: Asked, row: ViewRow, facts: PatientFacts, within_days: int | None) -> Truth:
    day = first_day(row.date[:10])
    if within_days is not None:
        oldest = facts.today - timedelta(days=within_days)
        if day is None or day < oldest:
            return of_row(row, holds=None, why=f"older than {within_days} days")
    if row.value[:1] in "<>≤≥" or row.number is None:
        return of_row(row, holds=None, why="no exact number")
    if asked.is_times_upper:
        if (upper := _upper(row)) is None:
            return of_row(row, holds=None, why="the record gives no upper limit")
        return of_row(row, holds=asked.within.holds(row.number, times=upper))
    unit = "".join(asked.unit.casefold().replace("cells", "").split())
    is_cells = unit in _CELLS
    to = "10*9/L" if is_cells else unit_code(asked.unit)
    own = unit_code(row.unit) or row.unit
    number = row.number if not asked.unit and not own else converted(row.number, own, to)
    if number is None or (not asked.unit and own):
        return of_row(row, holds=None, why=f"not comparable with “{asked.unit or 'no unit'}”")
    return of_row(row, holds=asked.within.holds(number, times=_THOUSANDTH if is_cells else 1.0))


def _upper(row: ViewRow) -> float | None:
    parts = row.range.replace("–", "-").split("-")
    figure = "".join(char for char in parts[-1] if char.isdigit() or char == ".")
    return float(figure) if len(parts) == 2 and figure.replace(".", "", 1).isdigit() else None


_JUDGES: Mapping[str, Callable[[Asked, PatientFacts], Truth]] = {
    "age": _age, "sex": _sex, "ecog": _ecog, "karnofsky": _karnofsky, "stage": _stage,
    "marker": lambda asked, facts: judge_marker(asked, facts.markers),
}  # fmt: skip
