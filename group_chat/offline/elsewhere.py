"""What an agent does with a message that is not for it: it hands it back to who leads."""

import re

from group_chat.offline.moving import MOVE
from group_chat.offline.plain_talk import courtesy, plain_answer
from group_chat.offline.prompt import Prompt
from group_chat.offline.reply import OfflineReply
from group_chat.offline.words import OVERVIEW, PLAN, QUESTION, ROSTER, topics_of
from services.entities.wishes import wishes_in

NOT_FOR_ME = "this is not for me."
_PASSED_ON = re.compile(r"\*, please (?:see to this|answer this from the record)\.\s*\Z")
_OWN = {
    "appointment": re.compile(
        r"(?i)\b(?:appointments?|book(?:ing)?|cancel|call off|slots?|doctors?|dr|visits?|free)\b"
    ),
    "registration": re.compile(
        r"(?i)\b(?:regist\w+|insur\w+|cover\w*|eligib\w+|born|birth)\b|\d{4}"
    ),
}
_ALONE = (
    "That is not for me, and nothing was changed. Please ask it once more, and who can answer it "
    "will."
)


def handed_back(prompt: Prompt, *, topic: str) -> OfflineReply | None:
    """Return the message to who leads, if it answers no question of an agent for `topic`."""
    asked = bool(prompt.earlier) and prompt.earlier[-1].text.rstrip().endswith("?")
    is_elsewhere = _is_elsewhere(prompt, topic) if asked else _is_of_chart(prompt, topic)
    if prompt.answers or prompt.said or not is_elsewhere:
        return None
    leader = next(
        (one.agent for one in reversed(prompt.earlier) if _PASSED_ON.search(one.text)), None
    )
    return OfflineReply(text=_ALONE if leader is None else f"*{leader}*, {NOT_FOR_ME}")


def is_handed_back(prompt: Prompt) -> bool:
    """Whether what was said last is such a message."""
    return bool(prompt.said) and prompt.said[-1].text.endswith(NOT_FOR_ME)


def _is_of_chart(prompt: Prompt, topic: str) -> bool:
    """Whether something of the chart is asked after an arrangement that is over."""
    asks = prompt.utterance is not None and bool(prompt.utterance.about)
    return asks and bool(prompt.earlier) and not _OWN[topic].search(prompt.asked)


def _is_elsewhere(prompt: Prompt, topic: str) -> bool:
    text = prompt.asked
    if _OWN[topic].search(text) or MOVE.search(text):
        return False
    is_plain = not courtesy(prompt) and plain_answer(prompt) is not None
    if PLAN.search(text) or ROSTER.search(text) or is_plain:
        return True
    if wishes_in(text, is_booking=True):
        return False
    asks = QUESTION.search(text) is not None and len(text.split()) > 1
    return asks or OVERVIEW.search(text) is not None or bool(topics_of(text) - {topic})
