"""How a message is made ready to be read as questions, and whether it is one. Pure."""

import re
from collections.abc import Sequence

from services.language.chart_pieces import Piece
from services.language.chart_words import Lexicon
from services.language.folding import fold

_OPENINGS = frozenset({"ok", "okay"})
_PAUSES = re.compile(r"\s[-–—+/]+\s|:(?=\s)|\n+")
"""Signs between two questions: "knee pain - what is he taking", and the end of a line."""


def prepared(text: str, words: Lexicon) -> str:
    """Return `text` with its heading, its pauses and its capitals said in words."""
    return _cased(_PAUSES.sub(" ; ", _without_heading(text, words)), words)


def without_opening(pieces: list[Piece]) -> list[Piece]:
    """Return what stands behind "ok, and …"; at the end of a question it asks for the range."""
    begins = next((at for at, one in enumerate(pieces) if one.text not in _OPENINGS), 0)
    return pieces[begins:]


def is_asking(text: str, pieces: Sequence[Piece], words: Lexicon) -> bool:
    """Whether the message asks or orders something, so that unknown words are worth a search."""
    is_question = "?" in text or any(piece.words[0] in words.words.asking for piece in pieces)
    return is_question or bool(
        pieces[0].of("aspect") or pieces[0].of("stop") or pieces[0].of("part")
    )


def _without_heading(text: str, words: Lexicon) -> str:
    """Return `text` as one question where a heading stands before names: "labs: na, k"."""
    head, colon, rest = text.partition(":")
    pieces = words.pieces(fold(head)[0]) if colon else []
    is_heading = bool(pieces) and all(
        any(one.tool == "results" for one in piece.of("topic")) for piece in pieces
    )
    return f"{head} {rest}" if is_heading else text


def _cased(text: str, words: Lexicon) -> str:
    """Return `text` with what capitals tell said in words: EGFR is a gene, eGFR a filtration."""
    for capitals, meant in words.words.cased.items():
        if capitals in text and not text.isupper():
            text = re.sub(rf"\b{re.escape(capitals)}\b", meant, text)
    return text
