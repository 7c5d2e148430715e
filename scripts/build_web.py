"""Builds the web client into `web/dist`, unless its sources are the same as last time."""

from pathlib import Path

from scripts.node import Node, find_node
from scripts.workshop import ROOT, Stamp, say

WEB = ROOT / "web"
STAMP = WEB / "dist" / ".rounds"
PACKAGES_STAMP = WEB / "node_modules" / ".rounds"
MANIFEST = ("package.json", "package-lock.json")
TOP_LEVEL = ("index.html", "operator.html", "tsconfig.json", "vite.config.js")
FOLDERS = ("src", "public")


def sources() -> list[Path]:
    """Return everything the build reads."""
    named = [WEB / name for name in (*MANIFEST, *TOP_LEVEL)]
    given = (path for folder in FOLDERS for path in (WEB / folder).rglob("*") if path.is_file())
    return [*named, *sorted(given)]


def installed() -> Node:
    """Install the client's packages, only if needed, and return what runs their programs."""
    node = find_node()
    packages = Stamp(PACKAGES_STAMP, [WEB / name for name in MANIFEST])
    if not packages.is_current():
        say("installing the web client's packages")
        packages.remove()
        quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
        node.npm(["ci", *quiet], cwd=WEB)
        packages.write()
    return node


def build() -> None:
    """Install the client's packages and build it, each only if needed."""
    stamp = Stamp(STAMP, sources())
    if stamp.is_current():
        return
    node = installed()
    say("building the web client")
    node.npm(["run", "--silent", "build"], cwd=WEB)
    stamp.write()


if __name__ == "__main__":
    build()
