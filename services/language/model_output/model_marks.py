"""Where calls that are written as code, as JSON or behind labels begin in a model's text. Pure."""

import re
from collections.abc import Collection

from services.language.model_output.model_tags import HALF_TAG

OBJECT = re.compile(
    r'(?m)(?P<object>(?=\{\s*"[\w -]{1,40}"\s*:))'
    r"|(?P<fence>[ \t]*```[a-z_]*\s*(?=[\[{]))|(?P<brace>^[ \t]*(?=\{))"
)
BEGINS_CALL = re.compile(
    r'\[?\s*\{{1,2}\s*"(?:name|function|tool|tool_name|tool_calls|type|id|arguments|parameters'
    r"|tool_input|action|action_input|function_call"
    r'|answer|final_answer|response|reply|text|message|content)"'
)
_COULD_BEGIN_CALL = re.compile(r'\[?\s*\{{0,2}\s*(?:"[a-z_]{0,12})?\Z')
_HALF_OBJECT = re.compile(r'\{\s*(?:"[\w -]{0,40}"?\s*)?\Z')
_HALF_LINE = re.compile(r"(?m)^[ \t]*\Z")
_HALF_FENCE = re.compile(r"(?i)[ \t]*`{1,3}[a-z_]*[ \t]*(?:\n\s*)?\Z")
_COULD_BE_NAME = re.compile(r"\s*\*{0,2}\[?[\w-]{0,64}\]?\*{0,2}:?\Z")
_BEFORE_A_CALL = (
    r"(?:```\w*[ \t]*\n\s*)?(?:(?:assistant)?(?:commentary)?[ ]?to=|print\(|await |\[|functions\."
    r"|call:|rounds[-.]|default_api\.)*"
)
_LABELS = (
    "thought:", "action:", "final answer:", "tool_code", "functions.", "print(", "await ",
    "commentary to=", "assistantcommentary to=", "to=", "[functions.", "call:", "rounds-",
    "rounds.", "default_api.", "user:", "human:", "assistant:",
)  # fmt: skip
"""How a line may begin that is no answer, or begins one."""
_LABEL = re.compile(
    r"(?im)^[ \t]*(?:(?P<act>Action: ?[\w.-]+[ \t]*\n\s*Action Input:|```tool_\w+[ \t]*\n"
    r"|tool_code[ \t]*\n)|(?P<answer>(?:Final Answer|Assistant):[ \t]*)|(?P<thought>Thought:)"
    r"|(?P<other>(?:User|Human):))"
)
_HALF_ACTION = re.compile(
    r"(?im)^[ \t]*Action: ?[\w.-]*[ \t]*(?:\n\s*(?:A[a-z]{0,5}(?: [a-z]{0,5}:?)?)?)?\Z"
)


class WrittenMarks:
    """Finds where what is no answer begins without a mark of its own.

    Args:
        tools: Names of the tools that were offered.
    """

    def __init__(self, *, tools: Collection[str]) -> None:
        self._tools = frozenset(tools)
        any_tool = "|".join(map(re.escape, sorted(tools, key=len, reverse=True))) or r"(?!)"
        self._code = re.compile(
            rf"(?m)^[ \t]*{_BEFORE_A_CALL}(?:{any_tool})(?:\.call\(|\((?=\{{|\w+ ?=|\)[\]),]?[ \t]*"
            r"(?:$|[\]),]))|(?::\d+)?\s*(?:json|<\|[^<>]*>)*\s*\{)"
        )
        self._half_code = re.compile(
            rf"(?m)^[ \t]*{_BEFORE_A_CALL}(?:(?P<word>[a-z]\w*)(?:\.c?a?l?l?|[(:][\w)]* ?|[ \t]*"
            r"j?s?o?n?)?)?\Z"
        )

    def line_mark(self, text: str, *, is_line_start: bool, has_shown: bool) -> re.Match[str] | None:
        """Return the first label, or call as code, at the beginning of a line.

        Args:
            is_line_start: Whether `text` begins a line.
            has_shown: Whether an answer stands before it, where "Thought:" is a part of one, and
                "User:" begins what the model makes up of the talk.
        """
        labels = [
            one
            for one in _LABEL.finditer(text)
            if not one["thought" if has_shown or text[: one.start()].strip() else "other"]
        ]
        found = [
            one for one in (*labels, *self._code.finditer(text)) if one.start() or is_line_start
        ]
        return min(found, key=re.Match.start, default=None)

    def object_mark(self, text: str, *, is_line_start: bool) -> re.Match[str] | None:
        """Return the first JSON object that may be a call."""
        for mark in OBJECT.finditer(text):
            if mark["object"] is not None:
                return mark
            is_begun = mark["fence"] is not None or mark.start() or is_line_start
            behind = text[mark.end() :]
            if is_begun and (BEGINS_CALL.match(behind) or _COULD_BEGIN_CALL.match(behind)):
                return mark
        return None

    def held(self, text: str, *, is_line_start: bool) -> int:
        """Return how many characters at the end may be the beginning of a mark."""
        halves = [one.search(text) for one in (HALF_TAG, _HALF_OBJECT, _HALF_FENCE)]
        lines = (_HALF_LINE, _HALF_ACTION, self._half_code)
        halves += [self._half_line(one, text, is_line_start=is_line_start) for one in lines]
        held = [len(text) - one.start() for one in halves if one is not None]
        line = text.rpartition("\n")[2]
        begun = line.lstrip().lower()
        if ("\n" in text or is_line_start) and any(one.startswith(begun) for one in _LABELS):
            held.append(len(line))
        name = _COULD_BE_NAME.match(text) if is_line_start else None
        return max([*held, len(text) if name is not None and "[" in text else 0])

    def _half_line(
        self, form: re.Pattern[str], text: str, *, is_line_start: bool
    ) -> re.Match[str] | None:
        half = form.search(text)
        if half is None or not (half.start() or is_line_start):
            return None
        word = half.groupdict().get("word")
        may_go_on = not word or any(one.startswith(word) for one in (*self._tools, *_LABELS))
        return half if may_go_on else None
