"""How large the product is, and how much of it a question runs: `python -m bench.source [--list]`.

Beside the bars of page 17. `--list` adds the files that the question runs, with their functions. A
missed number fails nothing: it is aimed at, not crammed into.
"""

import argparse
import ast
import asyncio
import sys
import tempfile
import threading
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType

from aiohttp import web

from app import build
from bench.chat import chatting, client
from bench.figures import Figure, info, print_figures
from bench.processes import ROOT, free_port
from data_models.clock import RandomIds, SystemClock
from routes.server import create_runner
from services.access.access_factory import outbound_policy_for
from services.access.limits import outbound_session
from services.stores import open_stores
from services.telemetry.logs import configure_logs
from settings import Settings

PACKAGES = ("bots", "routes", "services", "data_models", "group_chat")
OPENING = "switch to patient_4"
QUESTION = "what is her latest potassium?"


def product_files() -> list[Path]:
    """Return the files of product Python: the top level and its packages."""
    packages = [file for name in PACKAGES for file in (ROOT / name).rglob("*.py")]
    return sorted([*ROOT.glob("*.py"), *packages])


def size() -> list[Figure]:
    """Measure what is written."""
    texts = {file: file.read_text("utf-8") for file in product_files()}
    tests = sum(
        len(file.read_text("utf-8").splitlines()) for file in (ROOT / "tests").rglob("*.py")
    )
    trees = {_module(file): ast.parse(text) for file, text in texts.items()}
    protocols = sum(_is_protocol(node) for tree in trees.values() for node in ast.walk(tree))
    modules = {_module(file) for file in texts if file.name != "__init__.py"}
    by = _importers(trees)
    alone = sum(len(by[name]) == 1 for name in modules) / len(modules)
    lines = sum(len(text.splitlines()) for text in texts.values())
    return [
        Figure("size", "lines of product Python", lines, "", 52_000),
        Figure("size", "lines of tests", tests, "", 48_000),
        info("size", "modules", len(modules), ""),
        Figure("size", "modules that one module imports", alone * 100, "%", 20),
        Figure("size", "Protocols", protocols, "", 25),
    ]


def _module(file: Path) -> str:
    return ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def _is_protocol(node: ast.AST) -> bool:
    return isinstance(node, ast.ClassDef) and any(
        ast.unparse(base).partition("[")[0] == "Protocol" for base in node.bases
    )


def _importers(trees: dict[str, ast.Module]) -> dict[str, set[str]]:
    found = defaultdict[str, set[str]](set)
    for name, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for one in node.names:
                    found[one.name].add(name)
            elif isinstance(node, ast.ImportFrom) and node.module:
                for one in node.names:
                    whole = f"{node.module}.{one.name}"
                    found[whole if whole in trees else node.module].add(name)
    return found


async def called_by_question() -> dict[str, set[str]]:
    """Return the functions by file that `QUESTION` calls, over the socket, with the offline model.

    The chart is open and was asked before, so that nothing is counted that is made once.
    """
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(
            _env_file=None, port=free_port(), data_dir=Path(folder), llm_provider="offline"
        )
        async with outbound_session(outbound_policy_for(settings)) as session:
            ids = RandomIds()
            stores = open_stores(settings, ids=ids)
            server = build(settings, stores=stores, clock=SystemClock(), ids=ids, session=session)
            runner = create_runner(server.web, handshake_seconds=settings.handshake_seconds)
            await runner.setup()
            await web.TCPSite(runner, settings.host, settings.port).start()
            await server.start()
            called = await _asked(settings.port)
            await runner.cleanup()
            await server.close()
    return called


async def _asked(port: int) -> dict[str, set[str]]:
    called = Counter[CodeType]()
    async with client() as session, chatting(session, f"http://127.0.0.1:{port}", "one") as chat:
        for text in (OPENING, QUESTION):
            await chat.say(text)
        with _noting(called):
            await chat.say(QUESTION)
    functions = defaultdict[str, set[str]](set)
    for code in called:
        functions[str(Path(code.co_filename).relative_to(ROOT))].add(code.co_qualname)
    return functions


@contextmanager
def _noting(called: Counter[CodeType]) -> Iterator[None]:
    product = {str(file) for file in product_files()}

    def note(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        # Comprehensions and lambdas are part of the function around them.
        if event == "call" and code.co_filename in product and not code.co_name.startswith("<"):
            called[code] += 1

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        yield
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


def main() -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(prog="python -m bench.source", description=__doc__)
    parser.add_argument("--list", action="store_true", help="the files that the question runs")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    configure_logs(log_format="json", level="WARNING")
    called = asyncio.run(called_by_question())
    functions = sum(len(names) for names in called.values())
    figures = [
        *size(),
        Figure("asked", "functions that a plain question calls", functions, "", 300),
        Figure("asked", "files they are in", len(called), "", 90),
    ]
    print_figures(figures, as_json=arguments.json)
    if arguments.list:
        for file, names in sorted(called.items(), key=lambda item: (-len(item[1]), item[0])):
            print(f"{len(names):5} {file}: {', '.join(sorted(names))}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
