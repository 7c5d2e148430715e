"""What a question is meant of that lies around something else: since, during, after, before. Pure.

"Since her last scan", "the lowest hemoglobin during chemotherapy", "weight before the pregnancy".
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import TypeAlias

from services.language.chart_parts import EDGES
from services.language.chart_words import Lexicon, Piece
from services.language.folding import fold
from services.language.utterance import ChartQuestion, Relation

Ask: TypeAlias = Callable[[str], tuple[ChartQuestion, ...]]
"""What a text asks of the chart."""
_EVENTS = frozenset(
    {"imaging_reports", "pathology_reports", "encounters", "procedures", "documents"}
)
_NAMED = frozenset({"procedures", "medications", "problems", "immunizations"})
_PIECES = 60
"""Of a question; in a longer text each word between two things would be read as a relation."""


def asked_around(pieces: Sequence[Piece], words: Lexicon, ask: Ask) -> tuple[ChartQuestion, ...]:
    """Return what is asked around an event, each with the questions for the event."""
    if len(pieces) > _PIECES:
        return ()
    relations = _relations(words)
    for at, piece in enumerate(pieces):
        relation = relations.get(piece.text)
        if relation and (found := _asked_at(pieces, at, relation, ask)):
            return found
    return ()


@cache
def _relations(words: Lexicon) -> Mapping[str, Relation]:
    """Return the relation of each folded phrase; of one that has several, the first."""
    every = reversed([*words.words.relations.items()])
    return {fold(phrase)[0]: one for one, phrases in every for phrase in phrases}


def _asked_at(
    pieces: Sequence[Piece], at: int, relation: Relation, ask: Ask
) -> tuple[ChartQuestion, ...]:
    before, behind = (
        ask(" ".join(one.text for one in side) + "?") for side in (pieces[:at], pieces[at + 1 :])
    )
    if any(one.tool == "problems" for one in behind):  # "after the covid infection": no vaccine
        behind = tuple(one for one in behind if one.tool != "immunizations")
    if not behind or not all(_is_event(one, is_alone=not before) for one in behind):
        return ()
    if relation == "within" and {one.tool for one in before} != {"results"}:
        return ()  # "anemia in pregnancy" is the name of one thing
    asked = before or (ChartQuestion("timeline", is_past=True),)
    is_begun = any("begun" in one.of("frame") for one in pieces[:at])
    return tuple(
        replace(
            one,
            around=behind,
            when=relation,
            is_begun=is_begun,
            # That it was done some day after is no yes.
            aspect="all" if one.aspect == "whether" else one.aspect,
        )
        for one in asked
    )


def _is_event(question: ChartQuestion, *, is_alone: bool) -> bool:
    """Whether it has days: the last of its kind, or what has a name."""
    if question.tool in _EVENTS and question.aspect in EDGES:
        return True
    is_named = question.tool in _NAMED and bool(question.name) and question.part is None
    return is_named and question.aspect in {"all", *EDGES} and not is_alone
