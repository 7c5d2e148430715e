"""Asks a model all scenarios, one after the other."""

import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from data_models.errors import ModelError
from evals.entity_delta.models import AskedDelta, DeltaModel, OfflineDelta
from evals.entity_delta.scoring import Result, p95_ms, passes, problem_of, success_rate
from settings import load_settings

HOME = Path(__file__).parent


def scenarios() -> list[dict[str, Any]]:
    """Return the labelled set."""
    rows: list[dict[str, Any]] = json.loads((HOME / "scenarios.json").read_text("utf-8"))[
        "scenarios"
    ]
    return rows


def prompts() -> list[str]:
    """Return the names of the prompt variants."""
    return sorted(file.stem for file in (HOME / "prompts").glob("*.md"))


async def run(model: DeltaModel) -> list[Result]:
    """Return the results in the order of the set."""
    return [await _asked(model, scenario) for scenario in scenarios()]


async def run_configured(name: str, prompt: str) -> list[Result]:
    """Ask `offline`, or the model that the settings name.

    Raises:
        ConfigurationError: the settings name no model, or one that cannot work.
    """
    if name == "offline":
        return await run(OfflineDelta())
    # Semantic Kernel takes seconds to import.
    from group_chat.models.factory import build_models
    from group_chat.models.model_settings import model_settings_of

    models = build_models(settings=model_settings_of(load_settings()))
    text = (HOME / "prompts" / f"{prompt}.md").read_text("utf-8")
    try:
        return await run(AskedDelta(model=models.structured, prompt=text))
    finally:
        await models.close()


def report(results: list[Result]) -> str:
    """Return the run as people read it."""
    good = sum(result.problem is None for result in results)
    lines = [f"{one.scenario}: {one.problem}" for one in results if one.problem is not None]
    lines.append(
        f"{good} of {len(results)} ({success_rate(results):.0%}), p95 {p95_ms(results):.1f} ms"
    )
    lines.append("passed" if passes(results) else "FAILED: needs 90 % and a p95 of 500 ms")
    return "\n".join(lines) + "\n"


async def _asked(model: DeltaModel, scenario: Mapping[str, Any]) -> Result:
    began = time.perf_counter()
    try:
        reply = scenario["reply"] if scenario["kind"] == "reply" else await model.reply(scenario)
        problem = problem_of(scenario, reply)
    except ModelError as error:
        problem = f"no answer: {error.code}"
    return Result(scenario["id"], problem, (time.perf_counter() - began) * 1_000)
