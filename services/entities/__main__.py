"""`python -m services.entities replay FILE.json`: exit 0 played, 2 the file cannot be read."""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from data_models.errors import ToolInputError
from services.entities.replay import replay


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    parser = argparse.ArgumentParser(prog="python -m services.entities", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("replay", help="play operations through the managers")
    command.add_argument("file", type=Path, help="JSON with cases; `-` reads standard input")
    file = parser.parse_args(arguments).file
    try:
        text = sys.stdin.read() if str(file) == "-" else file.read_text(encoding="utf-8")
        results = replay(json.loads(text))
    except (OSError, ValueError, RecursionError) as error:
        sys.stderr.write(f"The cases could not be read: {type(error).__name__}.\n")
        return 2
    except ToolInputError as error:
        sys.stderr.write(f"The cases could not be read: {error}.\n")
        return 2
    # ASCII: half characters that a case holds cannot be written otherwise.
    sys.stdout.write(json.dumps(results) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
