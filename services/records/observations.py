"""Observations in words: values, and which observations are biomarkers."""

import re
from functools import lru_cache

from services.records.fhir_resources import Observation, ObservationValue
from services.records.fhir_types import Quantity

GENETIC_VARIANT = "69548-6"
_GENE_STUDIED = "48018-6"
_CHANGES = ("48005-3", "48004-6")
_MARKER_CODES = frozenset(
    {"40556-3", "40557-1", "85319-2", "81695-9", "2857-1", "2039-6", "2532-0", GENETIC_VARIANT}
)
_MARKER = re.compile(
    r"\b(?:EGFR|ALK|ROS1|RET|MET|KRAS|NRAS|BRAF|HER2|ERBB2|NTRK[123]?|PD-?L1|MSI|MMR|MLH1|MSH[26]|"
    r"PMS2|BRCA[12]?|PIK3CA|ER|PR|TMB|PSA|CEA|LDH|AFP|TP53|KIT|PTEN|STK11|KEAP1|AR-V7|"
    r"(?i:o?estrogen receptor|progesterone receptor|ki-?67|microsatellite|mismatch repair|"
    r"tumou?r mutational burden|prostate.specific|carcinoembryonic|ca ?(?:19-9|125|15-3)))\b"
)


def name_of(observation: Observation) -> str:
    """Return what was observed; a variant is named after its gene."""
    if observation.code and GENETIC_VARIANT in observation.code.codes:
        gene = _component(observation, _GENE_STUDIED)
        if gene:
            return gene
    label = observation.code.label if observation.code else None
    return label or "Observation"


def value_of(observation: Observation) -> str | None:
    """Return the value in words with its interpretation, or None if none was recorded."""
    parts = [_plain(observation), *(_component(observation, code) for code in _CHANGES)]
    if not any(parts) and observation.component:
        parts = [
            _labelled(part.code.label if part.code else None, part)
            for part in observation.component
        ]
    said = [part for part in parts if part]
    meaning = [concept.label for concept in observation.interpretation if concept.label]
    if said and meaning:
        said.append(f"({', '.join(meaning)})")
    return "; ".join(said).replace("; (", " (") or None


def is_biomarker(observation: Observation) -> bool:
    """Return whether the observation is a tumour marker or a genetic finding."""
    codes = observation.code.codes if observation.code else frozenset()
    return has_marker(name_of(observation), codes)


@lru_cache(maxsize=10_000)
def has_marker(name: str, codes: frozenset[str]) -> bool:
    """Return whether a name or a code is that of a marker."""
    return bool(codes & _MARKER_CODES or _MARKER.search(name))


def is_measured(observation: Observation) -> bool:
    """Return whether the value is a quantity, which differs from day to day by nature."""
    return observation.value_quantity is not None


def _component(observation: Observation, code: str) -> str | None:
    for part in observation.component:
        if part.code and code in part.code.codes:
            return _plain(part)
    return None


def _labelled(label: str | None, part: ObservationValue) -> str | None:
    value = _plain(part)
    return f"{label}: {value}" if label and value else value


def _plain(part: ObservationValue) -> str | None:
    if part.value_quantity:
        return _amount(part.value_quantity)
    if part.value_codeable_concept:
        return part.value_codeable_concept.label
    if part.value_boolean is not None:
        return "yes" if part.value_boolean else "no"
    if part.value_integer is not None:
        return str(part.value_integer)
    if part.data_absent_reason:
        return f"no result ({part.data_absent_reason.label or 'reason not given'})"
    return part.value_string or part.value_date_time


def _amount(quantity: Quantity) -> str | None:
    if quantity.value is None:
        return None
    text = f"{quantity.comparator or ''}{quantity.value}"
    unit = quantity.unit or quantity.code
    if not unit or unit.startswith("{"):
        return text
    return f"{text}%" if unit == "%" else f"{text} {unit}"
