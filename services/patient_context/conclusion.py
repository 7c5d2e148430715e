"""From an outcome to the verdict: what is said, asked and stored. Pure but for the new id."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any

from data_models.clock import IdSource
from data_models.conversations.conversation import QUESTION_MINUTES, OpenQuestion, QuestionKind
from data_models.identifiers import PatientId
from data_models.patient_context_models import Registry
from services.identity.names.person import Person
from services.identity.noted import facts_of
from services.identity.wording import opened
from services.language.replies.yes_no import says_yes
from services.patient_context import wording
from services.patient_context.answers import OPENS_ONLY, OPTIONS, Answer
from services.patient_context.decision import Outcome, unchanged
from services.patient_context.reading.pattern import PatientIdPattern
from services.patient_context.reading.reading import Ask, Reading
from services.patient_context.roster import with_active
from services.patient_context.verdict import PatientVerdict

_OF_THINGS = ("which_entity", "destructive_tool")
_OURS = ("which_patient", "subject", "clear", "break_glass")


def asks_of_things(question: OpenQuestion | None, user: str) -> bool:
    """Whether `user` was asked which of their things they mean, so that "the other one" is one."""
    return question is not None and question.kind in _OF_THINGS and question.user == user


@dataclass(frozen=True, slots=True)
class PatientTurn:
    """What one decision stands on.

    Attributes:
        question: The open question, of whatever kind, answered or not.
        restored: Whether the active patient is taken up from the registry in this turn.
        seen: Who was active on the sender's screen, if that is known.
    """

    registry: Registry
    question: OpenQuestion | None
    user: str
    run_id: str
    reading: Reading
    restored: bool
    now: datetime
    seen: str | None = None

    def ask(
        self, kind: QuestionKind, text: str, payload: Mapping[str, Any], *, ids: IdSource
    ) -> OpenQuestion:
        """Return a question of this turn, which its user may answer for 30 minutes."""
        return OpenQuestion(
            question_id=ids.new_id("question"),
            kind=kind,
            run_id=self.run_id,
            user=self.user,
            patient_id=None if kind == "compare" else self.reading.active,
            epoch=self.registry.epoch,
            text=text,
            payload=dict(payload),
            expires_at=self.now + timedelta(minutes=QUESTION_MINUTES),
        )

    @property
    def answerable(self) -> OpenQuestion | None:
        """The open question if it is about patients and this user can answer it now."""
        question = self.question
        if question is None or question.kind not in _OURS or question.user != self.user:
            return None
        return None if self._is_void(question) else question

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

    def _is_void(self, question: OpenQuestion) -> bool:
        return question.expires_at <= self.now or question.epoch != self.registry.epoch


def conclude(
    outcome: Outcome,
    turn: PatientTurn,
    *,
    is_bare: bool,
    pattern: PatientIdPattern,
    ids: IdSource,
    problem: str = "",
    person: Person | None = None,
    is_unchecked: bool = False,
    offered: Mapping[PatientId, Person] = MappingProxyType({}),
) -> PatientVerdict:
    """Return the verdict of `outcome`.

    Args:
        outcome: What happens to the patient.
        turn: What it was decided on.
        is_bare: Whether the user asked for a change of patient and for nothing else.
        pattern: For examples in the configured form.
        ids: Gives the new question its id.
        problem: What happened if a model failed, one sentence for the user.
        person: Who is active afterwards, if anybody knows.
        is_unchecked: Whether the directory could not be asked.
        offered: Of those who are asked about, whom the user may see.
    """
    changes = outcome.decision in ("SWITCH_EXISTING", "NEW_BLANK")
    reply, question = _said(outcome, person, is_bare=is_bare), None
    if outcome.ask is not None:
        roster_size = len(turn.registry.patient_registry)
        reply = wording.asking(
            outcome.ask, pattern=pattern, roster_size=roster_size, people=offered, problem=problem
        )
        kind: QuestionKind = "clear" if outcome.ask.kind == "clear" else "which_patient"
        payload = {OPTIONS: list(outcome.ask.options), OPENS_ONLY: is_bare}
        question = turn.ask(kind, reply, payload, ids=ids)
    registry = None
    if changes and outcome.patient_id is not None:
        facts = None if person is None else facts_of(person)
        registry = with_active(turn.registry, outcome.patient_id, now=turn.now, facts=facts)
    return PatientVerdict(
        decision=outcome.decision,
        patient_id=outcome.patient_id,
        reply=reply,
        question=question,
        is_bare_switch=changes and is_bare,
        registry=registry,
        person=person,
        notice=_notice(outcome, person, reply, is_unchecked=is_unchecked),
    )


def conclude_answer(
    answer: Answer | Ask, turn: PatientTurn, *, pattern: PatientIdPattern, ids: IdSource
) -> PatientVerdict | None:
    """Return the verdict of an answer to the open question, None if it was not answered."""
    active = turn.reading.active
    match answer:
        case Ask():
            outcome = Outcome("NEEDS_PATIENT_ID", active, answer)
        case Answer("clear"):
            outcome = Outcome("CLEAR", None)
        case Answer("no"):
            return _declined(turn, pattern)
        case _:
            return None
    return conclude(outcome, turn, is_bare=True, pattern=pattern, ids=ids)


def _declined(turn: PatientTurn, pattern: PatientIdPattern) -> PatientVerdict:
    kept = unchanged(turn.reading, restored=turn.restored)
    is_clear = turn.question is not None and turn.question.kind == "clear"
    reply = wording.nothing_cleared() if is_clear else wording.declined(kept.patient_id, pattern)
    return PatientVerdict(decision=kept.decision, patient_id=kept.patient_id, reply=reply)


def _said(outcome: Outcome, person: Person | None, *, is_bare: bool) -> str | None:
    """Return the whole answer to a message that only changes the patient."""
    if not is_bare or outcome.patient_id is None:
        return None
    if outcome.decision == "UNCHANGED":
        return wording.already_active(outcome.patient_id, person)
    is_change = outcome.decision in ("SWITCH_EXISTING", "NEW_BLANK")
    return wording.switched(outcome.patient_id, person) if is_change else None


def _notice(
    outcome: Outcome, person: Person | None, reply: str | None, *, is_unchecked: bool
) -> str:
    """Return what is said beside the answer of the turn that a change of patient is part of."""
    if outcome.decision not in ("SWITCH_EXISTING", "NEW_BLANK"):
        return ""
    unchecked = "The records do not answer just now: what was noted before is shown."
    said = opened(person) if person is not None and reply is None else ""
    return " ".join(filter(None, (said, unchecked if is_unchecked else "")))


def verdict_saying(
    text: str, turn: PatientTurn, question: OpenQuestion | None = None
) -> PatientVerdict:
    """Return the verdict that says something and opens nothing."""
    return PatientVerdict("NEEDS_PATIENT_ID", turn.reading.active, reply=text, question=question)
