"""The receipt of a turn: a FHIR R4 Bundle of an AuditEvent and a Provenance. Pure.

It says who asked, who answered, what was read and done, and what the check found of each statement;
it holds ids, names of tools and hashes, and neither words of the talk nor values of the chart.
"""

import hashlib
import re
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias

import orjson

from data_models.chart_view import ChartView
from data_models.chat_context import AgentMessage, Turn
from data_models.identifiers import PatientId
from data_models.tool_memory import ToolExecutionContext

Json: TypeAlias = dict[str, Any]
REFERENCES_LIMIT = 2_000
_REFERENCE = re.compile(r"[A-Z][A-Za-z]{1,39}/[A-Za-z0-9.-]{1,64}")
_SYSTEMS = "http://terminology.hl7.org/CodeSystem"
_STATEMENT = "urn:rounds:statement"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiptFacts:
    """What a receipt is made of.

    Attributes:
        principal: Id of the verified sender.
        model: Name of the language model, or `offline`.
        turn: As it is stored.
        executions: Runs of tools, of this turn and earlier ones.
        views: Rows that were shown with the turn's messages.
    """

    conversation: str
    patient_id: PatientId | None
    principal: str
    model: str
    turn: Turn
    executions: Sequence[ToolExecutionContext]
    views: Sequence[ChartView]
    recorded: datetime


def receipt_of(facts: ReceiptFacts) -> bytes:
    """Return the receipt in its canonical form: JSON, keys sorted, without blanks."""
    recorded = facts.recorded.isoformat(timespec="milliseconds")
    rows = sorted(dict.fromkeys(ref for ref in _refs_read(facts) if ref))[:REFERENCES_LIMIT]
    resources = (_audit_event(facts, rows, recorded), _provenance(facts, rows, recorded))
    bundle = {
        "resourceType": "Bundle",
        "type": "collection",
        "timestamp": recorded,
        "identifier": {"system": "urn:rounds:run", "value": facts.turn.run_id},
        "entry": [
            {"fullUrl": _url(facts.turn.run_id, one["resourceType"]), "resource": one}
            for one in resources
        ],
    }
    return orjson.dumps(bundle, option=orjson.OPT_SORT_KEYS)


def digest_of(receipt: bytes) -> str:
    """Return the SHA-256 of a receipt's bytes, in hexadecimal digits."""
    return hashlib.sha256(receipt).hexdigest()


def run_of(receipt: bytes) -> str:
    """Return the id of the run that a receipt names; "" where it names none."""
    try:
        bundle = orjson.loads(receipt)
        return str(bundle["identifier"]["value"])
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return ""


def _audit_event(facts: ReceiptFacts, rows: Sequence[str], recorded: str) -> Json:
    answers = facts.turn.agent_responses
    return {
        "resourceType": "AuditEvent",
        "type": {"system": f"{_SYSTEMS}/audit-event-type", "code": "rest"},
        "action": "E",
        "recorded": recorded,
        "outcome": "0",
        "agent": [
            {"who": _identified("principal", facts.principal), "requestor": True},
            *({"who": {"display": name}, "requestor": False} for name in _agents(answers)),
            {"who": {"display": facts.model}, "requestor": False},
        ],
        "source": {"observer": {"display": "Rounds"}},
        "entity": [*_about(facts), *({"what": _what(one)} for one in rows), *_done(facts)],
    }


def _about(facts: ReceiptFacts) -> Iterator[Json]:
    role = {"system": f"{_SYSTEMS}/object-role", "code": "1", "display": "Patient"}
    if facts.patient_id is not None:
        yield {"what": _identified("patient", facts.patient_id, kind="Patient"), "role": role}
    yield {"what": _identified("conversation", facts.conversation)}


def _done(facts: ReceiptFacts) -> Iterator[Json]:
    """Yield the tools that ran, with what came of them and the ids of what they made or changed."""
    for one in facts.executions:
        if one.turn_id != facts.turn.turn_id:
            continue
        details = {"run": one.execution_id, "outcome": "done" if one.success else "failed"}
        entries = [{"type": name, "valueString": value} for name, value in details.items()]
        entries += [{"type": "entity", "valueString": each} for each in one.entity_ids]
        yield {"name": one.tool_name, "detail": entries}


def _provenance(facts: ReceiptFacts, rows: Sequence[str], recorded: str) -> Json:
    answers = facts.turn.agent_responses
    role = {"coding": [{"system": f"{_SYSTEMS}/provenance-participant-type", "code": "assembler"}]}
    asker = _identified("principal", facts.principal)
    agents: list[Json] = [
        {"type": role, "who": {"display": name}, "onBehalfOf": asker} for name in _agents(answers)
    ]
    targets = [_identified("message", one.message_id) for one in answers]
    found: Json = {
        "resourceType": "Provenance",
        "target": targets or [_identified("run", facts.turn.run_id)],
        "recorded": recorded,
        "agent": agents or [{"type": role, "who": {"display": "Rounds"}}],
    }
    statements = [one for answer in answers for one in _statements(answer)]
    if statements:
        found["extension"] = statements
    if rows:
        found["entity"] = [{"role": "source", "what": _what(one)} for one in rows]
    return found


def _statements(answer: AgentMessage) -> Iterator[Json]:
    for one in answer.statements:
        text = one.text or answer.text[one.start : one.end]
        parts: list[Json] = [
            {"url": "message", "valueString": answer.message_id},
            {"url": "state", "valueCode": one.state},
            {"url": "sha256", "valueString": digest_of(text.encode())},
        ]
        parts += [{"url": "source", "valueReference": _what(ref)} for ref in one.sources]
        yield {"url": _STATEMENT, "extension": parts}


def _refs_read(facts: ReceiptFacts) -> Iterator[str]:
    for view in facts.views:
        for row in view.rows:
            yield from row.sources
    for answer in facts.turn.agent_responses:
        yield from (one.ref for one in answer.citations)
        for statement in answer.statements:
            yield from statement.sources


def _agents(answers: Sequence[AgentMessage]) -> list[str]:
    return list(dict.fromkeys(one.agent for one in answers))


def _what(ref: str) -> Json:
    return {"reference": ref} if _REFERENCE.fullmatch(ref) else _identified("source", ref)


def _identified(system: str, value: str, *, kind: str = "") -> Json:
    named: Json = {"identifier": {"system": f"urn:rounds:{system}", "value": value}}
    return named | {"type": kind} if kind else named


def _url(run_id: str, kind: str) -> str:
    return uuid.uuid5(uuid.NAMESPACE_URL, f"urn:rounds:run:{run_id}:{kind}").urn
