"""What is searched for, from the chart: coded displays, marker names, age, sex, country. Pure.

Nothing else leaves: no free text, no id, no date. Who is 90 or older is 90.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from data_models.chart_view import ViewRow
from data_models.plain_yaml import read_yaml
from services.evidence.trials.facts import PatientFacts, readings_of
from services.language.studies.criteria_forms import GENES
from services.records.concepts.table import concept_table
from services.records.concepts.words import words_of
from services.records.resources.entry import Raw, many, one, text

OLDEST = 90
_TERMS_LIMIT = 5
_DISPLAY_LIMIT_CHARS = 120
_ICD10: Mapping[str, str] = read_yaml(Path(__file__).with_name("icd10.yaml").read_text("utf-8"))
"""Public names of the commonest cancers, by the first three signs of their codes."""
_SYSTEMS = ("http://snomed.info/sct", "http://hl7.org/fhir/sid/icd")
_CANCER = ("carcinoma", "cancer", "melanoma", "malignant", "lymphoma", "leukemia", "neoplasm")
_ACTIVE = frozenset({"active", "recurrence", "relapse"})
_UNSURE = ("suspected", "provisional", "unconfirmed", "differential")
_NOT_PRIMARY = ("metasta", "effusion", "family", "history")


@dataclass(frozen=True, slots=True)
class TrialSearch:
    """What may leave.

    Attributes:
        conditions: Displays of codes of the record.
        markers: Names of markers that are present.
        age: In years, at most 90; None where it is not known exactly.
    """

    conditions: tuple[str, ...]
    markers: tuple[str, ...]
    age: int | None
    sex: str
    country: str

    @property
    def said(self) -> str:
        """What is sent, for people."""
        age = "" if self.age is None else f"age {self.age}{'+' if self.age == OLDEST else ''}"
        parts = (*self.conditions, *self.markers, age, self.sex, self.country)
        return ", ".join(filter(None, parts))


def search_from(facts: PatientFacts, *, country: str) -> TrialSearch:
    """Return the search for a patient."""
    ages = [word for said in readings_of(facts.age) for word in said.split() if word.isdigit()]
    sex = facts.sex.value if facts.sex.value in ("male", "female") else ""
    present = [
        row.name
        for row in facts.markers
        if row.value.casefold().startswith(("present", "positive", "high", "amplified"))
    ]
    markers = filter(None, map(_marker, present))
    return TrialSearch(
        conditions=tuple(_conditions(facts))[:2],
        markers=tuple(dict.fromkeys(markers))[:_TERMS_LIMIT],
        age=min(int(ages[0]), OLDEST) if len(ages) == 1 else None,
        sex=sex or "",
        country=country,
    )


def _marker(name: str) -> str:
    """Return the public name of a marker; what else a record calls one does not leave."""
    if name.casefold().startswith("microsatellite instability"):
        return "MSI-H"
    first = name.split(maxsplit=1)[0].upper()
    return first if first in GENES else ""


def _conditions(facts: PatientFacts) -> list[str]:
    """Return the names of active coded cancers, else of the other active coded problems."""
    going_on = [row for row in facts.problems if row.status in _ACTIVE]
    found = [(name, row) for row in going_on if (name := _public_name(row, facts))]
    cancers = [name for name, row in found if _is_cancer(name) and not _is_unsure(row)]
    return list(dict.fromkeys(cancers or [name for name, row in found if not _is_unsure(row)]))


def _is_cancer(name: str) -> bool:
    folded = name.casefold()
    is_primary = not any(word in folded for word in _NOT_PRIMARY)
    return is_primary and any(word in folded for word in _CANCER)


def _is_unsure(row: ViewRow) -> bool:
    return any(word in f"{row.name} {row.detail}".casefold() for word in _UNSURE)


def _public_name(row: ViewRow, facts: PatientFacts) -> str:
    """Return what our table calls a code, else the code's own display if it may leave."""
    prefixes = {code.rpartition("|")[2][:3] for code in row.code if "icd-10" in code}
    for prefix in sorted(prefixes & set(_ICD10)):
        return _ICD10[prefix]
    if (known := concept_table().coded("problem", row.code)) is not None:
        return known.name
    for ref in row.sources:
        for coding in many(one(facts.record.entries[ref].raw, "code"), "coding"):
            shown = text(coding, "display")
            if _may_leave(shown, coding, facts):
                return shown
    return ""


def _may_leave(shown: str, coding: Raw, facts: PatientFacts) -> bool:
    """Whether a display is a code's own: of a public system, short, without the patient's name."""
    names = [part for name in facts.record.patient.name
             for part in (name.family or "", *name.given)]  # fmt: skip
    is_public = str(coding.get("system", "")).startswith(_SYSTEMS) and bool(coding.get("code"))
    is_named = bool({*words_of(" ".join(names))} & {*words_of(shown)})
    has_figures = sum(char.isdigit() for char in shown) > 2
    return is_public and 0 < len(shown) <= _DISPLAY_LIMIT_CHARS and not is_named and not has_figures
