"""What models write around an answer: thoughts, tool calls as text, fences, their own name.

Servers are meant to take these out; half of them do not. Nobody is ever shown them.
"""

import json
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

_THOUGHT = (
    r"(?:think|thinking|thoughts?|reasoning|reflection|analysis|scratchpad|internal"
    r"|inner_monologue)"
)
_THINKS = (
    rf"<\|?(?:\w+:)?{_THOUGHT}(?:\s[^<>]*)?\|?>|<\|begin_of_{_THOUGHT}\|>|◁{_THOUGHT}▷"
    r"|<\|channel\|>(?:analysis|commentary)[^<]*"
)
_THOUGHT_ENDS = (
    rf"<\|?/(?:\w+:)?{_THOUGHT}\|?>|<\|end_of_{_THOUGHT}\|>|◁/{_THOUGHT}▷"
    r"|<\|channel\|>final<\|message\|>"
)
_HELD_LIMIT_CHARS = 20_000
_LONGEST_TAG = 40
_CALL_TAGS = (
    r"<tool_call>|<\|tool_call\|>|<function_call>|\[TOOL_CALLS\]|<\|python_tag\|>(?=\s*[\[{])"
)
_CALL_ENDS = r"</tool_call>|<\|/tool_call\|>|</function_call>"
_BLOCK = (
    r"tool_code|function_calls|invoke|tools|function|tool_use"
    r"|[|\uff5c]tool[_\u2581]calls[_\u2581]begin[|\uff5c]"
)
_WRITTEN = (
    r"```tool_\w+[ \t]*\n|tool_code[ \t]*\n|<\|python_tag\|>|Action: ?\w+[ \t]*\n\s*Action Input:"
    r"|\[?(?:functions\.)?(?P<code>[a-z]\w*)\((?=\{|\w+ ?=|\)\]?[ \t]*$)"
)
"""How calls are written as code, at the beginning of a line."""
_MARK = re.compile(
    rf"(?im)(?P<thinks>{_THINKS})|(?P<thought>{_THOUGHT_ENDS})"
    rf"|(?P<tag>{_CALL_TAGS})|(?P<ends>{_CALL_ENDS})"
    rf"|<(?P<block>{_BLOCK})(?:[ =](?P<named>[^<>]*))?>|(?P<written>^[ \t]*(?:{_WRITTEN}))"
    r"|(?P<control><\|(?!channel\|)\w{1,30}\|>)"
    r'|(?P<object>(?=\{\s*"[\w -]{1,40}"\s*:))'
    r"|(?P<fence>^[ \t]*```[a-z_]*[ \t]*\n\s*(?=[\[{]))|(?P<brace>^[ \t]*(?=\{))"
)
_HALF_TAG = re.compile(
    r"(?i)(?:<[|/\uff5c]?(?:[a-z_\u2581:|\uff5c][^<>\n]{0,60})?|◁[^▷]{0,20}|\[[TOL_CAS]*"
    r"|<\|channel\|>\w*(?:<\|?\w*\|?)?)\Z"
)
_HALF_WRITTEN = re.compile(
    r"(?m)^[ \t]*(?:\[?(?P<word>[a-z][\w.]*)(?:\(\w* ?)?|A\w{0,5}|Action: ?\w*\s*(?:A\w* ?\w*)?)\Z"
)
_NAME_OF_BLOCK = re.compile(r"(?:name=)?[\"']?([\w.-]+)")
_HALF_OBJECT = re.compile(r'\{\s*(?:"[\w -]{0,40}"?\s*)?\Z')
_HALF_LINE = re.compile(r"(?im)^[ \t]*(?:`{1,3}[a-z_]*[ \t]*(?:\n\s*)?)?\Z")
_BEGINS_CALL = re.compile(
    r'\[?\s*\{{1,2}\s*"(?:name|function|tool|tool_name|tool_calls|type|id|arguments|parameters'
    r'|tool_input|action|action_input|function_call)"'
)
_COULD_BEGIN_CALL = re.compile(r'\[?\s*\{{0,2}\s*(?:"[a-z_]{0,12})?\Z')
_FENCE_END = re.compile(r"\s*```[ \t]*")
_HALF_FENCE_END = re.compile(r"\s*`{0,2}\Z")
_NAME_KEYS = ("name", "tool", "tool_name", "action")
_ARGUMENT_KEYS = ("arguments", "parameters", "args", "tool_input", "action_input")
_FRAME_KEYS = frozenset({*_NAME_KEYS, *_ARGUMENT_KEYS, "type", "id", "function", "function_call"})
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
        tools: Names of the tools that were offered; a call of one may be written as code.
        names: Agents' names, which a model likes to put before its own words as `[Name]`.
        begins_in_thought: Whether the server's template has opened the thought already, so that
            only its end is written.
    """

    def __init__(
        self,
        *,
        names: Collection[str] = (),
        tools: Collection[str] = (),
        begins_in_thought: bool = False,
    ) -> None:
        self.calls: list[TextCall] = []
        self.thought_was_open = False
        self._names, self._tools = frozenset(names), frozenset(tools)
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
                case "block":
                    self._skip_block(is_end=is_end)
                case "written":
                    self._skip_written(is_end=is_end)
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
            held = 0 if is_end else _held(self._rest, self._at_line_start, self._tools)
            return self._take(len(self._rest) - held)
        if mark["thought"] is not None:
            # The thought had been opened by the server's own template.
            self.thought_was_open = True
            self._skip(mark.end())
            return ""
        if mark["ends"] is not None or mark["control"] is not None:
            shown = self._take(mark.start())
            self._skip(mark.end() - mark.start())
            return shown
        shown = self._take(mark.start())
        kinds = ("thinks", "thought"), ("block", "block"), ("written", "written")
        self._mode = next((mode for kind, mode in kinds if mark[kind] is not None), "call")
        return shown

    def _next_mark(self) -> re.Match[str] | None:
        for mark in _MARK.finditer(self._rest):
            of_line = any(mark[kind] is not None for kind in ("fence", "brace", "written"))
            if not of_line:
                return mark
            if mark.start() == 0 and not self._at_line_start and self._shown_any:
                continue
            if mark["code"] is not None and mark["code"] not in self._tools:
                continue
            if mark["written"] is not None or _may_be_call(self._rest[mark.end() :]):
                return mark
        return None

    def _skip_thought(self, *, is_end: bool) -> None:
        end = re.search(rf"(?i)(?:{_THOUGHT_ENDS})\s*", self._rest)
        if end is not None:
            self._skip(end.end())
            self._mode = "text"
        elif is_end:
            self._rest = ""
        else:
            self._rest = self._rest[-2 * _LONGEST_TAG :]

    def _skip_block(self, *, is_end: bool) -> None:
        """Skip a call between tags of its own, `<function=labs>{…}</function>`, and read it."""
        mark = _MARK.match(self._rest)
        tag = mark["block"] if mark is not None else ""
        close = tag.replace("begin", "end") if "begin" in tag else f"/{tag}"
        at = self._rest.find(f"<{close}>")
        if mark is None or (at < 0 and not is_end and len(self._rest) < _HELD_LIMIT_CHARS):
            return
        inner = self._rest[mark.end() : at if at >= 0 else len(self._rest)].strip()
        named = _NAME_OF_BLOCK.match(mark["named"] or "")
        if named is not None:
            inner = json.dumps({"name": named[1], "arguments": inner if inner[:1] == "{" else {}})
        self.calls += read_calls(inner, is_tagged=True)
        self._skip(at + len(close) + 2 if at >= 0 else len(self._rest))
        self._mode = "text"

    def _skip_written(self, *, is_end: bool) -> None:
        """Skip a call that is written as code; it is not run."""
        is_long = self._rest.lstrip().startswith(("`", "Action", "tool_code"))
        end = re.search(r"```|\n[ \t]*\n" if is_long else r"\n", self._rest[3:])
        if end is not None or is_end:
            self._skip(end.end() + 3 if end is not None else len(self._rest))
            self._mode = "text"

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
    text = re.sub(rf"(?is)(?:{_THINKS}).*?(?:{_THOUGHT_ENDS}|\Z)", "", text)
    return re.split(rf"(?i)(?:{_THOUGHT_ENDS})", text)[-1]


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
    inner = row.get("function_call") or row.get("function")
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


def _held(text: str, at_line_start: bool, tools: Collection[str]) -> int:
    """Return how many characters at the end of `text` may be the beginning of a mark."""
    if (begun := _HALF_TAG.search(text)) is not None:
        return len(text) - begun.start()
    written = _HALF_WRITTEN.search(text)
    if written is not None and (written.start() > 0 or at_line_start):
        word = str(written["word"] or "").removeprefix("functions.")
        if any(one.startswith(word) for one in (*tools, "functions.", "tool_code")):
            return len(text) - written.start()
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
