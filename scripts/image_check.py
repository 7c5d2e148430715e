"""Does what `infra/Dockerfile` does, without Docker: `python -m scripts.image_check [--keep]`.

A fresh environment from the hashed lock, the files that the last stage copies, nothing writable but
the data folder, another user where this one is root; then the server and its commands must work,
and a scripted model must be asked by it.
Prints sizes and times; exit 1 if something is missing.
"""

import argparse
import asyncio
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.chat import chatting, client
from bench.model import Orders
from bench.processes import free_port, running_model
from scripts.build_web import build
from scripts.workshop import REQUIREMENTS, ROOT, run, say, venv_python

DOCKERFILE = ROOT / "infra" / "Dockerfile"
UNUSED = ROOT / "infra" / "unused.txt"
NOBODY = 65_534
# What the scheduled jobs run (infra/main.bicep).
BACKUP_PLACE = "backupAddress"  # here a folder below the data
COMMANDS = (
    ["-m", "services.operations", "backup", "--dated", BACKUP_PLACE],
    ["-m", "services.tool_memory.cleanup"],
    ["-m", "services.scenarios", "prune"],
    ["-m", "services.audit", "verify"],
)
_IMPORTED = (
    "from group_chat.late_start import import_kernel; import_kernel(); "
    "import app, bots.adapter, bots.bot_factory, services.audit, openai"
)
_COPY = re.compile(r"^COPY (?P<sources>[\w./ ]+) (?P<target>[\w./]+)$", re.MULTILINE)
_SET = re.compile(r"^(?:ENV)?\s+([A-Z_]+)=(\S+)(?: \\)?$", re.MULTILINE)
_READY_SECONDS = 60.0


@dataclass(frozen=True)
class Image:
    """What would be in the image, as a folder.

    Attributes:
        python: The environment's Python.
        tree: The files of the project.
        data: The only place that can be written to.
    """

    python: Path
    tree: Path
    data: Path


@dataclass(frozen=True)
class Report:
    """What was seen: MB of 1,000,000 bytes, and seconds."""

    packages_mb: float
    project_mb: float
    alive_seconds: float
    ready_seconds: float
    turn_seconds: float
    memory_mb: float
    model_calls: int

    def __str__(self) -> str:
        return "\n".join(
            [
                f"packages             {self.packages_mb:8.0f} MB",
                f"project              {self.project_mb:8.1f} MB",
                f"healthz after        {self.alive_seconds:8.2f} s",
                f"readyz after         {self.ready_seconds:8.2f} s",
                f"one WebSocket turn   {self.turn_seconds:8.2f} s",
                f"memory after it      {self.memory_mb:8.0f} MB",
                f"a model was asked    {self.model_calls:8.0f} times",
            ]
        )


def last_stage() -> str:
    """Return the Dockerfile from the last `FROM` on."""
    return DOCKERFILE.read_text("utf-8").rpartition("\nFROM ")[2]


def copied() -> Iterator[tuple[str, str]]:
    """Yield what the last stage takes from the project, and where to."""
    for found in _COPY.finditer(last_stage()):
        for source in found["sources"].split():
            yield source, found["target"]
    yield "web/dist/", "web/dist/"


def environment() -> dict[str, str]:
    """Return the variables that the last stage sets, but for PATH."""
    return {name: value for name, value in _SET.findall(last_stage()) if name != "PATH"}


def make_image(folder: Path) -> tuple[Image, tuple[float, float]]:
    """Install the lock and copy the project below `folder`, then take every right to write.

    Returns:
        The image, and the MB of its packages and of the project.
    """
    image = Image(folder / "venv/bin/python", folder / "srv", folder / "data")
    uv = [str(venv_python()), "-m", "uv"]
    run([*uv, "venv", "--quiet", "--python", _base_python(), folder / "venv"])
    into: list[str | Path] = ["--python", image.python]
    lock = REQUIREMENTS / "runtime.txt"
    # Links to uv's cache, which has checked the hashes; that nobody writes to them is seen below.
    options = ["--quiet", "--link-mode", "hardlink", "--require-hashes"]
    run([*uv, "pip", "install", *options, *into, "-r", lock])
    say(f"packages of the whole lock: {_megabytes(folder / 'venv'):.0f} MB")
    run([*uv, "pip", "uninstall", "--quiet", *into, "-r", UNUSED])
    build()
    for source, target in copied():
        _copy(ROOT / source, image.tree / target / ("" if source.endswith("/") else source))
    sizes = _megabytes(folder / "venv"), _megabytes(image.tree)
    # The image compiles all that it holds; here only what is imported is, once.
    run([image.python, "-c", _IMPORTED], cwd=image.tree)
    image.data.mkdir()
    # Folders only: a file may be the cache's own.
    run(["find", folder / "venv", image.tree, "-type", "d", "-exec", "chmod", "a-w", "{}", "+"])
    if os.geteuid() == 0:
        os.chown(image.data, NOBODY, NOBODY)
    return image, sizes


