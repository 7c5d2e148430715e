"""What is said where a message does not answer whom it is about, and what waits for that. Pure."""

from dataclasses import replace
from datetime import timedelta

from data_models.conversation import QUESTION_MINUTES, OpenQuestion
from services.identity.wording import SAY_WHICH
from services.patient_context.answers import ASKED, OPENS_ONLY
from services.patient_context.conclusion import PatientTurn
from services.patient_context.verdict import PatientVerdict

REQUEST_LIMIT_CHARS = 2_000
_QUOTED_CHARS = 80


def with_what_waits(question: OpenQuestion, said: str) -> tuple[str, str]:
    """Return `said` behind what waits for the answer already, a line each, and what is dropped.

    What would make it too long is dropped: "" for nothing.
    """
    before = "" if question.payload.get(OPENS_ONLY) else str(question.payload.get(ASKED, ""))
    both = f"{before}\n{said}" if before else said
    return (said, before) if len(both) > REQUEST_LIMIT_CHARS else (both, "")


def asked_again(question: OpenQuestion, turn: PatientTurn) -> PatientVerdict:
    """Return the verdict that asks the same once more; what waits for the answer waits on."""
    expires_at = turn.now + timedelta(minutes=QUESTION_MINUTES)
    return PatientVerdict(
        decision="NEEDS_PATIENT_ID",
        patient_id=turn.reading.active,
        reply=f"{SAY_WHICH}\n{question.text}" if question.kind == "subject" else question.text,
        question=question.model_copy(update={"run_id": turn.run_id, "expires_at": expires_at}),
    )


def asked_for_next(question: OpenQuestion, turn: PatientTurn) -> PatientVerdict:
    """Return the verdict that asks for a message which names nobody while it is open who is meant.

    It waits for the answer with what waits already, a line each: whoever writes on after "back to
    Adeyemi" thinks that chart is open, and "write the report" would be the other one's. A number,
    a name or a no ends it. What is too long to wait beside it is named, and answered no more.
    """
    said = turn.reading.text
    waiting, dropped = with_what_waits(question, said)
    payload = {**question.payload, ASKED: waiting, OPENS_ONLY: False}
    verdict = asked_again(question.model_copy(update={"payload": payload}), turn)
    waits = f"“{_short(said)}” now waits for your answer"
    waits += f", in place of “{_short(dropped)}”" if dropped else ""
    return replace(verdict, reply=f"{verdict.reply}\n{waits}; “no” drops it.")


def _short(text: str) -> str:
    return text if len(text) <= _QUOTED_CHARS else f"{text[:_QUOTED_CHARS]} …"
