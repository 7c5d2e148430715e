"""The offline rules for questions about what was said earlier: look it up, and quote it."""

from collections.abc import Mapping
from typing import Any

from group_chat.offline.prompt import Prompt
from group_chat.offline.reply import Call, OfflineReply
from group_chat.offline.words import query_of
from services.language.addressing import without_address
from services.language.phrases import says, without

RECALL_TOOL = "recall"


def asks_to_remember(prompt: Prompt) -> bool:
    """Whether the user asks what was said, and the agent can look it up."""
    has_tool = prompt.tool(RECALL_TOOL) is not None
    return has_tool and says(prompt.asked, "remember") and not says(prompt.asked, "roster")


def answer_from_memory(prompt: Prompt) -> OfflineReply:
    """Call the tool, or, once it has answered, quote what it found."""
    tool = prompt.tool(RECALL_TOOL)
    answers = [one for one in prompt.answers if one.name == RECALL_TOOL]
    if tool is not None and not answers:
        query = (
            query_of(without(without_address(prompt.asked), "frame_of_recall"))
            or prompt.asked[:400]
        )
        return OfflineReply(calls=(Call(tool.wire_name, {"query": query}),))
    data = answers[-1].data if answers else {}
    if data.get("error"):
        return OfflineReply(text=prompt.text("no_recall", problem=data["error"]))
    rows = [_quoted(prompt, row) for row in data.get("remarks", ())]
    if not rows:
        count = data.get("turns_searched", 0)
        return OfflineReply(text=prompt.text("nothing_said", count=count))
    return OfflineReply(text="\n".join([prompt.text("said_earlier"), *rows]))


def _quoted(prompt: Prompt, row: Mapping[str, Any]) -> str:
    who = prompt.text("you") if row.get("speaker") == "user" else row.get("speaker", "")
    said = " ".join(str(row.get("said", "")).split())
    day = str(row.get("at", ""))[:10]
    return prompt.text("turn_of", turn=row.get("turn"), day=day, who=who, said=said)
