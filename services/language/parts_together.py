"""What is said once for several questions of one message, or of what stands before. Pure."""

from collections.abc import Sequence
from itertools import pairwise

from services.language.chart_parts import QuestionPart, is_of_values
from services.language.tools_named import tool_of


def share(parts: Sequence[QuestionPart]) -> None:
    """Give each part what is said once for several: "sodium and potassium trend"."""
    for earlier, later in pairwise(parts):
        later.aspects = later.aspects or earlier.aspects
        later.unit, earlier.unit = later.unit or earlier.unit, earlier.unit or later.unit
        later.frames = later.frames or earlier.frames - {"size"}
    for later, earlier in pairwise(reversed(parts)):
        if is_of_values(earlier) and is_of_values(later):
            earlier.aspects = earlier.aspects or later.aspects


def treat_the_same(parts: Sequence[QuestionPart]) -> None:
    """Ask how the illness before is treated: "since when has he gout, and what is the therapy?"."""
    for earlier, later in pairwise(parts):
        known = [tool_of(run, earlier) for run in earlier.runs]
        topics = [(topic.tool, topic.name) for topic in later.topics]
        is_bare = not any(run.known for run in later.runs)
        is_for_it = topics == [("medications", "")] and any(
            piece.of("for_it") for piece in later.pieces
        )
        is_treatment = is_for_it or topics == [("current_status", "treatment")]
        if known == ["problems"] and is_bare and is_treatment:
            later.runs, later.topics, later.parts = earlier.runs, [], ["treatment"]
