"""Makes `.venv` and installs a lock into it: `python3 -m scripts.bootstrap runtime` or `dev`.

Does nothing, quickly, when the environment already holds the lock.
"""

from __future__ import annotations  # as in workshop.py, for older Pythons

import importlib.util
import sys
from pathlib import Path

from scripts.workshop import (
    REQUIREMENTS,
    ROOT,
    VENV,
    Stamp,
    pip_command,
    run,
    say,
    succeeds,
    venv_python,
)

LOCKS = {name: REQUIREMENTS / f"{name}.txt" for name in ("runtime", "dev")}
STAMPS = {name: Stamp(VENV / f".rounds-{name}", [lock]) for name, lock in LOCKS.items()}
UV_LOCK = REQUIREMENTS / "uv.txt"


def main(arguments: list[str]) -> int:
    """Bring the environment to the lock that the first argument names."""
    if arguments not in (["runtime"], ["dev"]):
        say("usage: python3 -m scripts.bootstrap runtime|dev")
        return 2
    _require_python()
    _make_venv()
    wanted = arguments[0]
    # `dev` holds all of `runtime` (its lock is made on top of it), so it serves both.
    if not any(STAMPS[name].is_current() for name in {wanted, "dev"}):
        _install(wanted)
    return 0


def _require_python() -> None:
    if sys.version_info < (3, 11):  # noqa: UP036  # this is where older ones are turned away
        raise SystemExit(
            f"rounds: Python 3.11 or newer is needed, this is {sys.version.split()[0]}. "
            "Name another one: make PYTHON=python3.11 ..."
        )


def _make_venv() -> None:
    if venv_python().exists():
        return
    if importlib.util.find_spec("ensurepip") is None:
        raise SystemExit("rounds: this Python has no venv; on Debian: apt-get install python3-venv")
    say("making .venv")
    run([sys.executable, "-m", "venv", "--clear", VENV])


def _install(wanted: str) -> None:
    lock = LOCKS[wanted]
    say(f"installing {lock.relative_to(ROOT).as_posix()} (once, until it changes)")
    for stamp in STAMPS.values():
        stamp.remove()
    if not _install_with_uv(wanted, lock):
        # uv does not read pip's own configuration, so pip may reach an index that uv does not.
        say("uv could not do it; trying pip, which takes minutes")
        run([*pip_command(), "install", "--quiet", "--require-hashes", "-r", lock])
    STAMPS[wanted].write()


def _install_with_uv(wanted: str, lock: Path) -> bool:
    # `sync` also removes what the lock does not name; for `runtime` that would be our own tools.
    verb = ["sync"] if wanted == "dev" else ["install", "-r"]
    uv: list[str | Path] = [
        venv_python(),
        "-m",
        "uv",
        "pip",
        *verb,
        lock,
        "--require-hashes",
        "--quiet",
    ]
    return succeeds([*pip_command(), "install", "--quiet", "--require-hashes", "-r", UV_LOCK]) and (
        succeeds([*uv, "--python", venv_python()])
    )


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
