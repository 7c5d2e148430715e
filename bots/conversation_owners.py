"""Under which id a channel's conversation is kept: nobody else's, whoever came first."""

from bots.inbound import Inbound
from bots.incoming import owner_of, required
from data_models.identifiers import is_web_name
from services.views.conversation_reader import ConversationReader


class ConversationOwners:
    """Finds conversations. An id that the web cannot claim, as all of Teams', is kept as it is."""

    def __init__(self, *, reader: ConversationReader) -> None:
        self._reader = reader

    async def find(self, activity: Inbound) -> str:
        """Return the id of the conversation of `activity`.

        Some channels name conversations so that a web user could have claimed the name; then the
        channel's is kept under its owner's and its own name together.

        Raises:
            BadFrameError: it names no conversation.
            StoreError: nobody can tell just now whose it is.
        """
        name = required(activity.conversation).id
        if is_web_name(name) and await self._reader.is_web_conversation(name):
            return f"{owner_of(activity)}:{name}"
        return name
