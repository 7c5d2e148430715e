"""Shows programs the charts that their user may open, by the patient's id and without a turn."""

from dataclasses import dataclass

from data_models.chart_view import ChartView
from data_models.clock import Clock
from data_models.identifiers import storable_patient_id
from data_models.patient_identity import PatientIdentity, identity_noted
from services.chart_access.chart_guard import ChartGuard
from services.records.need import PERSON
from services.records.ports import PatientRecords
from services.records.views.demographics import demographics
from services.views.patient_chart import check_part, view_of_part
from services.views.patient_finder import FoundPatients, PatientFinder


@dataclass(frozen=True, slots=True)
class ProgramPart:
    """A part of a chart, and who the patient is: both identifiers go with every answer."""

    identity: PatientIdentity
    view: ChartView


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramCharts:
    """Nothing is open here: each call names its patient, is asked of the guard and recorded."""

    finder: PatientFinder
    records: PatientRecords
    guard: ChartGuard
    clock: Clock

    async def find(self, text: str, *, principal_id: str) -> FoundPatients:
        """Return whom `text` finds, as `PatientFinder.find`."""
        return await self.finder.find(text, owner=principal_id)

    async def part(
        self, patient_id: str, *, principal_id: str, part: str, name: str = ""
    ) -> ProgramPart:
        """Return a part of the chart: one of `PARTS`.

        Raises:
            BadFrameError: there is no such part.
            InvalidIdentifierError: `patient_id` can be nobody's.
            ChartClosedError: the chart is not open to the principal; that is on record.
            StoreError: the access could not be put on record; nothing was read.
            RecordsError: the records have no answer.
        """
        check_part(part, name)
        patient = storable_patient_id(patient_id)
        await self.guard.open_chart(principal_id, patient, f"program_read_{part}")
        now = self.clock.now()
        who = demographics(await self.records.load(patient, PERSON), today=now.date())
        identity = identity_noted(
            {"name": who.name, "birth_date": who.birth_date, "sex": who.sex}
        ) or PatientIdentity("", "", "")
        view = await view_of_part(self.records, patient, part, name=name, now=now)
        return ProgramPart(identity, view)
