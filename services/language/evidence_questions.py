"""Questions to what stands beside the chart. Pure."""

from services.language.guideline_words import GUIDELINES, asks_guidelines
from services.language.phrases import says
from services.language.utterance import ChartQuestion

TRIALS = "clinical_trials"
"""The tool that finds studies."""
QUESTION_CHARS = 400


def evidence_questions(text: str) -> tuple[ChartQuestion, ...]:
    """Return the question to the guidelines or for studies; nothing for any other message."""
    if asks_guidelines(text):
        return (ChartQuestion(GUIDELINES, {"question": text[:QUESTION_CHARS]}),)
    return (ChartQuestion(TRIALS),) if says(text, "asks_trials") else ()
