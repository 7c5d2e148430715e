"""Questions to what stands beside the chart. Pure."""

from collections.abc import Sequence

from services.language.charts.chart_pieces import Piece
from services.language.charts.chart_words import Lexicon, lexicon
from services.language.utterance import ChartQuestion
from services.language.words.folding import fold
from services.language.words.phrases import says, without
from services.language.words.vocabulary import LANGUAGES

TRIALS = "clinical_trials"
"""The tool that finds studies."""
QUESTION_CHARS = 400
GUIDELINES = "search_guidelines"
"""The tool for what guidelines say."""
_FRAMES = ("asks_guideline", "frame_of_guideline", "polite")


def evidence_questions(text: str) -> tuple[ChartQuestion, ...]:
    """Return the question to the guidelines or for studies; nothing for any other message."""
    if says(text, "asks_guideline"):
        return (ChartQuestion(GUIDELINES, {"question": text[:QUESTION_CHARS]}),)
    return (ChartQuestion(TRIALS),) if says(text, "asks_trials") else ()


def apart_from_chart(text: str, words: Lexicon) -> tuple[str, tuple[ChartQuestion, ...]]:
    """Return what `text` asks of the chart, and what beside it, where two questions are joined."""
    beside, said = evidence_questions(text), text.split()
    for at in range(1, len(said)) if beside and len(text) < QUESTION_CHARS else ():
        is_joined = not words.joints.isdisjoint((said[at - 1][-1], fold(said[at - 1])[0]))
        if is_joined and fold(said[at])[0] in words.words.asking:
            one, other = " ".join(said[:at]), " ".join(said[at:])
            one, other = (other, one) if evidence_questions(one) else (one, other)
            if evidence_questions(other) and not evidence_questions(
                one
            ):  # "… about it?" is of what is named before
                return one, evidence_questions(other) if topics_in(other) else beside
    return "", beside


def topics_in(text: str) -> list[frozenset[str]]:
    """Return what a question to guidelines is about: each thing as typed and by its names."""
    for name in _FRAMES:
        text = without(text, name)
    return [
        frozenset((one.text, *(each.name for each in (*one.of("name"), *one.of("topic")))))
        for one in _pieces(text)
        if one.text.strip("?!.,:;-") and (one.of("name") or one.of("topic") or not one.labels)
    ]


def is_for_person(text: str) -> bool:
    """Whether a question is about somebody: "what does the guideline say for her?"."""
    return any(one.of("people") or one.of("for_it") for one in _pieces(text))


def _pieces(text: str) -> Sequence[Piece]:
    """Return what its words are in the language that knows most of them."""
    every = (lexicon(language).pieces(fold(text)[0]) for language in LANGUAGES)
    return min(every, key=lambda pieces: sum(not one.labels for one in pieces))
