"""Questions to what stands beside the chart. Pure."""

from services.language.charts.chart_words import lexicon
from services.language.utterance import ChartQuestion
from services.language.words.detection import language_of
from services.language.words.folding import fold
from services.language.words.phrases import says, without

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


def topics_in(text: str) -> list[frozenset[str]]:
    """Return what a question to guidelines is about: each thing as typed and by its names."""
    for name in _FRAMES:
        text = without(text, name)
    pieces = lexicon(language_of(text)).pieces(fold(text)[0])
    return [
        frozenset((one.text, *(each.name for each in (*one.of("name"), *one.of("topic")))))
        for one in pieces
        if one.text.strip("?!.,:;-") and (one.of("name") or one.of("topic") or not one.labels)
    ]
