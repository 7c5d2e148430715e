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
    if len(text) > _MOST_CHARS:
        return None
    question, mark, order = text.partition("?")
    if mark and order.strip():
        is_both = _is_order(order) and not says(question, "task") and len(question.split()) > 1
        return (f"{question}?", _behind_and(order)) if is_both else None
    if mark:
        first, *rest = map(str.strip, sentences_of(text))
        parts = parts_in(text, "orders_and_asks") or {}
        order, asked = (first, rest[0]) if len(rest) == 1 else (parts.get("order", ""), "")
        return (asked or parts["asked"], order) if order and _is_order(order) else None
    found = parts_in(text, "asks_and_reminds")
    return (found["asked"], found["order"]) if found and _asks(found["asked"]) else None


def apart(text: str, *, has_patient: bool = True) -> tuple[str, ...]:
    """Return what a message wants, one after the other.

    The question comes first, for a deed may ask for a yes; but where no patient is open it is the
    question that asks something, and a task needs nobody.
    """
    question, order = question_and_order(text) or ("", "")
    if not question:
        return (text,)
    return (question, order) if has_patient or asks_to_hold(order) else (order, question)


def _asks(text: str) -> bool:
    is_asked = not (chart_nouns() | measured_nouns()).isdisjoint(words_of(text))
    is_other = is_told(text) or bool(held_statements(text))
    return is_asked and not (is_other or says(text, "orders", "add", "wants_booking"))


def _is_order(text: str) -> bool:
    is_own = orders_task(text) or says(text, "new_task") or asks_to_hold(text)
    return is_own and "?" not in text


def _behind_and(order: str) -> str:
    return (parts_in(order, "and_further") or {}).get("said", order).strip()


def orders_task(text: str) -> bool:
    """Whether `text` orders something about tasks."""
    return says(text, "task") and says(text, *_DEEDS_ON_TASKS)
