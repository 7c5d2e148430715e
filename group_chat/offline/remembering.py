"""The offline rules for questions about what was said earlier: look it up, and quote it."""

import re
from collections.abc import Mapping
from typing import Any

from group_chat.offline.prompt import Prompt
from group_chat.offline.reply import Call, OfflineReply
from group_chat.offline.words import ROSTER, query_of

RECALL_TOOL = "recall"
_ASKS = re.compile(
    r"(?i)\bwhat (?:did|have|had|was) (?:i|we|you|he|she|it|been) ?(?:\w+ ){0,2}?"
    r"(?:say|said|tell|told|mention|mentioned|write|written|note|noted|discuss|discussed|talk"
    r"|talked)\b|\bwhat was said\b|\b(?:did|have) (?:i|we|you) (?:\w+ )?(?:say|said|tell|told"
    r"|mention|mentioned|discuss|discussed|talk|talked)\b|\bwhen did (?:i|we|you) (?:\w+ )?"
    r"(?:say|mention|discuss|talk)\b|\bdo you (?:still )?(?:remember|recall)\b"
    r"|\b(?:remind|recall)\b.{0,20}\bwhat\b|\bi (?:said|told you|mentioned) (?:\w+ ){0,4}"
    r"(?:earlier|before|at the (?:start|beginning))"
)
_FRAME = re.compile(
    r"(?i)@[\w-]+|\b(?:what|when|did|have|had|was|say|said|tell|told|mention(?:ed)?|writ(?:e|ten)|noted?"
    r"|discuss(?:ed)?|talk(?:ed)?|remember|recall|remind|still|earlier|before|again|about"
    r"|regarding|concerning|beginning|start)\b"
)


def asks_to_remember(prompt: Prompt) -> bool:
    """Whether the user asks what was said, and the agent can look it up."""
    if prompt.tool(RECALL_TOOL) is None or ROSTER.search(prompt.asked):
        return False
    return _ASKS.search(prompt.asked) is not None


def answer_from_memory(prompt: Prompt) -> OfflineReply:
    """Call the tool, or, once it has answered, quote what it found."""
    tool = prompt.tool(RECALL_TOOL)
    if tool is not None and not prompt.answers:
        query = query_of(_FRAME.sub(" ", prompt.asked)) or prompt.asked[:400]
        return OfflineReply(calls=(Call(tool.wire_name, {"query": query}),))
    data = prompt.answers[-1].data if prompt.answers else {}
    if data.get("error"):
        return OfflineReply(text=f"I could not look that up. {data['error']}")
    rows = [_quoted(row) for row in data.get("remarks", ())]
    if not rows:
        count = data.get("turns_searched", 0)
        return OfflineReply(text=f"I found nothing on that in the {count} earlier turns.")
    return OfflineReply(text="\n".join(["**Said earlier about this patient**", *rows]))


def _quoted(row: Mapping[str, Any]) -> str:
    who = "you" if row.get("speaker") == "user" else row.get("speaker", "")
    said = " ".join(str(row.get("said", "")).split())
    return f"> Turn {row.get('turn')}, {str(row.get('at', ''))[:10]}, {who}: “{said}”\n"
