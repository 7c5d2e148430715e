"""What is asked of measured values: one question for all names, one more for the newest. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from services.language.chart_parts import QuestionPart, Run
from services.language.tools_named import tool_of
from services.language.utterance import Aspect, ChartQuestion, Part

MEASURED_FACTS: Final = frozenset({"ECOG"})
"""Facts of the status that are measured again and again."""


def questions_of_values(
    part: QuestionPart, runs: Sequence[Run], aspect: Aspect, what: Part | None
) -> Iterator[ChartQuestion]:
    """Yield the question for all that is measured; one for the newest and one for the lowest."""
    results = [run for run in runs if tool_of(run, part) == "results"]
    if not results:
        return
    names = list(dict.fromkeys(run.name_for("results") for run in results))
    found = replace(values_of(names, aspect, what), head=_head_of(results))
    yield from ([replace(found, aspect="latest"), found] if part.is_latest_too else [found])


def _head_of(runs: Sequence[Run]) -> str:
    """Return what of a longer name is a value of its own: the pressure in pregnancy.

    Of "protein/creatinine ratio" nothing is.
    """
    mains = [run.main for run in runs if run.is_of_other and not run.is_exact]
    return mains[0].name if len(runs) == 1 and mains and mains[0] else ""


def values_of(names: list[str], aspect: Aspect, what: Part | None) -> ChartQuestion:
    """Return the question for what was measured under these names."""
    return ChartQuestion("results", {"names": names}, aspect, ", ".join(names), what)


def measured_over_time(question: ChartQuestion) -> ChartQuestion:
    """Return the question over the measured values, where the status has but the newest."""
    is_fact = question.tool == "current_status" and question.name in MEASURED_FACTS
    return values_of([question.name], question.aspect, None) if is_fact else question
