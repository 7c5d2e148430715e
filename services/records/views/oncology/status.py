"""Where the patient stands: the facts a tumor board asks for first."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import Literal, TypeAlias

from data_models.chart_view import ViewSource
from data_models.identifiers import PatientId
from data_models.values import ClosedValue
from services.records.concepts.table import concept_table
from services.records.resources import entry as fhir
from services.records.resources.dates import day_text
from services.records.resources.documents import ClinicalDocument
from services.records.resources.facts import Fact, resolve
from services.records.resources.record import PatientRecord
from services.records.resources.standing import DOUBTFUL, NOT_KNOWN, certainty_of
from services.records.rows.medications import KINDS as DRUG_KINDS
from services.records.rows.rows import row_of
from services.records.views.demographics import demographics, patient_source
from services.records.views.oncology.biomarkers import biomarkers, observation_source, value_of

# Values that notes state in fixed words: ECOG and stage. No other free text is interpreted.

Stated: TypeAlias = Literal["ECOG", "stage"]

_QUOTE_LIMIT_CHARS = 200
_PATTERNS: dict[Stated, re.Pattern[str]] = {
    "ECOG": re.compile(
        r"\bECOG(?:\s+(?:PS|performance\s+status))?\s{0,3}(?:score|of|is|[:=])?\s{0,3}([0-5])\b"
    ),
    "stage": re.compile(r"\b(?i:stage)\s{1,3}(0|IV[A-D]?|I{1,3}[A-D]?[1-3]?)\b"),
}
_CLAUSE = re.compile(r"[^.!?;\n]+(?:[.!?](?!\s)[^.!?;\n]*)*")
# A clause about another time or person says nothing about the day of its note.
_NOT_NOW = re.compile(
    r"(?i)\b(?:at diagnosis|initial\w*|originally|previous\w*|prior|history|formerly|was|were|had|"
    r"mother|father|sister|brother|aunt|uncle|if|would|criteria|trial)\b"
)


def stated_in_notes(
    documents: tuple[ClinicalDocument, ...], what: Stated
) -> Iterator[tuple[str, ViewSource]]:
    """Yield the values of `what` that notes state for their own day, with the clause."""
    for document in documents:
        if document.kind == "note" and document.text and not document.is_superseded:
            yield from _in_text(document, document.text, _PATTERNS[what])


def _in_text(
    document: ClinicalDocument, written: str, pattern: re.Pattern[str]
) -> Iterator[tuple[str, ViewSource]]:
    for clause in _CLAUSE.finditer(written):
        said = clause.group().strip()
        found = pattern.search(said)
        if found and not _NOT_NOW.search(said):
            quote = said[:_QUOTE_LIMIT_CHARS]
            source = ViewSource(
                ref=document.ref, date=document.date, title=document.title, quote=quote
            )
            yield found.group(1), source


_ECOG = "89247-1"
_HISTOLOGY = "59847-4"
_MORPHOLOGY_URL = "mcode-histology-morphology-behavior"
_CANCER_CODE = re.compile(
    r"C(?:[0-6][0-9]|7[0-6]|8[0-9]|9[0-6])(?:\.[0-9A-Z]{1,4})?|D0[0-9](?:\..+)?"
)
_CANCER = re.compile(
    r"(?i)\b(?:\w*carcinoma|cancer|melanoma|malignant|lymphoma|leuk\w+|\w*sarcoma|myeloma|glioma)\b"
)
_NOT_PRIMARY = re.compile(r"(?i)metasta|secondary|history of|family|screening|effusion|ascites")
_STAGE_WORD = re.compile(r"(?i)^stage\s+")
_STAGE_NAMED = re.compile(r"\b(?i:stage) (0|[1-4][a-cA-C]?|IV[A-D]?|I{1,3}[A-D]?)\b")
"""The stage in the name of a tumour: `Non-small cell carcinoma of lung, TNM stage 1`."""


class PatientStatus(ClosedValue):
    """Facts as of a day; each says where it is written or that it is not.

    Attributes:
        staging: The stage group, then T, N and M and whatever else was staged.
        incomplete: Why the record itself may lack entries.
    """

    patient_id: PatientId
    age: Fact
    sex: Fact
    vital_status: Fact
    diagnosis: Fact
    primary_site: Fact
    histology: Fact
    staging: tuple[Fact, ...]
    ecog: Fact
    allergies: Fact
    biomarkers: tuple[Fact, ...]
    has_treatments: bool
    incomplete: str | None

    @property
    def facts(self) -> tuple[Fact, ...]:
        """All but the lists, in the order in which they are told."""
        return (self.age, self.sex, self.vital_status, self.diagnosis, self.primary_site,
                self.histology, *self.staging, self.ecog, self.allergies)  # fmt: skip

    def missing(self) -> tuple[str, ...]:
        """Return the names of what is not in the record."""
        lists = {"biomarkers": bool(self.biomarkers), "treatment history": self.has_treatments}
        absent = [fact.name for fact in self.facts if fact.state == "not in the record"]
        return (*absent, *(name for name, is_there in lists.items() if not is_there))


def current_status(record: PatientRecord, *, today: date) -> PatientStatus:
    """Return the patient's status as of `today`."""
    cancers = [each for each in record.entries_of("Condition") if _is_primary_cancer(each)]
    return PatientStatus(
        patient_id=record.patient_id,
        **_person(record, today),
        diagnosis=resolve("diagnosis", _labels(cancers, "code")),
        primary_site=resolve("primary site", _labels(cancers, "bodySite")),
        histology=resolve("histology", _histologies(record, cancers)),
        staging=_staging(record, cancers),
        ecog=resolve("ECOG", [*_observed(record, _ECOG), *record.derived(_stated)["ECOG"]]),
        allergies=_allergies(record),
        biomarkers=biomarkers(record),
        has_treatments=bool(record.entries_of(*DRUG_KINDS, "Procedure")),
        incomplete=record.left_out.sentence(),
    )


