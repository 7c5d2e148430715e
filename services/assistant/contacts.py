"""A clinician's own address book, said without naming a product."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from data_models.conversations.conversation import Effect
from services.assistant.own_things import OwnThings
from services.language.pointing.folding import tokens_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Contact:
    """One person; `id` is "" until they are in a book."""

    id: str = ""
    name: str
    email: str = ""
    phone: str = ""
    organization: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContactChange:
    """What becomes different; None stays, "" is emptied."""

    name: str | None = None
    email: str | None = None
    phone: str | None = None
    organization: str | None = None


class AddressBook(OwnThings[Contact], Protocol):
    """One person's contacts."""

    async def search(self, words: str, *, limit: int) -> Sequence[Contact]:
        """Return at most `limit` contacts that hold all `words`, by name; "" fits all."""
        ...

    async def add(self, contact: Contact, effect: Effect) -> Contact:
        """Add a contact."""
        ...

    async def change(self, contact_id: str, change: ContactChange) -> Contact:
        """Change a contact."""
        ...


def fits(words: str, *texts: str) -> bool:
    """Tell whether every word of `words` begins a word of `texts`; case and accents are folded."""
    held = tokens_of(" ".join(texts))
    return all(any(one.startswith(word) for one in held) for word in tokens_of(words))
