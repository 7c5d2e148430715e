"""Mail in Microsoft Graph: found, read and drafted; sent once."""

from datetime import UTC, datetime, timedelta

import pytest

from data_models.errors import AssistantItemGoneError, AssistantUnsureError
from services.assistant.back_end import AssistantServices
from services.assistant.own_things import (
    MAIL_HEAD_LIMIT_CHARS,
    MAIL_TEXT_LIMIT_CHARS,
    NewEmail,
    Span,
)
from services.assistant.undo_log import shown
from tests.fakes_graph import FakeGraph
from tests.fakes_graph_data import User
from tests.services.assistant.effects import fresh
from tests.tables import with_cases

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
HELLO = NewEmail(to=("ben@clinic.example",), subject="Board", text="At three?")


def fill(ada: User) -> None:
    for number, sender in enumerate(["Anna Schmidt", "Ben Roth", "Anna Schmidt", "Eva Lang"]):
        received = NOON + timedelta(days=number)
        ada.message(f"Slides {number}", "Please look.", sender=sender, received=received)
    ada.message("Slides 9", "From me", sender="Ada", received=NOON, folder="sentitems")


async def test_the_inbox_is_listed_newest_first(
    graph: FakeGraph, ada: User, own: AssistantServices
) -> None:
    fill(ada)
    found = await own.mail.search("", limit=3)
    assert [mail.subject for mail in found] == ["Slides 3", "Slides 2", "Slides 1"]
    assert found[0].sender == "Eva Lang <eva@x.example>"
    assert found[0].text == "Please look."
    assert not found[0].is_read
    assert graph.asked[0].query["$orderby"] == "receivedDateTime desc"


async def test_mail_is_found_by_words_and_span(ada: User, own: AssistantServices) -> None:
    fill(ada)
    assert [one.subject for one in await own.mail.search("anna slides", limit=9)] == [
        "Slides 2",
        "Slides 0",
    ]
    since, until = NOON + timedelta(hours=1), NOON + timedelta(days=2)
    for words in ("", "slides"):
        found = await own.mail.search(words, within=Span(since, until), limit=9)
        assert [one.subject for one in found] == ["Slides 1"]


@with_cases("words")
async def test_words_cannot_steer_the_search(
    graph: FakeGraph, ada: User, own: AssistantServices, words: str
) -> None:
    fill(ada)
    await own.mail.search(words, limit=9)
    search = graph.asked[0].query["$search"]
    assert search.count('"') == 2
    assert not set(search) & set(":()*<>=")
    assert search == search.lower()


async def test_a_message_is_read_as_plain_text(
    graph: FakeGraph, ada: User, own: AssistantServices
) -> None:
    long = ada.message("Long", "é" * 30_000, sender="Ben", received=NOON)
    found = await own.mail.get(long)
    assert found is not None
    assert found.text == "é" * 30_000
    assert shown(found, UTC)["body"] == "é" * MAIL_TEXT_LIMIT_CHARS
    assert 'outlook.body-content-type="text"' in graph.asked[0].headers["prefer"]
    (listed,) = await own.mail.search("", limit=1)
    assert len(listed.text) <= MAIL_HEAD_LIMIT_CHARS
    assert await own.mail.get("gone") is None


async def test_a_message_says_in_which_folder_it_is(ada: User, own: AssistantServices) -> None:
    folders = {}
    for folder in ("inbox", "sentitems", "drafts"):
        found = await own.mail.get(
            ada.message("x", "x", sender="Ben", received=NOON, folder=folder)
        )
        assert found is not None
        folders[folder] = found.folder
    assert folders == {"inbox": "inbox", "sentitems": "sent", "drafts": "drafts"}


async def test_an_answer_belongs_to_its_conversation(ada: User, own: AssistantServices) -> None:
    answered = ada.message("Slides", "?", sender="Ben Roth", received=NOON)
    reply = NewEmail(to=("ben@x.example",), subject="Re: Slides", text="Yes", answers=answered)
    made = await own.mail.draft(reply, fresh())
    assert ada.messages[made.id]["conversationId"] == answered
    gone = NewEmail(to=("ben@x.example",), subject="Re", text="Yes", answers="gone")
    with pytest.raises(AssistantItemGoneError):
        await own.mail.draft(gone, fresh())


@pytest.mark.parametrize("answers", [False, True])
async def test_a_draft_is_written_once_although_the_answer_is_lost(
    graph: FakeGraph, ada: User, own: AssistantServices, answers: bool
) -> None:
    answered = ada.message("Slides", "?", sender="Ben Roth", received=NOON)
    for _ in range(2):
        graph.lose_next()
        made = await own.mail.draft(
            NewEmail(
                to=("ben@x.example",),
                subject="Same",
                text="Same",
                answers=answered if answers else "",
            ),
            fresh(),
        )
        assert made.id in ada.messages
    assert len(ada.messages) == 3


async def test_a_received_message_is_never_sent(ada: User, own: AssistantServices) -> None:
    assert not await own.mail.send(ada.message("x", "x", sender="Ben", received=NOON))
    assert ada.sent == {}


async def test_a_sending_whose_answer_is_lost_is_not_done_twice(
    graph: FakeGraph, ada: User, own: AssistantServices
) -> None:
    made = await own.mail.draft(HELLO, fresh())
    graph.pass_next()
    graph.lose_next()
    assert await own.mail.send(made.id)
    assert ada.sent == {made.id: 1}


async def test_a_sending_that_cannot_be_seen_is_left_to_people(
    graph: FakeGraph, ada: User, own: AssistantServices
) -> None:
    made = await own.mail.draft(HELLO, fresh())
    graph.pass_next()
    graph.fail_next(504)
    with pytest.raises(AssistantUnsureError):
        await own.mail.send(made.id)
    assert len([one for one in graph.asked if one.path.endswith("/send")]) == 1
