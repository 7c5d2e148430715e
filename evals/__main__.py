"""`python -m evals run|list|baseline|judge|readme`: how good Rounds is, with its model or without.

Exit codes of `run`: 0 nothing new is wrong, 1 a safety row that no baseline knows, 2 it cannot run,
3 the budget was spent before the end.
"""

import argparse
import asyncio
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import orjson

from data_models.errors import ConfigurationError
from evals.baseline import FILE, Baseline, Difference, Known, difference, known_of
from evals.cassette import record
from evals.choosing import Choice, chosen_cases
from evals.figures import wilson
from evals.judging.judge import LABELLED, RUBRIC, Judge, agreement, read_labelled, read_rubric
from evals.models import Configured, ModelChosen, Offline, Replayed, Scripted, prices_of
from evals.report_html import page
from evals.results import Progress, Result, by_case
from evals.runner import Run
from evals.scoring.meanings import measured
from evals.server import ROOT
from evals.spending import Spending
from evals.table import as_json, as_text, facts_line, table, write_summary


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status."""
    chosen = _parser().parse_args(arguments)
    try:
        return int(chosen.command(chosen))
    except ConfigurationError as error:
        sys.stderr.write(f"{error}\n")
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m evals", description=__doc__)
    commands = parser.add_subparsers(required=True)
    run = commands.add_parser("run", help="ask the real server and score what it answers")
    _add_choice(run)
    run.add_argument("--repeat", type=int, default=1, help="tries of each case, for pass^k")
    run.add_argument("--parallel", type=int, default=4, help="conversations at a time")
    run.add_argument("--baseline", type=Path, default=FILE, help="baseline.json or a results.json")
    run.add_argument("--max-cost", type=float, help="stop after so many US dollars")
    run.add_argument("--max-tokens", type=int, help="stop after so many tokens")
    run.add_argument("--prices", help="dollars for a million tokens: prompt,cached,answer")
    run.add_argument("--turn-seconds", type=float, default=330.0, help="a turn fails after so long")
    run.add_argument("--out", type=Path, help="folder of the run; the same again goes on with it")
    run.add_argument("--record", type=Path, help="write what the model was asked and answered")
    run.add_argument("--json", action="store_true", help="print the results as JSON")
    run.set_defaults(command=_run)
    listed = commands.add_parser("list", help="list the cases")
    _add_choice(listed)
    listed.set_defaults(command=_list)
    keep = commands.add_parser("baseline", help="take what a run got wrong as known")
    keep.add_argument("out", type=Path)
    keep.add_argument("--file", type=Path, default=FILE)
    keep.set_defaults(command=_keep)
    judge = commands.add_parser("judge", help="let a model judge wording, and say how it agrees")
    judge.add_argument("out", type=Path, nargs="?", help="a run whose answers are judged as well")
    judge.add_argument("--labelled", type=Path, default=LABELLED, help="answers with labels")
    judge.add_argument("--rubric", type=Path, default=RUBRIC)
    judge.set_defaults(command=_judge)
    readme = commands.add_parser("readme", help="write a run's table into README.md")
    readme.add_argument("out", type=Path)
    readme.set_defaults(command=_readme)
    return parser


def _add_choice(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--suite", nargs="+", default=["all"], metavar="NAME")
    parser.add_argument(
        "--model",
        default="offline",
        help="offline, scripted, configured (the environment's), or a cassette file",
    )
    parser.add_argument("--only", nargs="+", default=[], metavar="PATTERN", help="cases by name")
    parser.add_argument("--samples", type=Path, help="a folder of FHIR for the chart suite")


def _run(options: argparse.Namespace) -> int:
    folder = options.out or Path(tempfile.mkdtemp(prefix="rounds-evals-"))
    folder.mkdir(parents=True, exist_ok=True)
    model = _model(options.model)
    spending = Spending(
        prices=prices_of(model.name, options.prices),
        most_money=options.max_cost,
        most_tokens=options.max_tokens,
    )
    if options.max_cost is not None and prices_of(model.name, options.prices) is None:
        raise ConfigurationError(f"--max-cost: no price is known for {model.name}; give --prices")
    known = _known(options.baseline, model.kind)
    cases = chosen_cases(_choice(options))
    if isinstance(model, Replayed):
        cases = [one for one in cases if one.key in model.player.entries]
    left = len(cases) * options.repeat
    sys.stderr.write(f"{left} tries of {len(cases)} cases with {model.name}, in {folder}\n")
    run = Run(
        cases=cases,
        model=model,
        spending=spending,
        folder=folder,
        repeat=options.repeat,
        parallel=options.parallel,
        turn_seconds=options.turn_seconds,
        say=_teller(left),
    )
    results = asyncio.run(run.finish())
    if options.record is not None:
        record(options.record, model=model.name, asked=run.recorded)
    changed = difference(results, known)
    _write(folder, model, results, changed, options)
    _tell_diffs(model, folder)
    if changed.new:
        return 1
    return 3 if len(results) < left else 0


def _model(name: str) -> ModelChosen:
    match name:
        case "offline":
            return Offline()
        case "scripted":
            return Scripted()
        case "configured":
            return Configured()
        case _:
            return Replayed(Path(name))


def _choice(options: argparse.Namespace) -> Choice:
    is_known = options.model in ("offline", "scripted", "configured")
    return Choice(
        suites=options.suite,
        model=options.model if is_known else "replayed",
        only=options.only,
        samples=options.samples,
    )


def _known(file: Path, kind: str) -> Known:
    """Return what is known, from a baseline or from an earlier run's results.

    Raises:
        ConfigurationError: the file cannot be read.
    """
    if file == FILE and not file.exists():
        return Known()
    if file.name.startswith("progress"):
        return known_of(Progress(file).read(), commit="", before=Known())
    return Baseline.read(file).of(kind)


def _teller(left: int) -> "Teller":
    return Teller(left)


class Teller:
    """Tells people who wait how far a run is."""

    def __init__(self, left: int) -> None:
        self._left = left
        self._done = 0

    def __call__(self, result: Result) -> None:
        """Tell what became of a try."""
        self._done += 1
        for row in result.safety:
            sys.stderr.write(f"  {result.case}: {row.row}: {row.why[:160]}\n")
        if self._done % 50 == 0:
            sys.stderr.write(f"  {self._done} of {self._left}\n")


def _write(
    folder: Path,
    model: ModelChosen,
    results: list[Result],
    changed: Difference,
    options: argparse.Namespace,
) -> None:
    rows = table(results)
    head = {"model": model.name, "kind": model.kind, "commit": commit(), "suites": options.suite}
    if options.samples is not None:
        head["samples"] = str(options.samples)
    body = {
        **head,
        "table": as_json(rows),
        "new": list(changed.new),
        "gone": list(changed.gone),
        "shares_since_baseline": dict(changed.shares),
        "results": [one.model_dump(mode="json", exclude={"turns", "prompts"}) for one in results],
    }
    (folder / "results.json").write_bytes(orjson.dumps(body, option=orjson.OPT_INDENT_2))
    report = folder / "report.html"
    report.write_text(page(head=head, results=results, changed=changed), "utf-8")
    if options.json:
        sys.stdout.write(orjson.dumps(body).decode() + "\n")
        return
    sys.stdout.write(as_text(rows) + "\n")
    if told := facts_line(results):
        sys.stdout.write(f"{told}\n")
    for line in measured([one.part for one in results if one.part is not None]):
        sys.stdout.write(f"{line}\n")
    for name, lines in (("NEW SAFETY ROW", changed.new), ("right now, take it out", changed.gone)):
        for line in lines:
            sys.stdout.write(f"{name}: {line}\n")
    moved = [f"{suite} {change:+.1%}" for suite, change in changed.shares.items() if change]
    if moved:
        sys.stdout.write(f"since the baseline: {', '.join(moved)}\n")
    sys.stdout.write(f"report: {report}\n")


def _tell_diffs(model: ModelChosen, folder: Path) -> None:
    if isinstance(model, Replayed) and model.player.diffs:
        text = "\n\n".join(f"# {case}\n{diff}" for case, diff in model.player.diffs)
        (folder / "prompts.diff").write_text(text, "utf-8")
        count = len(model.player.diffs)
        sys.stdout.write(f"{count} prompts differ from the cassette: {folder / 'prompts.diff'}\n")


def _list(options: argparse.Namespace) -> int:
    cases = chosen_cases(_choice(options))
    for case in cases:
        print(f"{case.key}\t{' / '.join(case.say)}")
    counts = {suite: sum(one.suite == suite for one in cases) for suite in {c.suite for c in cases}}
    told = ", ".join(f"{suite} {count}" for suite, count in sorted(counts.items()))
    sys.stderr.write(f"{len(cases)} cases: {told}\n")
    return 0


def _keep(options: argparse.Namespace) -> int:
    results = _results_of(options.out)
    kind = orjson.loads((options.out / "results.json").read_bytes())["kind"]
    baseline = Baseline.read(options.file) if options.file.exists() else Baseline()
    baseline.models[kind] = known_of(results, commit=commit(), before=baseline.of(kind))
    options.file.write_text(baseline.model_dump_json(indent=1) + "\n", "utf-8")
    print(f"{len(baseline.models[kind].safety)} cases with known safety rows in {options.file}")
    return 0


def _readme(options: argparse.Namespace) -> int:
    head = orjson.loads((options.out / "results.json").read_bytes())
    write_summary(
        ROOT / "README.md", table(_results_of(options.out)), head["model"], head["commit"]
    )
    return 0


def _judge(options: argparse.Namespace) -> int:
    rubric, labelled = read_rubric(options.rubric), read_labelled(options.labelled)
    judge = Judge.configured(rubric)
    asked = [(one.question, one.answer) for one in labelled]
    verdicts = asyncio.run(judge.verdicts(asked))
    found = agreement([one.label for one in labelled], verdicts)
    told = f"{judge.model} as a judge of wording {found.as_text()}"
    if options.out is not None:
        turns = [one.turns[-1] for one in _results_of(options.out) if one.turns]
        talks = [(one.user, one.text) for one in turns if one.text]
        judged = asyncio.run(judge.verdicts(talks))
        good = sum(one == "good" for one in judged)
        low, high = wilson(good, len(judged))
        share = good / len(judged) if judged else 0.0
        told = f"wording good: {share:.1%} of {len(judged)} ({low:.1%} - {high:.1%}); {told}"
    print(told)
    return 0


def _results_of(folder: Path) -> list[Result]:
    results = Progress(folder / "progress.jsonl").read()
    if not results:
        raise ConfigurationError(f"{folder}: no run. Make one: python -m evals run --out {folder}")
    return [one for tries in by_case(results).values() for one in tries]


def commit() -> str:
    """Return the short name of what is measured; "" outside a repository."""
    try:
        found = subprocess.run(
            ["git", "rev-parse", "--short", "HEAD"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return ""
    return found.stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
