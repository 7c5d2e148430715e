"""What is said once for several questions of one message, or of what stands before. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from services.language.charts.chart_parts import EDGES, QuestionPart, is_of_values
from services.language.charts.chart_pieces import NameIs
from services.language.charts.named_runs import Run
from services.language.charts.tools_named import VALUE_ASPECTS, tool_of
from services.language.utterance import Part

_BOTH: frozenset[Part] = frozenset({"range", "treatment"})


def share(parts: Sequence[QuestionPart]) -> None:
    """Give each part what is said once for several: "sodium and potassium trend"."""
    for earlier, later in pairwise(parts):
        later.aspects = later.aspects or (set() if later.is_asked_anew else earlier.aspects)
        later.unit, earlier.unit = later.unit or earlier.unit, earlier.unit or later.unit
        later.frames = later.frames or earlier.frames - {"size"}
    for later, earlier in pairwise(reversed(parts)):
        if is_of_values(earlier) and is_of_values(later):
            earlier.aspects = earlier.aspects or later.aspects
        is_given = [(one.tool, one.name) for one in later.topics] == [("immunizations", "")]
        is_given &= any(one.tool == "immunizations" for run in earlier.runs for one in run.known)
        if is_given and later.runs and earlier.runs and not earlier.topics:
            earlier.topics = later.topics  # "gegen Hepatitis A und B geimpft?"


def treat_the_same(parts: Sequence[QuestionPart]) -> None:
    """Ask how the illness before is treated: "since when has he gout, and what is the therapy?"."""
    for earlier, later in pairwise(parts):
        known = [tool_of(run, earlier) for run in earlier.runs]
        topics = [(topic.tool, topic.name) for topic in later.topics]
        is_bare = not any(run.known for run in later.runs)
        is_for_it = topics == [("medications", "")] and any(
            piece.of("for_it") for piece in later.pieces
        )
        of_visits = {topic.tool for topic in earlier.topics} == {"encounters"}
        if of_visits and topics == [("procedures", "")] and is_bare:
            earlier.parts, later.topics, later.runs = ["treatment"], [], []
        told_by = ([("current_status", "treatment")], [("procedures", "")])  # "what was done"
        is_treatment = is_for_it or (topics in told_by and later.aspects <= earlier.aspects)
        if topics == [("encounters", "inpatient admission")] and is_bare:
            later.aspects |= earlier.aspects & EDGES  # "the last visit, and how long did she stay?"
            if of_visits and "lasting" in later.frames:
                later.topics = earlier.topics
        if known == ["problems"] and is_bare and is_treatment:
            later.runs, later.topics, later.parts = earlier.runs, [], ["treatment"]
        if is_bare and topics == [("problems", "")] and "when" in later.aspects:
            _date_the_illness(earlier, later, known)


def _date_the_illness(
    earlier: QuestionPart, later: QuestionPart, known: Sequence[str | None]
) -> None:
    """Ask since when the illness is known whose stage is asked for: "stage, and when dx?"."""
    cancer = NameIs("problems", "cancer")
    ill = (
        earlier.runs
        if known == ["problems"]
        else [Run(cancer.name, (cancer,), is_exact=True, main=cancer)]
    )
    if any(one.name in ("stage", "tnm", "histology") for one in earlier.topics):
        later.runs, later.topics = ill, []


def each_half(part: QuestionPart) -> Iterator[QuestionPart]:
    """Yield a question as two, where other rows answer its halves.

    "BP ok? on what?" asks for the value and for drugs, "how many visits, and whom did she see?" for
    a number and for names, "K: avg, min, max" for what is worked out and for values.
    """
    halves = {*part.parts} >= _BOTH and is_of_values(part)
    of_visits = {topic.tool for topic in part.topics} == {"encounters"}
    kinds = ({"count"}, {"average"}, {"minimum", "maximum"}) if is_of_values(part) else ()
    apart = [said for kind in kinds if (said := part.aspects & kind)]
    if len(apart) > 1:
        yield from (replace(part, aspects=said) for said in apart)
    elif "treatment" in part.parts and is_of_values(part) and part.aspects & VALUE_ASPECTS:
        yield replace(part, parts=[one for one in part.parts if one != "treatment"])
        yield replace(part, aspects=set())  # "BP over the years, on what?"
    elif halves:
        yield from (replace(part, parts=[one]) for one in sorted(_BOTH))
    elif of_visits and "count" in part.aspects and part.is_latest_too:
        yield replace(part, aspects=part.aspects - {"latest"})
        yield replace(part, aspects=part.aspects - {"count"})
    elif of_visits and "count" in part.aspects and "and_who" in part.frames:
        yield replace(part, parts=[])
        yield replace(part, aspects=part.aspects - {"count"})
    else:
        yield part
