"""What the tools gave to the questions of a message. Pure."""

from collections.abc import Sequence
from typing import TypeAlias

from data_models.chart_view import ChartView
from services.language.question_figures import arguments_of
from services.language.utterance import ChartQuestion
from services.records.answers.asked_rows import has_answer

Looked: TypeAlias = ChartView | str
"""What a tool gave: rows, or what was wrong."""


def given_for(
    question: ChartQuestion, given: Sequence[tuple[ChartQuestion, Looked]]
) -> Looked | None:
    """Return what the tool of a question gave, if it was asked for the same."""
    alike = (
        looked
        for asked, looked in given
        if asked.tool == question.tool and arguments_of(asked) == arguments_of(question)
    )
    return next(alike, None)


def is_told_beside(
    question: ChartQuestion,
    questions: Sequence[ChartQuestion],
    given: Sequence[tuple[ChartQuestion, Looked]],
) -> bool:
    """Whether what no value tells is in the list of illnesses: how many pregnancies there were."""
    alike = [one for one in questions if one.name == question.name]
    views = [(one, given_for(one, given)) for one in alike]
    told = {
        one.tool for one, view in views if isinstance(view, ChartView) and has_answer(one, view)
    }
    is_looked_up = question.tool == "results" and given_for(question, given) is not None
    return is_looked_up and "results" not in told and "problems" in told
