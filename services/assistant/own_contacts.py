"""Whom of the user's own address book words may mean: no patient is meant then."""

from collections.abc import Collection
from datetime import UTC

from data_models.identifiers import PatientId
from services.assistant.back_end import AssistantBackEnd

_FOUND_LIMIT = 5


class OwnContacts:
    """Names of the contacts of whoever writes; nobody else's are looked through."""

    def __init__(self, *, back_end: AssistantBackEnd) -> None:
        self._back_end = back_end

    async def names(self, user: str, patient_id: PatientId | None, said: str) -> Collection[str]:
        """Return the names of at most five contacts that hold all words of `said`.

        Raises:
            AssistantError: they cannot be read.
        """
        if not said:
            return ()
        book = self._back_end.of(user, zone=UTC).contacts
        return [one.name for one in await book.search(said, limit=_FOUND_LIMIT)]
