"""Contacts in Microsoft Graph."""

from typing import Any

import pytest

from data_models.errors import AssistantError
from services.assistant.back_end import AssistantServices
from services.assistant.own_things import Contact, ContactChange
from tests.fakes_graph import FakeGraph
from tests.fakes_graph_data import User
from tests.services.assistant.effects import fresh
from tests.tables import with_cases


async def test_contacts_are_found_by_all_words_anywhere(ada: User, own: AssistantServices) -> None:
    ada.contact("Jörg Müller", email="mueller@clinic.example", companyName="Radiology")
    ada.contact("Anna Müller", email="anna@clinic.example")
    ada.contact("Ben Roth", mobilePhone="+49 170 1")
    assert [one.name for one in await own.contacts.search("muller", limit=9)] == [
        "Anna Müller",
        "Jörg Müller",
    ]
    (found,) = await own.contacts.search("radiology jorg", limit=9)
    assert (found.email, found.organization) == ("mueller@clinic.example", "Radiology")
    assert await own.contacts.search("radiology ben", limit=9) == []
    assert len(await own.contacts.search("", limit=9)) == 3


async def test_a_contact_is_added_once_although_the_answer_is_lost(
    graph: FakeGraph, ada: User, own: AssistantServices
) -> None:
    ada.contact("Zoë")
    graph.lose_next()
    made = await own.contacts.add(Contact(name="Zoë"), fresh())
    assert len(ada.contacts) == 2
    assert made.id == list(ada.contacts)[-1]


async def test_a_change_leaves_what_it_does_not_name(ada: User, own: AssistantServices) -> None:
    addresses = [
        {"name": "B", "address": "b@x.example"},
        {"name": "B", "address": "b@home.example"},
    ]
    found = ada.contact(
        "Ben", emailAddresses=addresses, businessPhones=["1", "2"], companyName="Lab"
    )
    changed = await own.contacts.change(found, ContactChange(email="ben@x.example", phone="9"))
    assert (changed.name, changed.email, changed.phone) == ("Ben", "ben@x.example", "9")
    row = ada.contacts[found]
    assert [one["address"] for one in row["emailAddresses"]] == ["ben@x.example", "b@home.example"]
    assert row["businessPhones"] == ["9", "2"]
    assert row["companyName"] == "Lab"
    emptied = await own.contacts.change(found, ContactChange(organization="", phone=""))
    assert (emptied.organization, emptied.phone) == ("", "2")


@with_cases("phones", "field", "value")
async def test_the_phone_that_was_shown_is_the_one_that_changes(
    ada: User, own: AssistantServices, phones: dict[str, Any], field: str, value: object
) -> None:
    found = ada.contact("Ben", **phones)
    assert (await own.contacts.change(found, ContactChange(phone="9"))).phone == "9"
    assert ada.contacts[found][field] == value


async def test_a_change_that_came_between_is_kept(
    graph: FakeGraph, ada: User, own: AssistantServices
) -> None:
    found = ada.contact("Ben", businessPhones=["1"])
    graph.before(2, lambda: ada.touch(ada.contacts, found, businessPhones=["1", "2"]))
    await own.contacts.change(found, ContactChange(phone="9"))
    assert ada.contacts[found]["businessPhones"] == ["9", "2"]


async def test_a_contact_that_changes_all_the_time_is_left_alone(
    graph: FakeGraph, ada: User, own: AssistantServices
) -> None:
    found = ada.contact("Ben")
    for _ in range(3):
        graph.pass_next()
        graph.fail_next(412)
    with pytest.raises(AssistantError, match="meanwhile"):
        await own.contacts.change(found, ContactChange(name="Benno"))
