"""What is asked of measured values: one question for all names, one more for the newest. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import Final

from services.language.charts.chart_file import chart_file
from services.language.charts.chart_parts import EDGES, QuestionPart
from services.language.charts.named_runs import FOR, Run
from services.language.charts.tools_named import HABITS, SEARCH, tool_of, tools_of
from services.language.utterance import Aspect, ChartQuestion, Part
from services.language.words.folding import fold
from services.language.words.vocabulary import LANGUAGES, concept_rows, drug_classes

MEASURED_FACTS: Final = frozenset({"ECOG"})
"""Facts of the status that are measured again and again."""


def questions_of_values(
    part: QuestionPart, runs: Sequence[Run], aspect: Aspect, what: Part | None
) -> Iterator[ChartQuestion]:
    """Yield the question for all that is measured; one for the newest and one for the lowest."""
    results = [run for run in runs if "results" in tools_of(run, part)]
    if not results:
        return
    if aspect == "count" and all(run.name in HABITS for run in results):
        aspect = "latest"  # "does he smoke, and how many?": not how often it was asked
    heads = dict.fromkeys(_head_of(run) for run in results)
    for head in heads:
        here = {run.name_for("results"): run for run in results if _head_of(run) == head}
        found = replace(values_of([*here], aspect, what), head=head)
        if len(here) == 1:
            found = replace(found, said=here[found.name].text)
        yield from ([replace(found, aspect="latest"), found] if part.is_latest_too else [found])


def values_at_visit(part: QuestionPart) -> Iterator[ChartQuestion]:
    """Yield what is asked of values at the last visit of a kind: "bp the last time in the ER"."""
    results = [run for run in part.runs if tool_of(run, part) == "results"]
    ends = sorted(part.aspects & EDGES)
    is_for = any(piece.text in FOR for piece in part.pieces)
    is_of_all = "measured" in part.frames and not part.runs  # "values at the last checkup"
    kinds = [(one.tool, bool(one.name)) for one in part.topics]
    is_visit = kinds == [("encounters", True)]  # "all values of the last visit"
    is_visit |= is_of_all and "trend" in part.aspects and kinds == [("encounters", False)]
    if not is_visit or not ends or is_for:
        return
    visit = ChartQuestion("encounters", {}, ends[0], part.topics[0].name)
    names = list(dict.fromkeys(run.name_for("results") for run in results))
    asked = values_of(names, "all", None) if names else ChartQuestion("results")
    if names or is_of_all:
        yield replace(asked, around=(visit,), when="within")


def _head_of(run: Run) -> str:
    """Return what of a longer name is a value of its own: the pressure in pregnancy.

    Of "protein/creatinine ratio" nothing is, nor of what is measured in urine.
    """
    said = {*run.text.split()}
    is_other = "/" in said or not said.isdisjoint(_specimens())
    return "" if run.main is None or run.is_exact or is_other else run.main.name


@cache
def _specimens() -> frozenset[str]:
    every = (one for each in LANGUAGES for one in chart_file(each).specimens)
    return frozenset(fold(one)[0] for one in every)


def values_of(names: list[str], aspect: Aspect, what: Part | None) -> ChartQuestion:
    """Return the question for what was measured under these names."""
    return ChartQuestion("results", {"names": names}, aspect, ", ".join(names), what)


def with_result(question: ChartQuestion, part: QuestionPart) -> ChartQuestion:
    """Return the question for what was shown by what was done, or whether it helped."""
    is_apart = any(piece.words[0] in (",", "and", "und", "et", "y") for piece in part.pieces)
    is_told = question.aspect != "count" and (question.aspect != "when" or is_apart)
    is_done = question.tool in ("procedures", SEARCH) and is_told
    is_asked = part.frames & {"showed", "outcome"} or "range" in part.parts  # "was it normal?"
    is_asked = is_done and question.part in (None, "range") and is_asked
    is_given = question.tool in ("medications", "procedures") and bool(question.name)
    if is_given and "helped" in part.frames:
        return replace(question, part="effect", aspect="all")
    return replace(question, part="result") if is_asked else question


def weighed_before(asked: Sequence[ChartQuestion], part: QuestionPart) -> list[ChartQuestion]:
    """Return what is looked at beside allergies, or an illness, of which more is to be judged."""
    if "judged" in part.frames:  # "is her blood pressure controlled?"
        shown = concept_rows()["measured_for"]
        values = [shown[one.name] for one in asked if one.tool == "problems" and one.name in shown]
        return [values_of(values, "latest", None)] if values else []
    if "may_have" not in part.frames and "range" not in part.parts:
        return []
    names = [one.name for one in asked if one.tool == "allergies"]
    classes = [name for name, row in drug_classes().items() if {*names} & {*row["members"]}]
    table = concept_rows()["weighed_before"]
    rows = [table[one] for one in (*names, *classes) if one in table][:1]
    named = [one for one in asked if one.tool == "results"]  # "metformin ok with her eGFR?"
    values = [values_of(row["results"], "latest", None) for row in rows if not named]
    drugs = [name for row in rows for name in row.get("medications", ())]
    illnesses = [name for row in rows for name in row.get("problems", ())]
    return [
        *values,
        *(ChartQuestion("medications", {"name": one}, "all", one) for one in drugs),
        *(ChartQuestion("problems", {"status": "all"}, "all", one) for one in illnesses),
    ]


def measured_over_time(question: ChartQuestion) -> ChartQuestion:
    """Return the question over the measured values, where the status has but the newest."""
    is_fact = question.tool == "current_status" and question.name in MEASURED_FACTS
    return values_of([question.name], question.aspect, None) if is_fact else question
