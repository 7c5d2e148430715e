"""What models write around an answer: thoughts, tool calls as text, fences, their own name.

Servers are meant to take these out; half of them do not. Nobody is ever shown them.
"""

import json
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

_THOUGHT = r"(?:think|thinking|thought|reasoning)"
_HELD_LIMIT_CHARS = 20_000
_CALL_TAGS = ("<tool_call>", "<|tool_call|>", "<function_call>", "[TOOL_CALLS]", "<|python_tag|>")
_CALL_ENDS = ("</tool_call>", "<|/tool_call|>", "</function_call>")
_THOUGHT_TAGS = (
    *("<think>", "</think>", "<thinking>", "</thinking>"),
    *("<thought>", "</thought>", "<reasoning>", "</reasoning>"),
)
_TAGS = (*_CALL_TAGS, *_CALL_ENDS, *_THOUGHT_TAGS)
_LONGEST_TAG = max(map(len, _TAGS))
_BEGINNINGS = frozenset(
    tag.casefold()[:length] for tag in _TAGS for length in range(1, len(tag) + 1)
)
_MARK = re.compile(
    rf"(?im)(?P<thinks><{_THOUGHT}>)|(?P<thought></{_THOUGHT}>)"
    rf"|(?P<tag>{'|'.join(map(re.escape, _CALL_TAGS))})"
    rf"|(?P<ends>{'|'.join(map(re.escape, _CALL_ENDS))})"
    r'|(?P<object>(?=\{\s*"[\w -]{1,40}"\s*:))'
    r"|(?P<fence>^[ \t]*```[a-z_]*[ \t]*\n\s*(?=[\[{]))|(?P<brace>^[ \t]*(?=\{))"
)
_HALF_OBJECT = re.compile(r'\{\s*(?:"[\w -]{0,40}"?\s*)?\Z')
_HALF_LINE = re.compile(r"(?im)^[ \t]*(?:`{1,3}[a-z_]*[ \t]*(?:\n\s*)?)?\Z")
_BEGINS_CALL = re.compile(
    r'\[?\s*\{{1,2}\s*"(?:name|function|tool|tool_name|tool_calls|type|id|arguments|parameters)"'
)
_COULD_BEGIN_CALL = re.compile(r'\[?\s*\{{0,2}\s*(?:"[a-z_]{0,12})?\Z')
_FENCE_END = re.compile(r"\s*```[ \t]*")
_HALF_FENCE_END = re.compile(r"\s*`{0,2}\Z")
_NAME_KEYS, _ARGUMENT_KEYS = ("name", "tool", "tool_name"), ("arguments", "parameters", "args")
_FRAME_KEYS = frozenset({*_NAME_KEYS, *_ARGUMENT_KEYS, "type", "id", "function"})
_JSON_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}"]', re.DOTALL)
_OWN_NAME = re.compile(r"\s*\*{0,2}\[(?P<name>[A-Za-z][\w-]{0,63})\]\*{0,2}:?[ \t]*\n?")
_COULD_BE_NAME = re.compile(r"\s*\*{0,2}\[?[\w-]{0,64}\]?\*{0,2}:?\Z")


@dataclass(frozen=True, slots=True)
class TextCall:
    """A tool call that a model wrote as text.

    Attributes:
        name: As written, without the name of a plugin before it.
        arguments: JSON.
    """

    name: str
    arguments: str


