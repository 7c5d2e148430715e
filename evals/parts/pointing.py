"""A model that points at things: plays each reference once for every thing that it may point at.

Over the resolver and the check of authority that the tools use. Each deed is played as one that is
done at once, which is the strictest: nothing is asked by name before it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evals.cases import Case
from evals.parts.references import CaseFile, answers
from services.language.orders import may_order_change

FREE = "free"
"""Tag of a case whose words leave open what is meant: there the model's word counts."""


@dataclass(frozen=True, slots=True)
class Pointings:
    """What became of a model's ids in one turn.

    Attributes:
        right: What was answered when it pointed at what is meant; None where nothing single is.
        taken: Things that it pointed at wrongly and that were taken all the same.
        caught: How many wrong pointings were refused or asked about.
        gone: How many of those were gone or another patient's.
    """

    right: Mapping[str, Any] | None
    taken: tuple[str, ...] = ()
    caught: int = 0
    gone: int = 0


def point_at_all(case: Case) -> Pointings:
    """Let the model point at each thing of the case's desk, and return what came of it."""
    body = case.play.case if case.play is not None else {}
    wanted: Mapping[str, Any] = case.expect.result
    meant, any_of = wanted.get("id"), wanted.get("ambiguous", ())
    right: Mapping[str, Any] | None = None
    taken: list[str] = []
    caught = gone = 0
    for entity in body["entities"]:
        given = entity["id"]
        found = _answer(case, body, entity)
        if given == meant:
            right = found
        elif given not in any_of and FREE not in case.tags:
            is_taken = found.get("id") not in (None, meant) and may_order_change(case.say[-1])
            taken += [given] if is_taken else []
            caught += not is_taken
            gone += not is_taken and _is_no_candidate(entity, body["context"])
    return Pointings(right=right, taken=tuple(taken), caught=caught, gone=gone)


def _answer(case: Case, body: Mapping[str, Any], entity: Mapping[str, Any]) -> Mapping[str, Any]:
    one = {
        **body,
        "id": case.id,
        "message": case.say[-1],
        "parameters": {"id": entity["id"]},
        "entity_type": entity["type"],
    }
    found: Mapping[str, Any] = answers(CaseFile.model_validate({"cases": [one]}))["results"]
    answer: Mapping[str, Any] = found[case.id]
    return answer


def _is_no_candidate(entity: Mapping[str, Any], context: Mapping[str, Any]) -> bool:
    is_live = entity.get("status", "active") == "active"
    return not is_live or entity.get("session") != context.get("session")
