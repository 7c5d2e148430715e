"""The operator's pattern for patient ids, compiled once and checked before anything uses it."""

import json
import re
import subprocess
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Self, TypeAlias

from data_models.errors import ConfigurationError, InvalidIdentifierError
from data_models.identifiers import PATIENT_ID_LIMIT_CHARS, PatientId, storable_patient_id
from services.patient_context.pattern_examples import example_ids

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


def _no_chart(_: str) -> PatientId | None:
    return None


class PatientIdPattern:
    """Says what a patient id looks like; build it with `compile`."""

    def __init__(
        self,
        *,
        source: str,
        compiled: re.Pattern[str],
        examples: Sequence[str],
        chart_of: ChartOf = _no_chart,
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
        chart = self._chart(token)
        if chart is not None:
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
    task = {
        "source": source,
        "texts": list(_hostile(drafts)),
        "limit_seconds": MATCH_LIMIT_SECONDS,
    }
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
