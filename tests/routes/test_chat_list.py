"""Titles of conversations, what is put away, and the search: each user's own."""

from typing import Any

import pytest

from services.views.conversation_reader import OwnedChat
from tests.routes.conftest import ADA, BEN, Server, ask
from tests.routes.fakes import FakeReader


async def titles(server: Server, query: str = "", who: Any = ADA) -> dict[str, str]:
    _, told = await ask(server, "GET", f"/api/chats{query}", who=who)
    return {row["chat_id"]: row["title"] for row in told["chats"]}


async def test_a_title_is_of_the_first_question_until_its_user_names_it(used: Server) -> None:
    assert await titles(used) == {"chat_1": "question 1 # not a title"}
    called = await ask(used, "PATCH", "/api/chats/chat_1", body={"title": "  CT\n of  March "})
    assert called == (200, {"title": "CT of March", "archived": False})
    assert await titles(used) == {"chat_1": "CT of March"}
    await ask(used, "PATCH", "/api/chats/chat_1", body={"title": ""})
    assert await titles(used) == {"chat_1": "question 1 # not a title"}


async def test_a_title_is_of_the_first_question_where_that_is_among_older_turns(
    used: Server,
) -> None:
    reader = used.context.reader
    assert isinstance(reader, FakeReader)
    owner = used.scheduler.owners["chat_1"]
    document = await reader.document(OwnedChat("chat_1", owner), action="test")
    await reader.contexts.archive(document, reader.turns[:3])
    del reader.turns[:3]
    assert await titles(used) == {"chat_1": "question 1 # not a title"}


async def test_what_is_put_away_leaves_the_list_and_comes_back(used: Server) -> None:
    await ask(used, "PATCH", "/api/chats/chat_1", body={"archived": True})
    assert await titles(used) == {}
    assert list(await titles(used, "?archived=true")) == ["chat_1"]
    await ask(used, "PATCH", "/api/chats/chat_1", body={"archived": False})
    assert list(await titles(used)) == ["chat_1"]


@pytest.mark.parametrize(
    ("body", "status"),
    [([], 400), ({"title": 4}, 400), ({"name": "x"}, 400), ({"archived": "yes"}, 400),
     ({"title": "x" * 121}, 413)],
)  # fmt: skip
async def test_what_is_no_change_is_refused_with_why(used: Server, body: Any, status: int) -> None:
    found, problem = await ask(used, "PATCH", "/api/chats/chat_1", body=body)
    assert (found, bool(problem["detail"])) == (status, True)
    assert (await ask(used, "GET", "/api/chats?archived=maybe"))[0] == 400


async def test_nobody_else_changes_or_sees_a_title(used: Server) -> None:
    await ask(used, "PATCH", "/api/chats/chat_1", body={"title": "mine"})
    status, _ = await ask(used, "PATCH", "/api/chats/chat_1", body={"title": "yours"}, who=BEN)
    assert status == 404
    assert await titles(used, who=BEN) == {}
    assert await titles(used) == {"chat_1": "mine"}


async def test_a_search_finds_the_callers_own_turns_by_all_words(used: Server) -> None:
    status, told = await ask(used, "GET", "/api/chats/search?q=Ánswer+3")
    assert status == 200
    assert told["is_complete"] is True
    assert [(hit["chat_id"], hit["patient_id"], hit["turn_id"]) for hit in told["hits"]] == [
        ("chat_1", "patient_4", 3)
    ]
    assert told["hits"][0]["snippet"] == "answer 3"
    for nothing in ("answer+nowhere", "ABSENT"):
        assert (await ask(used, "GET", f"/api/chats/search?q={nothing}"))[1]["hits"] == []
    assert (await ask(used, "GET", "/api/chats/search?q=answer", who=BEN))[1]["hits"] == []
    for malformed in ("", "?q=", "?q=" + "x" * 201):
        assert (await ask(used, "GET", f"/api/chats/search{malformed}"))[0] == 400


async def test_of_a_closed_chart_neither_title_nor_words_are_told(used: Server) -> None:
    reader = used.context.reader
    assert isinstance(reader, FakeReader)
    reader.closed.add("patient_4")
    assert await titles(used) == {"chat_1": ""}
    assert (await ask(used, "GET", "/api/chats/search?q=answer"))[1]["hits"] == []
