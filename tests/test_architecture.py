"""Rules of the house which neither ruff, mypy nor import-linter can express."""

import ast
import inspect
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest
import yaml

from data_models import errors
from services.telemetry.logs import WITHHELD, redacted

ROOT = Path(__file__).parent.parent
PACKAGES = ("bots", "data_models", "group_chat", "legacy", "routes", "services")
FILE_LIMIT_LINES = 300
FOLDER_LIMIT_FILES = 15
# The values that everybody imports stand in one folder.
_VALUES = "data_models"
# Lists of small things that belong in one place and are read by searching.
LISTS = {"data_models/errors.py", "settings.py"}
ROOT_MODULES = ("app.py", "foundation.py", "settings.py", "web_services.py")
FUNCTION_LIMIT_LINES = 50
FUNCTION_P95_LINES = 25

_AZURE = ("data_models/storage/azure_", "group_chat/models/azure_", "services/own_sign_in")
# What may be imported, and the only places that may.
HOMES = {
    "azure.core": _AZURE,
    "azure.identity": _AZURE,
    "azure.storage": ("data_models/storage/azure_",),
    "botbuilder": ("bots/",),
    "botframework": ("bots/",),
    "openai": ("group_chat/",),
    "semantic_kernel": ("group_chat/",),
}
# These surround the turn and may use what the turn uses; all other folders of services are parts.
PARTS_OF_THE_TURN = {
    "channels",
    "conversations",
    "hand_over",
    "runs",
    "turn",
    "turn_scheduler",
    "views",
}
NOWHERE = {"unittest.mock", "pickle", "marshal", "shelve"}
ENVIRONMENT = {"os.environ", "os.getenv"}


