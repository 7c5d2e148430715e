"""Contacts in one JSON file."""

from collections.abc import Sequence
from dataclasses import asdict

from data_models.effects import Effect
from services.assistant.contacts import Contact, ContactChange, NewContact
from services.assistant.local_rows import LocalRows, id_of
from services.assistant.words import fits


class LocalAddressBook:
    """An `AddressBook`."""

    def __init__(self, *, rows: LocalRows[Contact]) -> None:
        self._rows = rows

    async def search(self, words: str, *, limit: int) -> Sequence[Contact]:
        """See `AddressBook.search`."""
        found = [
            row
            for row in await self._rows.all()
            if fits(words, row.name, row.email, row.phone, row.organization)
        ]
        return sorted(found, key=lambda row: row.name.casefold())[:limit]

    async def get(self, contact_id: str) -> Contact | None:
        """See `AddressBook.get`."""
        return await self._rows.get(contact_id)

    async def add(self, contact: NewContact, effect: Effect) -> Contact:
        """See `AddressBook.add`."""
        return await self._rows.add(Contact(id=id_of("contact", effect), **asdict(contact)))

    async def change(self, contact_id: str, change: ContactChange) -> Contact:
        """See `AddressBook.change`."""
        values = {name: value for name, value in asdict(change).items() if value is not None}
        return await self._rows.change(contact_id, **values)

    async def delete(self, contact_id: str) -> bool:
        """See `AddressBook.delete`."""
        return await self._rows.remove(contact_id)
