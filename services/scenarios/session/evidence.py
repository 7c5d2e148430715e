"""Whether the user said a value: in words of their own, of this run, that gave no other one."""

from collections.abc import Iterator, Sequence

from pydantic import JsonValue

from data_models.chat_context import ChatContext, Turn
from data_models.scenario import FieldDefinition
from data_models.scenario_session import Evidence, ScenarioSession
from services.language.field_answers import reading_in
from services.language.folding import words_of
from services.language.quotes import may_mean, without_words

QUOTE_LIMIT_CHARS = 160


def turns_of_run(document: ChatContext, session: ScenarioSession) -> list[Turn]:
    """Return the turns since the run began, newest first."""
    return [turn for turn in reversed(document.chat_history) if turn.turn_id >= session.begun_in]


def evidence_for(
    field: FieldDefinition,
    value: JsonValue,
    quote: str,
    said: Sequence[Turn],
    session: ScenarioSession,
    *,
    beside: frozenset[str] = frozenset(),
) -> Evidence | None:
    """Return what shows that the user said `value`; None if nothing does.

    Args:
        quote: The words that are claimed to say it; "" to look for them.
        said: The turns that may say it, newest first.
        beside: Fields that the same words may answer too, as "yes to both".
    """
    for one in said:
        left = without_words(
            one.user_message, list(_used(session, one.turn_id, {field.name, *beside}))
        )
        found = _quoted(field, value, quote, left) if quote.strip() else _seen(field, value, left)
        if found:
            return Evidence(turn=one.turn_id, quote=found[:QUOTE_LIMIT_CHARS])
    return None


def _used(session: ScenarioSession, turn: int, but: set[str]) -> Iterator[str]:
    """Yield the words of a turn that gave a value already."""
    yield from (one.quote for one in session.spent if one.turn == turn)
    for name, one in session.evidence.items():
        if name not in but and one.turn == turn:
            yield one.quote


def _quoted(field: FieldDefinition, value: JsonValue, quote: str, text: str) -> str:
    """Return the quote where `text` holds it as whole words and it can mean the value."""
    words, all_words = words_of(quote), words_of(text)
    size = len(words)
    starts = range(len(all_words) - size + 1)
    if not size or not any(all_words[at : at + size] == words for at in starts):
        return ""
    return quote.strip() if may_mean(field.value_type, value, quote) else ""


def _seen(field: FieldDefinition, value: JsonValue, text: str) -> str:
    """Return the words of `text` that plainly are the value."""
    if isinstance(value, str) and field.value_type in ("text", "any"):
        return _quoted(field, value, value, text)
    found = reading_in(field, text)
    return found.quote if found is not None and found.value == value else ""
