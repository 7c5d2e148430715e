"""What of a topic is asked about: the names that its list may hold. Pure."""

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from datetime import date
from typing import Any

from services.language.charts.chart_file import TopicSpec
from services.language.charts.chart_parts import QuestionPart
from services.language.charts.named_runs import HEIGHT, Run
from services.language.charts.telling_topics import NEVER_OF
from services.language.charts.tools_named import OVER, SEARCH
from services.language.utterance import Aspect, ChartQuestion, TimeSpan

_OF_ORGANS = (" disease", " function")
_OF_ALL_TIMES: AbstractSet[Aspect] = frozenset({"trend", "first"})  # "prior meds"
_FIXED = frozenset({"chart_summary", "history", "care", "current_status", "timeline"})
_OPERATED = frozenset({SEARCH, "problems"})
_OTHERS = frozenset({"care", "documents"})
SAY_WHAT_FOR = frozenset({"care plan", "goal", "inpatient admission", "emergency", "family"})
"""Topics whose rows tell what they are for; of other parts of the care it is another thing."""


def names_of(topic: TopicSpec, part: QuestionPart) -> list[str]:
    """Return what of a topic is asked about."""
    runs = [run for run in part.runs if may_be_of(topic, run)]
    if topic.name == "family" and part.runs:  # of diabetes and of cancer: each by itself
        return [f"{topic.name} {run.name_for('problems')}" for run in part.runs]
    if topic.name in SAY_WHAT_FOR:
        return [" ".join([topic.name, *(run.name_for("problems") for run in part.runs)])]
    is_of_notes = topic.tool == SEARCH and any(run.known for run in runs)  # side effects of a drug
    if topic.tool in _FIXED or topic.tool == "results" or not runs or is_of_notes:
        return [topic.name]
    if topic.name == "operation":  # "operations on the knee": its X-ray is none
        return [f"{run.name} {topic.name}" for run in runs]
    if topic.tool == "allergies":
        others = [run for run in runs if not _is_beside_an_allergy(run, part)]
        alone = [run for run in runs if run.main is None or run.main.tool == "problems"]
        return [_allergen(run) for run in others or alone] or [topic.name]
    known = [run.name_for(topic.tool) for run in runs if run.known]
    # "List active conditions" asks for all of them, whatever else is said.
    return known or ([] if topic.arguments else [runs[0].name]) or [topic.name]


def arguments_for(topic: TopicSpec, part: QuestionPart, name: str) -> dict[str, Any]:
    """Return what the tool of a topic is called with; of "paracetamol as needed" the drug alone."""
    is_past = bool(part.frames & {"over", "past"}) or not part.aspects.isdisjoint(_OF_ALL_TIMES)
    is_past |= part.frames >= {"newest", "single"}  # "last drug prescribed": now or no more
    if topic.tool in OVER and not topic.arguments and not name and is_past:
        return {"status": OVER[topic.tool] if "over" in part.frames else "all"}
    return dict(topic.arguments)


def _allergen(run: Run) -> str:
    """Return the substance that is named, whatever is made of it: latex gloves."""
    known = (one for tool in ("allergies", "medications") for one in run.known if one.tool == tool)
    return next((one.name for one in known), run.name)


def _is_beside_an_allergy(run: Run, part: QuestionPart) -> bool:
    """Whether it is what a drug may be dangerous with: "NSAIDs, with his gout?", "his kidneys"."""
    beside = {"problems", "results"} if "may_have" in part.frames else {"problems"}
    tools = {one.tool for one in run.known}
    return bool(tools) and tools <= beside


def of_last_visit(topics: list[TopicSpec], aspect: Aspect) -> list[TopicSpec]:
    """Return visits for the course of all time: "what happened at her last visit?"."""
    return [
        one.model_copy(update={"tool": "encounters"})
        if aspect == "latest" and one.tool == "timeline" and not one.name
        else one
        for one in topics
    ]


def of_visit(
    before: Sequence[ChartQuestion], visit: Sequence[ChartQuestion]
) -> Iterator[ChartQuestion]:
    """Yield the questions for a visit itself: what happened, why, and how old somebody was."""
    if any(one.tool == "chart_summary" for one in before):
        yield from (*visit, *before)
        return
    for one in before:
        part = "treatment" if one.tool == "timeline" else one.part  # what was begun and done there
        yield replace(visit[0], part=part, name=visit[0].name or one.name)


