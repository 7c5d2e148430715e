"""Rules of the house which neither ruff, mypy nor import-linter can express."""

import ast
import inspect
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from data_models import errors

ROOT = Path(__file__).parent.parent
PACKAGES = ("bots", "data_models", "group_chat", "routes", "services")
FILE_LIMIT_LINES = 300
# Lists of small things that belong in one place and are read by searching.
LISTS = {"data_models/errors.py", "settings.py"}
ROOT_MODULES = ("app.py", "foundation.py", "settings.py")
FUNCTION_LIMIT_LINES = 50
FUNCTION_P95_LINES = 25

_AZURE = (
    "data_models/azure_",
    "group_chat/models/azure_",
    "services/assistant/graph_identity",
)
# What may be imported, and the only places that may.
HOMES = {
    "azure.core": _AZURE,
    "azure.identity": _AZURE,
    "azure.storage": ("data_models/azure_",),
    "botbuilder": ("bots/",),
    "botframework": ("bots/",),
    "openai": ("group_chat/",),
    "semantic_kernel": ("group_chat/",),
}
# These surround the turn and may use what the turn uses; all other folders of services are parts.
PARTS_OF_THE_TURN = {"channels", "conversations", "desk", "operators", "runs", "turn", "views"}
NOWHERE = {"unittest.mock", "pickle", "marshal", "shelve"}
ENVIRONMENT = {"os.environ", "os.getenv"}


def sources() -> list[Path]:
    """The files of the server itself."""
    files = [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    return sorted([*files, *(ROOT / module for module in ROOT_MODULES)])


def of_tests() -> list[Path]:
    return sorted((ROOT / "tests").rglob("*.py"))


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def imports(path: Path) -> set[str]:
    """Every module, and every `module.name`, which the file imports."""
    found: set[str] = set()
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def reaches(imported: str, module: str) -> bool:
    return imported == module or imported.startswith(f"{module}.")


def attributes(path: Path) -> set[str]:
    """Every `name.attribute` which the file mentions."""
    return {
        f"{node.value.id}.{node.attr}"
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
    }


def functions(path: Path) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield f"{name(path)}:{node.lineno} {node.name}", node


def code_lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of the function without its decorators and docstring."""
    first = node.body[0]
    documented = ast.get_docstring(node, clean=False) is not None
    docstring = (first.end_lineno or 0) - first.lineno + 1 if documented else 0
    return (node.end_lineno or 0) - node.lineno + 1 - docstring


def written_lines(path: Path) -> int:
    return sum(1 for line in path.read_text(encoding="utf-8").splitlines() if line.strip())


def calls(path: Path) -> set[str]:
    """The bare names which the file calls."""
    return {
        node.func.id
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }


def error_classes() -> list[type[errors.RoundsError]]:
    return [
        found
        for _, found in inspect.getmembers(errors, inspect.isclass)
        if issubclass(found, errors.RoundsError)
    ]


@pytest.mark.parametrize("module", HOMES)
def test_a_product_is_imported_only_at_its_home(module: str) -> None:
    strangers = [
        name(path)
        for path in sources()
        if not name(path).startswith(HOMES[module])
        and any(reaches(imported, module) for imported in imports(path))
    ]
    assert strangers == []


def test_every_part_of_services_is_kept_apart_from_its_siblings() -> None:
    linter = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    contracts = {contract["name"]: contract for contract in linter["contracts"]}
    layers = contracts["No part of services knows a sibling; the turn joins them"]["layers"]
    apart = {part.strip(" ()") for layer in layers for part in layer.split("|")}
    folders = {path.parent.name for path in (ROOT / "services").glob("*/__init__.py")}
    assert folders <= apart | PARTS_OF_THE_TURN


def test_no_file_imports_mocks_or_unsafe_formats() -> None:
    wrong = {
        f"{name(path)} imports {imported}"
        for path in [*sources(), *of_tests()]
        for imported in imports(path)
        if any(reaches(imported, banned) for banned in NOWHERE)
    }
    assert wrong == set()


def test_only_settings_reads_the_environment() -> None:
    readers = {name(path) for path in sources() if (attributes(path) | imports(path)) & ENVIRONMENT}
    assert readers <= {"settings.py"}


def test_settings_stand_on_the_errors_alone() -> None:
    files = [path for path in sources() if path.name == "settings.py"]
    ours = {one for path in files for one in imports(path) if one.split(".")[0] in PACKAGES}
    assert all(reaches(one, "data_models.errors") for one in ours)


def test_nothing_looks_attributes_up_by_name() -> None:
    # `getattr` hides a typo, a missing field and a wrong type until night.
    wrong = [name(path) for path in sources() if calls(path) & {"getattr", "hasattr", "setattr"}]
    assert wrong == []


def test_nothing_runs_text_as_code() -> None:
    wrong = [name(path) for path in sources() if calls(path) & {"eval", "exec", "compile"}]
    assert wrong == []


def test_decisions_are_pure() -> None:
    io = {"data_models.blob_store", "data_models.clock", "asyncio", "aiohttp"}
    wrong = [
        name(path)
        for path in sources()
        if path.stem.endswith("_decision")
        and any(reaches(imported, module) for imported in imports(path) for module in io)
    ]
    assert wrong == []


def test_files_are_short() -> None:
    lengths = {name(path): written_lines(path) for path in sources() if name(path) not in LISTS}
    assert {file: n for file, n in lengths.items() if n > FILE_LIMIT_LINES} == {}


def test_no_function_is_long() -> None:
    lengths = {where: code_lines(node) for path in sources() for where, node in functions(path)}
    assert {where: n for where, n in lengths.items() if n > FUNCTION_LIMIT_LINES} == {}


def test_nearly_all_functions_are_small() -> None:
    lengths = sorted(code_lines(node) for path in sources() for _, node in functions(path))
    assert lengths[int(len(lengths) * 0.95)] <= FUNCTION_P95_LINES


def test_constructors_of_services_take_names_only() -> None:
    wrong = [
        where
        for path in sources()
        if name(path).startswith(("services/", "group_chat/", "bots/"))
        for where, node in functions(path)
        if node.name == "__init__" and len(node.args.posonlyargs) + len(node.args.args) > 1
    ]
    assert wrong == []


def test_the_tree_in_the_docstring_names_every_error() -> None:
    documented = inspect.getdoc(errors) or ""
    absent = [one.__name__ for one in error_classes() if f"* {one.__name__}" not in documented]
    assert absent == []


def test_every_error_has_a_code_of_its_own_and_a_sentence_for_people() -> None:
    own = [one for one in error_classes() if "code" in vars(one)]
    assert len({one.code for one in own}) == len(own)
    raised = [one for one in error_classes() if not one.__subclasses__()]
    assert [one.__name__ for one in raised if one not in own] == []
    assert [one for one in error_classes() if not one.user_message.endswith((".", "}"))] == []


def test_errors_are_raised_from_one_tree() -> None:
    wrong = {
        f"{name(path)}:{node.lineno} {node.name}"
        for path in sources()
        if path != ROOT / "data_models" / "errors.py"
        for node in ast.walk(tree(path))
        if isinstance(node, ast.ClassDef)
        and any(
            isinstance(base, ast.Name) and base.id.endswith(("Error", "Exception"))
            for base in node.bases
        )
    }
    assert wrong == set()
