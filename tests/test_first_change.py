"""A newcomer follows docs/first-change.md on a fresh copy, word for word, and comes to its end."""

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from scripts.mutate import copied_to

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "first-change.md"
_STEP = re.compile(
    r"(?:(?P<verb>Edit|Create) `(?P<path>[^`]+)`:\n\n)?```(?P<kind>\w+)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


def steps() -> Iterator[re.Match[str]]:
    """What the page has its reader do, in order."""
    return _STEP.finditer(PAGE.read_text(encoding="utf-8"))


def edit(path: Path, change: str) -> None:
    """Make the change of a `diff` block; where its lines stand must be plain."""
    lines = change.splitlines()
    before = "\n".join(line[1:] for line in lines if line[0] in " -")
    after = "\n".join(line[1:] for line in lines if line[0] in " +")
    text = path.read_text(encoding="utf-8")
    assert text.count(before) == 1, f"{path.name} does not hold once:\n{before}"
    path.write_text(text.replace(before, after), encoding="utf-8")


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_newcomer_comes_from_a_clone_to_a_prompt_a_tool_and_a_test(tmp_path: Path) -> None:
    clone = copied_to(tmp_path)
    environment = {key: text for key, text in os.environ.items() if not key.startswith("PYTEST_")}
    done = []
    for step in steps():
        verb, kind, text = step["verb"], step["kind"], step["text"]
        match verb, kind:
            case "Create", "python":
                assert not (clone / step["path"]).exists()
                (clone / step["path"]).write_text(text, encoding="utf-8")
            case "Edit", "diff":
                edit(clone / step["path"], text)
            case None, "sh":
                ran = subprocess.run(
                    ["sh", "-ec", text], cwd=clone, env=environment,
                    capture_output=True, check=False, text=True,
                )  # fmt: skip
                assert ran.returncode == 0, f"{text}\n{ran.stdout[-3_000:]}\n{ran.stderr[-1_000:]}"
            case other:
                pytest.fail(f"nobody knows what to do with {other}")
        done.append(verb or kind)
    assert done.count("Create") == 2
    assert done.count("sh") >= 4
