"""Whose work a message asks for, where its words alone would mislead. Tables over phrases; pure."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, TypeAlias

from services.language.phrases import says
from services.language.utterance import ChartQuestion

Work: TypeAlias = Literal["own", "persons", "visits"]
_WORKS: tuple[Work, ...] = ("own", "persons", "visits")
_REPORTS = (("topic_pathology", "pathology_reports"), ("topic_imaging", "imaging_reports"))


def work_in(text: str) -> Work | None:
    """Return whose work `text` is that asks for nothing of the record; None for any other.

    `own` the user's own mail, tasks and days, `persons` who is registered or insured, `visits`
    appointments and who sees patients.
    """
    return next((work for work in _WORKS if says(text, f"work_{work}")), None)


def as_reports(text: str, about: Sequence[ChartQuestion]) -> tuple[ChartQuestion, ...]:
    """Return the questions with what a procedure found asked of its report.

    "When was the biopsy?" is answered by the procedures; "what did the biopsy show?" by pathology.
    """
    if not says(text, "asks_findings"):
        return tuple(about)
    return tuple(map(_of_report, about))


def _of_report(question: ChartQuestion) -> ChartQuestion:
    if question.tool != "procedures":
        return question
    tool = next((tool for topic, tool in _REPORTS if says(question.name, topic)), None)
    return question if tool is None else replace(question, tool=tool, arguments={})
