"""Who is meant, line by line: what opens, what is asked about and what waits for the answer."""

from typing import Any

from pydantic import BaseModel, ConfigDict

from services.patient_context.answers import waiting_in
from services.patient_context.verdict import PatientVerdict
from tests.services.patient_context.test_who import world
from tests.services.patient_context.world import World
from tests.tables import with_cases


class Line(BaseModel):
    """One message; of what is not given nothing is asserted.

    Attributes:
        minutes: How long after the line before it is said.
        told: What the reply says; None for no reply.
        noted: What is said above the answer.
        asked: What the question says that is open then; None for no question.
        first_offered: The first whom the question offers.
        waiting: The messages that wait for the answer.
        runs: Those that run in the chart.
        chart: The one that is open then.
        stays: Whether nothing of the conversation's patients is written.
        known: All patients of the conversation.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    say: str
    minutes: int = 0
    decision: str = ""
    told: list[str] | None = None
    noted: list[str] = []
    asked: str | None = None
    first_offered: str = ""
    waiting: list[str] = []
    runs: list[str] = []
    chart: str | None = None
    stays: bool = False
    known: list[str] = []


class Talk(BaseModel):
    """Lines over a roster; with `each`, once with every text in place of {}."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    roster: list[str] = ["patient_4"]
    open: str | None = "patient_4"
    each: list[str] = [""]
    says: list[dict[str, Any]]


def found(line: Line, verdict: PatientVerdict, here: World) -> dict[str, Any]:
    """Return what came of a line, in the form of what was expected."""
    question, reply = verdict.question, verdict.reply
    return {
        "decision": verdict.decision,
        "told": None if reply is None else [one for one in line.told or [reply] if one in reply],
        "noted": [one for one in line.noted if one in verdict.notice],
        "asked": _of_question(question.text, line) if question else None,
        "first_offered": question.payload["options"][0] if line.first_offered and question else "",
        "waiting": [*waiting_in(question)] if question else [],
        "runs": [*verdict.pending],
        "chart": verdict.patient_id,
        "stays": verdict.registry is None,
        "known": [*here.registry.patient_registry],
    }


@with_cases("talk")
async def test_who_is_meant(talk: dict[str, Any]) -> None:
    given = Talk.model_validate(talk)
    for text in given.each:
        here, _ = world(*given.roster, active=given.open)
        for written in given.says:
            line = Line.model_validate(_filled(written, text))
            here.clock.advance(60 * line.minutes)
            seen = found(line, await here.say(line.say), here)
            expected = line.model_dump(include={*written} - {"say", "minutes"})
            assert {name: seen[name] for name in expected} == expected, line.say


def _of_question(text: str, line: Line) -> str:
    return line.asked if line.asked is not None and line.asked in text else text


def _filled(written: Any, text: str) -> Any:
    if isinstance(written, dict):
        return {name: _filled(one, text) for name, one in written.items()}
    if isinstance(written, list):
        return [_filled(one, text) for one in written]
    return written.replace("{}", text) if isinstance(written, str) else written
