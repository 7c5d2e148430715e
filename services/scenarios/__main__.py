"""`python -m services.scenarios`: for authors (validate, plan, simulate) and operators (deploy)."""

import argparse
import asyncio
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from pydantic import JsonValue

from data_models.clock import RandomIds, SystemClock
from data_models.errors import RoundsError, ScenarioDefinitionError, StoreError
from services.scenarios.definition.definition_reader import faults_in, read_definition
from services.scenarios.definition.faults import skipped_checkpoints
from services.scenarios.definition.graph import Graph
from services.scenarios.migration.plans.difference import Difference, sentences_of
from services.scenarios.migration.plans.move import AnchorMap, match_anchors
from services.scenarios.migration.plans.planning import make_plan
from services.scenarios.operators.operator_commands import add_commands, add_prune
from services.scenarios.session.step_text import played

FAILED = 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; results go to standard output, problems to standard error."""
    try:
        options = _parser().parse_args(arguments)
        command: Callable[[argparse.Namespace], int | str] = options.command
        found = command(options)
    except ScenarioDefinitionError as error:
        _say("\n".join(error.problems), to_error=True)
    except StoreError as error:
        _say(f"{error.code}: {error.user_message}", to_error=True)
    except RoundsError as error:
        _say(str(error), to_error=True)
    except (OSError, UnicodeDecodeError) as error:
        _say(f"the file cannot be read: {error}", to_error=True)
    else:
        if isinstance(found, int):
            return found
        _say(found)
        return 0
    return FAILED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m services.scenarios", description=__doc__)
    commands = parser.add_subparsers(required=True)
    validate = commands.add_parser("validate", help="check definitions")
    validate.add_argument("files", nargs="+", type=Path)
    validate.add_argument("--json", action="store_true")
    validate.add_argument("--against", type=Path, help="the version that runs: what it would skip")
    validate.set_defaults(command=_validate)
    preview = commands.add_parser("preview", help="play a version with made-up answers")
    preview.add_argument("file", type=Path)
    preview.add_argument("--auto", action="store_true", help="make the answers up to the end")
    preview.set_defaults(command=_preview)
    plan = commands.add_parser("plan", help="show what a new version means for sessions")
    plan.add_argument("old", type=Path)
    plan.add_argument("new", type=Path)
    plan.add_argument("--json", action="store_true")
    plan.set_defaults(command=_plan)
    cases = commands.add_parser("simulate", help="replay what-if cases; - reads standard input")
    cases.add_argument("file")
    cases.add_argument("--json", action="store_true", help="the answer is JSON in any case")
    cases.set_defaults(command=_simulate)
    add_commands(commands)
    add_prune(commands)
    return parser


def _validate(options: argparse.Namespace) -> int:
    rows: list[JsonValue] = []
    for path in options.files:
        try:
            graph = _read(path)
            _refuse_faults(graph, options.against)
        except ScenarioDefinitionError as error:
            rows.append({"file": str(path), "problems": [*error.problems]})
        else:
            row: dict[str, JsonValue] = {"scenario": graph.scenario.id, "version": graph.version}
            rows.append({"file": str(path), "problems": [], **row, "checksum": graph.checksum})
    lines = [_validation_line(row) for row in rows if isinstance(row, dict)]
    _say(json.dumps(rows, indent=2) if options.json else "\n".join(lines))
    return FAILED if any(isinstance(row, dict) and row["problems"] for row in rows) else 0


def _refuse_faults(graph: Graph, against: Path | None) -> None:
    faults = faults_in(graph)
    if against is not None:
        image = match_anchors(_read(against), graph, {}).image
        faults += skipped_checkpoints(graph, image)
    if faults:
        raise ScenarioDefinitionError(tuple(map(str, faults)))


def _preview(options: argparse.Namespace) -> int:
    """Play in the terminal: each line of the input answers; an empty one takes what is made up."""
    graph, answers, shown = _read(options.file), list[str](), 0
    while True:
        play = played(graph, answers)
        for line in play.lines[shown:]:
            _say(f"{_MARKS[line.who]}{line.text}")
        shown = len(play.lines)
        if play.is_over or not play.suggestion or len(answers) >= _ANSWERS_LIMIT:
            return 0 if play.is_over else FAILED
        if not options.auto:
            _say(f"  ? [{play.suggestion}]")
        text = play.suggestion if options.auto else sys.stdin.readline()
        if not text:
            return FAILED
        answers.append(text.strip() or play.suggestion)


_ANSWERS_LIMIT = 200
_MARKS = {
    "step": "",
    "says": "  says: ",
    "asks": "  asks: ",
    "tool": "  tool: ",
    "you": "  you:  ",
    "problem": "  problem: ",
    "end": "",
}


def _validation_line(row: dict[str, JsonValue]) -> str:
    problems = row["problems"]
    if isinstance(problems, list) and problems:
        return "\n".join([f"{row['file']}: not valid", *(f"  {one}" for one in problems)])
    return f"{row['file']}: {row['scenario']} version {row['version']} is valid"


def _plan(options: argparse.Namespace) -> int:
    old, new = _read(options.old), _read(options.new)
    plan = make_plan(old, new, plan_id=RandomIds().new_id("plan"), now=SystemClock().now())
    if options.json:
        _say(plan.model_dump_json(indent=2))
        return 0
    summary = plan.summary
    grafts, gaps = summary.anchors_with_clean_graft, summary.anchors_with_gap_fill
    _say(
        f"{new.scenario.title} v{plan.from_version} → v{plan.to_version}\n"
        f"anchors {summary.total_anchors}, of these clean graft {grafts}, gap fill {gaps}, "
        f"re-route {summary.anchors_with_re_route}; deleted {summary.nodes_deleted}"
    )
    for change in sentences_of(Difference(old, new, AnchorMap(plan.transformation_map.image))):
        _say(f"- {change}")
    for warning in summary.warnings:
        _say(f"{warning.severity}: {warning.message}")
    for one in summary.fields_to_collect:
        _say(f"may be asked: {one.display_name} ({', '.join(one.affected_anchors)})")
    return 0


def _simulate(options: argparse.Namespace) -> int:
    try:
        from evals.parts.scenarios import simulate
    except ModuleNotFoundError:
        _say("simulate: run it from the source tree; the image has no evals/", to_error=True)
        return FAILED
    text = sys.stdin.read() if options.file == "-" else Path(options.file).read_text("utf-8")
    try:
        raw = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ScenarioDefinitionError(("the file is not JSON",)) from error
    _say(json.dumps(asyncio.run(simulate(raw)), indent=2, ensure_ascii=False))
    return 0


def _read(path: Path) -> Graph:
    return read_definition(path.read_text("utf-8"))


def _say(text: str, *, to_error: bool = False) -> None:
    stream = sys.stderr if to_error else sys.stdout
    stream.write(f"{text}\n")


if __name__ == "__main__":
    sys.exit(main())
