"""Slack beside Teams and the web: one folder, over the whole server with the offline model."""

import hashlib
import hmac
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from app import build
from bots.bot_factory import add_bots
from data_models.clock import RandomIds, SystemClock
from services.stores import Stores
from tests.extending.slack.slack_channel import SlackApp
from tests.fakes_store import MemoryBlobStore
from tests.given_settings import given_settings

SECRET, TOKEN = "a signing secret", "xoxb-1"


@dataclass
class SlackDouble:
    """Slack's Web API as far as the channel uses it, and the sender of signed events."""

    posts: list[dict[str, str]] = field(default_factory=list)
    url: str = ""

    async def post(self, request: web.Request) -> web.Response:
        assert request.headers["Authorization"] == f"Bearer {TOKEN}"
        self.posts.append(await request.json())
        return web.json_response({"ok": True})

    async def say(self, text: str, *, event_id: str, secret: str = SECRET) -> int:
        event = {"type": "message", "channel": "D1", "user": "U1", "text": text}
        body = json.dumps(
            {
                "type": "event_callback",
                "team_id": "T1",
                "event_id": event_id,
                "event": event | {"channel_type": "im"},
            }
        )
        stamp = str(int(SystemClock().now().timestamp()))
        signed = hmac.new(secret.encode(), f"v0:{stamp}:{body}".encode(), hashlib.sha256)
        headers = {
            "X-Slack-Request-Timestamp": stamp,
            "X-Slack-Signature": f"v0={signed.hexdigest()}",
            "Content-Type": "application/json",
        }
        async with (
            aiohttp.ClientSession() as session,
            session.post(f"{self.url}/slack/events", data=body, headers=headers) as reply,
        ):
            return reply.status


@pytest.fixture
async def slack(tmp_path: Path) -> AsyncIterator[SlackDouble]:
    """A workspace whose app is the server."""
    double, api = SlackDouble(), web.Application()
    api.router.add_post("/chat.postMessage", double.post)
    stores = Stores(MemoryBlobStore(), MemoryBlobStore(), MemoryBlobStore())
    settings = given_settings(llm_provider="offline", data_dir=tmp_path)
    async with TestServer(api) as workspace, aiohttp.ClientSession() as session:
        added = SlackApp(api=str(workspace.make_url("")), token=TOKEN, signing_secret=SECRET)
        server = build(
            settings,
            stores=stores,
            clock=SystemClock(),
            ids=RandomIds(),
            session=session,
            channels=(add_bots, added.add),
        )
        await server.start()
        async with TestServer(server.web) as rounds:
            double.url = str(rounds.make_url("")).rstrip("/")
            yield double
        await server.drain(5)
        await server.close()


@pytest.mark.slow
async def test_a_question_in_slack_is_answered_with_patient_and_source(slack: SlackDouble) -> None:
    assert await slack.say("patient_4", event_id="Ev1") == 200
    assert await slack.say("What is the current stage?", event_id="Ev2") == 200
    answer = slack.posts[-1]
    assert answer["channel"] == "D1"
    assert "IVB" in answer["text"]
    assert "[DocumentReference/" in answer["text"]
    assert "Margaret Anne Whitfield, born 1957-03-14" in answer["text"]


@pytest.mark.slow
async def test_an_event_that_slack_repeats_is_answered_once(slack: SlackDouble) -> None:
    await slack.say("patient_4", event_id="Ev1")
    await slack.say("patient_4", event_id="Ev1")
    assert len(slack.posts) == 1


@pytest.mark.slow
async def test_an_event_that_slack_did_not_sign_is_refused(slack: SlackDouble) -> None:
    assert await slack.say("patient_4", event_id="Ev1", secret="another") == 403
    assert slack.posts == []
