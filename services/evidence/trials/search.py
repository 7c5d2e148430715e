"""What is searched for, from the chart: coded displays, marker names, age, sex, country. Pure.

Nothing else leaves: no free text, no id, no date. Who is 90 or older is 90.
"""

from dataclasses import dataclass

from services.evidence.trials.facts import PatientFacts, readings_of
from services.language.criteria_forms import GENES
from services.records.concepts.words import words_of
from services.records.entry import Raw

OLDEST = 90
_TERMS_LIMIT = 5
_DISPLAY_LIMIT_CHARS = 120
_SYSTEMS = ("http://snomed.info/sct", "http://hl7.org/fhir/sid/icd")
_CANCER = ("carcinoma", "cancer", "melanoma", "malignant", "lymphoma", "leukemia", "neoplasm")
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
    """Return displays of coded active cancers, else of the other coded active problems."""
    displays = list[str]()
    cancers = list[str]()
    for entry in facts.record.entries_of("Condition"):
        row = next((one for one in facts.problems if entry.ref in one.sources), None)
        if row is None or row.status not in ("active", "recurrence", "relapse"):
            continue
        concept = entry.raw.get("code")
        codings = concept.get("coding") if isinstance(concept, dict) else None
        for coding in codings if isinstance(codings, list) else ():
            shown = str(coding.get("display", "")) if isinstance(coding, dict) else ""
            folded = shown.casefold()
            is_cancer = any(word in folded for word in _CANCER)
            if not _may_leave(shown, coding, facts):
                continue
            displays.append(shown)
            if is_cancer and not any(word in folded for word in _NOT_PRIMARY):
                cancers.append(shown)
    return list(dict.fromkeys(cancers or displays))


def _may_leave(shown: str, coding: Raw, facts: PatientFacts) -> bool:
    """Whether a display is a code's own: of a public system, short, without the patient's name."""
    names = [part for name in facts.record.patient.name
             for part in (name.family or "", *name.given)]  # fmt: skip
    is_public = str(coding.get("system", "")).startswith(_SYSTEMS) and bool(coding.get("code"))
    is_named = bool({*words_of(" ".join(names))} & {*words_of(shown)})
    has_figures = sum(char.isdigit() for char in shown) > 2
    return is_public and 0 < len(shown) <= _DISPLAY_LIMIT_CHARS and not is_named and not has_figures
