"""Tumour markers and genetic findings."""

import re
from datetime import timedelta
from functools import lru_cache

from data_models.chart_view import ViewSource
from services.records.resources.dates import day_text
from services.records.resources.entry import CODE_SETS, Entry, Raw, codes, label, labels, many, one
from services.records.resources.facts import SAME_TIME, Fact, resolve
from services.records.resources.record import PatientRecord
from services.records.resources.values import value_in

BIOMARKER_LIMIT = 40
GENETIC_VARIANT = "69548-6"
_GENE_STUDIED = "48018-6"
_CHANGES = ("48005-3", "48004-6")
_MARKER_CODES = CODE_SETS["markers"] | {GENETIC_VARIANT}
_MARKER = re.compile(
    r"\b(?:EGFR|ALK|ROS1|RET|MET|KRAS|NRAS|BRAF|HER2|ERBB2|NTRK[123]?|PD-?L1|MSI|MMR|MLH1|MSH[26]|"
    r"PMS2|BRCA[12]?|PIK3CA|ER|PR|TMB|PSA|CEA|LDH|AFP|TP53|KIT|PTEN|STK11|KEAP1|AR-V7|"
    r"(?i:o?estrogen receptor|progesterone receptor|ki-?67|microsatellite|mismatch repair|"
    r"tumou?r mutational burden|prostate.specific|carcinoembryonic|ca ?(?:19-9|125|15-3)))\b"
)


def biomarkers(record: PatientRecord) -> tuple[Fact, ...]:
    """Return one fact per marker, in name order; none where none is in the record."""
    return record.derived(_facts)


def _facts(record: PatientRecord) -> tuple[Fact, ...]:
    groups: dict[str, list[Entry]] = {}
    for entry in record.entries_of("Observation"):
        # The code first: a gene that is studied stands in a component of few.
        own = codes(one(entry.raw, "code"))
        if has_marker(label(one(entry.raw, "code")), own) and has_marker(name_of(entry.raw), own):
            groups.setdefault(name_of(entry.raw).casefold(), []).append(entry)
    return tuple(_fact(group) for _, group in sorted(groups.items()))


def observation_source(entry: Entry) -> ViewSource:
    """Return the observation as a source."""
    return ViewSource(ref=entry.ref, date=day_text(entry.date), title=name_of(entry.raw))


def _fact(group: list[Entry]) -> Fact:
    said = [(value, observation_source(entry)) for entry in group if (value := value_of(entry.raw))]
    # A quantity differs from day to day by nature.
    measured = all("valueQuantity" in entry.raw for entry in group)
    return resolve(name_of(group[0].raw), said, same_time=timedelta(0) if measured else SAME_TIME)


def name_of(raw: Raw) -> str:
    """Return what was observed; a variant is named after its gene."""
    concept = one(raw, "code")
    gene = _component(raw, _GENE_STUDIED) if GENETIC_VARIANT in codes(concept) else ""
    return gene or label(concept) or "Observation"


def value_of(raw: Raw) -> str:
    """Return the value in words with its interpretation, or "" if none was recorded."""
    parts = [value_in(raw).whole, *(_component(raw, code) for code in _CHANGES)]
    if not any(parts):
        parts = [_labelled(part) for part in many(raw, "component")]
    said = "; ".join(filter(None, parts))
    meaning = labels(raw, "interpretation")
    return f"{said} ({', '.join(meaning)})" if said and meaning else said


@lru_cache(maxsize=10_000)
def has_marker(name: str, codes: frozenset[str]) -> bool:
    """Return whether a name or a code is that of a marker."""
    return bool(codes & _MARKER_CODES or _MARKER.search(name))


def _component(raw: Raw, code: str) -> str:
    found = (part for part in many(raw, "component") if code in codes(one(part, "code")))
    return next((value_in(part).whole for part in found), "")


def _labelled(part: Raw) -> str:
    name, value = label(one(part, "code")), value_in(part).whole
    return f"{name}: {value}" if name and value else value
