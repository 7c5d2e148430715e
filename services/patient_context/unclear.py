"""What keeps a message from being decided: it is not clear whom it is about."""

from services.identity.subject import Subject
from services.language.patient_phrases import wording
from services.patient_context.afterwards import side_by_side_before
from services.patient_context.comparing import names_none_after_comparing
from services.patient_context.who import Who, against_ids


def what_is_unclear(who: Who) -> Subject | None:
    """Return what keeps a message from being decided; None if it is clear whom it is about."""
    reading = who.turn.reading
    if who.turn.registry.compared and names_none_after_comparing(who):
        return side_by_side_before(who)
    if reading.named or reading.doubt is not None:
        return against_ids(who)
    return who.subject if who.subject.outcome in ("several", "unsure") else None


def is_of_one_other(who: Who) -> bool:
    """Whether another is surely meant, and each number that stands for an id is theirs.

    A record number that a chart of the folder is known by is read as its id: `SYN-000007 CEA`.
    """
    reading, subject = who.turn.reading, who.subject
    if subject.outcome != "other" or reading.doubt is not None:
        return False
    is_theirs = all(one == subject.people[0].patient_id for one in reading.named)
    return is_theirs and not (reading.named and wording("passing").search(reading.order))
