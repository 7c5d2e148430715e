"""A clinician's own address book, said without naming a product."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from data_models.conversations.effects import Effect
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


class AddressBook(Protocol):
    """One person's contacts. Every method raises `AssistantError` where they cannot be used."""

    async def search(self, words: str, *, limit: int) -> Sequence[Contact]:
        """Return at most `limit` contacts that hold all `words`, by name; "" fits all.

        A back end that pages follows its pages until `limit` is reached.
        """
        ...

    async def get(self, contact_id: str) -> Contact | None:
        """Return one contact, or None if it is gone."""
        ...

    async def add(self, contact: Contact, effect: Effect) -> Contact:
        """Add a contact, once under the key of `effect`."""
        ...

    async def change(self, contact_id: str, change: ContactChange) -> Contact:
        """Change a contact.

        Raises:
            AssistantItemGoneError: it is gone.
        """
        ...

    async def delete(self, contact_id: str) -> bool:
        """Remove a contact; False if it was gone already."""
        ...


def fits(words: str, *texts: str) -> bool:
    """Tell whether every word of `words` begins a word of `texts`; case and accents are folded."""
    held = tokens_of(" ".join(texts))
    return all(any(one.startswith(word) for one in held) for word in tokens_of(words))
