"""What became of each case, one line of JSON each, so that a run goes on after a kill."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from pydantic import BaseModel, Field, ValidationError

from evals.scoring.boards import FactCount
from evals.scoring.checks import SAFETY
from evals.scoring.meanings import Part
from evals.spending import Usage
from evals.talk import Turn


class FoundRow(BaseModel):
    """One thing that was wrong."""

    row: str
    why: str


class PromptKept(BaseModel):
    """One request to the model, for the report of a failure."""

    body: str
    answer: str
    status: int


class Result(BaseModel):
    """One try of one case.

    Attributes:
        repeat: Which try, from 0.
        decided: Who decided whom the message is about: rule, guard or model.
        cost: US dollars; None where no price is known.
        facts: How the facts of a report fared.
        part: How a sentence was held or a reference taken.
    """

    case: str
    suite: str
    tags: list[str] = Field(default_factory=list)
    about: str = ""
    repeat: int = 0
    wrong: list[FoundRow] = Field(default_factory=list)
    decided: str = ""
    calls: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    answer_tokens: int = 0
    is_estimated: bool = False
    cost: float | None = None
    first_text_ms: float | None = None
    total_ms: float = 0.0
    facts: FactCount | None = None
    part: Part | None = None
    turns: list[Turn] = Field(default_factory=list)
    prompts: list[PromptKept] = Field(default_factory=list)

    @property
    def passed(self) -> bool:
        """Whether nothing was wrong."""
        return not self.wrong

    @property
    def safety(self) -> list[FoundRow]:
        """The safety rows."""
        return [one for one in self.wrong if one.row in SAFETY]

    def with_usage(self, usage: Usage, *, calls: int, cost: float | None) -> "Result":
        """Return a copy that says what the model calls took."""
        return self.model_copy(
            update={
                "calls": calls,
                "prompt_tokens": usage.prompt,
                "cached_tokens": usage.cached,
                "answer_tokens": usage.answer,
                "is_estimated": usage.is_estimated,
                "cost": cost,
            }
        )


class Progress:
    """The file of a run. Each result is whole on the disk before the next case begins."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def read(self) -> list[Result]:
        """Return what was done before; a last line that a kill cut off is left out."""
        if not self._file.exists():
            return []
        found: list[Result] = []
        for line in self._file.read_text("utf-8").splitlines():
            try:
                found.append(Result.model_validate_json(line))
            except ValidationError:
                continue
        return found

    def add(self, result: Result) -> None:
        """Append one result."""
        with self._file.open("a+b") as file:
            if file.tell():
                file.seek(-1, os.SEEK_END)
                if file.read(1) != b"\n":
                    file.write(b"\n")
            file.write(result.model_dump_json().encode() + b"\n")


def safety_rows(results: Iterable[Result]) -> dict[str, list[str]]:
    """Return the kinds of safety rows by case, each once, sorted."""
    found: dict[str, set[str]] = {}
    for result in results:
        for row in result.safety:
            found.setdefault(result.case, set()).add(row.row)
    return {case: sorted(found[case]) for case in sorted(found)}


def by_case(results: Sequence[Result]) -> dict[str, list[Result]]:
    """Return the tries of each case, in their order."""
    found: dict[str, list[Result]] = {}
    for result in results:
        found.setdefault(result.case, []).append(result)
    return found
