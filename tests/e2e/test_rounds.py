"""A ward round on a whole server: side by side, isolated, through kill -9, onto paper."""

import io
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from unicodedata import normalize

import aiohttp
import pytest
from playwright.async_api import async_playwright
from pypdf import PdfReader

from tests.e2e.models import ModelServer, board_brain, running_model
from tests.e2e.server import Server, running_server
from tests.fakes_openai import RecordedRequest, Reply
from tests.services.rounds.charts_of_a_ward import (
    DAY,
    PATIENTS,
    canary,
    family,
    given,
    patient_id,
    strangers_in,
    write_ward,
)

pytestmark = pytest.mark.slow
PATIENCE_SECONDS = 200.0


class Pace:
    """How long the model takes for an answer."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def brain(self, request: RecordedRequest) -> Reply:
        return replace(board_brain(request), delay_seconds=self.seconds)


@pytest.fixture
def pace() -> Pace:
    return Pace()


@pytest.fixture
def model(pace: Pace) -> Iterator[ModelServer]:
    with running_model(pace.brain) as server:
        yield server


@pytest.fixture
def ward(tmp_path: Path) -> list[str]:
    return write_ward(tmp_path / "ward")


async def post(server: Server, path: str, body: Any) -> Any:
    async with (
        aiohttp.ClientSession() as client,
        client.post(f"{server.url}{path}", json=body) as reply,
    ):
        assert reply.status < 300, await reply.text()
        return await reply.json() if reply.status == 201 else None


async def get(server: Server, path: str) -> Any:
    async with aiohttp.ClientSession() as client, client.get(f"{server.url}{path}") as reply:
        assert reply.status == 200, await reply.text()
        return await reply.json()


async def summary(server: Server) -> Any:
    (found,) = (await get(server, "/api/rounds"))["rounds"]
    return found


async def until_prepared(server: Server, *, at_least: int = PATIENTS) -> Any:
    end = time.monotonic() + PATIENCE_SECONDS
    while (found := await summary(server))["ready"] < at_least:
        assert found["failed"] == 0, found
        assert time.monotonic() < end, (found, server.log[-2_000:])
        time.sleep(0.5)  # noqa: ASYNC251 - nothing else runs in this loop
    return found


async def cards_of(server: Server, ward: list[str], round_id: str) -> list[Any]:
    return [await get(server, f"/api/rounds/{round_id}/patients/{one}") for one in ward]


def prompts_with_strangers(model: ModelServer) -> list[str]:
    """Return what of two patients one request to the model held."""
    found = []
    for request in model.requests:
        held = [number for number in range(1, PATIENTS + 1) if canary(number) in request.text]
        found += [request.text] if len(held) > 1 else []
    return found


async def test_twenty_patients_are_prepared_side_by_side_and_none_meets_another(
    model: ModelServer, ward: list[str], tmp_path: Path
) -> None:
    with running_server(
        tmp_path, **model.settings(), SAMPLES_DIR=str(tmp_path / "ward"), ROUNDS_PARALLEL="5"
    ) as server:
        made = await post(server, "/api/rounds", {"patients": ward})
        found = await until_prepared(server)
        assert (found["waiting"], found["failed"], found["closed"]) == (0, 0, 0)
        for number, card in enumerate(await cards_of(server, ward, made["round_id"]), 1):
            text = str(card)
            assert strangers_in(text, number) == []
            assert card["row"]["who"]["name"] == f"{given(number)} {family(number)}"
            assert card["row"]["who"]["birth_date"] == f"19{40 + number}-02-03"
            parts = {one["part"]: str(one["view"]["rows"]) for one in card["parts"]}
            assert f"Admitted for {canary(number)}" in parts["why"]
            assert f"Scan {canary(number)}" in parts["open"]
            assert str(900 + number) in parts["results"]
            assert f"Drug{canary(number)}" in parts["medications"]
            assert card["said"], "the model was asked for each"
        assert prompts_with_strangers(model) == []
        assert (await get(server, "/api/chats"))["chats"] == []


@pytest.mark.parametrize("store", ["files", "azurite"])
async def test_a_round_that_was_killed_in_its_middle_goes_on_and_doubles_nothing(
    store: str,
    model: ModelServer,
    pace: Pace,
    ward: list[str],
    tmp_path: Path,
    request: pytest.FixtureRequest,
) -> None:
    pace.seconds = 1.0
    settings = {**model.settings(), "SAMPLES_DIR": str(tmp_path / "ward"), "ROUNDS_PARALLEL": "4"}
    if store == "azurite":
        accounts = request.getfixturevalue("azure_accounts")
        settings["AZURE_STORAGE_CONNECTION_STRING"] = next(accounts)
    with running_server(tmp_path, **settings) as server:
        made = await post(server, "/api/rounds", {"patients": ward})
        begun = await until_prepared(server, at_least=3)
        assert begun["waiting"] > 0
        server.kill()
        pace.seconds = 0.0
        server.start()
        found = await until_prepared(server)
        assert (found["waiting"], found["failed"]) == (0, 0)
        for number, card in enumerate(await cards_of(server, ward, made["round_id"]), 1):
            assert strangers_in(str(card), number) == []
            page = await get(
                server, f"/api/chats/{card['chat_id']}/messages?patient_id={patient_id(number)}"
            )
            assert len(page["turns"]) == 1, "one message, one answer"


async def test_who_is_seen_on_a_day_is_printed_with_both_identifiers_on_each_sheet(
    ward: list[str], tmp_path: Path, chromium: Path
) -> None:
    with running_server(
        tmp_path, LLM_PROVIDER="offline", SAMPLES_DIR=str(tmp_path / "ward")
    ) as server:
        made = await post(server, "/api/rounds", {"day": DAY})
        assert made["patients"] == PATIENTS
        await until_prepared(server)
        async with async_playwright() as driver:
            browser = await driver.chromium.launch(executable_path=str(chromium))
            page = await browser.new_page()
            errors: list[str] = []
            page.on("console", lambda line: errors.append(line.text))
            await page.goto(f"{server.url}/api/rounds/{made['round_id']}/print?lang=de")
            paper = await page.pdf(prefer_css_page_size=True)
            await browser.close()
        assert errors == []
        sheets = [
            normalize("NFKC", one.extract_text()) for one in PdfReader(io.BytesIO(paper)).pages
        ]
        whole = " ".join(" ".join(sheets).split())
        for number in range(1, PATIENTS + 1):
            name = f"{given(number)} {family(number)}"
            assert f"{name} · geb. 19{40 + number}-02-03" in whole
            assert f"Nr. {patient_id(number)}" in whole
        for sheet in sheets:
            for number in range(1, PATIENTS + 1):
                if canary(number) in sheet:
                    assert f"{given(number)} {family(number)}" in sheet
