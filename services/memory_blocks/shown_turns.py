"""Which earlier turns agents are shown: the newest, from a beginning that seldom moves."""

from collections.abc import Sequence

from data_models.chat_context import Turn

LONG_MESSAGE_SHARE = 3
_EARLIER_SHARE = 2 / 3  # the rest is for the user's message and this turn's answers
_BLOCK_TURNS = 64


def first_shown(earlier: Sequence[Turn], *, window_chars: int) -> int:
    """Return the place in `earlier` of the oldest turn within a window of `window_chars`.

    Where the window is full its beginning moves on by half of it at once: prompts of the turns
    that follow begin alike, and their server has read that beginning already. It depends on no
    more than the last 128 turns.
    """
    if not earlier:
        return 0
    limit, longest = int(window_chars * _EARLIER_SHARE), window_chars // LONG_MESSAGE_SHARE
    last = earlier[-1].turn_id
    block = max(0, last // _BLOCK_TURNS - 1) * _BLOCK_TURNS
    start = len(earlier)
    while start > 0 and earlier[start - 1].turn_id >= block:
        start -= 1
    sizes = {place: _size(earlier[place], longest) for place in range(start, len(earlier))}
    shown = 0
    for place, size in sizes.items():
        shown += size
        if shown > limit:
            while shown > limit // 2 and start < place:
                shown -= sizes[start]
                start += 1
    return start


def _size(turn: Turn, longest: int) -> int:
    texts = [turn.user_message, *(answer.text for answer in turn.agent_responses)]
    return sum(min(len(text), longest) for text in texts)
