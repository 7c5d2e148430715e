"""Questions to what stands beside the chart. Pure."""

from services.language.guideline_words import GUIDELINES, asks_guidelines
from services.language.utterance import ChartQuestion

QUESTION_CHARS = 400


def evidence_questions(text: str) -> tuple[ChartQuestion, ...]:
    """Return the question to the guidelines; nothing for any other message."""
    if asks_guidelines(text):
        return (ChartQuestion(GUIDELINES, {"question": text[:QUESTION_CHARS]}),)
    return ()
