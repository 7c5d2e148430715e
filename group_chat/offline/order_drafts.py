"""The offline rules of the agent that drafts orders: what is ordered, in the user's own words."""

from group_chat.offline.elsewhere import handed_back
from group_chat.offline.prompt import Prompt
from group_chat.offline.reply import Call, OfflineReply
from group_chat.offline.words import best_match
from services.language.addressing import without_address
from services.language.own_texts import in_own_language
from services.language.phrases import parts_in, says

DRAFT_TOOL = "draft_order"
_STANDING_TOOL = "order_drafts_of"
_WITHDRAW_TOOL = "withdraw_order_draft"
_WORDS = "drafts of orders"


def who_drafts(prompt: Prompt) -> str | None:
    """Return who drafts orders, where the user orders a test or takes a draft of one back."""
    agent = best_match(_WORDS, prompt.team)
    drafts = agent is not None and _WORDS in prompt.team[agent]
    is_theirs = says(prompt.asked, "orders_test", "asks_whether_drafted", "withdraws_order")
    return agent if drafts and is_theirs else None


def answer_about_orders(prompt: Prompt) -> OfflineReply:
    """Have the tool ask the user, or say why it did not."""
    if (elsewhere := handed_back(prompt, topic="order")) is not None:
        return elsewhere
    if prompt.answers:
        return OfflineReply(text=_told(prompt))
    if says(prompt.asked, "withdraws_order"):
        return _call(prompt, _WITHDRAW_TOOL, {})
    if standing := _test_in(prompt.asked, "asks_whether_drafted"):
        return _call(prompt, _STANDING_TOOL, {"test": standing})
    test = _test_in(prompt.asked, "orders_test")
    if not test:
        return OfflineReply(text=prompt.text("which_test"))
    return _call(prompt, DRAFT_TOOL, {"test": test})


def _call(prompt: Prompt, name: str, arguments: dict[str, str]) -> OfflineReply:
    tool = prompt.tool(name)
    if tool is None:
        return OfflineReply(text=prompt.text("no_tool"))
    return OfflineReply(calls=(Call(tool.wire_name, arguments),))


def _told(prompt: Prompt) -> str:
    data = prompt.answers[-1].data
    problem = data.get("error")
    if not problem:
        return str(data.get("standing") or prompt.text("see_card"))
    reason = str(problem).partition("; nothing is prepared")[0]
    return prompt.text("did_not_work", problem=in_own_language(reason, prompt.language))


def _test_in(text: str, kind: str) -> str:
    """Return the test that such a sentence names, as written; "" where none stands there."""
    found = parts_in(without_address(text), kind) or {}
    return found.get("test", "")
