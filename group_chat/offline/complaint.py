"""The offline rules of the agents for health: ask about a complaint, one thing at a time."""

import re

from group_chat.offline.prompt import Prompt
from group_chat.offline.reply import OfflineReply
from group_chat.offline.words import works_on
from services.language.phrases import says
from services.language.ratings import rating_in
from services.language.talk_texts import in_every_language

_SPEAKER = re.compile(r"\AYou are (?P<name>[A-Za-z][\w-]{0,63})\.")
_SHORT_WORDS = 8


def is_about_complaint(prompt: Prompt) -> bool:
    """Whether the user tells an agent for health of a complaint, outside of any plan."""
    return _is_for_health(prompt) and says(prompt.asked, "own_complaint")


def answer_about_complaint(prompt: Prompt) -> OfflineReply | None:
    """Take the answer to a question of ours, and ask the next; None for any other message."""
    if not _is_for_health(prompt) or prompt.answers or not prompt.earlier:
        return None
    last = prompt.earlier[-1].text.rstrip()
    rating = rating_in(prompt.asked)
    if last.endswith(in_every_language("severity")) and rating is not None:
        return OfflineReply(text=f"{prompt.text('rated', rating=rating)}\n\n{prompt.text('onset')}")
    is_short = len(prompt.asked.split()) <= _SHORT_WORDS and "?" not in prompt.asked
    if last.endswith(in_every_language("onset")) and is_short:
        said = " ".join(prompt.asked.split()).rstrip(".")
        return OfflineReply(text=prompt.text("both_noted", said=said))
    return None


def _is_for_health(prompt: Prompt) -> bool:
    speaker = _SPEAKER.search(prompt.instructions)
    return speaker is not None and prompt.cue.kind == "none" and works_on("health", speaker["name"])
