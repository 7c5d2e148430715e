"""Whether words and figures stand in what was said and found in this talk. Pure.

Times, days, addresses and numbers of a user's own things are no rows of a chart, and what is made
for them is what they said: nothing else tells an invented one from theirs.
"""

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import cache
from typing import Any

from group_chat.turn_context import TurnContext
from services.language.requests.clock import part_of_day_in
from services.language.sentences.statements import read_sentence
from services.language.words.folding import fold, words_of
from services.language.words.phrases import says, words_for
from services.language.words.text_words import addresses_in, figures_said
from services.statements.deeds import proven_by

_STEM_CHARS = 4
_FREE = frozenset({"find_free_time", "available_slots"})
"""Tools whose rows are times at which nothing is planned."""
_LISTS: Mapping[str, frozenset[str]] = {
    "own_calendar": frozenset({"list_events", "list_appointments"}),
    "own_tasks": frozenset({"list_tasks"}),
    "own_mail": frozenset({"search_mail", "read_mail"}),
    "own_contacts": frozenset({"search_contacts", "find_person"}),
    "own_documents": frozenset({"search_documents"}),
}
"""By kinds of things, as `phrases.yaml` calls them, the tools that list them."""
OWN_THINGS = tuple(_LISTS)


def is_unfounded(sentence: str, turn: TurnContext) -> bool:
    """Whether a sentence about a user's own things says what neither talk nor tools have.

    That there is none needs a list without any; what the user asks after is no word for it.
    """
    if "?" in sentence:
        return False
    if _figures_unknown(sentence, turn):
        return True
    if says(sentence, "none_of_own"):
        return not _has_none(sentence, turn)
    if says(sentence, "leaves_open"):
        return False
    is_changed = _is_changed(turn)
    told = _telling(sentence, is_changed=is_changed)
    said = " ".join((*_shown(turn), *_found(turn), *(_typed(turn) if is_changed else ())))
    unknown = told - _beginnings(said)
    has_run = any(run.data is not None for run in turn.ran)
    return bool(unknown or not (told or has_run)) and (
        says(sentence, "told_of_own") or len(unknown) < len(told)
    )


def is_found(sentence: str, turn: TurnContext) -> bool:
    """Whether tools found all that a sentence tells of a user's own things, and nobody's deed."""
    if any(cue.startswith("deed:") for cue in read_sentence(sentence).cues):
        return False
    told = _telling(sentence, is_changed=_is_changed(turn))
    is_told = bool(told) and told <= _beginnings(" ".join(_found(turn)))
    return is_told and not is_unfounded(sentence, turn)


def _is_changed(turn: TurnContext) -> bool:
    return any(run.data is not None and any(proven_by(run.tool)) for run in turn.ran)


def _telling(sentence: str, *, is_changed: bool) -> frozenset[str]:
    return _beginnings(sentence) - _telling_nothing(is_changed=is_changed)


def _beginnings(text: str) -> frozenset[str]:
    return frozenset(one[:_STEM_CHARS] for one in words_of(text) if len(one) >= _STEM_CHARS)


@cache
def _telling_nothing(*, is_changed: bool) -> frozenset[str]:
    """Return how words begin that name no thing; where a tool changed one, what it did neither."""
    words, deeds = (
        {one[:_STEM_CHARS] for name in names for one in words_for(name)}
        for names in (("errand_words", "filler"), ("errand_deeds",))
    )
    return frozenset(words | deeds if is_changed else words - deeds)


def _has_none(sentence: str, turn: TurnContext) -> bool:
    """Whether tools looked for all kinds of things that are said not to be there, and found none.

    "Nothing else" is said beside what they found.
    """
    runs = [run for run in turn.ran if run.data is not None]
    if any(run.tool in _FREE for run in runs):
        return True
    part, is_rest = part_of_day_in(sentence), says(sentence, "rest_of_own")
    kinds = [tools for one, tools in _LISTS.items() if says(sentence, one)]
    found = [[one for one in runs if one.tool in tools] for tools in kinds] or [runs]
    given = (one for of_kind in found for run in of_kind for one in (run.data or {}).values())
    rows = (row for one in given if isinstance(one, list | tuple) for row in one)
    return all(found) and (is_rest or not any(_is_in(row, part) for row in rows))


def _is_in(row: Any, part: range | None) -> bool:
    """Whether a row is in a part of the day, as far as it has a time."""
    start = str(row.get("start", "")) if isinstance(row, Mapping) else ""
    if part is None or ":" not in start:
        return True
    at = datetime.fromisoformat(start)
    return 60 * at.hour + at.minute in part


def _figures_unknown(sentence: str, turn: TurnContext) -> frozenset[str]:
    """Return the figures of `sentence` that nobody and no tool said."""
    if not (stated := figures_said(sentence)):
        return frozenset()
    said = (*_typed(turn), *_shown(turn), *_found(turn))
    rows = [one for run in turn.ran for one in (run.data or {}).values() if isinstance(one, list)]
    counts = {str(each) for one in rows for each in range(len(one) + 1)}
    return stated - frozenset().union(counts, *(figures_said(one, is_known=True) for one in said))


def is_of_talk(text: str, turn: TurnContext) -> bool:
    """Whether what a tool is to write is what the user said: addresses and figures, most words.

    What was shown counts where they point at it or agree to it.
    """
    request, read = turn.request, turn.request.utterance
    points = read is None or bool(read.yes_no or read.references) or request.press is not None
    said = " ".join((*_typed(turn), *(_shown(turn) if points else ())))
    if any(one not in said for one in addresses_in(text)) or figures_said(text) - figures_said(
        said, is_known=True
    ):
        return False
    if fold(text)[0] in fold(said)[0]:
        return True  # in scripts without spaces no word begins like another
    words = [one for one in words_of(text) if len(one) >= _STEM_CHARS]
    known = _beginnings(said)
    return 2 * sum(one[:_STEM_CHARS] in known for one in words) >= len(words)


def _typed(turn: TurnContext) -> Iterator[str]:
    yield from (turn.request.text, turn.request.snapshot)
    yield from (past.user_message for past in turn.request.history)


def _shown(turn: TurnContext) -> Iterator[str]:
    for message in (one for past in turn.request.history for one in past.agent_responses):
        yield message.text
    yield from (message.text for message in turn.said)


def _found(turn: TurnContext) -> Iterator[str]:
    if turn.request.entities is not None:
        yield turn.request.entities.grounding(turn.agent)
    yield turn.request.now.date().isoformat()
    yield from (json.dumps(run.data, default=str, ensure_ascii=False) for run in turn.ran)
