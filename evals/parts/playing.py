"""Plays cases of single parts of the product, and scores them."""

from typing import Any

from evals.cases import Case
from evals.parts.entities import replay
from evals.parts.pointing import point_at_all
from evals.parts.references import CaseFile, answers
from evals.parts.scenarios import simulate
from evals.scoring.checks import Row
from evals.scoring.meanings import Part, referred
from services.language.crisis.rules import load_other_rules, load_rules

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
