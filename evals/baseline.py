"""Known failures, which nobody may add to, and how a run differs from them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, Field, ValidationError

from data_models.errors import ConfigurationError
from evals.results import Result, safety_rows
from evals.table import TableRow, table

FILE = Path(__file__).parent / "baseline.json"


class Known(BaseModel):
    """What one kind of model is known to get wrong.

    Attributes:
        commit: What was measured.
        safety: Kinds of safety rows by case; each is a debt to be paid.
        shares: Share of right tries by suite.
    """

    commit: str = ""
    safety: dict[str, list[str]] = Field(default_factory=dict)
    shares: dict[str, float] = Field(default_factory=dict)


class Baseline(BaseModel):
    """Known failures by kind of model."""

    models: dict[str, Known] = Field(default_factory=dict)

    @classmethod
    def read(cls, file: Path) -> "Baseline":
        """Read a baseline.

        Raises:
            ConfigurationError: it cannot be read.
        """
        try:
            return cls.model_validate_json(file.read_text("utf-8"))
        except (OSError, ValidationError, UnicodeDecodeError) as error:
            problem = f"{file}: no baseline: {type(error).__name__}"
            raise ConfigurationError(
                f"{problem}. Write one: python -m evals baseline OUT --file {file}"
            ) from error

    def of(self, kind: str) -> Known:
        """Return what is known of a kind of model."""
        return self.models.get(kind, Known())


@dataclass(frozen=True, slots=True)
class Difference:
    """What is new since the baseline.

    Attributes:
        new: Safety rows that are not known, `case: kind`.
        gone: Known ones that were tried and are right now; take them out.
        shares: Change of the share of right tries by suite.
    """

    new: tuple[str, ...]
    gone: tuple[str, ...]
    shares: Mapping[str, float]


def difference(results: Sequence[Result], known: Known) -> Difference:
    """Return how a run differs from what is known."""
    found = safety_rows(results)
    tried = {one.case for one in results}
    new = [
        f"{case}: {kind}"
        for case, kinds in found.items()
        for kind in kinds
        if kind not in known.safety.get(case, ())
    ]
    gone = [
        f"{case}: {kind}"
        for case, kinds in known.safety.items()
        for kind in kinds
        if case in tried and kind not in found.get(case, ())
    ]
    shares = {
        row.suite: row.share - known.shares[row.suite]
        for row in _comparable(results, known)
        if row.suite in known.shares
    }
    return Difference(tuple(new), tuple(gone), shares)


def _comparable(results: Sequence[Result], known: Known) -> list[TableRow]:
    """Return the rows of a run, that of all suites only where none is missing."""
    rows = table(results)
    is_whole = set(known.shares) - {"all"} <= {row.suite for row in rows}
    return [row for row in rows if row.suite != "all" or is_whole]


def known_of(results: Sequence[Result], *, commit: str, before: Known) -> Known:
    """Return what is known after a run; what it did not try stays as it was."""
    tried = {one.case for one in results}
    kept = {case: kinds for case, kinds in before.safety.items() if case not in tried}
    safety = {**kept, **safety_rows(results)}
    rows = _comparable(results, before)
    shares = {**before.shares, **{row.suite: round(row.share, 4) for row in rows}}
    return Known(commit=commit, safety=dict(sorted(safety.items())), shares=shares)
