"""A patient's memory over HTTP: seen and changed by its owner, with a revision."""

from typing import Any

import pytest

from tests.routes.conftest import ADA, BEN, Server

PATH = "/api/chats/chat_1/memory?patient_id=patient_4"
WISH = "wish:doctor_preference"
CORRECT = {"op": "correct", "item": WISH, "value": "Dr. Who"}


def wish(view: Any) -> Any:
    return next(one for one in view["understood"] if one["id"] == WISH)


async def ask(
    server: Server, method: str, *, body: Any = None, headers: dict[str, str] | None = None,
    path: str = PATH,
) -> tuple[int, Any, str]:  # fmt: skip
    asked = server.client.request(
        method, server.base + path, json=body, headers={**ADA, **(headers or {})}
    )
    async with asked as reply:
        return reply.status, await reply.json(), reply.headers.get("ETag", "")


@pytest.mark.slow
async def test_the_memory_carries_its_revision_as_an_etag(used: Server) -> None:
    status, view, etag = await ask(used, "GET")
    assert status == 200
    assert etag == f'"{view["revision"]}"'
    assert wish(view)["value"] == "Dr. Lindqvist"


@pytest.mark.parametrize("in_header", [True, False])
async def test_a_change_names_the_revision_it_was_made_for(used: Server, in_header: bool) -> None:
    _, view, etag = await ask(used, "GET")
    body: dict[str, Any] = {"operations": [CORRECT]}
    headers = {"If-Match": etag} if in_header else {}
    if not in_header:
        body["revision"] = view["revision"]
    status, changed, new_etag = await ask(used, "PATCH", body=body, headers=headers)
    assert (status, wish(changed)["value"]) == (200, "Dr. Who")
    assert new_etag != etag
    status, problem, _ = await ask(used, "PATCH", body=body, headers=headers)
    assert (status, problem["code"]) == (412, "memory_changed")


@pytest.mark.slow
@pytest.mark.parametrize(
    "body",
    [
        {},
        [],
        {"operations": []},
        {"operations": [{"op": "delete", "item": WISH}], "revision": "x"},
        {"operations": [{"op": "correct", "item": WISH}], "revision": "x"},
        {"operations": [{**CORRECT, "more": 1}], "revision": "x"},
        {"operations": [CORRECT] * 21, "revision": "x"},
        {"operations": [CORRECT]},
        {"operations": [{"op": "undo", "change_id": -1}], "revision": "x"},
    ],
)
async def test_a_malformed_change_is_refused_without_quoting_it(used: Server, body: Any) -> None:
    status, problem, _ = await ask(used, "PATCH", body=body)
    assert (status, problem["code"]) == (400, "bad_frame")
    assert "Dr. Who" not in str(problem)


async def test_an_item_that_is_not_there_is_a_conflict(used: Server) -> None:
    _, view, _ = await ask(used, "GET")
    body = {"operations": [{"op": "retire", "item": "wish:x"}], "revision": view["revision"]}
    status, problem, _ = await ask(used, "PATCH", body=body)
    assert (status, problem["code"]) == (409, "memory_item")


@pytest.mark.parametrize("method", ["GET", "PATCH"])
async def test_a_foreign_user_gets_the_answer_of_an_unknown_id(used: Server, method: str) -> None:
    body = {"operations": [CORRECT], "revision": "x"} if method == "PATCH" else None
    foreign = await ask(used, method, body=body, headers=BEN)
    unknown = await ask(
        used, method, body=body, path="/api/chats/chat_9/memory?patient_id=patient_4"
    )
    for one in (foreign, unknown):
        one[1].pop("ref")
    assert foreign == unknown
    assert foreign[0] == 404
