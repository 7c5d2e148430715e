"""The marks of models' templates: `<think>`, `[TOOL_CALLS]`, `<|im_end|>`.

Each family of models has its own, and new ones come every month. They are known by their shape, and
what they mean by the words of their names.
"""

import re
from typing import Literal, NamedTuple, TypeAlias

Meaning: TypeAlias = Literal["thought", "call", "begin", "end", "channel", "ours", "other"]

_BAR = r"[|\uff5c]"
_NAME = r"[A-Za-z][\w\u2581:.-]*"
TAG = re.compile(
    rf"<(?P<bar>{_BAR}?)(?P<slash>/?)(?:DSML{_BAR})?(?P<name>{_NAME})(?P<rest>[^<>\n]{{0,160}})>"
    r"|\[(?P<slash2>/?)(?P<name2>[A-Z][A-Z_]{2,30})\]"
    rf"|◁(?P<slash3>/?)(?P<name3>{_NAME})▷"
    r"|<<(?P<name4>[A-Z]{3,10}) (?P<rest4>\w{1,40})>>\n?"
)
HALF_TAG = re.compile(
    rf"(?:<<[^<>\n]{{0,60}}>?|<(?:{_BAR}?/?(?:[A-Za-z][^<>\n]{{0,160}})?)?|\[/?[A-Z_]{{0,31}}|◁[^▷]{{0,20}})\Z"
)
_WORDS = re.compile(r"[a-z]+")
_THOUGHTS = frozenset(
    {"think", "thinking", "thought", "thoughts", "reasoning", "reflection", "analysis",
     "scratchpad", "internal", "inner", "monologue", "reflect"}
)  # fmt: skip
_CALLS = frozenset(
    {"tool", "tools", "toolcall", "function", "functions", "call", "calls", "invoke", "action",
     "python", "parameter", "arg", "args", "dsml", "observation", "results"}
)  # fmt: skip
_ENDS = frozenset(
    {"eos", "eot", "eom", "endoftext", "return", "end", "im_end", "end_of_turn", "end_of_text",
     "s", "stop", "inst", "eod", "end_of_sentence", "end_of_msg"}
)  # fmt: skip
_AROUND = ("s", "bos", "pad", "escape", "answer", "final_answer", "response", "output", "reply")
_STARTS = frozenset({"im_start", "start", "start_header_id", "start_of_turn", "start_of_role"})
_IN_CAPITALS = frozenset(
    {"TOOL_CALLS", "TOOL_CALL", "ARGS", "CALL_ID", "THINK", "INST", "TOOL_RESULTS",
     "AVAILABLE_TOOLS", "TOOL_CONTENT"}
)  # fmt: skip


class Tag(NamedTuple):
    """One mark.

    Attributes:
        closes: Whether it ends what another began.
        closer: What ends what it begins; "" where nothing does.
    """

    meaning: Meaning
    name: str
    closes: bool
    closer: str
    start: int
    end: int


def tag_at(text: str, at: int = 0) -> Tag | None:
    """Return the first mark from `at` on; other things in brackets are text."""
    for found in TAG.finditer(text, at):
        if (tag := _read(found)) is not None:
            return tag
    return None


def _read(found: re.Match[str]) -> Tag | None:
    name = next(filter(None, (found["name"], found["name2"], found["name3"], found["name4"])))
    slash = bool(found["slash"] or found["slash2"] or found["slash3"])
    if found["name4"]:
        return Tag("ours", name, name == "END", f"<<END {found['rest4']}>>", *found.span())
    if found["name2"] and name not in _IN_CAPITALS:
        return None
    plain = name.lower().replace("\u2581", "_")
    words = _WORDS.findall(plain)
    is_last = words[-1] in ("end", "suffix")
    closes = slash or words[0] == "end" or is_last
    closer = found[0][:1] + "/" + found[0][1:]  # `[/THINK]`
    if found["name"]:
        closer = f"</{name}>" if not found["bar"] else ""
        closer = closer if "DSML" not in found[0] else f"</\uff5cDSML\uff5c{name}>"
        for begin, end in (("begin", "end"), ("start", "end"), ("BEGIN", "END"), ("START", "END")):
            if begin in name:
                closer = found[0].replace(begin, end)
    if name in _IN_CAPITALS and "TOOL" in name:
        closer = ""
    meaning = _meaning(plain, words, slash=slash, is_barred=bool(found["bar"]))
    return None if meaning is None else Tag(meaning, plain, closes, closer, *found.span())


def _meaning(name: str, words: list[str], *, slash: bool, is_barred: bool) -> Meaning | None:
    if name in ("channel", "message", "constrain"):
        return "channel" if is_barred else None
    if not _THOUGHTS.isdisjoint(words):
        return "thought"
    if name in _STARTS:
        return "begin"
    if name in _ENDS and (is_barred or name != "end") and (slash or name != "s"):
        return "end"
    if not _CALLS.isdisjoint(words):
        return "call"
    return "other" if is_barred or name in _AROUND else None
