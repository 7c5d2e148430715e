"""What one decision about the patient stands on, and how it asks and says something."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from data_models.clock import IdSource
from data_models.conversations.conversation import QUESTION_MINUTES, OpenQuestion, QuestionKind
from data_models.identifiers import PatientId
from data_models.patient_context_models import Registry
from services.language.replies.yes_no import says_yes
from services.patient_context.answers import OPTIONS
from services.patient_context.reading.pattern import PatientIdPattern
from services.patient_context.reading.reading import Reading
from services.patient_context.verdict import PatientVerdict

_OURS = ("which_patient", "subject", "clear", "break_glass")


@dataclass(frozen=True, slots=True)
class PatientTurn:
    """What one decision stands on.

    Attributes:
        question: The open question, of whatever kind, answered or not.
        restored: Whether the active patient is taken up from the registry in this turn.
        pattern: For ids in the configured form.
        ids: Gives a question its id.
        seen: Who was active on the sender's screen, if that is known.
    """

    registry: Registry
    question: OpenQuestion | None
    user: str
    run_id: str
    reading: Reading
    restored: bool
    now: datetime
    pattern: PatientIdPattern
    ids: IdSource
    seen: str | None = None

    def ask(self, kind: QuestionKind, text: str, payload: Mapping[str, Any]) -> OpenQuestion:
        """Return a question of this turn, which its user may answer for 30 minutes."""
        return OpenQuestion(
            question_id=self.ids.new_id("question"),
            kind=kind,
            run_id=self.run_id,
            user=self.user,
            patient_id=None if kind == "compare" else self.reading.active,
            epoch=self.registry.epoch,
            text=text,
            payload=dict(payload),
            expires_at=self.now + timedelta(minutes=QUESTION_MINUTES),
        )

    def saying(self, text: str, question: OpenQuestion | None = None) -> PatientVerdict:
        """Return the verdict that says something and opens nothing."""
        return PatientVerdict("NEEDS_PATIENT_ID", self.reading.active, text, question)

    @property
    def answerable(self) -> OpenQuestion | None:
        """The open question if it is about patients and this user can answer it now."""
        question = self.question
        if question is None or question.kind not in _OURS or question.user != self.user:
            return None
        is_void = question.expires_at <= self.now or question.epoch != self.registry.epoch
        return None if is_void else question

    @property
    def asks_whom(self) -> OpenQuestion | None:
        """The open question whom a message means, where it offers anybody."""
        question = self.answerable
        if question is None or not question.payload.get(OPTIONS):
            return None
        return question if question.kind in ("subject", "which_patient") else None

    @property
    def seen_elsewhere(self) -> PatientId | None:
        """Who was active on the sender's screen, if it is nobody that counts here.

        Whoever names a patient by id says plainly whom they mean. Thanks, and a yes beside a
        question to somebody else, are about nobody. Where no question is open a yes answers a
        plan on that screen, and would run the one of the chart that is open now.
        """
        active = self.reading.active
        if active is None or self.seen in (None, active) or self.reading.named:
            return None
        is_asked = self.question is not None and self.question.user == self.user
        is_of_plan = self.question is None and says_yes(self.reading.text)
        is_told = is_asked or is_of_plan or not self.reading.is_of_no_patient
        return PatientId(str(self.seen)) if is_told else None
