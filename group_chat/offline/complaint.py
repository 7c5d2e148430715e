"""The offline rules of the agents for health: ask about a complaint, one thing at a time."""

import re

from group_chat.offline.prompt import OfflineReply, Prompt
from group_chat.offline.words import topics_of_agent
from services.language.phrases import says
from services.language.ratings import rating_in

_SPEAKER = re.compile(r"(?m)^You are (?P<name>[A-Za-z][\w-]{0,63})\.")
_SHORT_WORDS = 8


def answer_about_complaint(prompt: Prompt) -> OfflineReply | None:
    """Ask about the user's own complaint, one thing at a time; None for any other message.

    It is the user's: nothing of the open chart belongs into it.
    """
    if not _is_for_health(prompt) or prompt.answers:
        return None
    rating = rating_in(prompt.asked)
    if prompt.was_asked("severity") and rating is not None:
        return OfflineReply(text=f"{prompt.text('rated', rating=rating)}\n\n{prompt.text('onset')}")
    is_short = len(prompt.asked.split()) <= _SHORT_WORDS and "?" not in prompt.asked
    if prompt.was_asked("onset") and is_short:
        return prompt.say("both_noted", said=" ".join(prompt.asked.split()).rstrip("."))
    if says(prompt.asked, "own_complaint"):
        return OfflineReply(text=f"{prompt.closing}\n\n{prompt.text('severity')}".strip())
    return None


def _is_for_health(prompt: Prompt) -> bool:
    speaker = _SPEAKER.search(prompt.instructions)
    if speaker is None or prompt.cue == "step":
        return False
    return "health" in topics_of_agent(speaker["name"])