def _person(record: PatientRecord, today: date) -> dict[str, Fact]:
    who = demographics(record, today=today)
    source = patient_source(record)
    said = {"age": who.age, "sex": who.sex, "vital_status": who.deceased or "no death recorded"}
    return {
        name: resolve(name.replace("_", " "), [(value, source)] if value else [])
        for name, value in said.items()
    }


def _is_primary_cancer(condition: fhir.Entry) -> bool:
    concept = fhir.one(condition.raw, "code")
    name = fhir.label(concept)
    if _NOT_PRIMARY.search(name):
        return False
    coded = any(_CANCER_CODE.fullmatch(code) for code in fhir.codes(concept))
    return coded or bool(_CANCER.search(name))


def _condition_source(condition: fhir.Entry) -> ViewSource:
    title = fhir.label(fhir.one(condition.raw, "code")) or "Condition"
    day = day_text(fhir.text(condition.raw, "recordedDate")) or day_text(condition.date)
    return ViewSource(ref=condition.ref, date=day, title=title)


def _labels(cancers: list[fhir.Entry], element: str) -> Iterator[tuple[str, ViewSource]]:
    """Yield what is said with the condition's certainty, where it is not confirmed."""
    for condition in cancers:
        certainty, source = certainty_of(condition.raw), _condition_source(condition)
        hedge = f" ({certainty})" if certainty and certainty != "confirmed" else ""
        yield from ((f"{one}{hedge}", source) for one in fhir.labels(condition.raw, element) if one)


def _histologies(record: PatientRecord, cancers: list[fhir.Entry]) -> list[tuple[str, ViewSource]]:
    coded = [
        (fhir.label(fhir.one(extension, "valueCodeableConcept")), _condition_source(condition))
        for condition in cancers
        for extension in fhir.many(condition.raw, "extension")
        if fhir.text(extension, "url").endswith(_MORPHOLOGY_URL)
    ]
    return [*_observed(record, _HISTOLOGY), *((name, source) for name, source in coded if name)]


