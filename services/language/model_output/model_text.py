"""What models write around an answer: thoughts, tool calls as text, fences, their own name.

Servers are meant to take these out; half of them do not. Nobody is ever shown them.
"""

import re
from collections.abc import Collection, Iterator

from services.language.model_output import written_calls
from services.language.model_output.model_marks import BEGINS_CALL, OBJECT, WrittenMarks
from services.language.model_output.model_tags import HALF_TAG, Tag, tag_at
from services.language.model_output.thoughts import MESSAGE, thought_end

_HELD_LIMIT_CHARS = 20_000
_FENCE_END = re.compile(r"\s*```[ \t]*")
_HALF_FENCE_END = re.compile(r"\s*`{0,2}\Z")
_OWN_NAME = re.compile(r"\s*\*{0,2}\[(?P<name>[A-Za-z][\w-]{0,63})\]\*{0,2}:?[ \t]*\n?")
_LABEL_ENDS = re.compile(r"(?im)^[ \t]*(?=Action: ?\w|Final Answer:)")
_HARMONY = re.compile(r"\s*(?:analysis(?=[A-Z]).*?)?assistantfinal", re.DOTALL)
"""Thoughts whose marks the server took out, and nothing else: `analysisHe …assistantfinal`."""
_HALF_HARMONY = re.compile(r"\s*(?:analysis[A-Z].*|a(?:n[a-z]{0,6}|s[a-z]{0,13})?)\Z", re.DOTALL)
_ROLE = re.compile(r"[ \t]*\w{0,20}[ \t]*(?:\n|(?=<))")
_HALF_ROLE = re.compile(r"[ \t]*\w{0,20}[ \t]*\Z")
_BLANK_LINE = re.compile(r"\n[ \t]*\n")
_JSON_FIRST = re.compile(r"\s*(?=\{|\[\s*[\{\]])")
_TO, _CALLED, _CHANNEL = "to=", "<|call|>", "<|channel|>"
_CLOSING = re.compile(r"[ \t\])]*(?:<\|call\|>)?")
_CODE_END = re.compile(r"```|\n[ \t]*\n")
_HALF_CHARS = 400


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
        self.calls: list[written_calls.TextCall] = []
        self._names, self._tools = frozenset(names), frozenset(tools)
        self._marks = WrittenMarks(tools=tools)
        self._rest = ""
        self._mode = "opened" if begins_in_thought else "text"
        self._shown_any = self._has_begun = self._has_thought = False
        self._at_line_start = True
        self._opened: Tag | None = None

    def feed(self, text: str) -> str:
        """Return what `text` adds that may be shown."""
        self._rest += text
        return "".join(self._steps(is_end=False))

    def finish(self) -> str:
        """Return the rest that may be shown, at the answer's end."""
        return "".join(self._steps(is_end=True))

    def _steps(self, *, is_end: bool) -> Iterator[str]:
        ways = {
            "text": self._read_text, "call": self._read_call, "thought": self._skip_thought,
            "opened": self._skip_opened,
            "over": self._skip_what_others_say, "fenced": self._close_fence,
            "label": self._skip_label, "role": self._skip_role, "channel": self._skip_head,
            "region": self._skip_region, "written": self._skip_written,
        }  # fmt: skip
        while self._rest:
            before = (self._mode, len(self._rest))
            yield self._show(ways[self._mode](is_end=is_end) or "")
            if (self._mode, len(self._rest)) == before:
                return

    def _read_text(self, *, is_end: bool) -> str:
        """Return the text before the next mark; hold back what may become one."""
        if not self._shown_any and self._skips_harmony(is_end=is_end):
            return ""
        is_start = self._at_line_start or not self._shown_any
        line = self._marks.line_mark(self._rest, is_line_start=is_start, has_shown=self._shown_any)
        written = self._marks.object_mark(self._rest, is_line_start=is_start)
        tag = tag_at(self._rest)
        starts = [one.start() for one in (line, written) if one is not None]
        if tag is not None and tag.start <= min(starts, default=tag.start):
            return self._at_tag(tag, is_end=is_end)
        if not starts:
            held = self._marks.held(self._rest, is_line_start=self._at_line_start)
            return self._take(len(self._rest) - (0 if is_end else held))
        shown = self._take(min(starts))
        if line is not None and line.start() == min(starts):
            self._at_label(line)
        else:
            self._mode = "call"
        return shown

    def _skips_harmony(self, *, is_end: bool) -> bool:
        """Whether the answer begins with thoughts that have lost their marks, or may do so."""
        if (found := _HARMONY.match(self._rest)) is not None:
            self._skip(found.end())
        elif _HALF_HARMONY.match(self._rest) is None:
            return False
        elif is_end and "analysis" in self._rest:
            self._rest = ""
        return found is not None or not is_end

    def _at_label(self, label: re.Match[str]) -> None:
        length = label.end() - label.start()
        groups = label.groupdict()
        if groups.get("answer"):
            self._skip(length)
        else:
            self._mode = {"thought": "label", "other": "over"}.get(label.lastgroup or "", "written")

    def _at_tag(self, tag: Tag, *, is_end: bool) -> str:
        """Return what stands before a mark, and go on as it says."""
        is_end = tag.meaning == "thought" and tag.closes
        if is_end and not self._has_thought:
            # The thought had been opened by the server's own template.
            self._skip(tag.end)
            self._has_thought = True
            return ""
        shown = self._take(tag.start)
        length = tag.end - tag.start
        self._shown_any = self._shown_any or bool(shown.strip())
        if tag.name == "channel":
            self._at_channel(length, is_end=is_end)
        elif tag.meaning in ("call", "ours") and not tag.closes:
            self._mode, self._opened = "region", tag._replace(start=0, end=length)
        else:
            self._skip(length)
            is_of_others = self._shown_any and tag.meaning in ("begin", "end")
            modes = {"thought": "thought", "begin": "role"}
            mode = "text" if is_end else modes.get(tag.meaning, "text")  # one end too many
            self._mode = "over" if is_of_others else mode
        return shown

    def _at_channel(self, length: int, *, is_end: bool) -> None:
        """Go on behind the head of a channel, `<|channel|>commentary to=… <|message|>`."""
        body = self._rest.find(MESSAGE, length)
        if body < 0 and not is_end:
            self._mode = "channel"
            return
        head = self._rest[length:body] if body >= 0 else self._rest[length:]
        if _TO in head:
            opened = Tag("call", "channel", closes=False, closer=_CALLED, start=0, end=length)
            self._mode, self._opened = "region", opened
            return
        self._skip(body + len(MESSAGE) if body >= 0 else length)
        self._mode = "text" if "final" in head else "thought"

    def _skip_head(self, *, is_end: bool) -> None:
        self._at_channel(len(_CHANNEL), is_end=is_end)

    def _skip_opened(self, *, is_end: bool) -> None:
        """Skip a thought that the template opened; what has no end of one is the answer."""
        if thought_end(self._rest, 0) is not None:
            self._skip_thought(is_end=is_end)
        elif is_end:
            self._mode = "text"

    def _skip_thought(self, *, is_end: bool) -> None:
        if (end := thought_end(self._rest, 0)) is None:
            self._rest = "" if is_end else self._rest[-_HALF_CHARS:]
            return
        self._skip(end)
        self._rest, self._mode, self._has_thought = self._rest.lstrip(), "text", True

    def _skip_label(self, *, is_end: bool) -> None:
        if (end := _LABEL_ENDS.search(self._rest, 1)) is not None:
            self._skip(end.start())
            self._mode = "text"
        elif is_end:
            self._rest = ""

    def _skip_what_others_say(self, *, is_end: bool) -> None:
        """Skip what stands behind the answer's end: the user's next words, as a model thinks."""
        at = 0
        while (tag := tag_at(self._rest, at)) is not None:
            if tag.name == "channel":
                self._rest, self._mode = self._rest[tag.start :], "text"
                return
            at = tag.end
        self._rest = self._rest[-_HALF_CHARS:] if HALF_TAG.search(self._rest) else ""

    def _skip_role(self, *, is_end: bool) -> None:
        if (role := _ROLE.match(self._rest)) is not None:
            self._skip(role.end())
        elif _HALF_ROLE.match(self._rest) and not is_end:
            return
        self._mode = "text"

    def _skip_region(self, *, is_end: bool) -> None:
        """Skip a call between marks, `<function=labs>{…}</function>`, and read it."""
        if (opened := self._opened) is None:
            self._mode = "text"
            return
        end = self._region_end(opened)
        if end is None and not is_end and len(self._rest) < _HELD_LIMIT_CHARS:
            return
        end = len(self._rest) if end is None else end
        if opened.meaning == "call":
            self.calls += written_calls.calls_in(self._rest[:end], self._tools)
        self._skip(end)
        self._mode = "text"

    def _region_end(self, opened: Tag) -> int | None:
        first = _JSON_FIRST.match(self._rest, opened.end)
        end = written_calls.json_end(self._rest, first.end()) if first is not None else None
        if end is not None or (first is not None and opened.meaning == "call"):
            return end
        if opened.closer:
            at = self._rest.find(opened.closer, opened.end)
            return at + len(opened.closer) if at >= 0 else None
        blank = _BLANK_LINE.search(self._rest, opened.end)
        at = opened.end
        while (tag := tag_at(self._rest, at)) is not None:
            if tag.meaning == "end":
                return tag.start
            at = tag.end
        return blank.start() if blank is not None else None

    def _skip_written(self, *, is_end: bool) -> None:
        """Skip a call that is written as code, and read it; behind it stands what is made up."""
        text = self._rest.lstrip()
        start = len(self._rest) - len(text)
        if text.lower().startswith("action"):
            if is_end:
                self.calls += written_calls.calls_in(
                    text.partition("\nObservation:")[0], self._tools
                )
                self._rest = ""
            return
        is_long = text.startswith(("`", "tool_code"))
        line_end = self._rest.find("\n", start)
        brace = self._rest.find("{", start)
        if is_long:
            found = _CODE_END.search(self._rest, start + 3)
            end = found.end() if found is not None else None
        elif brace >= 0 and (brace < line_end or line_end < 0):
            end = written_calls.json_end(self._rest, brace)
            closing = _CLOSING.match(self._rest, end) if end is not None else None
            end = closing.end() if closing is not None else end
            end = None if end == len(self._rest) else end  # more of it may come
        else:
            end = line_end if line_end >= 0 else None
        if end is not None or is_end:
            end = len(self._rest) if end is None else end
            self.calls += written_calls.calls_in(self._rest[:end], self._tools)
            self._skip(end)
            self._mode = "text"

    def _read_call(self, *, is_end: bool) -> str:
        """Return text that turned out to be no call."""
        if (mark := OBJECT.match(self._rest)) is None:
            self._mode = "text"
            return ""
        start = mark.end()
        found = written_calls.json_end(self._rest, start)
        if found is None and not is_end and len(self._rest) < _HELD_LIMIT_CHARS:
            return ""
        self._mode = "text"
        if found is None:
            # A call or an object that was not finished is not shown; anything else is text.
            is_half = mark["object"] is not None or BEGINS_CALL.match(self._rest, start)
            kept = "" if is_half else self._rest
            self._rest = ""
            return kept
        calls = list(written_calls.read_calls(self._rest[start:found]))
        answer = "" if calls else written_calls.answer_in(self._rest[start:found])
        if not (calls or answer):
            return self._take(found)
        self.calls += calls
        self._skip(found)
        self._mode = "fenced" if mark["fence"] is not None else "text"
        return answer

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
        if not self._has_begun:
            name = _OWN_NAME.match(text)
            if name is not None and name["name"] in self._names:
                text = text[name.end() :]
            text = text.lstrip()
        self._has_begun = self._has_begun or bool(text.strip())
        self._shown_any = self._shown_any or self._has_begun
        return text
