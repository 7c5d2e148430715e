"""What every command in this folder needs: where things are, running programs, and stamps.

Nothing here may need a package: these commands make the environment that has the packages.
"""

# Older Pythons than ours must be able to read this file, to be told that they are too old.
from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
TOOLS = ROOT / ".tools"
REQUIREMENTS = ROOT / "requirements"
ON_WINDOWS = os.name == "nt"


def venv_python() -> Path:
    """Return where the environment's Python is, or will be."""
    return VENV / ("Scripts/python.exe" if ON_WINDOWS else "bin/python")


def pip_command() -> list[str]:
    """Return how to start the environment's pip."""
    return [str(venv_python()), "-m", "pip", "--disable-pip-version-check"]


def say(text: str) -> None:
    """Tell the person at the terminal what happens now."""
    print(f"rounds: {text}", file=sys.stderr, flush=True)


def run(command: Iterable[str | Path], *, cwd: Path = ROOT, path_first: Path | None = None) -> None:
    """Run a program to its end, with `path_first` in front of PATH; leave if it fails.

    Raises:
        SystemExit: the program could not be started or did not end with 0.
    """
    words = [str(word) for word in command]
    if not succeeds(words, cwd=cwd, path_first=path_first):
        raise SystemExit(f"rounds: this command failed: {' '.join(words)}")


def succeeds(
    command: Iterable[str | Path], *, cwd: Path = ROOT, path_first: Path | None = None
) -> bool:
    """Run a program to its end and tell whether it could be started and ended with 0."""
    environment = dict(os.environ)
    if path_first is not None:
        environment["PATH"] = os.pathsep.join([str(path_first), environment.get("PATH", "")])
    try:
        done = subprocess.run(
            [str(word) for word in command], cwd=cwd, env=environment, check=False
        )
    except OSError as error:
        say(str(error))
        return False
    return done.returncode == 0


class Stamp:
    """A small file that says which inputs something was made from, so that it is made once."""

    def __init__(self, path: Path, inputs: Iterable[Path]) -> None:
        self._path = path
        self._inputs = tuple(inputs)

    def is_current(self) -> bool:
        """Tell whether the thing was made, completely, from the inputs as they are now."""
        return self._path.exists() and self._path.read_text("utf-8") == self._digest()

    def remove(self) -> None:
        """Forget that the thing was made; before it is made anew, so that a half is not whole."""
        self._path.unlink(missing_ok=True)

    def write(self) -> None:
        """Note that the thing is made from the inputs as they are now."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._path.write_text(self._digest(), "utf-8")

    def _digest(self) -> str:
        digest = hashlib.sha256()
        for path in self._inputs:
            digest.update(hashlib.sha256(path.read_bytes()).digest())
        return digest.hexdigest()
