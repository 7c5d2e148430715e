"""The one way to a patient of a list: whose the list is, whether the chart is open, on record."""

from dataclasses import dataclass

from data_models.errors import NoSuchListError
from services.chart_access.chart_guard import ChartGuard
from services.rounds.round_book import RoundBook
from services.rounds.round_list import RoundList, RoundPatient


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundEntry:
    """Every method raises `NoSuchListError` for a list that is absent or not the caller's."""

    book: RoundBook
    guard: ChartGuard

    async def find(
        self, round_id: str, principal: str
    ) -> tuple[RoundList, tuple[RoundPatient, ...]]:
        """Return a list, and whom of it the caller may look at."""
        found = await self.book.read(round_id)
        patients = found.seen_by(principal)
        if not patients:
            raise NoSuchListError
        return found, patients

    async def enter_patient(
        self, round_id: str, patient_id: str, principal: str, action: str
    ) -> RoundPatient:
        """Return a patient of a list whose chart is open; that somebody comes is on record.

        Raises:
            ChartClosedError: the chart is not open to the caller now.
        """
        _, patients = await self.find(round_id, principal)
        patient = among(patients, patient_id)
        await self.enter(patient, principal, action)
        return patient

    async def enter(self, patient: RoundPatient, principal: str, action: str) -> None:
        """Return if the chart is open to the caller now; that is on record.

        Raises:
            ChartClosedError: it is not.
        """
        chat = patient.conversation_id
        await self.guard.open_chart(principal, patient.patient_id, action, conversation_id=chat)


def among(patients: tuple[RoundPatient, ...], patient_id: str) -> RoundPatient:
    """Return the patient of that id.

    Raises:
        NoSuchListError: there is none.
    """
    found = next((one for one in patients if one.patient_id == patient_id), None)
    if found is None:
        raise NoSuchListError
    return found
