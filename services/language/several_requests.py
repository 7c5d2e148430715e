"""A question to the record, and an order about tasks or memory, in one message. Pure."""

from services.language.chart_nouns import chart_nouns, measured_nouns
from services.language.folding import words_of
from services.language.held_statements import asks_to_hold, held_statements
from services.language.phrases import parts_in, says
from services.language.sentences import sentences_of
from services.language.telling import is_told

_DEEDS_ON_TASKS = ("delete", "move", "done", "add")
_MOST_CHARS = 300


def question_and_order(text: str) -> tuple[str, str] | None:
    """Return the question and the order that a message holds, each by itself; None for any other.

    "Latest PSA? And delete all tasks", "PSA and CEA, and remind me to write", "remind me to call at
    3, and what is her stage?", "remember that she lives alone, and what is her ECOG?"
    """
    question, mark, behind = text[:_MOST_CHARS].partition("?")
    parts = parts_in(text, "orders_and_asks" if mark else "asks_and_reminds") or {}
    asked, order = parts.get("asked", ""), parts.get("order", "")
    sentences = [one.strip() for one in sentences_of(text)]
    if behind.strip():
        asked = f"{question}?" if len(question.split()) > 1 and not says(question, "task") else ""
        order = (parts_in(behind, "and_further") or {}).get("said", behind).strip()
    elif mark and len(sentences) == 2:
        order, asked = sentences
    is_both = bool(asked and order) and len(text) <= _MOST_CHARS
    return (asked, order) if is_both and (_is_order(order) if mark else _asks(asked)) else None


def _asks(text: str) -> bool:
    is_asked = not (chart_nouns() | measured_nouns()).isdisjoint(words_of(text))
    is_other = is_told(text) or bool(held_statements(text))
    return is_asked and not (is_other or says(text, "orders", "add", "wants_booking"))


def _is_order(text: str) -> bool:
    return "?" not in text and (orders_task(text) or says(text, "new_task") or asks_to_hold(text))


def apart(text: str, *, has_patient: bool = True) -> tuple[str, ...]:
    """Return what a message wants, one after the other.

    The question first, for a deed may ask for a yes; where no patient is open the question asks.
    """
    question, order = question_and_order(text) or ("", "")
    if not question:
        return (text,)
    return (question, order) if has_patient or asks_to_hold(order) else (order, question)


def orders_task(text: str) -> bool:
    """Whether `text` orders something about tasks."""
    return says(text, "task") and says(text, *_DEEDS_ON_TASKS)
