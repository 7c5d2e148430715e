"""What the tools gave to the questions of a message, and what is still to be asked."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from data_models.chart_view import ChartView
from services.language.question_figures import arguments_of
from services.language.utterance import ChartQuestion
from services.records.answers.asked_rows import has_answer

Looked: TypeAlias = ChartView | str
"""What a tool gave: rows, or what was wrong."""
_NO_ROWS: Final = ChartView(tool="", kind="table", title="", rows=())


@dataclass(slots=True, kw_only=True)
class LookedUp:
    """What was looked up for one message.

    Attributes:
        missing: The first question that was needed and not looked up yet.
    """

    given: Sequence[tuple[ChartQuestion, Looked]]
    missing: ChartQuestion | None = None

    def result_of(self, question: ChartQuestion) -> Looked:
        """Return what the tool gave; no rows where it is still to be asked."""
        if (found := self._found(question)) is None:
            self.missing = self.missing or question
            return _NO_ROWS
        return found

    def view_of(self, question: ChartQuestion) -> ChartView:
        """Return the rows that the tool gave; none where it failed or is still to be asked."""
        found = self.result_of(question)
        return found if isinstance(found, ChartView) else _NO_ROWS

    def has(self, question: ChartQuestion) -> bool:
        """Whether the tool was asked."""
        return self._found(question) is not None

    def tells_beside(self, question: ChartQuestion, others: Sequence[ChartQuestion]) -> bool:
        """Whether another list tells what none of its own does: pregnancies, chemotherapy."""
        if question.tool not in ("results", "procedures") or not self.has(question):
            return False
        alike = [one for one in others if one.name == question.name]
        told = {one.tool for one in alike if has_answer(one, self.view_of(one))}
        return bool(told) and question.tool not in told

    def _found(self, question: ChartQuestion) -> Looked | None:
        alike = (
            looked
            for asked, looked in self.given
            if asked.tool == question.tool and arguments_of(asked) == arguments_of(question)
        )
        return next(alike, None)
