"""`python -m evals entity-delta [--model configured] [--prompt small]`: exit 1 if it fails."""

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict

from data_models.errors import ConfigurationError
from evals.entity_delta.run import prompts, report, run_configured
from evals.entity_delta.scoring import p95_ms, passes, success_rate


def main(arguments: Sequence[str] | None = None) -> int:
    """Run an evaluation and return its exit status."""
    parser = argparse.ArgumentParser(prog="python -m evals")
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("entity-delta", help="do models send only what changed?")
    command.add_argument(
        "--model", default="offline", help="`offline`, or `configured` for the settings' model"
    )
    command.add_argument("--prompt", default="default", choices=prompts())
    command.add_argument("--json", action="store_true", help="print one JSON object")
    chosen = parser.parse_args(arguments)
    try:
        results = asyncio.run(run_configured(chosen.model, chosen.prompt))
    except ConfigurationError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    if chosen.json:
        figures = {"success_rate": success_rate(results), "p95_ms": p95_ms(results)}
        print(json.dumps({**figures, "results": [asdict(one) for one in results]}))
    else:
        sys.stdout.write(report(results))
    return 0 if passes(results) else 1


if __name__ == "__main__":
    sys.exit(main())
