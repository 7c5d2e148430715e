"""`python -m services.tool_memory resolve FILE.json`: 0 answered, 2 not a case file."""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from services.tool_memory.cases import CaseFile, answers


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    parser = argparse.ArgumentParser(prog="python -m services.tool_memory", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("resolve", help="answer reference cases without a model")
    command.add_argument("file", type=Path, help="JSON file of cases, - for standard input")
    file: Path = parser.parse_args(arguments).file
    try:
        text = sys.stdin.read() if str(file) == "-" else file.read_text(encoding="utf-8")
        cases = CaseFile.model_validate_json(text)
    except (OSError, UnicodeDecodeError) as error:
        sys.stderr.write(f"{file} could not be read: {type(error).__name__}\n")
        return 2
    except ValidationError as error:
        for problem in error.errors(include_input=False, include_url=False)[:10]:
            place = ".".join(str(part) for part in problem["loc"])
            sys.stderr.write(f"{place or file}: {problem['msg']}\n")
        return 2
    sys.stdout.write(json.dumps(answers(cases), ensure_ascii=False, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
