"""Reads Bicep without compiling it, and finds what is wired wrongly: `python -m scripts.bicep`.

The compiler is not on every machine and knows every resource type; this knows only what must hold
between our own files: modules exist, take what they are given and are given what they need, outputs
that are used exist, secrets are marked, no key is written down.
"""

import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

import tree_sitter_bicep
from tree_sitter import Language, Node, Parser

from scripts.workshop import ROOT, say

MAIN = ROOT / "infra" / "main.bicep"
_PARSER = Parser(Language(tree_sitter_bicep.language()))
_OUTPUT = re.compile(r"\b(\w+)!?\.outputs\.(\w+)")
_RESOURCE = re.compile(r"^resource \w+ '([\w.]+)/[\w/]+@([\w-]+)'", re.MULTILINE)
_LOADED = re.compile(r"load(?:Text|Yaml|Json)(?:Content)\('([^']+)'\)")
_SECRET_NAME = re.compile(r"token|password|secret(?!s)|connection|(?<!identity)key$", re.IGNORECASE)
_KEY = re.compile(r"AccountKey=|[A-Za-z0-9+/]{86}==|\b[0-9a-f]{32}\b|\bsk-[A-Za-z0-9]{20,}")


@dataclass(frozen=True)
class Module:
    """A use of a module.

    Attributes:
        given: Names of the parameters that are passed.
    """

    name: str
    path: Path
    given: frozenset[str]


@dataclass
class Source:
    """What one file declares, and the text in which names are used."""

    path: Path
    text: str
    parameters: dict[str, bool] = field(default_factory=dict)
    secure: set[str] = field(default_factory=set)
    outputs: dict[str, bool] = field(default_factory=dict)
    variables: set[str] = field(default_factory=set)
    modules: list[Module] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def read(path: Path) -> Source:
    """Return what the file declares; what cannot be parsed is among its problems."""
    data = path.read_bytes()
    source = Source(path, data.decode())
    root = _PARSER.parse(data).root_node
    source.problems += [
        f"line {node.start_point[0] + 1} cannot be read" for node in _mistakes(root)
    ]
    decorated: set[str] = set()
    for node in root.children:
        if node.type == "decorators":
            decorated |= set(re.findall(r"@(\w+)\(", _text(node)))
            continue
        _declare(source, node, decorated)
        decorated = set()
    return source


def _declare(source: Source, node: Node, decorated: set[str]) -> None:
    name = _name(node)
    match node.type:
        case "parameter_declaration":
            # A default stands behind the type.
            source.parameters[name] = len(node.named_children) > 2
            if "secure" in decorated:
                source.secure.add(name)
        case "output_declaration":
            source.outputs[name] = "secure" in decorated
        case "variable_declaration":
            source.variables.add(name)
        case "module_declaration":
            source.modules.append(_module(source.path, node, name))
        case _:
            return


def _module(where: Path, node: Node, name: str) -> Module:
    target = next(child for child in node.named_children if child.type == "string")
    given = frozenset[str]()
    for pair in _all(node, "object_property"):
        if _name(pair) == "params":
            (value,) = (child for child in pair.named_children if child.type == "object")
            given = frozenset(map(_name, value.named_children))
    return Module(name, where.parent / _text(target).strip("'"), given)


def problems(main: Path = MAIN) -> Iterator[str]:
    """Yield one sentence for each thing that is wrong in `main` and the modules it names."""
    source = read(main)
    known = json.loads((main.parent / "api_versions.json").read_text("utf-8"))["versions"]
    used = {module.path.resolve() for module in source.modules}
    sources = {path: read(path) for path in [main.resolve(), *used] if path.is_file()}
    for one in sources.values():
        checks = (
            _unused(one),
            _unmarked_secrets(one),
            _written_down(one),
            _unknown_versions(one, known),
        )
        for problem in chain(one.problems, *checks):
            yield f"{one.path.name}: {problem}"
    for module in source.modules:
        for problem in _use_problems(source, module, sources.get(module.path.resolve())):
            yield f"{main.name}: {problem}"
    yield from _output_problems(source, sources)
    for path in sorted(main.parent.rglob("*.bicep")):
        if path.resolve() not in sources:
            yield f"{path.name} is no module of {main.name}"


