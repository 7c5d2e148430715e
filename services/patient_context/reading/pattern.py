"""The operator's pattern for patient ids, compiled once and checked before anything uses it."""

import importlib
import itertools
import json
import re
import string
import subprocess
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Any, Self, TypeAlias

from data_models.errors import ConfigurationError, InvalidIdentifierError
from data_models.identifiers import PATIENT_ID_LIMIT_CHARS, PatientId, storable_patient_id

# Derives examples from the operator's pattern, so that no text names a form by hand.

_parser: Any = importlib.import_module("re._parser")  # where `re` keeps it since Python 3.11

ALTERNATIVES_LIMIT = 16
# Digits and letters take turns where both may stand; 4 comes first, as in patient_4.
_LETTERS = zip(string.ascii_uppercase, string.ascii_lowercase, strict=True)
PREFERRED = "4A7B2C9D1E5F3G8H6a0b" + "".join(upper + lower for upper, lower in _LETTERS) + "_-."

# Each is a row of slots; a slot lists the characters that may stand there, best first.
Row: TypeAlias = tuple[str, ...]


def example_ids(source: str) -> Iterator[str]:
    """Yield texts that `source`, a valid regular expression, should match whole.

    One for each alternative, with optional parts once, not at all, and several times. Look-around
    and back-references are not understood: the caller checks what it takes.
    """
    tree = _parser.parse(source)
    for repeats in (1, 0, 6):
        rows = itertools.islice(_rows(tree, repeats), ALTERNATIVES_LIMIT)
        yield from filter(None, map(_filled, rows))


def _rows(tree: Any, repeats: int) -> Iterator[Row]:
    """Yield the rows of a sequence of parsed nodes, alternatives one after the other."""
    if not (nodes := list(tree)):
        yield ()
        return
    name, argument = str(nodes[0][0]), nodes[0][1]
    for first in _node_rows(name, argument, repeats):
        for rest in _rows(nodes[1:], repeats):
            yield first + rest


def _node_rows(name: str, argument: Any, repeats: int) -> Iterator[Row]:
    match name:
        case "SUBPATTERN":
            yield from _rows(argument[-1], repeats)
        case "ATOMIC_GROUP":
            yield from _rows(argument, repeats)
        case "BRANCH":
            for branch in argument[1]:
                yield from _rows(branch, repeats)
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            least, most, body = argument
            count = min(max(int(least), repeats), int(most))
            for row in _rows(body, repeats):
                yield row * min(count, 256)
        case _:
            yield _slots(name, argument)


def _slots(name: str, argument: Any) -> Row:
    match name:
        case "LITERAL":
            return (chr(argument),)
        case "NOT_LITERAL":
            return (_allowed(lambda one: ord(one) != argument),)
        case "ANY":
            return (PREFERRED,)
        case "IN":
            return (_allowed(lambda one: _is_in(argument, one)),)
        case _:  # anchors and look-around take no room
            return ()


def _allowed(accepts: Callable[[str], bool]) -> str:
    return "".join(one for one in PREFERRED if accepts(one))


def _is_in(items: Sequence[tuple[Any, Any]], character: str) -> bool:
    negated = bool(items) and str(items[0][0]) == "NEGATE"
    return negated != any(_is_item(str(name), value, character) for name, value in items)


def _is_item(name: str, value: Any, character: str) -> bool:
    match name:
        case "LITERAL":
            return bool(ord(character) == value)
        case "RANGE":
            return bool(value[0] <= ord(character) <= value[1])
        case "CATEGORY":
            category = str(value)
            kinds = {
                "DIGIT": character.isdigit(),
                "WORD": character.isalnum() or character == "_",
                "SPACE": character.isspace(),
            }
            held = kinds[category.rsplit("_", maxsplit=1)[-1]]
            return held != ("_NOT_" in category)
        case _:
            return False


def _filled(row: Row) -> str:
    """Fill free slots with varied characters: `mrn-[A-Z0-9]{6}` gives `mrn-4A7B2C`."""
    free = itertools.count()
    return "".join(slot if len(slot) <= 1 else slot[next(free) % len(slot)] for slot in row)


SETTING = "PATIENT_ID_PATTERN"
DEFAULT_PATTERN = "^patient_[0-9]+$"
SOURCE_LIMIT_CHARS = 500
MATCH_LIMIT_SECONDS = 0.05
PROBE_LIMIT_SECONDS = 5.0
_PROBE = Path(__file__).with_name("pattern_probe.py")
# Growing, so that a pattern which doubles its work with each character is caught early.
_HOSTILE_CHARS = (20, 22, 24, 28, 64, 200)
_UNSAFE = ("/", "\\", "..", "\n", "\r", "\x00", " ", "%", ":", "*", "é", "٣", "～")  # noqa: RUF001
_DIGITS = re.compile("[0-9]+")
_CHART_LEAST_CHARS = 6

ChartOf: TypeAlias = Callable[[str], PatientId | None]


