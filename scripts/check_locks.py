"""Checks locks and committed text, without network: `python3 -m scripts.check_locks`.

A lock names versions and hashes, never where to fetch them from: that is the machine's business.
"""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from scripts.workshop import REQUIREMENTS, ROOT, say

_ADDRESS = re.compile(r"[a-z]+://|--(?:extra-)?index-url|--find-links|--trusted-host")
_PINNED = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[^\]]*\])?==([^ ;\\]+)", re.MULTILINE)
_HOME_PATH = re.compile(r"(?<![\w.:/-])/(?:home|root|Users|work)/[\w.-]+")
_NOT_TEXT = {".docx", ".gguf", ".ico", ".jpg", ".pdf", ".png", ".woff2", ".zip"}


def problems() -> Iterator[str]:
    """Yield one sentence for each thing that is wrong."""
    for lock in sorted(REQUIREMENTS.glob("*.txt")):
        yield from problems_of_python_lock(_name(lock), lock.read_text("utf-8"))
    yield from problems_of_superset(pins_of("runtime"), pins_of("dev"))
    for path in _committed():
        if path.name == "package-lock.json":
            yield from problems_of_npm_lock(_name(path), path.read_text("utf-8"))
        yield from problems_of_text(_name(path), path.read_text("utf-8", errors="replace"))


def problems_of_python_lock(name: str, text: str) -> Iterator[str]:
    """Yield addresses and pins without a hash."""
    if found := _ADDRESS.search(text):
        yield f"{name} holds an address ({found.group()}); make it with `make lock`"
    for block in re.split(r"\n(?=\S)(?!#)", text):
        if _PINNED.match(block) and "--hash=sha256:" not in block:
            yield f"{name} pins {block.split()[0]} without a hash; make it with `make lock`"


def problems_of_superset(runtime: dict[str, str], dev: dict[str, str]) -> Iterator[str]:
    """Yield what the server's lock pins and the tests' lock does not, or pins otherwise."""
    for package, version in runtime.items():
        if dev.get(package) != version:
            yield f"dev.txt has {package} {dev.get(package)}, runtime.txt has {version}"


def problems_of_npm_lock(name: str, text: str) -> Iterator[str]:
    """Yield packages with an address, or with neither an integrity hash nor a local home."""
    for package, facts in json.loads(text)["packages"].items():
        if "resolved" in facts and not facts.get("link"):
            yield f"{name} says where to fetch {package}; lock it with `make lock`"
        if package.startswith("node_modules") and "integrity" not in facts:
            yield f"{name} holds no hash of {package}"


def problems_of_text(name: str, text: str) -> Iterator[str]:
    """Yield a path of somebody's machine."""
    if found := _HOME_PATH.search(text):
        yield f"{name} names a path of one machine: {found.group()}"


def pins_of(lock: str) -> dict[str, str]:
    """Return the version of each package which a lock in `requirements/` pins."""
    return dict(_PINNED.findall((REQUIREMENTS / f"{lock}.txt").read_text("utf-8")))


def _committed() -> Iterator[Path]:
    told = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    for line in told.stdout.split("\0"):
        path = ROOT / line
        if line and path.is_file() and path.suffix not in _NOT_TEXT:
            yield path


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def main() -> int:
    """Print what is wrong; 1 if anything is."""
    found = list(problems())
    for problem in found:
        print(problem)
    if not found:
        say("locks hold hashes and no addresses")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
