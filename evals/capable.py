"""What a model does that understands a case: derived from what the case expects.

With it a run of a suite says whether the way lets a good answer through: hand-overs, tools, guards,
the check of sentences. It says nothing of any model.
"""

import re
from functools import cache
from typing import Any

import yaml

from evals.cases import Answer, Case, Script, ScriptedCall
from evals.scripted import ANYTHING, NOTHING
from evals.server import ROOT

_READER = "PatientStatus"
BOARD = ("PatientHistory", "PatientStatus", "Radiology", "Pathology", "ReportCreation")
PLANS = Script(plans=BOARD, stays=True)
"""Proposes a tumor board, for cases that begin with one."""

_NOT_THERE = "It is not in the record."
_PLAIN = ("Yes.", "No.")
_FREE = re.compile(r"[\w .,:-]+")


def capable(case: Case) -> Script:
    """Return the script of a case that has none."""
    wanted, owners = case.expect, _owners()
    if wanted.answer is not None and not wanted.tools:
        return Script(agent=_READER, reads=NOTHING, says=right_answer(wanted.answer), stays=True)
    agents = set(owners.values())
    agent = next((one for one in wanted.agent if one in agents), "")
    tools = [one for call in wanted.tools for one in call.tool if one in owners]
    agent = agent or next((owners[one] for one in tools), "")
    is_about_record = bool(wanted.has or wanted.sources) and not (wanted.asks or wanted.agent)
    plans: tuple[str, ...] = ()
    if wanted.plan is not None and wanted.plan.status == ("proposed",):
        plans = wanted.plan.agents or BOARD
    sources = tuple(re.escape(one) for one in wanted.sources)
    return Script(
        agent=agent or (_READER if is_about_record and not plans else ""),
        calls=tuple(_call(one.tool, one.arguments) for one in wanted.tools),
        reads=(*wanted.has, *sources) or ANYTHING,
        says=next(
            (one for one in _PLAIN if any(_is_in(each, one) for each in wanted.has)), _NOT_THERE
        ),
        plans=plans,
        stays=True,
    )


def _is_in(pattern: str, text: str) -> bool:
    return bool(re.search(pattern, text, re.IGNORECASE))


def right_answer(wanted: Answer) -> str:
    """Return what a careful colleague would say, in plain sentences with the source."""
    name = wanted.name.partition("|")[0]
    ref = f" [{wanted.refs[0]}]" if wanted.refs else ""
    match wanted.kind:
        case "value" | "extreme":
            day = f", {wanted.dates[0]}" if wanted.dates else ""
            return f"{name}: {wanted.values[0]} {wanted.unit}".rstrip() + f"{day}{ref}"
        case "series":
            rows = zip(wanted.dates, wanted.values, strict=True)
            return "\n".join(f"- {day} {name} {one} {wanted.unit}" for day, one in rows)
        case "list":
            return "\n".join(f"- {one}" for one in wanted.values)
        case "yes":
            return f"Yes, {wanted.name} is active{ref}."
        case "no":
            return f"No, {wanted.name} is not active: resolved{ref}."
        case "date":
            return f"The last one was on {wanted.dates[0]}{ref}."
        case "count":
            return f"{wanted.values[0]} times."
        case _:
            return f"{wanted.name} is not in the record."


def _call(tools: tuple[str, ...], arguments: dict[str, str]) -> ScriptedCall:
    """Return the call with the arguments that are words and no patterns."""
    given: dict[str, Any] = {
        name: text for name, text in arguments.items() if _FREE.fullmatch(text)
    }
    return ScriptedCall(tool=tools[0], arguments=given)


@cache
def _owners() -> dict[str, str]:
    """Return the first agent, besides the facilitator, who has each tool."""
    team = yaml.safe_load((ROOT / "group_chat" / "team.yaml").read_text("utf-8"))
    found: dict[str, str] = {}
    for row in team["agents"]:
        for tool in row.get("tools", ()) if not row.get("facilitator") else ():
            found.setdefault(tool, row["name"])
    return found