def why_last_seen(question: ChartQuestion) -> ChartQuestion:
    """Return the question for the newest visit where it is asked why, or where to from there."""
    is_of_why = question.part == "reason" and not question.name
    is_of_one = question.tool == "encounters" and (is_of_why or question.part == "destination")
    is_of_time = question.span or question.around or question.at_age is not None
    is_of_all = question.aspect != "all" or bool(question.arguments)
    return (
        question if not is_of_one or is_of_time or is_of_all else replace(question, aspect="latest")
    )


def of_which_visits(asked: Sequence[ChartQuestion], today: date) -> list[ChartQuestion]:
    """Return questions for visits with what they mean by themselves: the newest, those to come."""
    # A doctor's telephone number is none of the patient's, nor is next of kin's.
    of_other = any(one.tool in _OTHERS or one.name == "contact person" for one in asked)
    asked = [one for one in asked if not (of_other and one.name == "phone")]
    if any(one.tool == "care" and one.said for one in asked):  # "who implanted the pacemaker?"
        asked = [one for one in asked if one.name != "implant"]
    return [to_come(why_last_seen(one), today) for one in asked]


def to_come(question: ChartQuestion, today: date) -> ChartQuestion:
    """Return the question for what is planned from today on, and for what should be done by now."""
    days = {"planned": TimeSpan(since=today), "overdue order": TimeSpan(until=today)}
    span = question.span
    if question.name == "planned" and span and span.since and span.since <= today:
        return replace(question, name="", aspect="first")  # "next visit after 2014-05-06"
    is_free = question.tool in ("encounters", "care") and span is None
    return replace(question, span=days.get(question.name)) if is_free else question


def may_be_of(topic: TopicSpec, run: Run) -> bool:
    """Whether a list may hold what is named: of problems no value, of operations no drug."""
    if topic.name == "operation" and run.main is not None:
        return run.main.tool in _OPERATED  # a part of the body is looked for, and no colonoscopy
    return run.main is None or run.main.tool not in NEVER_OF.get(topic.tool, ())


def stands_alone(run: Run, topics: Sequence[TopicSpec], part: QuestionPart) -> bool:
    """Whether a name is asked about beside the topics, and is not the name of one of them."""
    if [topic.tool for topic in topics] == ["allergies"] and run.known:
        return _is_beside_an_allergy(run, part)
    takes_names = {"medications", "immunizations", "procedures", "problems"}
    if any(topic.tool in takes_names | {"encounters", "documents"} for topic in topics):
        return False
    if any(topic.name in SAY_WHAT_FOR for topic in topics):
        # "The plan for his prediabetes"; of "LDL goal met?" also the value, of a drug the drug.
        also = {"goal": "results", "care plan": "medications"}.get(topics[0].name)
        return any(one.tool == also for one in run.known)
    # The kidneys beside a scan are a part of the body, and so is the heart.
    is_part = is_organ(run) or any(one.name == HEIGHT for one in run.known)  # "CT Größe Rundherd"
    is_part &= any(topic.tool == "imaging_reports" for topic in topics)
    is_part |= run.main is not None and run.main.tool == SEARCH
    return bool(run.known) and not is_part


def imaged(run: Run) -> str:
    """Return what a report is of: a part of the body before what is measured of it."""
    if any(known.tool == SEARCH for known in run.known):
        ills = " ".join(known.name for known in run.known if known.tool == "problems").split()
        of_organ = " ".join(word for word in run.spelt.split() if word not in ills)
        return (run.name_for(SEARCH) if run.is_exact else of_organ).replace(HEIGHT, "").strip()
    return run.text if is_organ(run) else run.name_for("problems").replace(HEIGHT, "").strip()


def as_typed(topic: TopicSpec, part: QuestionPart) -> str:
    """Return how a topic with a name was typed: "leber sono"; "" without a name."""
    kind = next((one.text for one in part.pieces if topic in one.of("topic")), "")
    return " ".join([*(run.text for run in part.runs), kind]) if part.runs else ""


def is_organ(run: Run) -> bool:
    """Whether an organ is named by its illnesses or values: a cardiac scan, a renal one."""
    name = run.main.name if run.main is not None else ""
    return any(name.endswith(end) and end not in f" {run.text}" for end in _OF_ORGANS)
