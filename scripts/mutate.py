"""Breaks one line at a time and sees whether a test notices: `make mutation`.

Works on a copy of the repository, so nothing of it can be left broken. Prints every change that no
test noticed, and ends with 1 if there is one.
"""

import argparse
import ast
import copy
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from scripts.workshop import ROOT, say

LIMIT_SECONDS = 600
TARGETS: Mapping[str, Sequence[str]] = {
    "data_models/conversations/claim.py": ("tests/data_models/test_claim.py", "tests/durability"),
    "data_models/conversations/claim_decision.py": (
        "tests/data_models/test_claim_decision.py", "tests/data_models/test_claim.py",
        "tests/services/conversations", "tests/services/hand_over",
        "tests/services/turn/test_pending_requests.py",
        "tests/services/turn/test_open_questions.py",
    ),
    "services/turn_pipeline.py": ("tests/services/turn", "tests/durability"),
    "services/scenarios/session/scenario_runtime.py": (
        "tests/services/scenarios", "tests/services/turn/test_scenario_turns.py",
        "tests/services/turn/test_scenario_talks.py",
    ),
    "services/identity/names/matching.py": ("tests/services/identity",),
    "services/identity/linking.py": ("tests/services/identity",),
    "services/tool_memory/selection.py": ("tests/services/tool_memory",),
    "services/tool_memory/resolver.py": ("tests/services/tool_memory",),
}  # fmt: skip
"""What must not break unnoticed, and the tests that have to notice."""

_COMPARED: Mapping[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Mutant:
    """One broken line.

    Attributes:
        text: The whole file with it.
        change: What the line says instead.
    """

    line: int
    change: str
    text: str


def mutants(source: str) -> Iterator[Mutant]:
    """Yield `source` with one comparison, connective, `not`, truth or number turned around."""
    tree = ast.parse(source)
    for place, node in enumerate(ast.walk(tree)):
        if _turned(copy.deepcopy(node)) is None:
            continue
        broken = copy.deepcopy(tree)
        other = next(each for at, each in enumerate(ast.walk(broken)) if at == place)
        turned = _turned(other)
        if turned is not None and isinstance(node, ast.expr):
            yield Mutant(node.lineno, ast.unparse(turned), ast.unparse(broken))


def _turned(node: ast.AST) -> ast.expr | None:
    """Turn `node` around where it stands and return it; None where there is nothing to turn."""
    match node:
        case ast.Compare(ops=[op]) if type(op) in _COMPARED:
            node.ops = [_COMPARED[type(op)]()]
        case ast.BoolOp(op=op):
            node.op = ast.Or() if isinstance(op, ast.And) else ast.And()
        case ast.UnaryOp(op=ast.Not()):
            node.op = ast.UAdd()
            node.operand = ast.Call(ast.Name("bool"), [node.operand], [])
        case ast.Constant(value=bool(value)):
            node.value = not value
        case ast.Constant(value=int(value)):
            node.value = value + 1
        case _:
            return None
    return node


def is_noticed(mutant: Mutant, path: str, tests: Sequence[str], folder: Path) -> bool:
    """Whether one of `tests` fails in `folder` with the mutant in place of `path`; puts it back."""
    whole = (folder / path).read_text(encoding="utf-8")
    (folder / path).write_text(mutant.text, encoding="utf-8")
    command = [".venv/bin/python", "-m", "pytest", "-x", "-q", "-n0", "-p", "no:cacheprovider"]
    try:
        ran = subprocess.run(
            [*command, *tests],
            cwd=folder,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            check=False,
            timeout=LIMIT_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return True
    finally:
        (folder / path).write_text(whole, encoding="utf-8")
    return ran.returncode != 0


def copied_to(folder: Path) -> Path:
    """Copy what git knows or would take; what is installed once is shared."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True).stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    for shared in (".venv", ".tools"):
        if (ROOT / shared).exists():
            (folder / shared).symlink_to((ROOT / shared).resolve())
    return folder


def survivors(path: str, tests: Sequence[str], folder: Path, *, most: int) -> Iterator[Mutant]:
    """Yield what nobody noticed of at most `most` mutants, the same ones each time."""
    found = list(mutants((ROOT / path).read_text(encoding="utf-8")))
    chosen = random.Random(path).sample(found, min(most, len(found)))
    for mutant in sorted(chosen, key=lambda one: one.line):
        if not is_noticed(mutant, path, tests, folder):
            yield mutant


def main(arguments: Sequence[str]) -> int:
    """Break lines of `paths`, or of all targets."""
    parser = argparse.ArgumentParser(prog="python -m scripts.mutate", description=__doc__)
    parser.add_argument("paths", nargs="*", help=f"of {', '.join(TARGETS)}")
    parser.add_argument("--most", type=int, default=40, help="mutants of a file")
    options = parser.parse_args(arguments)
    unknown = sorted(set(options.paths) - set(TARGETS))
    if unknown:
        parser.error(f"{unknown[0]} is no target; known: {', '.join(TARGETS)}")
    count = 0
    with tempfile.TemporaryDirectory() as folder:
        clone = copied_to(Path(folder))
        for path in options.paths or TARGETS:
            for mutant in survivors(path, TARGETS[path], clone, most=options.most):
                count += 1
                say(f"{path}:{mutant.line} nobody notices: {mutant.change}")
    say(f"{count} changes were noticed by no test")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
