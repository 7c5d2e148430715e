"""Conditions: CEL expressions over fields, with three-valued logic for fields nobody knows yet.

CEL checks and evaluates; only `&&`, `||`, `!` and brackets are taken apart here, so that an
undecided condition can name the fields that could still decide it and no others.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, TypeAlias

from cel_expr_python import cel
from pydantic import JsonValue

from data_models.errors import ScenarioConditionError
from data_models.scenarios.scenario import ValueType

_TOKEN = re.compile(
    r"""\s+|//[^\n]*
    |(?P<token>[rRbB]{0,2}(?:\"\"\".*?\"\"\"|'''.*?'''|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')
    |\d+\.\d+(?:[eE][+-]?\d+)?|0x[0-9a-fA-F]+u?|\d+u?
    |[A-Za-z_]\w*
    |&&|\|\||==|!=|<=|>=|.)""",
    re.VERBOSE | re.DOTALL,
)
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_OPEN, _CLOSE = frozenset("([{"), frozenset(")]}")
_RESERVED = frozenset({"true", "false", "null", "in"})
_TYPES: dict[ValueType, cel.Type] = {
    "text": cel.Type.STRING,
    "date": cel.Type.STRING,
    "integer": cel.Type.INT,
    "number": cel.Type.DOUBLE,
    "boolean": cel.Type.BOOL,
    "any": cel.Type.DYN,
}
Tokens: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a condition says; `value` None while `missing` could still decide it."""

    value: bool | None
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Leaf:
    expression: cel.Expression
    fields: tuple[str, ...]

    def judge(self, values: Mapping[str, JsonValue]) -> Verdict:
        if missing := tuple(name for name in self.fields if name not in values):
            return Verdict(None, missing)
        return Verdict(truth_of(self.expression, {name: values[name] for name in self.fields}))


@dataclass(frozen=True, slots=True)
class _Not:
    part: "_Node"

    def judge(self, values: Mapping[str, JsonValue]) -> Verdict:
        verdict = self.part.judge(values)
        return verdict if verdict.value is None else Verdict(not verdict.value)


@dataclass(frozen=True, slots=True)
class _Join:
    parts: tuple["_Node", ...]
    settles: bool
    """The value of one part that decides the whole: False for `&&`, True for `||`."""

    def judge(self, values: Mapping[str, JsonValue]) -> Verdict:
        missing: dict[str, None] = {}
        for part in self.parts:
            verdict = part.judge(values)
            if verdict.value is self.settles:
                return Verdict(self.settles)
            missing.update(dict.fromkeys(verdict.missing))
        return Verdict(None, tuple(missing)) if missing else Verdict(not self.settles)


_Node: TypeAlias = _Leaf | _Not | _Join


@dataclass(frozen=True, slots=True)
class Condition:
    """A checked condition.

    Attributes:
        canonical: The same text for every spelling that differs in spaces and comments only.
        fields: The fields it reads, in the order in which it names them.
    """

    canonical: str
    fields: tuple[str, ...]
    _root: _Node

    def judge(self, values: Mapping[str, JsonValue]) -> Verdict:
        """Decide from `values`; fields that are absent there are unknown.

        Raises:
            ScenarioConditionError: the values are of types that the condition cannot compare.
        """
        return self._root.judge(values)


def compile_condition(text: str, types: Mapping[str, ValueType]) -> Condition:
    """Parse and type-check `text`.

    Raises:
        ScenarioConditionError: it is not CEL, names an unknown field, or is not true or false.
    """
    tokens = _tokens(text)
    fields = _names(tokens)
    known = tuple((name, types[name]) for name in fields if name in types)
    return _compiled(tokens, known)


def names_in(text: str) -> tuple[str, ...]:
    """Return the variables that `text` names, in order."""
    return _names(_tokens(text))


def canonical_condition(text: str) -> str:
    """Return `text` without its accidents of spacing."""
    return " ".join(_tokens(text))


@lru_cache(maxsize=20_000)
def _compiled(tokens: Tokens, known: tuple[tuple[str, ValueType], ...]) -> Condition:
    env = cel.NewEnv(variables={name: _TYPES[kind] for name, kind in known})
    check_expression(env, " ".join(tokens))
    names = frozenset(name for name, _ in known)
    fields = tuple(name for name in _names(tokens) if name in names)
    return Condition(" ".join(tokens), fields, _tree(tokens, env, names))


def check_expression(env: cel.Env, text: str) -> cel.Expression:
    """Return the compiled expression.

    Raises:
        ScenarioConditionError: it does not fit the environment, or is not true or false.
    """
    if not _is_unicode(text):
        raise ScenarioConditionError("a condition is not valid Unicode")
    try:
        expression = env.compile(text)
    except RuntimeError as error:
        message = str(error)
        first = (message.partition("ERROR: ")[2] or message).partition("\n")[0]
        reason = first.removeprefix("<input>:")
        raise ScenarioConditionError(f"{text!r} is not a valid condition: {reason}") from error
    if expression.return_type() not in (cel.Type.BOOL, cel.Type.DYN):
        raise ScenarioConditionError(f"{text!r} is not a condition: it is not true or false")
    return expression


def truth_of(expression: cel.Expression, values: Mapping[str, JsonValue]) -> bool:
    """Return what `expression` says of `values`.

    Raises:
        ScenarioConditionError: they are of types that it cannot compare; no value is named.
    """
    try:
        found = expression.eval(data=dict(values)).value()
    except RuntimeError:
        # Such as broken Unicode. The cause would quote what a patient said.
        raise ScenarioConditionError("a condition cannot read a value") from None
    if not isinstance(found, bool):
        raise ScenarioConditionError("a condition cannot be decided from values of these types")
    return found


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


@lru_cache(maxsize=20_000)
def _tokens(text: str) -> Tokens:
    return tuple(match["token"] for match in _TOKEN.finditer(text) if match["token"])


def _names(tokens: Tokens) -> tuple[str, ...]:
    """Variables are the identifiers that are neither members, functions nor words of CEL."""
    found: dict[str, None] = {}
    for before, token, after in zip(("", *tokens), tokens, (*tokens[1:], ""), strict=False):
        is_name = _IDENTIFIER.fullmatch(token) and token not in _RESERVED
        if is_name and before != "." and after != "(":
            found[token] = None
    return tuple(found)


def _tree(tokens: Tokens, env: cel.Env, names: frozenset[str]) -> _Node:
    if len(_split(tokens, "?")) == 1:
        joins: tuple[tuple[Literal["||", "&&"], bool], ...] = (("||", True), ("&&", False))
        for operator, settles in joins:
            parts = _split(tokens, operator)
            if len(parts) > 1:
                return _Join(tuple(_tree(part, env, names) for part in parts), settles)
        if tokens[0] == "!" and (len(tokens) == 2 or _is_bracketed(tokens[1:])):
            return _Not(_tree(tokens[1:], env, names))
        if _is_bracketed(tokens):
            return _tree(tokens[1:-1], env, names)
    fields = tuple(name for name in _names(tokens) if name in names)
    return _Leaf(check_expression(env, " ".join(tokens)), fields)


def _split(tokens: Tokens, operator: str) -> list[Tokens]:
    parts: list[Tokens] = []
    depth = start = 0
    for index, token in enumerate(tokens):
        depth += (token in _OPEN) - (token in _CLOSE)
        if depth == 0 and token == operator:
            parts.append(tokens[start:index])
            start = index + 1
    return [*parts, tokens[start:]]


def _is_bracketed(tokens: Tokens) -> bool:
    """Whether the first bracket closes with the last token."""
    if len(tokens) < 3 or tokens[0] != "(":
        return False
    depth = 0
    for index, token in enumerate(tokens):
        depth += (token in _OPEN) - (token in _CLOSE)
        if depth == 0:
            return index == len(tokens) - 1
    return False
