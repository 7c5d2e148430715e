"""What an agent does with a message that is not for it: it hands it back to who leads."""

from group_chat.offline.plain_talk import courtesy, plain_answer
from group_chat.offline.prompt import OfflineReply, Prompt, ends_with
from group_chat.offline.words import asks_overview, topics_of, wants_plan
from services.language.appointment_slots import slots_in
from services.language.full_dates import full_dates
from services.language.phrases import says
from services.language.references import references_in
from services.language.talk_texts import told_in
from services.language.text_words import asks_question
from services.language.work import work_in

# The phrases of each agent's own work.
_OWN = {
    "appointment": ("of_booking", "when_is_it"),
    "registration": ("of_registration",),
    "order": ("orders_test", "asks_whether_drafted", "withdraws_order"),
}


def handed_back(prompt: Prompt, *, topic: str) -> OfflineReply | None:
    """Return the message to who leads, if it answers no question of an agent for `topic`."""
    asked = bool(prompt.earlier) and prompt.earlier[-1].text.rstrip().endswith("?")
    is_elsewhere = _is_elsewhere(prompt, topic) if asked else _is_of_chart(prompt, topic)
    if prompt.answers or prompt.said or not is_elsewhere:
        return None
    leader = next((one.agent for one in reversed(prompt.earlier) if _passes_on(one.text)), None)
    if leader is None:
        return prompt.say("not_for_me_alone")
    return OfflineReply(text=f"*{leader}*, {prompt.text('not_for_me')}")


def is_handed_back(prompt: Prompt) -> bool:
    """Whether what was said last is such a message."""
    return bool(prompt.said) and ends_with(prompt.said[-1].text, "not_for_me")


def _passes_on(text: str) -> bool:
    last = text.rstrip().rpartition("\n")[2]
    return any(told_in(name, last) is not None for name in ("see_to_this", "from_the_record"))


def _is_of_chart(prompt: Prompt, topic: str) -> bool:
    """Whether something of the chart is asked after an arrangement that is over."""
    asks = prompt.utterance is not None and bool(prompt.utterance.about)
    return asks and bool(prompt.earlier) and not _is_own(prompt.asked, topic)


def _is_elsewhere(prompt: Prompt, topic: str) -> bool:
    text = prompt.asked
    if work_in(text) == "own" or says(text, "task", "email"):
        return True
    if _is_own(text, topic) or says(text, "move_or_change") or references_in(text):
        return False
    is_plain = not courtesy(prompt) and plain_answer(prompt) is not None
    if wants_plan(text) or says(text, "roster") or is_plain:
        return True
    if slots_in(text, is_booking=True):
        return False
    asks = asks_question(text) and len(text.split()) > 1
    return asks or asks_overview(text) or bool(topics_of(text) - {topic})


def _is_own(text: str, topic: str) -> bool:
    """Whether the text has a word of the agent's own work."""
    is_birth = topic == "registration" and bool(full_dates(text))
    return is_birth or says(text, *_OWN[topic])
