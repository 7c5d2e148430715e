"""The list of a round: whose turn it is and how far each is. Ids and states only. Pure."""

from typing import Literal, TypeAlias

from pydantic import AwareDatetime, Field

from data_models.conversations.claim_decision import Lease
from data_models.identifiers import PatientId
from data_models.values import Value

PATIENTS_LIMIT = 60
TEXT_LIMIT_CHARS = 2_000
NOTES_LIMIT = 50
State: TypeAlias = Literal["waiting", "ready", "failed", "closed"]
Severity: TypeAlias = Literal["unstable", "watcher", "stable"]


class RoundPatient(Value):
    """One patient of a list.

    Attributes:
        conversation_id: The patient's own conversation of this round.
        problem: Code of the error if the preparation failed.
        run_id: The turn that prepared the patient.
        attempt: Counts preparations that were asked for; each is a message of its own.
        handed_to: Principal who has the patient now, "" while the owner has.
        accepted_at: When that colleague took the patient over.
    """

    patient_id: PatientId
    conversation_id: str
    state: State = "waiting"
    problem: str = ""
    run_id: str = ""
    attempt: int = 1
    ticked_at: AwareDatetime | None = None
    handed_to: str = ""
    handed_at: AwareDatetime | None = None
    accepted_at: AwareDatetime | None = None


class RoundList(Value):
    """`rounds/{round_id}.json`.

    Attributes:
        day: The day whose visits it was made from, if it was: `2026-12-02`.
        language: In which the preparation asks, ISO 639-1.
        hold: None while nobody prepares it.
    """

    round_id: str
    owner: str
    created_at: AwareDatetime
    language: str = "en"
    day: str = ""
    patients: tuple[RoundPatient, ...]
    hold: Lease | None = None

    def patient(self, patient_id: str) -> RoundPatient | None:
        """Return the patient of that id."""
        return next((one for one in self.patients if one.patient_id == patient_id), None)

    def with_patient(self, patient: RoundPatient) -> "RoundList":
        """Return the list with `patient` in the place of the one of the same id."""
        rows = tuple(
            patient if one.patient_id == patient.patient_id else one for one in self.patients
        )
        return self.model_copy(update={"patients": rows})

    def without(self, patient_id: str) -> "RoundList":
        """Return the list without a patient."""
        rows = tuple(one for one in self.patients if one.patient_id != patient_id)
        return self.model_copy(update={"patients": rows})

    def seen_by(self, principal: str) -> tuple[RoundPatient, ...]:
        """Return whom of the list `principal` may look at: all as the owner, else those handed."""
        if principal == self.owner:
            return self.patients
        return tuple(one for one in self.patients if one.handed_to == principal)

    @property
    def waiting(self) -> tuple[RoundPatient, ...]:
        """Those who are to be prepared yet."""
        return tuple(one for one in self.patients if one.state == "waiting")


class Note(Value):
    """What somebody wrote about a patient on the round."""

    by: str
    at: AwareDatetime
    text: str = Field(min_length=1, max_length=TEXT_LIMIT_CHARS)


class SignOut(Value):
    """A hand-over after I-PASS; who receives it adds the synthesis.

    Attributes:
        to: Principal of the colleague.
    """

    by: str
    to: str
    at: AwareDatetime
    illness_severity: Severity
    patient_summary: str = Field(min_length=1, max_length=TEXT_LIMIT_CHARS)
    action_list: str = Field(default="", max_length=TEXT_LIMIT_CHARS)
    situation_awareness: str = Field(default="", max_length=TEXT_LIMIT_CHARS)
    synthesis: str = Field(default="", max_length=TEXT_LIMIT_CHARS)


class RoundNotes(Value):
    """`rounds/{round_id}/{patient_id}.json`: words of people about one patient of a round."""

    notes: tuple[Note, ...] = ()
    sign_outs: tuple[SignOut, ...] = ()


def prepared(patient: RoundPatient, state: State, problem: str = "") -> RoundPatient:
    """Return the patient after a preparation."""
    return patient.model_copy(update={"state": state, "problem": problem})


def again(patient: RoundPatient) -> RoundPatient:
    """Return the patient to be prepared once more."""
    changed = {"state": "waiting", "problem": "", "attempt": patient.attempt + 1}
    return patient.model_copy(update=changed)
