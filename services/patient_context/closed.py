"""What is said where a chart is closed to who asks, and how an emergency opens it. Pure."""

from dataclasses import replace

from data_models.clock import IdSource
from data_models.conversations.conversation import OpenQuestion
from data_models.errors import ChartSignInError
from data_models.identifiers import PatientId
from services.chart_access.break_glass import COMMAND, REASON_LEAST_CHARS, Grant
from services.chart_access.chart_guard import Access
from services.patient_context.answers import ASKED
from services.patient_context.conclusion import PatientTurn, verdict_saying
from services.patient_context.verdict import PatientVerdict

CLOSED = "closed"
"""Payload key: whose chart a reason opens."""
KIND = "break_glass"
_HOW_TO_BREAK_GLASS = (
    f"In an emergency, open it with `{COMMAND}` and the reason. The reason is kept with the "
    "conversation, the operators are told at once, and it is reviewed."
)


def refused(
    verdict: PatientVerdict,
    access: Access,
    turn: PatientTurn,
    *,
    ids: IdSource,
    may_name: bool = True,
) -> PatientVerdict:
    """Return the refusal of the chart that `verdict` would open.

    Args:
        may_name: Whether its id may be said: who named it by a number knows it.
    """
    if (patient_id := verdict.patient_id) is None:
        return verdict
    text = _refusal(patient_id, access, may_name=may_name)
    question = None
    if access.may_break_glass and may_name:
        text = f"{text} {_HOW_TO_BREAK_GLASS}"
        asked = turn.reading.text if verdict.reply is None else ""
        question = _question(patient_id, text, turn, ids, asked=asked)
    hides_active = patient_id == turn.reading.active
    return replace(verdict_saying(text, turn, question), hides_active=hides_active)


def reason_needed(question: OpenQuestion, turn: PatientTurn, *, ids: IdSource) -> PatientVerdict:
    """Return the request for a reason that a reviewer can do something with."""
    patient_id = closed_chart(question)
    text = (
        f"Please give the reason in a few words, {REASON_LEAST_CHARS} characters at least: "
        f"`{COMMAND} …`. Nothing was opened."
    )
    asked = str(question.payload.get(ASKED, ""))
    again = None if patient_id is None else _question(patient_id, text, turn, ids, asked=asked)
    return verdict_saying(text, turn, again)


def opened_in_emergency(verdict: PatientVerdict, grant: Grant) -> PatientVerdict:
    """Return the verdict that opens the chart, and says how and until when."""
    said = (
        f"Opened in an emergency until {grant.expires_at:%H:%M} UTC. Reason: “{grant.reason}” "
        "The operators are told and review it."
    )
    reply = None if verdict.reply is None else f"{said} {verdict.reply}"
    notice = " ".join(filter(None, (said, verdict.notice)))
    return replace(verdict, reply=reply, notice=notice)


def in_emergency(verdict: PatientVerdict, access: Access) -> PatientVerdict:
    """Return the verdict of a turn in a chart that an emergency opened, which says so."""
    if access.until is None or "emergency" in verdict.notice:
        return verdict
    said = f"Emergency access until {access.until:%H:%M} UTC; it is reviewed."
    return replace(verdict, notice=" ".join(filter(None, (said, verdict.notice))))


def closed_chart(question: OpenQuestion) -> PatientId | None:
    """Return whose chart the question would open, None for other questions."""
    chart = question.payload.get(CLOSED)
    return PatientId(chart) if question.kind == KIND and isinstance(chart, str) else None


def closed_to_you(patient_id: PatientId) -> str:
    """Return the refusal of a chart by its id."""
    return f"The chart `{patient_id}` is not open to you; nothing was opened or answered."


def _refusal(patient_id: PatientId, access: Access, *, may_name: bool) -> str:
    if not may_name:
        return (
            "Nobody whose chart is open to you is called that; nothing was opened or answered. "
            "Give the number, or the full name and the birth date."
        )
    if access.state == "unknown":
        return (
            f"Whether the chart `{patient_id}` is open to you cannot be checked just now, so "
            "nothing was opened or answered. Please try again in a moment."
        )
    if access.state == "unsigned":
        return f"{ChartSignInError.user_message} Nothing of `{patient_id}` was opened or answered."
    return closed_to_you(patient_id)


def _question(
    patient_id: PatientId, text: str, turn: PatientTurn, ids: IdSource, *, asked: str
) -> OpenQuestion:
    payload = {CLOSED: patient_id, **({ASKED: asked} if asked else {})}
    return turn.ask("break_glass", text, payload, ids=ids)
