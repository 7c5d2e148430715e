"""What a process learns of its model while it asks it: tokens, window, what the server refuses."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import structlog

from data_models.errors import ModelUnfitError
from group_chat.models.dialect import Row, Talk
from group_chat.models.model_settings import WINDOW_REMEDY, ModelProfile
from services.language.model_output.model_tags import tag_at
from services.model_port import TokenUsage

# Makes a request fit the model's window: what is oldest goes first, the user's words never.

FIRST_CHARS_PER_TOKEN = 3.5
_LEFT_OUT = "(Earlier messages are left out; recall finds what was said.)"
_CUT = "\n[… cut to fit the model's window; ask for a narrower part]"
_SLACK_SHARE = 0.75
_LEAST_ROWS_CHARS = 400


def said_chars(rows: Sequence[Row], *, beside_call: int = 0) -> int:
    """Return the characters of all messages, of tool calls their arguments and so many more."""
    calls = [call for row in rows if row.get("tool_calls") for call in row["tool_calls"]]
    arguments = [len(call["function"]["arguments"] or "") + beside_call for call in calls]
    return sum([len(row.get("content") or "") for row in rows]) + sum(arguments)


def chars_of(rows: Sequence[Row], extra: Sequence[Any] = ()) -> int:
    """Return the characters of a request: messages, calls, and what else is sent with them."""
    return sum([len(str(one)) for one in extra]) + said_chars(rows, beside_call=40)


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


_log = structlog.get_logger()
_LEAST_TOKENS, _MOST = 1_500, 2.0
_RATIO_BOUNDS = (1.5, 5.0)
_WEIGHT = 0.2
_SHRINK = 0.7
_WRITTEN_TOOLS_SECONDS = 600.0
"""A server that refused tools is offered them again after this time."""
SYSTEM = "system"
"""The role that some templates do not have."""
_LACKS_OF = {
    SYSTEM: "system_role",
    "tool_choice": "forced_tools",
    "parallel_tool_calls": "parallel_tools",
}
"""What a profile calls that which a server refuses by another name."""
DISPENSABLE = frozenset(
    {
        *("temperature", "stream_options", "max_tokens", "max_completion_tokens"),
        *("tool_choice", "parallel_tool_calls"),
    }
)
"""What some servers refuse by name, as reasoning models do a temperature."""


def _without_system(rows: Sequence[Row]) -> list[Row]:
    """Return messages for a server that takes no system message: it stands in the user's first."""
    if rows[0]["role"] != "system":
        return list(rows)
    first, second, *rest = rows
    return [{**second, "content": f"{first['content']}\n\n{second['content']}"}, *rest]


class LearnedModel:
    """One model of one server, shared by all who ask it. Holds nothing of any turn."""

    def __init__(self, *, profile: ModelProfile) -> None:
        self.profile = profile
        self.cuts_in_silence = False
        self._chars_per_token = FIRST_CHARS_PER_TOKEN
        self._tools_from = 0.0

    def check(self) -> None:
        """Return if the model's window serves a patient's talk.

        Raises:
            ModelUnfitError: it is too small, or the server cuts prompts in silence; the text says
                what to set.
        """
        self.profile.check()
        if self.cuts_in_silence:
            raise ModelUnfitError(
                f"the model's server reads less than it is sent, without a word: {WINDOW_REMEDY}"
            )

    def limit_chars(self) -> int | None:
        """Return how many characters a prompt may have; None where no window is known."""
        tokens = self.profile.prompt_tokens
        return None if tokens is None else int(tokens * self._chars_per_token)

    def sent(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return `body` as this server takes it."""
        lacks = self.profile.lacks
        kept = {name: one for name, one in body.items() if _LACKS_OF.get(name, name) not in lacks}
        if "max_tokens" in body and "max_tokens" in lacks and "max_completion_tokens" not in lacks:
            kept["max_completion_tokens"] = body["max_tokens"]
        if "tool_choice" in body and "forced_tools" in lacks:
            kept["tool_choice"] = "auto"
        if "system_role" in lacks:
            kept["messages"] = _without_system(body["messages"])
        return kept

    def can_do_without(self, param: str, sent: dict[str, Any]) -> bool:
        """Learn, for the life of the process, which parameter or role the server does not take."""
        lack = _LACKS_OF.get(param, param)
        is_auto = param == "tool_choice" and sent.get(param) == "auto"
        is_sent = param == SYSTEM or (param in DISPENSABLE and param in sent)
        if is_auto or not is_sent or lack in self.profile.lacks:
            return False
        self.profile = self.profile.lacking(lack)
        return True

    def takes_tools(self, *, now: float) -> bool:
        """Whether tools are offered as such; else they are written into the instructions."""
        return "tools" not in self.profile.lacks and now >= self._tools_from

    def note_tools(self, *, were_taken: bool, now: float) -> None:
        """Learn, for ten minutes, that the server answered what it had refused with tools."""
        if not were_taken and self.takes_tools(now=now):
            self._tools_from = now + _WRITTEN_TOOLS_SECONDS

    def note_text(self, text: str) -> None:
        """Learn from a whole answer that its template opens the thought of which it has the end."""
        first = tag_at(text)
        if first is not None and first.meaning == "thought" and first.closes:
            self.profile = self.profile.lacking("thoughts_open")

    def note_usage(self, usage: TokenUsage, *, chars: int) -> None:
        """Compare the server's count with our own; much less means that it cut the prompt."""
        counted = chars / self._chars_per_token
        if counted >= _LEAST_TOKENS and usage.prompt * _MOST < counted:
            if not self.cuts_in_silence:
                _log.error("model_cuts_prompts_in_silence", counted=int(counted), read=usage.prompt)
            self.cuts_in_silence = True
        elif usage.prompt * _MOST >= counted and usage.prompt > 200:
            self.cuts_in_silence = self.cuts_in_silence and counted < _LEAST_TOKENS
            low, high = _RATIO_BOUNDS
            ratio = min(high, max(low, chars / usage.prompt))
            self._chars_per_token += _WEIGHT * (ratio - self._chars_per_token)

    def note_overflow(self, window_tokens: int | None, *, chars: int) -> None:
        """Take a smaller window from a refusal: the one it names, or less than was sent."""
        known = window_tokens if window_tokens is not None and window_tokens >= 1_000 else None
        before = self.profile.prompt_tokens
        guess = int(chars / self._chars_per_token * _SHRINK)
        if known is not None and known != self.profile.window_tokens:
            self.profile = self.profile.with_window(known, "the server refused a longer prompt")
            if (self.limit_chars() or 0) < chars:
                return
        # The same window refused again: our own count is too low.
        self._chars_per_token = max(_RATIO_BOUNDS[0], self._chars_per_token * _SHRINK)
        if before is None and known is None:
            window = guess + self.profile.output_tokens
            self.profile = self.profile.with_window(window, "a longer prompt was refused")