class PatientIdPattern:
    """Says what a patient id looks like; build it with `compile`."""

    def __init__(
        self,
        *,
        source: str,
        compiled: re.Pattern[str],
        examples: Sequence[str],
        chart_of: ChartOf = lambda _: None,
    ) -> None:
        self.source = source
        self.examples = tuple(examples)
        self._exact = compiled
        self._chart_of = chart_of
        self._any_case = re.compile(source, re.ASCII | re.IGNORECASE)

    @classmethod
    def compile(cls, source: str) -> Self:
        """Return the pattern, probed.

        Takes up to 5 seconds of waiting for any but the default pattern, so call it at start-up.

        Raises:
            ConfigurationError: invalid, not linear enough, or it accepts what is no safe name.
        """
        compiled = _compiled(source)
        drafts = list(dict.fromkeys(example_ids(source)))
        if source != DEFAULT_PATTERN:
            _refuse_slow(source, drafts)
        examples = [draft for draft in drafts if compiled.fullmatch(draft) and _is_storable(draft)]
        if not examples:
            raise _refused("gives no ID of 1 to 64 ASCII letters, digits, `_`, `.` and `-`")
        _refuse_unsafe(compiled, drafts)
        return cls(source=source, compiled=compiled, examples=examples)

    def with_charts(self, chart_of: ChartOf) -> Self:
        """Return the pattern of the same ids, which knows those of the records' charts too.

        Args:
            chart_of: The chart that an identifier or resource id leads to, None if none.
        """
        return type(self)(
            source=self.source, compiled=self._exact, examples=self.examples, chart_of=chart_of
        )

    def example(self) -> str:
        """Return an id in the pattern's form, such as `patient_4`."""
        return self.examples[0]

    def matches(self, text: str) -> bool:
        """Whether `text` as it stands is a patient id."""
        return self._fits(self._exact, text) or self._chart(text) == text

    def matches_any_case(self, text: str) -> bool:
        """Whether `text` is a patient id if upper and lower case are not told apart."""
        return self._fits(self._any_case, text) or self._chart(text) is not None

    def _chart(self, token: str) -> PatientId | None:
        """Return the chart of an identifier that is no word and no plain number."""
        is_distinct = (
            _CHART_LEAST_CHARS <= len(token) <= PATIENT_ID_LIMIT_CHARS
            and not token.isdigit()
            and _DIGITS.search(token) is not None
        )
        return self._chart_of(token) if is_distinct else None

    def _fits(self, compiled: re.Pattern[str], text: str) -> bool:
        # The length first: it bounds the work on hostile text.
        if len(text) > PATIENT_ID_LIMIT_CHARS or compiled.fullmatch(text) is None:
            return False
        return _is_storable(text)

    def canonical(self, token: str, roster: Collection[PatientId]) -> PatientId | None:
        """Return the one spelling under which the patient that `token` names is stored.

        The roster's, else as typed, in lower or in upper case, whichever matches; None if none
        does, or if the roster knows several spellings and `token` is none of them.
        """
        if token in roster:
            return PatientId(token)
        known = [one for one in roster if one.lower() == token.lower()]
        if known:
            return known[0] if len(known) == 1 else None
        if (chart := self._chart(token)) is not None:
            return chart
        spellings = (token, token.lower(), token.upper())
        return next((PatientId(one) for one in spellings if self.matches(one)), None)

    def with_digits(self, digits: str) -> PatientId | None:
        """Return the new id that bare `digits` would mean: `patient_15` for `15`, if one could."""
        for example in self.examples:
            built, replaced = _DIGITS.subn(digits, example)
            if replaced == 1 and self.matches(built):
                return PatientId(built)
        return None


def _compiled(source: str) -> re.Pattern[str]:
    if not 0 < len(source) <= SOURCE_LIMIT_CHARS:
        raise _refused(f"must have 1 to {SOURCE_LIMIT_CHARS} characters")
    try:
        return re.compile(source, re.ASCII)
    except (re.error, RecursionError, OverflowError):
        raise _refused("is not a valid regular expression") from None


def _refuse_slow(source: str, drafts: Sequence[str]) -> None:
    task = {"source": source, "texts": list(_hostile(drafts)), "limit_seconds": MATCH_LIMIT_SECONDS}
    try:
        done = subprocess.run(  # noqa: S603  # our own program, no shell
            [sys.executable, "-I", str(_PROBE)],
            input=json.dumps(task),
            capture_output=True,
            text=True,
            timeout=PROBE_LIMIT_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise _refused("takes too long on hostile input; avoid repeats inside repeats") from None
    if done.stdout == "slow":
        raise _refused("takes too long on hostile input; avoid repeats inside repeats")
    if done.stdout != "ok":
        raise _refused("could not be tried out on hostile input")


def _hostile(drafts: Sequence[str]) -> Iterator[str]:
    """Yield texts on which a pattern with overlapping repeats tries everything, short ones first.

    Each begins as an id does, goes on with one piece of it over and over, and ends wrongly.
    """
    for length in _HOSTILE_CHARS:
        for draft in drafts[:4]:
            pairs = {draft[at : at + 2] for at in range(len(draft))}
            pieces = sorted({*draft, *pairs, draft, "0", "a", "aA0_"})
            for cut in range(min(len(draft), length) + 1):
                for piece in pieces:
                    yield f"{draft[:cut]}{piece * ((length - cut) // len(piece))}!"


def _refuse_unsafe(compiled: re.Pattern[str], drafts: Sequence[str]) -> None:
    for text in ("", ".", "..", "a/b", "../a", "a\\b", "patient_4\n"):
        if compiled.fullmatch(text):
            raise _refused("accepts text that is not safe in a file name")
    for draft in drafts:
        for place in range(len(draft) + 1):
            for unsafe in _UNSAFE:
                # In place of one character and between two.
                if compiled.fullmatch(draft[:place] + unsafe + draft[place:]) or (
                    compiled.fullmatch(draft[:place] + unsafe + draft[place + 1 :])
                ):
                    raise _refused("accepts text that is not safe in a file name")


def _is_storable(text: str) -> bool:
    try:
        storable_patient_id(text)
    except InvalidIdentifierError:
        return False
    return True


def _refused(problem: str) -> ConfigurationError:
    return ConfigurationError(f"{SETTING} {problem}; for example {DEFAULT_PATTERN}")
