"""Makes a request fit the model's window: what is oldest goes first, the user's words never."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from group_chat.models.dialect import Row, Talk

FIRST_CHARS_PER_TOKEN = 3.5
_LEFT_OUT = "(Earlier messages are left out; recall finds what was said.)"
_CUT = "\n[… cut to fit the model's window; ask for a narrower part]"
_SLACK_SHARE = 0.75
_LEAST_ROWS_CHARS = 400


def chars_of(rows: Sequence[Row], extra: Sequence[Any] = ()) -> int:
    """Return the characters of a request: messages, calls, and what else is sent with them."""
    total = sum(len(str(one)) for one in extra)
    for row in rows:
        total += len(row.get("content") or "")
        calls = row.get("tool_calls") or ()
        total += sum(len(call["function"]["arguments"] or "") + 40 for call in calls)
    return total


def fitted(talk: Talk, *, limit_chars: int, tools: Sequence[Any] = ()) -> Talk:
    """Return `talk` within `limit_chars`, as far as that is possible.

    The oldest messages go first, several at once, so that the next request has the same
    beginning; then rows of tool results, the longest first, from their end.
    """

    def size(one: Talk) -> int:
        return chars_of(one.rows(), tools)

    if size(talk) <= limit_chars:
        return talk
    kept, room = list(talk.earlier), int(limit_chars * _SLACK_SHARE)
    while kept and size(replace(talk, earlier=kept)) > room:
        del kept[0]
    if kept and kept[0]["role"] == "assistant":
        kept.insert(0, {"role": "user", "content": _LEFT_OUT})
    elif kept:
        kept[0] = {**kept[0], "content": f"{_LEFT_OUT}\n\n{kept[0]['content']}"}
    talk = replace(talk, earlier=kept)
    over = size(talk) - limit_chars
    return replace(talk, rounds=_shortened(talk.rounds, over)) if over > 0 else talk


def _shortened(rounds: Sequence[Row], over: int) -> list[Row]:
    """Return tool calls and results, the longest results cut by `over` characters together."""
    rows = list(rounds)
    while over > 0:
        results = [place for place, row in enumerate(rows) if row["role"] == "tool"]
        place = max(results, key=lambda one: len(rows[one]["content"]), default=None)
        if place is None or len(rows[place]["content"]) <= _LEAST_ROWS_CHARS + len(_CUT):
            return rows
        content = str(rows[place]["content"]).removesuffix(_CUT)
        left = max(_LEAST_ROWS_CHARS, min(len(content) - over - len(_CUT), len(content) * 2 // 3))
        cut = content[:left]
        if "\n" in cut:
            cut = cut[: cut.rfind("\n")]
        over -= len(content) - len(cut) - len(_CUT)
        rows[place] = {**rows[place], "content": cut + _CUT}
    return rows