def _unused(source: Source) -> Iterator[str]:
    text = _without_comments(source.text)
    for name in [*source.parameters, *source.variables]:
        if len(re.findall(rf"\b{name}\b", text)) < 2:
            yield f"{name} is declared and not used"


def _unmarked_secrets(source: Source) -> Iterator[str]:
    for name in source.parameters:
        if _SECRET_NAME.search(name) and name not in source.secure:
            yield f"parameter {name} must be @secure()"
    for name, is_secure in source.outputs.items():
        if _SECRET_NAME.search(name) and not is_secure:
            yield f"output {name} must be @secure()"


def _written_down(source: Source) -> Iterator[str]:
    for loaded in _LOADED.findall(source.text):
        if not (source.path.parent / loaded).is_file():
            yield f"{loaded} does not exist"
    if _KEY.search(source.text):
        yield "a key is written down"


def _unknown_versions(source: Source, known: dict[str, list[str]]) -> Iterator[str]:
    for provider, version in _RESOURCE.findall(source.text):
        if version not in known.get(provider, []):
            yield f"{provider} has no API version {version} in api_versions.json"


def _use_problems(main: Source, module: Module, target: Source | None) -> Iterator[str]:
    if target is None:
        yield f"module {module.name}: {module.path.name} does not exist"
        return
    needed = {name for name, has_default in target.parameters.items() if not has_default}
    for name in sorted(needed - module.given):
        yield f"module {module.name} is not given {name}"
    for name in sorted(module.given - set(target.parameters)):
        yield f"module {module.name} has no parameter {name}"
    for name in sorted(module.given & main.secure):
        if name not in target.secure:
            yield f"module {module.name} takes the secret {name} unmarked"


def _output_problems(main: Source, sources: dict[Path, Source]) -> Iterator[str]:
    modules = {module.name: sources.get(module.path.resolve()) for module in main.modules}
    used = set(_OUTPUT.findall(main.text))
    for name, output in sorted(used):
        target = modules.get(name)
        if target is None or output not in target.outputs:
            yield f"{main.path.name}: {name} has no output {output}"
    files = {module.path.resolve() for module in main.modules}
    for path in sorted(files):
        target = sources.get(path)
        names = {one.name for one in main.modules if one.path.resolve() == path}
        taken = {output for name, output in used if name in names}
        for output in sorted(set(target.outputs) - taken) if target else []:
            yield f"{path.name}: output {output} is not used"


def problems_of_parameters(path: Path, main: Path = MAIN) -> Iterator[str]:
    """Yield what a file of parameters lacks, has too much, or should not say."""
    given = json.loads(path.read_text("utf-8"))["parameters"]
    source = read(main)
    needed = {name for name, has_default in source.parameters.items() if not has_default}
    for name in sorted(needed - set(given)):
        yield f"{path.name} does not give {name}"
    for name in sorted(set(given) - set(source.parameters)):
        yield f"{path.name} gives {name}, which there is not"
    for name in sorted(set(given) & source.secure):
        if not str(given[name].get("value", "")).startswith("${"):
            yield f"{path.name} writes the secret {name} down"


def _mistakes(node: Node) -> Iterator[Node]:
    if node.type == "ERROR" or node.is_missing:
        yield node
    for child in node.children:
        yield from _mistakes(child)


def _all(node: Node, kind: str) -> Iterator[Node]:
    if node.type == kind:
        yield node
    for child in node.children:
        yield from _all(child, kind)


def _name(node: Node) -> str:
    """Return the first name in `node`: what a declaration declares, or a property's key."""
    return _text(node.named_children[0]) if node.named_children else ""


def _text(node: Node) -> str:
    return (node.text or b"").decode()


def _without_comments(text: str) -> str:
    return re.sub(r"(?m)//(?!\w).*$", "", text)


def main() -> int:
    """Print what is wrong; 1 if anything is."""
    found = list(problems())
    for path in sorted(MAIN.parent.glob("*.parameters.json")):
        found += problems_of_parameters(path)
    for problem in found:
        print(problem)
    if not found:
        say("the Bicep files fit together")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