def _base_python() -> Path:
    """Return a Python that other users may run; an image has no other."""
    system = Path("/usr/bin/python3.11")
    return system if system.exists() else Path(sys.executable).resolve()


def _copy(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", ".rounds"))
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)


@contextmanager
def running(
    image: Image, arguments: list[str], settings: dict[str, str]
) -> Iterator["subprocess.Popen[bytes]"]:
    """Run the image's Python in its tree, as nobody if this is root."""
    user = NOBODY if os.geteuid() == 0 else None
    process = subprocess.Popen(
        [image.python, *arguments],
        cwd=image.tree,
        env={**environment(), "DATA_DIR": str(image.data), **settings},
        user=user,
        group=user,
        extra_groups=None if user is None else [],
    )
    try:
        yield process
    finally:
        process.terminate()
        process.wait(timeout=40)


async def one_turn(url: str) -> float:
    """Say something through the WebSocket; return the seconds until it was answered."""
    async with client() as session, chatting(session, url, "image-check") as chat:
        return (await chat.say("switch to patient_4")).seconds


async def asked_of_a_model(image: Image, settings: dict[str, str], url: str) -> int:
    """Have one question answered by a scripted model; return how often it was asked.

    Raises:
        SystemExit: it never was: what talks to models is not whole.
    """
    async with running_model() as model:
        talks = {"LLM_PROVIDER": "openai", "OPENAI_BASE_URL": model.url, "OPENAI_MODEL": "bench"}
        with running(image, ["app.py"], settings | talks) as server:
            wait_for(f"{url}/readyz", server)
            async with client() as session, chatting(session, url, "model-check") as chat:
                await chat.say("switch to patient_4")
                await chat.say("what do you make of the last scan?")
        asked = (await model.order(Orders())).calls
    if not asked:
        raise SystemExit("rounds: the model was not asked in the image")
    return asked


def wait_for(url: str, server: "subprocess.Popen[bytes]") -> float:
    """Return the seconds until `url` answers 200."""
    began = time.monotonic()
    while time.monotonic() - began < _READY_SECONDS and server.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=5) as answer:  # noqa: S310 - loopback
                if answer.status == 200:
                    return time.monotonic() - began
        except OSError:
            time.sleep(0.05)
    raise SystemExit(f"rounds: {url} did not answer")


def check(folder: Path) -> Report:
    """Make the image below `folder`, run its server and its commands, and return what was seen.

    Raises:
        SystemExit: something is missing, or something was written outside the data folder.
    """
    image, sizes = make_image(folder)
    before = _files(image.tree), _files(folder / "venv")
    port = free_port()
    settings = {"HOST": "127.0.0.1", "PORT": str(port), "LLM_PROVIDER": "offline"}
    url = f"http://127.0.0.1:{port}"
    with running(image, ["app.py"], settings) as server:
        alive = wait_for(f"{url}/healthz", server)
        ready = alive + wait_for(f"{url}/readyz", server)
        wait_for(url, server)
        turn = asyncio.run(one_turn(url))
        memory = _rss_megabytes(server.pid)
    calls = asyncio.run(asked_of_a_model(image, settings, url))
    places = {BACKUP_PLACE: str(image.data / "backups")}
    for command in COMMANDS:
        words = [places.get(word, word) for word in command]
        with running(image, words, settings) as process:
            if process.wait(timeout=60) != 0:
                raise SystemExit(f"rounds: {' '.join(command)} failed in the image")
    if before != (_files(image.tree), _files(folder / "venv")):
        raise SystemExit("rounds: something was written outside the data folder")
    return Report(*sizes, alive, ready, turn, memory, calls)


def _files(folder: Path) -> dict[Path, tuple[int, int]]:
    """Return all files with what changes when one is written to."""
    found = ((path, path.lstat()) for path in folder.rglob("*") if path.is_file())
    return {path: (stat.st_size, stat.st_mtime_ns) for path, stat in found}


def _megabytes(folder: Path) -> float:
    return sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6


def _rss_megabytes(pid: int) -> float:
    text = Path(f"/proc/{pid}/status").read_text("utf-8")
    return int(re.findall(r"VmRSS:\s+(\d+)", text)[0]) * 1024 / 1e6


@contextmanager
def open_folder(*, keep: bool = False) -> Iterator[Path]:
    """Make a folder that other users may enter, and remove it after."""
    folder = Path(tempfile.mkdtemp(prefix="rounds-image-"))
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        if keep:
            say(f"left in {folder}")
        else:
            run(["chmod", "-R", "u+w", folder])
            shutil.rmtree(folder)


def main() -> int:
    """Run the check in a folder of its own."""
    parser = argparse.ArgumentParser(prog="python -m scripts.image_check", description=__doc__)
    parser.add_argument("--keep", action="store_true", help="leave the folder to look at")
    with open_folder(keep=parser.parse_args().keep) as folder:
        print(check(folder))
    return 0


if __name__ == "__main__":
    sys.exit(main())
