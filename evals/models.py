"""Which model answers: the configured one, the built-in rules, a script, or a cassette."""

import os
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import cache
from pathlib import Path
from typing import Any, Protocol

import yaml
from dotenv import dotenv_values

from data_models.errors import ConfigurationError
from evals.cases import Answer, Case, Script, ScriptedCall, said_plan
from evals.cassette import Player
from evals.scripted import ANYTHING, NOTHING, ScriptedModel
from evals.server import ROOT
from evals.spending import PRICES, Spending
from evals.wire import Wire
from tests.fakes_openai import FakeOpenAI

_OURS = (
    "OPENAI_",
    "AZURE_OPENAI_",
    "LLM_",
    "PATIENT_CONTEXT_DECIDER_",
    "MODEL_",
    "ALLOWED_OUTBOUND_",
)


class ModelChosen(Protocol):
    """Makes the settings of a server, and what stands between it and its model."""

    name: str
    kind: str

    def wire(
        self, cases: Sequence[Case], spending: Spending
    ) -> AbstractAsyncContextManager[Wire | None]:
        """Return the way to the model; None where there is none."""
        ...

    def settings(self, wire: Wire | None) -> dict[str, str]:
        """Return the settings that lead a server there."""
        ...


class Offline:
    """The built-in rules."""

    name = kind = "offline"

    @asynccontextmanager
    async def wire(self, cases: Sequence[Case], spending: Spending) -> AsyncIterator[Wire | None]:
        """See `ModelChosen.wire`."""
        yield None

    def settings(self, wire: Wire | None) -> dict[str, str]:
        """See `ModelChosen.settings`."""
        return {"LLM_PROVIDER": "offline"}


class Scripted:
    """A scripted model on loopback, over the real client."""

    name = kind = "scripted"

    @asynccontextmanager
    async def wire(self, cases: Sequence[Case], spending: Spending) -> AsyncIterator[Wire | None]:
        """See `ModelChosen.wire`."""
        wires: list[Wire] = []
        by_key = {case.key: case for case in cases}

        def script_of(text: str) -> Script | None:
            case = by_key.get(wires[0].case_of(text)) if wires else None
            if case is None:
                return None
            if wires[0].is_last(text, case.say[-1]):
                return case.model or capable(case)
            if case.model is not None and any(wires[0].is_last(text, one) for one in case.say):
                before = case.model.model_copy(update={"calls": case.model.earlier, "says": "."})
                return before if case.model.earlier else None
            return (
                PLANS if case.given.plan and wires[0].is_last(text, said_plan(case.given)) else None
            )

        model = FakeOpenAI(brain=ScriptedModel(script_of=script_of).brain, keep_requests=1)
        async with (
            model,
            Wire(upstream=model.base_url.removesuffix("/v1"), spending=spending) as wire,
        ):
            wires.append(wire)
            yield wire

    def settings(self, wire: Wire | None) -> dict[str, str]:
        """See `ModelChosen.settings`."""
        return _through(wire, {"OPENAI_MODEL": "scripted"})


class Configured:
    """The model that the environment and `.env` name."""

    kind = "configured"

    def __init__(self) -> None:
        """Read the environment.

        Raises:
            ConfigurationError: it names no model.
        """
        values = {**dotenv_values(ROOT / ".env"), **os.environ}
        self._given = {
            name: value for name, value in values.items() if value and name.startswith(_OURS)
        }
        self._azure = "AZURE_OPENAI_ENDPOINT" in self._given
        if not {"OPENAI_BASE_URL", "OPENAI_API_KEY", "AZURE_OPENAI_ENDPOINT"} & self._given.keys():
            raise ConfigurationError(
                "no model is configured. Set OPENAI_BASE_URL and OPENAI_MODEL (or"
                " AZURE_OPENAI_ENDPOINT and AZURE_OPENAI_DEPLOYMENT_NAME), or use --model offline"
            )
        named = "AZURE_OPENAI_DEPLOYMENT_NAME" if self._azure else "OPENAI_MODEL"
        self.name = self._given.get(named, "gpt-4.1")

    @asynccontextmanager
    async def wire(self, cases: Sequence[Case], spending: Spending) -> AsyncIterator[Wire | None]:
        """See `ModelChosen.wire`."""
        if self._azure:
            upstream = self._given["AZURE_OPENAI_ENDPOINT"]
        else:
            upstream = self._given.get("OPENAI_BASE_URL", "https://api.openai.com/v1")
            upstream = upstream.rstrip("/").removesuffix("/v1")
        async with Wire(upstream=upstream, spending=spending) as wire:
            yield wire

    def settings(self, wire: Wire | None) -> dict[str, str]:
        """See `ModelChosen.settings`."""
        if self._azure:
            return {**self._given, "AZURE_OPENAI_ENDPOINT": _there(wire).url}
        return _through(wire, self._given)


class Replayed:
    """A session that was recorded before."""

    kind = "replayed"

    def __init__(self, file: Path) -> None:
        """Read the cassette.

        Raises:
            ConfigurationError: it cannot be read.
        """
        self.player = Player.of(file)
        self.name = self.player.model

    @asynccontextmanager
    async def wire(self, cases: Sequence[Case], spending: Spending) -> AsyncIterator[Wire | None]:
        """See `ModelChosen.wire`."""
        async with Wire(upstream="", spending=spending, source=self.player) as wire:
            yield wire

    def settings(self, wire: Wire | None) -> dict[str, str]:
        """See `ModelChosen.settings`."""
        return _through(wire, {"OPENAI_MODEL": "replayed"})


def _through(wire: Wire | None, given: Mapping[str, str]) -> dict[str, str]:
    return {
        "OPENAI_API_KEY": "none",
        **given,
        "LLM_PROVIDER": "openai",
        "OPENAI_BASE_URL": f"{_there(wire).url}/v1",
    }


def _there(wire: Wire | None) -> Wire:
    if wire is None:
        raise RuntimeError("this model is asked over a wire")
    return wire


def prices_of(model: str, given: str | None) -> tuple[float, float, float] | None:
    """Return the prices of a model: as given, `prompt,cached,answer`, else the known ones.

    Raises:
        ConfigurationError: they cannot be read.
    """
    if given is None:
        return PRICES.get(model)
    try:
        whole, cached, answer = (float(one) for one in given.split(","))
    except ValueError:
        raise ConfigurationError(
            "--prices: expected three numbers, dollars for a million tokens of prompt, cached"
            " prompt and answer. Example: --prices 2,0.5,8"
        ) from None
    return whole, cached, answer


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
