"""Asks Azure, before anything is made, whether the models can be deployed.

A deployment that fails after twenty minutes leaves half an installation, so `azd` runs this first
(azure.yaml). By hand: `AZURE_LOCATION=swedencentral python scripts/check_models.py`. It needs `az`,
signed in, and none of our packages.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeAlias

Ask: TypeAlias = Callable[[Sequence[str]], list[dict[str, Any]]]
PLAN = Path(__file__).parents[1] / "infra" / "models.json"
LEAST_LIFE = timedelta(days=90)
_NOT_DEPLOYED_ANEW = ("Deprecating", "Deprecated", "Retired")


class AzureCliError(Exception):
    """`az` is not there, not signed in, or refused; the text says which."""


@dataclass(frozen=True)
class Wanted:
    """One deployment that is to be made.

    Attributes:
        capacity: In thousands of tokens a minute.
        variables: Where another model is named: of its name, of its version.
    """

    name: str
    version: str
    capacity: int
    variables: tuple[str, str]


def read_wanted(environment: Mapping[str, str], plan: Mapping[str, Any]) -> list[Wanted]:
    """Return what `infra/main.bicep` deploys with these variables.

    Raises:
        ValueError: there is no such stage.
    """
    stage = environment.get("ROUNDS_STAGE") or "dev"
    if stage not in plan["capacity"]:
        raise ValueError(f"ROUNDS_STAGE is {stage}; it may be {' or '.join(plan['capacity'])}")
    capacity = plan["capacity"][stage]
    defaults = {"chat": plan["known"][0], "classifier": plan["known"][1]}
    wanted = []
    for use, default in defaults.items():
        variables = (f"ROUNDS_{use.upper()}_MODEL", f"ROUNDS_{use.upper()}_MODEL_VERSION")
        name, version = (environment.get(variable) for variable in variables)
        wanted.append(
            Wanted(name or default["name"], version or default["version"], capacity[use], variables)
        )
    return wanted


def find_problems(
    wanted: Sequence[Wanted], *, location: str, group: str, sku: str, ask: Ask, today: datetime
) -> Iterator[str]:
    """Yield a sentence for each model that cannot be deployed, with what to set instead.

    Raises:
        AzureCliError: Azure cannot be asked.
    """
    place = ["--location", location]
    offered = ask(["cognitiveservices", "model", "list", *place])
    usages = ask(["cognitiveservices", "usage", "list", *place])
    held = _find_own_capacity(group, ask)
    for one in wanted:
        models = [
            row["model"]
            for row in offered
            if row.get("kind") == "OpenAI"
            and (row["model"]["name"], row["model"]["version"]) == (one.name, one.version)
        ]
        skus = [each for model in models for each in model.get("skus") or () if each["name"] == sku]
        remedy = f"set {one.variables[0]} and {one.variables[1]}, or AZURE_LOCATION"
        if not skus:
            yield f"{one.name} {one.version} is not offered as {sku} in {location}: {remedy}"
            continue
        if one.name not in held and models[0].get("lifecycleStatus") in _NOT_DEPLOYED_ANEW:
            yield f"{one.name} {one.version} takes no new deployments any more: {remedy}"
        ends = skus[0].get("deprecationDate") or (models[0].get("deprecation") or {}).get(
            "inference"
        )
        if ends and datetime.fromisoformat(ends).replace(tzinfo=UTC) - today < LEAST_LIFE:
            yield f"{one.name} {one.version} retires on {ends[:10]}: {remedy}"
        yield from _find_shortage(one, skus[0]["usageName"], usages, held.get(one.name, 0))


def _find_shortage(
    one: Wanted, usage_name: str, usages: Sequence[Mapping[str, Any]], held: int
) -> Iterator[str]:
    quotas = [row for row in usages if row["name"]["value"] == usage_name]
    free = int(quotas[0]["limit"] - quotas[0]["currentValue"]) + held if quotas else 0
    if free < one.capacity:
        yield (
            f"{one.name} needs {one.capacity},000 tokens a minute, the subscription has {free},000 "
            f"left of {usage_name}: ask for more quota, or lower `capacity` in infra/models.json"
        )


def _find_own_capacity(group: str, ask: Ask) -> dict[str, int]:
    """Return what an installation of this name holds already, by deployment."""
    held: dict[str, int] = {}
    for account in ask(["cognitiveservices", "account", "list"]):
        if account["resourceGroup"].lower() != group.lower():
            continue
        rows = ask(
            [
                *("cognitiveservices", "account", "deployment", "list"),
                *("--resource-group", account["resourceGroup"], "--name", account["name"]),
            ]
        )
        held |= {row["name"]: int(row["sku"]["capacity"]) for row in rows}
    return held


def ask_azure(arguments: Sequence[str]) -> list[dict[str, Any]]:
    """Return what `az` lists.

    Raises:
        AzureCliError: it is missing or fails.
    """
    try:
        ran = subprocess.run(
            ["az", *arguments, "--output", "json"], capture_output=True, text=True, check=False
        )
    except FileNotFoundError:
        raise AzureCliError("the Azure CLI (az) is not installed") from None
    if ran.returncode:
        raise AzureCliError(ran.stderr.strip() or f"az {' '.join(arguments)} failed")
    rows: list[dict[str, Any]] = json.loads(ran.stdout)
    return rows


def main() -> int:
    """Print what stands in the way; 1 if anything does, 2 if Azure cannot be asked."""
    location, plan = os.environ.get("AZURE_LOCATION"), json.loads(PLAN.read_text("utf-8"))
    if not location:
        sys.stderr.write(
            "rounds: set AZURE_LOCATION to the region (azd env set AZURE_LOCATION …)\n"
        )
        return 2
    try:
        problems = list(
            find_problems(
                read_wanted(os.environ, plan),
                location=location,
                group=f"rounds-{os.environ.get('AZURE_ENV_NAME', '')}",
                sku=plan["sku"],
                ask=ask_azure,
                today=datetime.now(UTC),
            )
        )
    except (AzureCliError, ValueError) as error:
        sys.stderr.write(f"rounds: the models could not be checked: {error}\n")
        return 2
    for problem in problems:
        sys.stderr.write(f"rounds: {problem}\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
