"""Who the patients of a conversation are, for its list of them."""

from collections.abc import Iterable

from pydantic import AwareDatetime, BaseModel

from data_models.identifiers import PatientId
from data_models.patient_context_models import PatientContext
from data_models.patient_identity import PatientIdentity, identity_noted


class RosterRow(BaseModel):
    """A patient of the conversation; name, birth date and sex are "" where none was noted."""

    patient_id: PatientId
    last_used_at: AwareDatetime
    name: str = ""
    birth_date: str = ""
    sex: str = ""


def roster_rows(roster: Iterable[PatientContext]) -> list[RosterRow]:
    """Return the patients in the order in which they were first opened."""
    return [_row(one) for one in sorted(roster, key=lambda row: (row.created_at, row.patient_id))]


def _row(row: PatientContext) -> RosterRow:
    who = identity_noted(row.facts) or PatientIdentity("", "", "")
    return RosterRow(patient_id=row.patient_id, last_used_at=row.updated_at, **who._asdict())
