"""A user's contacts in Microsoft Graph."""

from collections.abc import Sequence

from data_models.conversations.conversation import Effect
from data_models.errors import AssistantError, AssistantItemGoneError
from services.assistant.contacts import Contact, ContactChange, fits
from services.assistant.graph.graph_account import IMMUTABLE, GraphAccount, create_marked
from services.assistant.graph.graph_shapes import GraphContact, shaped
from services.assistant.graph.graph_wire import Json, segment

_FIELDS = "id,displayName,emailAddresses,mobilePhone,businessPhones,homePhones,companyName"
_QUERY = {"$select": _FIELDS}
_PAGE = "100"
_TRIES = 3


class GraphAddressBook:
    """An `AddressBook` over the default folder."""

    def __init__(self, *, account: GraphAccount) -> None:
        self._account = account.preferring(IMMUTABLE)

    async def search(self, words: str, *, limit: int) -> Sequence[Contact]:
        """See `AddressBook.search`; Graph itself finds contacts by a whole address only."""
        query = {**_QUERY, "$orderby": "displayName", "$top": _PAGE}
        found: list[Contact] = []
        async for row in self._account.rows("contacts", query):
            contact = _contact(shaped(GraphContact, row))
            if fits(words, contact.name, contact.email, contact.phone, contact.organization):
                found.append(contact)
            if len(found) == limit:
                break
        return sorted(found, key=lambda contact: contact.name.casefold())

    async def get(self, contact_id: str) -> Contact | None:
        row = await self._row(contact_id)
        return None if row is None else _contact(row)

    async def add(self, contact: Contact, effect: Effect) -> Contact:
        body: Json = {"displayName": contact.name, "givenName": contact.name}
        if contact.email:
            body["emailAddresses"] = [{"address": contact.email, "name": contact.name}]
        if contact.phone:
            body["businessPhones"] = [contact.phone]
        if contact.organization:
            body["companyName"] = contact.organization
        row = await create_marked(self._account, "contacts", body, effect, among="contacts")
        return _contact(shaped(GraphContact, row))

    async def change(self, contact_id: str, change: ContactChange) -> Contact:
        """See `AddressBook.change`; further addresses and phones of the contact stay."""
        for _ in range(_TRIES):
            if (row := await self._row(contact_id)) is None:
                raise AssistantItemGoneError("the contact is no longer there")
            answer = await self._account.patch(
                f"contacts/{segment(contact_id)}", _changed(row, change), etag=row.etag
            )
            if not answer.is_stale:
                return _contact(shaped(GraphContact, answer.value()))
        raise AssistantError("the contact changed again and again meanwhile; nothing was changed")

    async def delete(self, contact_id: str) -> bool:
        return await self._account.delete(f"contacts/{segment(contact_id)}", {"$select": "id"})

    async def _row(self, contact_id: str) -> GraphContact | None:
        return await self._account.find(GraphContact, f"contacts/{segment(contact_id)}", _QUERY)


def _changed(row: GraphContact, change: ContactChange) -> Json:
    body: Json = {}
    name = row.display_name if change.name is None else change.name
    if change.name is not None:
        body["displayName"] = change.name
    if change.organization is not None:
        body["companyName"] = change.organization
    if change.email is not None:
        own = [{"address": change.email, "name": name}] if change.email else []
        rest = [{"address": one.address, "name": one.name} for one in row.email_addresses[1:]]
        body["emailAddresses"] = own + rest
    if change.phone is not None:
        body |= _phone(row, change.phone)
    return body


def _phone(row: GraphContact, phone: str) -> Json:
    """Return the change of the phone that `_contact` shows."""
    own = [phone] if phone else []
    if row.mobile_phone:
        return {"mobilePhone": phone or None}
    if row.business_phones or not row.home_phones:
        return {"businessPhones": own + list(row.business_phones[1:])}
    return {"homePhones": own + list(row.home_phones[1:])}


def _contact(row: GraphContact) -> Contact:
    phones = (row.mobile_phone, *row.business_phones, *row.home_phones)
    return Contact(
        id=row.id,
        name=row.display_name,
        email=row.email_addresses[0].address if row.email_addresses else "",
        phone=next((phone for phone in phones if phone), ""),
        organization=row.company_name,
    )