def _staging(record: PatientRecord, cancers: list[fhir.Entry]) -> tuple[Fact, ...]:
    coded = [
        (_STAGE_WORD.sub("", value), source)
        for value, source in (
            *_observed(record, *fhir.CODE_SETS["stage_groups"]),
            *_condition_stages(cancers),
        )
    ]
    stated = record.derived(_stated)["stage"]
    group = resolve("stage", [*coded, *_exact(stated, [*coded, *stated])])
    parts: dict[str, list[tuple[str, ViewSource]]] = {}
    for value, source in _observed(record, *fhir.CODE_SETS["tnm"]):
        parts.setdefault(source.title, []).append((value, source))
    return (group, *(resolve(name, said) for name, said in sorted(parts.items())))


def _stated(record: PatientRecord) -> Mapping[Stated, Sequence[tuple[str, ViewSource]]]:
    return {what: tuple(stated_in_notes(record.documents, what)) for what in _PATTERNS}


def _exact(
    stated: Sequence[tuple[str, ViewSource]], known: Sequence[tuple[str, ViewSource]]
) -> list[tuple[str, ViewSource]]:
    """Return what notes state without shorthand: `III` says nothing beside a known `IIIB`."""
    values = {value for value, _ in known}
    return [
        (value, source)
        for value, source in stated
        if not any(other[:-1] == value and other[-1] in "ABCD" for other in values)
    ]


def _condition_stages(cancers: list[fhir.Entry]) -> Iterator[tuple[str, ViewSource]]:
    for condition in cancers:
        said = [fhir.label(fhir.one(each, "summary")) for each in fhir.many(condition.raw, "stage")]
        said += _STAGE_NAMED.findall(fhir.label(fhir.one(condition.raw, "code")))
        yield from ((stage, _condition_source(condition)) for stage in said if stage)


def _observed(record: PatientRecord, *wanted: str) -> Iterator[tuple[str, ViewSource]]:
    by_code = record.derived(_by_code)
    refs = {entry.ref for code in wanted for entry in by_code.get(code, ())}
    for entry in record.entries_of("Observation") if refs else ():
        if entry.ref in refs and (value := value_of(entry.raw)):
            yield value, observation_source(entry)


def _by_code(record: PatientRecord) -> Mapping[str, list[fhir.Entry]]:
    """Return what was observed by its codes, and by those of what its name means."""
    found: dict[str, list[fhir.Entry]] = {}
    for entry in record.entries_of("Observation"):
        concept = fhir.one(entry.raw, "code")
        meant = concept_table().displayed("result", fhir.label(concept))
        for code in fhir.codes(concept) | (meant.codes if meant else frozenset()):
            found.setdefault(code, []).append(entry)
    return found


_OVER = frozenset({"resolved", "inactive"})


def _allergies(record: PatientRecord) -> Fact:
    found = [
        (
            _with_standing(name, entry),
            ViewSource(
                ref=entry.ref, date=day_text(fhir.text(entry.raw, "recordedDate")), title="Allergy"
            ),
        )
        for entry in _allergies_now(record)
        if (name := fhir.label(fhir.one(entry.raw, "code")))
    ]
    if not found:
        return Fact(name="allergies", state="not in the record")
    names = ", ".join(dict.fromkeys(name for name, _ in found))
    return Fact(
        name="allergies",
        state="recorded",
        value=names,
        sources=tuple(source for _, source in found),
    )


def _allergies_now(record: PatientRecord) -> Sequence[fhir.Entry]:
    """Return the allergies; those that are over only where there are no others."""
    every = record.entries_of("AllergyIntolerance")
    rows = {entry.ref: row_of(record, entry) for entry in every}
    known = [entry for entry in every if rows[entry.ref].kind != NOT_KNOWN]
    return [entry for entry in known if rows[entry.ref].status not in _OVER] or known


def _with_standing(name: str, entry: fhir.Entry) -> str:
    """Return an allergy with what makes it less than one: that it is resolved, or suspected."""
    status, certainty = fhir.code_of(fhir.one(entry.raw, "clinicalStatus")), certainty_of(entry.raw)
    less = [status if status != "active" else "", certainty if certainty in DOUBTFUL else ""]
    said = ", ".join(filter(None, less))
    return f"{name} ({said})" if said else name
