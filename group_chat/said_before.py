"""Whether words and figures stand in what was said and found in this talk. Pure.

Times, days, addresses and numbers of a user's own things are no rows of a chart, and what is made
for them is what they said: nothing else tells an invented one from theirs.
"""

import json
from collections.abc import Iterator

from group_chat.turn_context import TurnContext
from services.language.folding import fold, words_of
from services.language.text_words import addresses_in, figures_said

_STEM_CHARS = 4


def figures_unknown(sentence: str, turn: TurnContext) -> frozenset[str]:
    """Return the figures of `sentence` that nobody and no tool said; none of what it asks."""
    stated = figures_said(sentence)
    if not stated or "?" in sentence:
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
    known = {one[:_STEM_CHARS] for one in words_of(said)}
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
