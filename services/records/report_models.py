"""What goes into a tumor-board document, and what is said about it afterwards."""

from typing import Self

from pydantic import AwareDatetime, model_validator

from data_models.chart_view import ChartView, ViewSource
from data_models.errors import RecordAmbiguousError
from data_models.identifiers import PatientId
from data_models.values import ClosedValue
from services.records.resources.documents import ClinicalDocument, DocumentKind
from services.records.resources.record import PatientRecord
from services.records.views.demographics import Demographics
from services.records.views.oncology.status import PatientStatus


class Statement(ClosedValue):
    """Something that an agent said.

    Attributes:
        agent: The agent's name.
        sources: What it relied on; empty is printed as "no source given".
    """

    text: str
    agent: str
    sources: tuple[ViewSource, ...] = ()


class ReportContent(ClosedValue):
    """Everything that the document shows.

    Attributes:
        offline_model: Whether the statements come from the deterministic offline model; the
            document then says so at its top.

    Raises:
        RecordAmbiguousError: the parts are of different patients.
    """

    patient: Demographics
    status: PatientStatus
    timeline: ChartView
    imaging: tuple[ClinicalDocument, ...]
    pathology: tuple[ClinicalDocument, ...]
    treatments: ChartView
    statements: tuple[Statement, ...] = ()
    open_questions: tuple[str, ...] = ()
    generated_at: AwareDatetime
    offline_model: bool = False
    title: str = "Tumor board report"
    language: str = "en"

    @model_validator(mode="after")
    def _is_of_one_patient(self) -> Self:
        views = {self.timeline.patient_id, self.treatments.patient_id}
        if {self.status.patient_id, *views} != {self.patient.patient_id}:
            raise RecordAmbiguousError
        return self


class ReportManifest(ClosedValue):
    """What a document holds, for its artifact record; without clinical text.

    Attributes:
        sources: Ids of all sources in the order of the document's source list.
        unsourced: How many statements gave no source.
        left_out: How many timeline events, statements and reports did not fit.
    """

    patient_id: PatientId
    file_name: str
    media_type: str
    size_bytes: int
    generated_at: AwareDatetime
    sections: tuple[str, ...]
    statements: int
    unsourced: int
    sources: tuple[str, ...]
    missing: tuple[str, ...]
    left_out: int
    offline_model: bool


class Report(ClosedValue):
    """A Word document and its manifest."""

    data: bytes
    manifest: ReportManifest


def reports_of(record: PatientRecord, kind: DocumentKind) -> tuple[ClinicalDocument, ...]:
    """Return the reports of a kind, the newest first."""
    found = [document for document in record.documents if document.kind == kind]
    return tuple(sorted(found, key=lambda document: document.date or "", reverse=True))
