"""What the service decided about a message, for the pipeline to carry out."""

from dataclasses import dataclass, field

from data_models.conversations.conversation import OpenQuestion
from data_models.identifiers import PatientId
from data_models.patient_context_models import Decision, Registry
from services.identity.names.index import PersonIndex
from services.identity.names.person import Person
from services.language.reader import MessageReading
from services.patient_context.wording import switched


@dataclass(frozen=True, slots=True)
class PatientVerdict:
    """The decision and everything that follows from it; nothing of it is written yet.

    Attributes:
        patient_id: Who is active from here on; None for nobody, and after a clear.
        reply: If not None, the whole answer of this turn: no agent runs.
        question: A question that `reply` asks, to be stored as the open one.
        is_bare_switch: Whether the message asked for a change of patient and nothing else.
        registry: What to store as the registry; None if it did not change. After a clear it is
            the clear's to reset.
        concerns_active_only: Whether the message plainly names and changes nobody, so that it may
            be shown to a model beside the active patient's history.
        person: Who is active from here on, as far as the directory or the registry knows.
        notice: What the user should know of the patient besides the answer.
        people: Whom the directory told of; None where it was not asked.
        read: What a model read in the message, where it was asked whom that is about.
        analyzer_ms: How long that took; None where no model was asked.
        pending: What the user asked for before it was clear for whom, and is done now: messages,
            one after the other.
    """

    decision: Decision
    patient_id: PatientId | None
    reply: str | None = None
    question: OpenQuestion | None = None
    is_bare_switch: bool = False
    registry: Registry | None = None
    concerns_active_only: bool = False
    person: Person | None = None
    notice: str = ""
    people: PersonIndex | None = field(default=None, compare=False, repr=False)
    read: MessageReading | None = field(default=None, compare=False, repr=False)
    analyzer_ms: float | None = field(default=None, compare=False)
    pending: tuple[str, ...] = ()

    def made_before(self, active: PatientId | None) -> "PatientVerdict":
        """Return what is left of it where its change of patient led to `active` and is stored.

        Read anew, "the other patient" would be the one that was left.
        """
        if self.registry is None or active is None:
            return self
        notice = switched(active) if self.is_bare_switch else None
        return PatientVerdict(decision="UNCHANGED", patient_id=active, reply=notice)