class ModelText:
    """Takes the text of one answer as it comes, and gives what may be shown of it.

    Args:
        names: Agents' names, which a model likes to put before its own words as `[Name]`.
        begins_in_thought: Whether the server's template has opened the thought already, so that
            only its end is written.
    """

    def __init__(self, *, names: Collection[str] = (), begins_in_thought: bool = False) -> None:
        self.calls: list[TextCall] = []
        self.thought_was_open = False
        self._names = frozenset(names)
        self._rest = ""
        self._mode = "thought" if begins_in_thought else "text"
        self._shown_any = False
        self._at_line_start = True

    def feed(self, text: str) -> str:
        """Return what `text` adds that may be shown."""
        self._rest += text
        return "".join(self._steps(is_end=False))

    def finish(self) -> str:
        """Return the rest that may be shown, at the answer's end."""
        return "".join(self._steps(is_end=True))

    def _steps(self, *, is_end: bool) -> Iterator[str]:
        while self._rest:
            before = (self._mode, len(self._rest))
            match self._mode:
                case "thought":
                    self._skip_thought(is_end=is_end)
                case "fenced":
                    self._close_fence(is_end=is_end)
                case "call":
                    yield self._show(self._read_call(is_end=is_end))
                case _:
                    yield self._show(self._read_text(is_end=is_end))
            if (self._mode, len(self._rest)) == before:
                return

    def _read_text(self, *, is_end: bool) -> str:
        """Return the text before the next mark; hold back what may become one."""
        mark = self._next_mark()
        if mark is None:
            held = 0 if is_end else _held(self._rest, self._at_line_start)
            return self._take(len(self._rest) - held)
        if mark["thought"] is not None:
            # The thought had been opened by the server's own template.
            self.thought_was_open = True
            self._skip(mark.end())
            return ""
        if mark["ends"] is not None:
            shown = self._take(mark.start())
            self._skip(mark.end() - mark.start())
            return shown
        shown = self._take(mark.start())
        if mark["thinks"] is not None:
            self._mode = "thought"
        else:
            self._mode = "call"
        return shown

    def _next_mark(self) -> re.Match[str] | None:
        for mark in _MARK.finditer(self._rest):
            of_line = mark["fence"] is not None or mark["brace"] is not None
            if not of_line:
                return mark
            if mark.start() == 0 and not self._at_line_start and self._shown_any:
                continue
            if _may_be_call(self._rest[mark.end() :]):
                return mark
        return None

    def _skip_thought(self, *, is_end: bool) -> None:
        end = re.search(rf"(?i)</{_THOUGHT}>\s*", self._rest)
        if end is not None:
            self._skip(end.end())
            self._mode = "text"
        elif is_end:
            self._rest = ""
        else:
            self._rest = self._rest[-2 * _LONGEST_TAG :]

    def _read_call(self, *, is_end: bool) -> str:
        """Return text that turned out to be no call."""
        mark = _MARK.match(self._rest)
        if mark is None:
            self._mode = "text"
            return ""
        is_tagged = mark["tag"] is not None
        start = mark.end()
        found = _json_end(self._rest, start)
        if found is None and not is_end and len(self._rest) < _HELD_LIMIT_CHARS:
            return ""
        self._mode = "text"
        if found is None:
            # A call or an object that was not finished is not shown; anything else is text.
            is_half = is_tagged or mark["object"] is not None
            kept = "" if is_half or _BEGINS_CALL.match(self._rest, start) else self._rest
            self._rest = ""
            return kept
        calls = list(read_calls(self._rest[start:found], is_tagged=is_tagged))
        if not calls and not is_tagged:
            return self._take(found)
        self.calls += calls
        self._skip(found)
        self._mode = "fenced" if mark["fence"] is not None else "text"
        return ""

    def _close_fence(self, *, is_end: bool) -> None:
        end = _FENCE_END.match(self._rest)
        if end is None and not is_end and _HALF_FENCE_END.match(self._rest):
            return
        if end is not None:
            self._skip(end.end())
        self._mode = "text"

    def _skip(self, length: int) -> None:
        self._rest = self._rest[length:]
        self._at_line_start = True

    def _take(self, length: int) -> str:
        taken, self._rest = self._rest[:length], self._rest[length:]
        if taken:
            self._at_line_start = taken.endswith("\n") or (
                self._at_line_start and not taken.strip(" \t")
            )
        return taken

    def _show(self, text: str) -> str:
        if not self._shown_any:
            name = _OWN_NAME.match(text)
            if name is not None and name["name"] in self._names:
                text = text[name.end() :]
            text = text.lstrip()
        self._shown_any = self._shown_any or bool(text.strip())
        return text


def without_thoughts(text: str) -> str:
    """Return a whole answer without what the model thought aloud."""
    text = re.sub(rf"(?is)<{_THOUGHT}>.*?(?:</{_THOUGHT}>|\Z)", "", text)
    return re.split(rf"(?i)</{_THOUGHT}>", text)[-1]


def read_calls(text: str, *, is_tagged: bool = False) -> Iterator[TextCall]:
    """Yield the tool calls that the JSON of `text` says; none where it says something else."""
    try:
        said = json.loads(text)
    except ValueError:
        try:
            # Small models copy a template's doubled braces.
            said = json.loads(text.removeprefix("{").removesuffix("}"))
        except ValueError:
            return
    if isinstance(said, dict) and isinstance(said.get("tool_calls"), list):
        said = said["tool_calls"]
    for row in said if isinstance(said, list) else [said]:
        call = _call_of(row, is_tagged=is_tagged)
        if call is not None:
            yield call


def _call_of(row: Any, *, is_tagged: bool) -> TextCall | None:
    if not isinstance(row, dict) or not set(row) <= _FRAME_KEYS:
        return None
    inner = row.get("function")
    if isinstance(inner, dict):
        return _call_of(inner, is_tagged=is_tagged)
    names = [row[key] for key in (*_NAME_KEYS, "function") if isinstance(row.get(key), str)]
    given = [row[key] for key in _ARGUMENT_KEYS if key in row]
    if not names or not (given or is_tagged):
        return None
    name = str(names[0]).removeprefix("functions.").removeprefix("rounds-").removeprefix("rounds.")
    arguments = given[0] if given else {}
    return TextCall(name, arguments if isinstance(arguments, str) else json.dumps(arguments or {}))


def _may_be_call(text: str) -> bool:
    return _BEGINS_CALL.match(text) is not None or _COULD_BEGIN_CALL.match(text) is not None


def _held(text: str, at_line_start: bool) -> int:
    """Return how many characters at the end of `text` may be the beginning of a mark."""
    tail = text[-_LONGEST_TAG:].casefold()
    for length in range(len(tail), 0, -1):
        if tail[-length:] in _BEGINNINGS:
            return length
    if (begun := _HALF_OBJECT.search(text)) is not None:
        return len(text) - begun.start()
    half = _HALF_LINE.search(text)
    if half is not None and (half.start() > 0 or at_line_start):
        return len(text) - half.start()
    name = _COULD_BE_NAME.match(text) if at_line_start else None
    return len(text) if name is not None and "[" in text else 0


def _json_end(text: str, start: int) -> int | None:
    """Return where the JSON value that begins at `start` ends; None while it does not."""
    depth = 0
    for token in _JSON_TOKEN.finditer(text, start):
        sign = token.group()
        if sign == '"':  # a text that does not end
            return None
        depth += {"{": 1, "[": 1, "}": -1, "]": -1}.get(sign, 0)
        if depth <= 0 and sign in "]}":
            return token.end()
    return None
