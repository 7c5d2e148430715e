"""The arguments of the operators' commands."""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

_SHARE = "percent of the sessions that the version reaches"
_OPTIONS: dict[str, dict[str, Any]] = {
    "file": {"type": Path},
    "policies": {"type": Path, "help": "JSON by step id; * for all others"},
    "version": {"type": int},
    "--policies": {"type": Path, "help": "JSON by step id; * for all others"},
    "--to": {"type": int, "required": True, "help": "version to come back to"},
    "--share": {"type": int, "choices": range(101), "default": 100, "help": _SHARE},
    "--after": {"default": "", "help": "cursor to go on behind"},
    "--limit": {"type": int, "default": 1_000, "help": "rows at most"},
    "--mapping": {"type": Path, "help": "JSON: new step ids by old ones"},
    "--reason": {"required": True, "help": "why, for the audit trail"},
    "--step": {"default": "", "help": "id of a step"},
    "--field": {"action": "append", "default": [], "help": "a field to ask again; repeatable"},
    "--at": {"default": "", "help": "only sessions in this step"},
    "--in-version": {"type": int, "default": 0, "help": "only sessions of this version"},
    "--flagged": {"default": "", "help": "only sessions flagged with this reason; * for any"},
    "--channel": {"default": "", "help": "only sessions of this channel"},
    "action": {"choices": ["move", "resume", "ask_again", "end", "pin"]},
    "--by": {"required": True, "help": "who does it; approval needs another"},
}


def add_command(
    commands: "argparse._SubParsersAction[argparse.ArgumentParser]",
    work: Callable[..., Any],
    arguments: Sequence[str],
    run: Callable[[argparse.Namespace], str],
) -> None:
    """Add one command: its name and help are those of the function that does it."""
    name = work.__name__.replace("_", "-")
    parser = commands.add_parser(name, help=(work.__doc__ or "").splitlines()[0])
    for argument in arguments:
        parser.add_argument(argument, **_OPTIONS.get(argument, {}))
    parser.add_argument("--json", action="store_true", help="the answer is JSON in any case")
    parser.set_defaults(command=run, work=work)
