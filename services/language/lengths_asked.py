"""Whether a question asks how long something lasted, or how far two things are apart. Pure."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date

from services.language.chart_pieces import Piece
from services.language.chart_words import Lexicon
from services.language.events_asked import relations_of
from services.language.tools_named import OVER
from services.language.utterance import ChartQuestion

_DATED = frozenset(
    {"problems", "procedures", "immunizations", "medications", "encounters", "imaging_reports",
     "pathology_reports", "documents"}
)  # fmt: skip


def with_lengths(
    asked: Sequence[ChartQuestion], pieces: Sequence[Piece], words: Lexicon, *, today: date
) -> tuple[ChartQuestion, ...]:
    """Return what is asked, with that its length is; of a value only since when it is known."""
    said = next((piece for piece in pieces if "lasting" in piece.of("frame")), None)
    if said is None:
        return tuple(asked)
    behind = [*pieces][[*pieces].index(said) :]
    ends = [at for at, one in enumerate(behind) if one.text in (*words.words.joints, ",")]
    sides = {relations_of(words).get(one.text) for one in behind[: min(ends, default=None)]}
    is_apart = any("apart" in piece.of("frame") or piece.text == "&" for piece in pieces)
    is_apart |= not sides.isdisjoint({"before", "after"})
    return tuple(_with_length(one, today, is_apart=is_apart) for one in asked)


def with_both_ends(pieces: list[Piece], words: Lexicon) -> list[Piece]:
    """Return two ends as two things: "how many days from the stroke to the operation"."""
    if not any("lasting" in piece.of("frame") for piece in pieces):
        return pieces
    return [Piece(("&",)) if piece.text in words.words.ends else piece for piece in pieces]


def _with_length(question: ChartQuestion, today: date, *, is_apart: bool) -> ChartQuestion:
    is_of_visits = question.tool == "encounters" and not question.name and not is_apart
    if is_of_visits and question.aspect == "when":
        return replace(question, aspect="first", asked_on=today)  # since when somebody comes
    if question.tool in _DATED:
        aspect = "when" if question.aspect == "count" else question.aspect
        is_ranked = question.tool in OVER and aspect in ("minimum", "maximum")
        every = {"status": "all", **question.arguments} if is_ranked else question.arguments
        return replace(question, arguments=every, aspect=aspect, asked_on=today, is_apart=is_apart)
    if question.tool == "results" and (is_apart or question.aspect in ("latest", "first")):
        return replace(question, asked_on=today, is_apart=is_apart)
    return question  # how long it was high is not worked out
