"""The offline rules of the agents for health: ask about a complaint, one thing at a time."""

from group_chat.offline.prompt import OfflineReply, Prompt
from services.language.phrases import says
from services.language.ratings import rating_in
from services.language.talk_texts import ends_with_text

_SHORT_WORDS = 8


def answer_about_complaint(prompt: Prompt) -> OfflineReply | None:
    """Ask about the user's own complaint, one thing at a time; None for any other message.

    It is the user's: nothing of the open chart belongs into it. Who hears complaints is who closes
    each answer with a caution.
    """
    if not prompt.closing or prompt.cue == "step" or prompt.answers:
        return None
    rating = rating_in(prompt.asked)
    if ends_with_text(prompt.shown_before, "severity") and rating is not None:
        return OfflineReply(text=f"{prompt.text('rated', rating=rating)}\n\n{prompt.text('onset')}")
    is_short = len(prompt.asked.split()) <= _SHORT_WORDS and "?" not in prompt.asked
    if ends_with_text(prompt.shown_before, "onset") and is_short:
        return prompt.say("both_noted", said=" ".join(prompt.asked.split()).rstrip("."))
    if says(prompt.asked, "own_complaint"):
        return OfflineReply(text=f"{prompt.closing}\n\n{prompt.text('severity')}")
    return None
