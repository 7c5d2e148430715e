"""Questions to what stands beside the chart. Pure."""

from services.language.utterance import ChartQuestion
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


def telling_words(text: str) -> str:
    """Return the words of a question that say what it is about."""
    for name in _FRAMES:
        text = without(text, name)
    return text
