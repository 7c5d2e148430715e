"""Tells whether a text names a patient. Pure."""

import json
import re
from collections.abc import Iterator

from pydantic import BaseModel

from data_models.conversations.conversation import (
    WHO_KINDS,
    Conversation,
    Interruption,
    OpenQuestion,
)
from data_models.identifiers import PatientId
from data_models.values import read_if_whole
from services.patient_context.answers import ASKED
from services.patient_context.reading.candidates import digits_of


class _Waiting(BaseModel):
    """What of a conversation document waits for the next message."""

    open_question: OpenQuestion | None = None
    other_questions: list[OpenQuestion] = []
    interruption: Interruption | None = None


def names(data: bytes, patient_id: PatientId) -> bool:
    """Whether the id stands in `data`; patient_4 is not in patient_40."""
    whole = rb"(?i)(?<![a-z0-9])%s(?![a-z0-9])" % re.escape(patient_id.encode())
    return re.search(whole, data) is not None


def may_name(text: str, patient_id: PatientId) -> bool:
    """Whether people may mean the patient by `text`: it has the id, or the id's number alone."""
    number = rf"(?<![0-9])0*{digits_of(patient_id)}(?![0-9])"
    return names(text.encode(), patient_id) or re.search(number, text) is not None


def is_waited_for(conversation: bytes, patient_id: PatientId) -> bool:
    """Whether a conversation document, as stored, names the patient where it waits for words.

    One that cannot be read does if the id is in it.
    """
    if (waiting := read_if_whole(conversation, _Waiting)) is None:
        return names(conversation, patient_id)
    return any(may_name(words, patient_id) for words in _words(waiting))


def forget_what_waits(conversation: Conversation, patient_id: PatientId) -> None:
    """Remove the questions and the interrupted turn that are the patient's or may name them.

    A wish that waits for its patient goes whatever it says: it may call this one by name.
    """
    questions, died = conversation.questions, conversation.interruption
    left = [_without_wish(one) for one in questions if not _is_theirs(one, patient_id)]
    conversation.keep_questions(left)
    if died is not None and _is_of(died, patient_id):
        conversation.interruption = None


def _without_wish(question: OpenQuestion) -> OpenQuestion:
    rest = {key: value for key, value in question.payload.items() if key != ASKED}
    return question.model_copy(update={"payload": rest})


def _is_theirs(question: OpenQuestion, patient_id: PatientId) -> bool:
    said = any(may_name(words, patient_id) for words in _words(_Waiting(open_question=question)))
    return said or question.patient_id == patient_id


def _is_of(died: Interruption, patient_id: PatientId) -> bool:
    theirs = (died.patient_id, died.deeds_for, *(change.patient_id for change in died.deeds))
    return patient_id in theirs or may_name(died.asked, patient_id)


def _words(waiting: _Waiting) -> Iterator[str]:
    """Yield what was said or asked, and the ids that are offered."""
    for question in [*waiting.other_questions, waiting.open_question]:
        if question is None:
            continue
        # Whose a wish is, is asked with an example, which may be anybody's id.
        yield "" if question.kind in WHO_KINDS else question.text
        yield json.dumps(question.payload)
    if waiting.interruption is not None:
        yield waiting.interruption.asked
