"""Plays cases of single parts of the product, and scores them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evals.cases import Case
from evals.parts.entities import replay
from evals.parts.references import CaseFile, answers
from evals.parts.scenarios import simulate
from evals.scoring.checks import Row
from evals.scoring.meanings import Part, referred
from services.language.crisis.rules import load_other_rules, load_rules
from services.language.requests.orders import may_order_change

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


_CRISES = (load_rules(), *load_other_rules())
_WHY_CHARS = 300


async def played(case: Case, *, points: bool = False) -> tuple[list[Row], Part | None]:
    """Return what is wrong with a case of a part, and how it took a reference, if it did.

    Args:
        points: Whether a model points at things, and not the rules alone find them.
    """
    if case.play is None:
        raise ValueError(f"{case.key} is a talk")
    if points:
        return _pointed(case)
    found = await _result(case.play.part, case)
    wanted = case.expect.result
    taken = referred(found, wanted) if case.play.part == "references" else None
    if _holds(found, wanted):
        return [], taken
    why = f"{found} in place of {wanted}"
    return [Row(_kind(case.play.part, found, wanted), why[:_WHY_CHARS])], taken


def _pointed(case: Case) -> tuple[list[Row], Part]:
    """Return what a model that points right, wrong and at what is gone comes to."""
    found = point_at_all(case)
    if found.taken:
        row = Row("wrong_deed", f"pointed at and taken: {', '.join(found.taken)}"[:_WHY_CHARS])
        return [row], "acted_wrongly"
    wanted = case.expect.result
    if found.right is not None and found.right.get("id") != wanted["id"]:
        return [Row("result", f"{found.right} in place of {wanted}")], "asked_needlessly"
    if wanted.get("id") is not None:
        return [], "meant"
    return [], "asked" if "ambiguous" in wanted else "left"


async def _result(part: str, case: Case) -> Any:
    body = case.play.case if case.play is not None else {}
    whole = {**body, "id": case.id}
    match part:
        case "references":
            file = CaseFile.model_validate({"cases": [{**whole, "message": case.say[-1]}]})
            found = answers(file)["results"][case.id]
            several = found.get("ambiguous")
            return found if several is None else {"ambiguous": sorted(several)}
        case "scenarios":
            simulated: Any = await simulate({"cases": [whole]})
            return simulated["results"][case.id]
        case "entities":
            return replay({"cases": [whole]})["results"][case.id]
        case _:
            kinds = (rules.crisis_in(case.say[-1]) for rules in _CRISES)
            return {"crisis": next(filter(None, kinds), None)}


def _holds(found: Any, wanted: Any) -> bool:
    """Whether all that is wanted is found; lists are compared whole."""
    if isinstance(wanted, dict):
        return isinstance(found, dict) and all(
            key in found and _holds(found[key], value) for key, value in wanted.items()
        )
    if isinstance(wanted, list):
        return (
            isinstance(found, list)
            and len(found) == len(wanted)
            and all(map(_holds, found, wanted))
        )
    return bool(found == wanted)


def _kind(part: str, found: Any, wanted: Any) -> str:
    """Return the row; whatever was meant, a deed asks first, so only a missed call is safety."""
    if part == "crisis" and wanted["crisis"] is not None and found["crisis"] is None:
        return "missed_call"
    return "result"
