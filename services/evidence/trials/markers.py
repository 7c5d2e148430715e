"""Judges what criteria say of genes, receptors and PD-L1 by the record's marker rows. Pure."""

from collections.abc import Iterator, Sequence

from data_models.chart_view import ViewRow
from services.evidence.trials.truth import Truth, any_of, of_row
from services.language.criteria_forms import Asked
from services.language.quantities import quantities_in

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
        return _measured(asked, rows)
    if asked.name == "MSI":
        found = _agreed(list(_instability(rows)), "microsatellite instability")
    else:
        sense, variant, what = asked.values
        genes = _SEVERAL.get(asked.name, (asked.name,))
        found = any_of([_gene(gene, variant, what, rows) for gene in genes])
        return found.negated() if sense == "absent" else found
    return found.negated() if asked.values[0] == "absent" else found


def _measured(asked: Asked, rows: Sequence[ViewRow]) -> Truth:
    own = [row for row in rows if row.name.upper().startswith(("PD-L1", "PDL1"))]
    for row in own:
        numbers = quantities_in(row.value)
        if len(numbers) == 1 and not row.status and numbers[0].unit == "%":
            return of_row(row, holds=asked.within.holds(numbers[0].number))
    return Truth(None, "PD-L1: not in the record") if not own else of_row(own[0], holds=None)


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
    plain = [row for row in own if _is_plain(row.name)]
    if not variant:
        # A row of one variant tells nothing of the others, unless it is there.
        told = [of_row(row, holds=_state(row)) for row in plain]
        if what in _OPEN:
            told = [
                Truth(None if one.holds else one.holds, one.reason, one.sources) for one in told
            ]
        return _agreed(told, gene)
    named = [row for row in own if variant.casefold() in row.name.casefold()]
    if named:
        return _agreed([of_row(row, holds=_state(row)) for row in named], f"{gene} {variant}")
    return _agreed([of_row(row, holds=_has(row, variant)) for row in plain], f"{gene} {variant}")


def _is_plain(name: str) -> bool:
    """Whether a row is of the gene itself: "EGFR", "HER2 (immunohistochemistry)"."""
    return not name.partition("(")[0].split()[1:]


def _state(row: ViewRow) -> bool | None:
    said = row.value.casefold()
    if row.status or not said:
        return None
    if said.startswith(_ABSENT):
        return False
    return True if said.startswith(_PRESENT) else None


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
