"""`python -m legacy.validate_entities [--patient ID]`: exit 1 where something was lost.

Compares each migrated session with its backup and prints `missing_in_new`, `extra_in_new` and
`value_changes` as JSON. The output holds patients' data: it goes to the terminal only.
"""

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence
from typing import Any

from data_models.errors import RoundsError
from legacy.migrate_entities import opened_mover


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    parser = argparse.ArgumentParser(prog="python -m legacy.validate_entities")
    parser.add_argument("--patient", help="only the documents of this patient id")
    patient = parser.parse_args(arguments).patient
    try:
        found = asyncio.run(_run(patient))
    except RoundsError as error:
        sys.stderr.write(f"The sessions could not be read ({error.code}). {error}\n")
        return 2
    sys.stdout.write(json.dumps(found, indent=1) + "\n")
    return 1 if found["differences"] else 0


async def _run(patient: str | None) -> dict[str, Any]:
    async with opened_mover() as mover:
        return await mover.validate(patient=patient)


if __name__ == "__main__":
    sys.exit(main())