@cache
def sources() -> list[Path]:
    """The files of the server itself."""
    files = [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    return sorted([*files, *(ROOT / module for module in ROOT_MODULES)])


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@dataclass(frozen=True, slots=True)
class Function:
    """Attributes: lines: without decorators and docstring; positional: how many it takes so."""

    where: str
    name: str
    lines: int
    positional: int


@dataclass(frozen=True, slots=True)
class Facts:
    """What the rules ask of a file.

    Attributes:
        imports: Every module, and every `module.name`.
        attributes: Every `name.attribute` which it mentions.
        calls: The bare names which it calls.
        logged: The keys of what it logs.
        errors: The classes on a base that is an error by its name, and where they are.
        methods: Of the public methods of public classes place and name, and if each is described.
    """

    imports: set[str] = field(default_factory=set)
    attributes: set[str] = field(default_factory=set)
    calls: set[str] = field(default_factory=set)
    logged: list[str] = field(default_factory=list)
    functions: list[Function] = field(default_factory=list)
    errors: set[str] = field(default_factory=set)
    methods: list[tuple[str, str, bool]] = field(default_factory=list)


@cache
def facts(path: Path) -> Facts:
    """Read a file once; its tree is not kept."""
    found = Facts()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Import(names=names):
                found.imports.update(alias.name for alias in names)
            case ast.ImportFrom(module=str(module), names=names):
                found.imports.update([module, *(f"{module}.{alias.name}" for alias in names)])
            case ast.Attribute(value=ast.Name(id=owner), attr=attribute):
                found.attributes.add(f"{owner}.{attribute}")
            case ast.Call():
                note_call(found, node)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                found.functions.append(function(path, node))
            case ast.ClassDef():
                is_one = any(is_error(base) for base in node.bases)
                found.errors.update([f"{name(path)}:{node.lineno} {node.name}"] if is_one else [])
                found.methods.extend(public_methods(path, node))
            case _:
                pass
    return found


def note_call(found: Facts, call: ast.Call) -> None:
    match call.func:
        case ast.Name(id=called):
            found.calls.add(called)
        case ast.Attribute(value=ast.Name(id="logger" | "_log")):
            found.logged.extend(one.arg for one in call.keywords if one.arg is not None)
        case _:
            pass


def public_methods(path: Path, kind: ast.ClassDef) -> Iterator[tuple[str, str, bool]]:
    for node in () if kind.name.startswith("_") else kind.body:
        match node:
            case ast.FunctionDef(name=called) | ast.AsyncFunctionDef(name=called):
                if not called.startswith("_"):
                    where = f"{name(path)}:{node.lineno} {called}"
                    yield where, called, ast.get_docstring(node) is not None
            case _:
                pass


def is_error(base: ast.expr) -> bool:
    return isinstance(base, ast.Name) and base.id.endswith(("Error", "Exception"))


def function(path: Path, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Function:
    first = node.body[0]
    documented = ast.get_docstring(node, clean=False) is not None
    docstring = (first.end_lineno or 0) - first.lineno + 1 if documented else 0
    return Function(
        where=f"{name(path)}:{node.lineno} {node.name}",
        name=node.name,
        lines=(node.end_lineno or 0) - node.lineno + 1 - docstring,
        positional=len(node.args.posonlyargs) + len(node.args.args),
    )


def functions() -> list[Function]:
    return [one for path in sources() for one in facts(path).functions]


def reaches(imported: str, module: str) -> bool:
    return imported == module or imported.startswith(f"{module}.")


def may_import(path: Path, modules: set[str]) -> bool:
    """Whether the last word of one of `modules` is anywhere in the file, as an import needs."""
    text = path.read_text(encoding="utf-8")
    return any(module.rpartition(".")[2] in text for module in modules)


def written_lines(path: Path) -> int:
    return sum(1 for line in path.read_text(encoding="utf-8").splitlines() if line.strip())


def error_classes() -> list[type[errors.RoundsError]]:
    return [
        found
        for _, found in inspect.getmembers(errors, inspect.isclass)
        if issubclass(found, errors.RoundsError)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("module", HOMES)
def test_a_product_is_imported_only_at_its_home(module: str) -> None:
    strangers = [
        name(path)
        for path in sources()
        if not name(path).startswith(HOMES[module])
        and any(reaches(imported, module) for imported in facts(path).imports)
    ]
    assert strangers == []


def test_every_part_of_services_stands_in_a_layer() -> None:
    linter = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    contracts = {contract["name"]: contract for contract in linter["contracts"]}
    layers = contracts["Parts of services know those below them"]["layers"]
    apart = {part.strip(" ()") for layer in layers for part in layer.split("|")}
    folders = {path.parent.name for path in (ROOT / "services").glob("*/__init__.py")}
    assert folders <= apart | PARTS_OF_THE_TURN


def test_no_file_imports_mocks_or_unsafe_formats() -> None:
    wrong = {
        f"{name(path)} imports {imported}"
        for path in [*sources(), *sorted((ROOT / "tests").rglob("*.py"))]
        if may_import(path, NOWHERE)
        for imported in facts(path).imports
        if any(reaches(imported, banned) for banned in NOWHERE)
    }
    assert wrong == set()


@pytest.mark.slow
def test_only_settings_reads_the_environment() -> None:
    readers = {
        name(path)
        for path in sources()
        if (facts(path).attributes | facts(path).imports) & ENVIRONMENT
    }
    assert readers <= {"settings.py"}


def test_settings_stand_on_the_errors_alone() -> None:
    files = [path for path in sources() if path.name == "settings.py"]
    ours = {one for path in files for one in facts(path).imports if one.split(".")[0] in PACKAGES}
    assert all(reaches(one, "data_models.errors") for one in ours)


def test_nothing_looks_attributes_up_by_name() -> None:
    # `getattr` hides a typo, a missing field and a wrong type until night.
    wrong = [
        name(path) for path in sources() if facts(path).calls & {"getattr", "hasattr", "setattr"}
    ]
    assert wrong == []


def test_nothing_runs_text_as_code() -> None:
    wrong = [name(path) for path in sources() if facts(path).calls & {"eval", "exec", "compile"}]
    assert wrong == []


def test_decisions_are_pure() -> None:
    io = {"data_models.storage.blob_store", "data_models.clock", "asyncio", "aiohttp"}
    wrong = [
        name(path)
        for path in sources()
        if path.stem.endswith("_decision")
        and any(reaches(imported, module) for imported in facts(path).imports for module in io)
    ]
    assert wrong == []


def test_files_are_short() -> None:
    lengths = {name(path): written_lines(path) for path in sources() if name(path) not in LISTS}
    assert {file: n for file, n in lengths.items() if n > FILE_LIMIT_LINES} == {}


def test_folders_are_small() -> None:
    own = [path for path in sources() if path.name not in ("__init__.py", "__main__.py")]
    files = Counter(name(path.parent) for path in own)
    big = {folder: n for folder, n in files.items() if n > FOLDER_LIMIT_FILES}
    assert big.keys() - {_VALUES} == set(), big


def test_no_function_is_long() -> None:
    lengths = {one.where: one.lines for one in functions()}
    assert {where: n for where, n in lengths.items() if n > FUNCTION_LIMIT_LINES} == {}


def test_nearly_all_functions_are_small() -> None:
    lengths = sorted(one.lines for one in functions())
    assert lengths[int(len(lengths) * 0.95)] <= FUNCTION_P95_LINES


def test_constructors_of_services_take_names_only() -> None:
    wrong = [
        one.where
        for one in functions()
        if one.where.startswith(("services/", "group_chat/", "bots/"))
        and one.name == "__init__"
        and one.positional > 1
    ]
    assert wrong == []


def test_the_docstring_names_every_group_of_errors() -> None:
    documented = inspect.getdoc(errors) or ""
    groups = [one.__name__ for one in errors.RoundsError.__subclasses__() if one.__subclasses__()]
    assert [one for one in groups if f"* {one}: " not in documented] == []


def test_every_error_has_a_code_of_its_own_and_a_sentence_for_people() -> None:
    own = [one for one in error_classes() if "code" in vars(one)]
    assert len({one.code for one in own}) == len(own)
    raised = [one for one in error_classes() if not one.__subclasses__()]
    assert [one.__name__ for one in raised if one not in own] == []
    assert [one for one in error_classes() if not one.user_message.endswith((".", "}"))] == []


def test_every_row_of_the_texts_of_errors_is_an_errors() -> None:
    rows = yaml.safe_load((ROOT / "data_models" / "errors.yaml").read_text("utf-8"))
    codes = {one.code for one in error_classes()}
    assert [code for code in rows if code not in codes] == []
    assert {key for row in rows.values() for key in row} <= {"text", "told", "status", "retryable"}


def test_a_public_method_says_what_it_does_or_its_contract_does() -> None:
    methods = [method for path in sources() for method in facts(path).methods]
    described = {called for _, called, is_described in methods if is_described}
    assert [where for where, called, _ in methods if called not in described] == []


def test_errors_are_raised_from_one_tree() -> None:
    tree = ROOT / "data_models" / "errors.py"
    assert [one for path in sources() if path != tree for one in facts(path).errors] == []


FIGURES_LOGGED = """
    attempt bytes charts count counted duration_ms files known_keys limit llm_cached_tokens
    llm_calls llm_prompt_tokens minutes patients per_minute read records resources skipped
    storage_ops success total_ms tries_again
"""


def test_every_key_that_is_logged_can_be_read() -> None:
    """`policy=[withheld]` told no operator who may open a chart."""
    called = [
        (name(path), key)
        for path in sources()
        for key in facts(path).logged
        if key not in {"exc_info", *FIGURES_LOGGED.split()}
    ]
    assert len(called) > 150
    values = {"url": "https://a.example"}
    assert [
        one
        for one in sorted(set(called))
        if redacted({"event": "e", one[1]: values.get(one[1], "word")})[one[1]] == WITHHELD
    ] == []
