"""What of a chart each tool reads, so that a FHIR server is asked for no more."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Final

from services.records.concepts.table import concept_table
from services.records.resources.entry import CODES
from services.records.resources.ports import EVERYTHING, Need, need_of, together
from services.records.rows.medications import KINDS as DRUG_KINDS

# What rows name as their reason stands in problems.
_REASONS: Final = ("Condition",)
_DRUGS: Final = need_of(*DRUG_KINDS, asides=_REASONS)
_VALUES: Final = need_of("Observation", asides=("DiagnosticReport", "Specimen"))
_PAPERS: Final = need_of(
    "DocumentReference", "DiagnosticReport", "QuestionnaireResponse",
    asides=("Encounter", "ServiceRequest"), has_texts=True,
)  # fmt: skip
CARED_FOR: Final = (
    "Flag", "Consent", "ResearchSubject", "CarePlan", "Goal", "CareTeam", "DeviceUseStatement",
    "Device", "ServiceRequest", "NutritionOrder", "DeviceRequest", "Coverage", "RelatedPerson",
    "Specimen", "SupplyDelivery",
)  # fmt: skip
"""What the list of care has, in its order."""
_CARE: Final = need_of(*CARED_FOR, "DocumentReference", "Procedure", asides=_REASONS)
_PLAIN: Final[Mapping[str, Need]] = {
    "problems": need_of("Condition", asides=("Encounter",)),
    "medications": _DRUGS,
    "allergies": need_of("AllergyIntolerance"),
    "immunizations": need_of("Immunization", asides=_REASONS),
    "procedures": need_of("Procedure", asides=_REASONS),
    "encounters": need_of("Encounter", "Appointment", asides=_REASONS),
    "care": _CARE,
    "documents": _PAPERS,
    "load_patient_data": _PAPERS,
    "imaging_reports": together([_PAPERS, need_of("ImagingStudy", asides=_REASONS)]),
    "pathology_reports": _PAPERS,
    "biomarkers": need_of("Observation"),
    "chart_summary": together(
        (
            _DRUGS,
            _VALUES,
            _PAPERS,
            need_of("Condition", "AllergyIntolerance"),
            need_of("Encounter", "Appointment"),
        )
    ),
    "current_status": together(
        [_DRUGS, _PAPERS, need_of("Condition", "Observation", "AllergyIntolerance", "Procedure")]
    ),
}


def need_of_tool(tool: str) -> Need:
    """Return what a tool reads whatever it is asked; everything, where that is not known."""
    return _PLAIN.get(tool, EVERYTHING)


def need_of_results(
    names: Sequence[str], *, kind: str = "", since: date | None = None, until: date | None = None
) -> Need:
    """Return what of the results is read; by code only where every name has codes.

    Args:
        kind: Kind of rows, such as `vital sign`.
    """
    return Need(
        kinds=_VALUES.kinds,
        asides=_VALUES.asides,
        codes=_codes(names),
        category=CODES["searched"].get(kind, ""),
        since=since,
        until=until,
        has_texts=False,
    )


def need_of_history() -> Need:
    """Return what of family and social history is read."""
    kinds = frozenset({"FamilyMemberHistory", *(_VALUES.kinds or ())})
    return Need(kinds=kinds, asides=_VALUES.asides, category="social-history", has_texts=False)


def need_of_document(ref: str) -> Need:
    """Return what one document needs: its results too, of other documents no text."""
    kinds = frozenset({"Observation", "Specimen", *(_PAPERS.kinds or ())})
    asides = frozenset({"Observation", "Specimen", *_PAPERS.asides})
    # A bare id may be of any type: then all documents are read.
    plain = ref.strip().strip("[]")
    return Need(kinds=kinds, asides=asides, document=plain if "/" in plain else "")


def need_of_source(ref: str) -> Need:
    """Return what stands behind one source id."""
    kind = ref.partition("/")[0]
    if kind in (_PAPERS.kinds or ()):
        return need_of_document(ref)
    return need_of(kind, *(_VALUES.kinds or ()) if kind == "Observation" else ())


def _codes(names: Iterable[str]) -> tuple[str, ...]:
    table, found = concept_table(), set[str]()
    for name in names:
        concept = table.named("result", name)
        codes = {c for leaf in table.leaves(concept) for c in leaf.codes} if concept else set()
        if not codes:
            return ()
        found |= codes
    return tuple(sorted(found))
