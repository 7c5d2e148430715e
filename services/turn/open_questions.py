"""What still waits for an answer once a turn has ended. Pure."""

from collections.abc import Iterable, Iterator

from data_models.conversation import Conversation, OpenQuestion
from data_models.identifiers import PatientId


def has_ended_question(conversation: Conversation, user: str) -> bool:
    """Whether somebody else ended what this user was asked last, who does not know yet."""
    question = conversation.question_of(user)
    return question is not None and question.is_over


def waiting_after(
    questions: Iterable[OpenQuestion],
    *,
    user: str,
    asked: OpenQuestion | None,
    was_answered: bool,
    changed_chart: bool,
    active: PatientId | None,
) -> Iterator[OpenQuestion]:
    """Yield what waits after a turn of `user`, the newest last.

    A change of the chart, which all of a group see, ends everybody's; others learn of it.
    """
    for one in questions:
        is_withdrawn = changed_chart and not one.is_set_aside(active)
        if one.user != user:
            yield one.ended() if is_withdrawn else one
        elif not (is_withdrawn or was_answered or one.is_over or asked is not None):
            yield one
    if asked is not None:
        yield asked
