"""A channel on loopback: it posts users' activities to a bot and takes the bot's replies.

It keeps the limits that real channels keep, so a bot which passes here does not fail there: an
answer before the turn is over, the size of a message, the rate of messages, the lengths of
citations, and all that Teams asks of a stream (`tests.fakes_stream`). What breaks a limit is
refused as the channel would do it, and listed in `faults`.

    async with FakeConnector() as channel:
        await channel.say(app_url, "start tumor board for patient_4")
        message = await channel.until(lambda activity: "PT_CTX" in activity.get("text", ""))
"""

import asyncio
import time
from collections import defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from types import TracebackType
from typing import Any, Self
from urllib.parse import unquote

import aiohttp
import orjson
from aiohttp import web
from aiohttp.test_utils import TestServer

from tests.fakes_stream import StreamRules, stream_info

Activity = dict[str, Any]

POST_SECONDS = 60.0
"""Teams gives up after 15 s; a busy machine may take them for what costs a millisecond."""
RESET = 599
"""Instead of a status: the connection breaks, and the message was not taken."""
MESSAGE_LIMITS_BYTES = {"msteams": 28 * 1024}
ELSEWHERE_LIMIT_BYTES = 256 * 1024
MESSAGES_PER_SECOND = 7
_TURNS_OF_QUIET = 30
CITATION_LIMIT = 10
NAME_LIMIT_CHARS = 80
ABSTRACT_LIMIT_CHARS = 160
CARD = "application/vnd.microsoft.card.adaptive"
USER: Activity = {"id": "user-1", "name": "Dr. Ada", "role": "user"}
BOT: Activity = {"id": "bot-1", "name": "Rounds", "role": "bot"}


@dataclass(frozen=True)
class Posted:
    """What the bot answered to a request."""

    status: int
    body: Any
    seconds: float


@dataclass(frozen=True)
class Fault:
    """An answer that the channel gives instead of taking a reply."""

    status: int
    headers: dict[str, str]
    kind: str | None = None


class FakeConnector:
    """One channel. Conversations in `groups` are group chats, all others one-to-one."""

    def __init__(
        self, *, channel_id: str = "emulator", messages_per_second: int = MESSAGES_PER_SECOND
    ) -> None:
        self.channel_id = channel_id
        self.groups: set[str] = set()
        self.faults: list[str] = []
        self.tokens: list[str | None] = []
        self.signed: list[tuple[str | None, Activity]] = []
        self.refused = 0
        self.accept_seconds = 0.0
        """How long the channel takes to say that it has a reply."""
        self._per_second = messages_per_second
        self._sent: dict[str, list[Activity]] = defaultdict(list)
        self._times: dict[str, deque[float]] = defaultdict(deque)
        self.streams = StreamRules()
        self.uploads: list[bytes] = []
        self._sent_ids: dict[str, tuple[str, int]] = {}
        self._planned: deque[Fault] = deque()
        self._ids = count(1)
        self._arrived = asyncio.Condition()
        app = web.Application(client_max_size=1 << 22)
        place = "/v3/conversations/{conversation}/activities"
        app.router.add_post(place, self._take)
        app.router.add_post(f"{place}/{{activity}}", self._take)
        app.router.add_put(f"{place}/{{activity}}", self._update)
        app.router.add_put("/drive/{file}", self._upload)
        self._server = TestServer(app)

    async def __aenter__(self) -> Self:
        await self._server.start_server()
        self._client = aiohttp.ClientSession()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        await self._client.close()
        await self._server.close()

    @property
    def service_url(self) -> str:
        """Where the bot shall reply."""
        return str(self._server.make_url("/")).rstrip("/")

    # -- what users do ------------------------------------------------------------------------

    def activity(
        self,
        *,
        conversation: str = "conversation-1",
        activity_id: str | None = None,
        user: Activity = USER,
        **fields: Any,
    ) -> Activity:
        """Return an activity of this channel; a field given as None is left out."""
        usual = {
            "type": "message",
            "id": activity_id or f"activity-{next(self._ids)}",
            "channelId": self.channel_id,
            "serviceUrl": self.service_url,
            "conversation": self._place(conversation),
            "from": user,
            "recipient": BOT,
        }
        return {name: value for name, value in {**usual, **fields}.items() if value is not None}

    async def say(
        self,
        app_url: str,
        text: str,
        *,
        conversation: str = "conversation-1",
        activity_id: str | None = None,
        path: str = "/api/messages",
        **fields: Any,
    ) -> Posted:
        """Post a user's message to the bot at `app_url`."""
        activity = self.activity(
            conversation=conversation, activity_id=activity_id, text=text, **fields
        )
        return await self.post(app_url, activity, path=path)

    async def ask(
        self, app_url: str, text: str, *, until: str, conversation: str = "conversation-1"
    ) -> Activity:
        """Post a user's message; return the first message whose text holds `until`."""
        await self.say(app_url, text, conversation=conversation)
        return await self.until_said(until, conversation=conversation)

    async def press(
        self, app_url: str, button: Activity, *, conversation: str = "conversation-1"
    ) -> Posted:
        """Press a button of a card, as Teams and the Emulator send it."""
        # Teams tells which message the card is in.
        card = self._card_of(button, conversation) if self.channel_id == "msteams" else None
        activity = self.activity(conversation=conversation, value=button["data"], replyToId=card)
        return await self.post(app_url, activity)

    async def rate(
        self, app_url: str, reaction: str, *, sent_id: str, text: str = "", **fields: Any
    ) -> Posted:
        """Press a thumb under a message, as Teams sends it."""
        said = orjson.dumps({"feedbackText": text}).decode()
        value = {"actionName": "feedback", "actionValue": {"reaction": reaction, "feedback": said}}
        activity = self.activity(
            type="invoke", name="message/submitAction", value=value, replyToId=sent_id, **fields
        )
        return await self.post(app_url, activity)

    async def post(
        self,
        app_url: str,
        activity: Any,
        *,
        path: str = "/api/messages",
        headers: dict[str, str] | None = None,
    ) -> Posted:
        """Post `activity`, or raw bytes; a bot that answers after its turn has failed."""
        body = activity if isinstance(activity, bytes) else orjson.dumps(activity)
        headers = {"Content-Type": "application/json", **(headers or {})}
        timeout = aiohttp.ClientTimeout(total=POST_SECONDS)
        began = time.monotonic()
        async with self._client.post(
            f"{app_url}{path}", data=body, headers=headers, timeout=timeout
        ) as answer:
            raw = await answer.read()
            is_json = answer.content_type.endswith("json")
            value = orjson.loads(raw) if raw and is_json else raw
            return Posted(answer.status, value, time.monotonic() - began)

    # -- what users see -----------------------------------------------------------------------

    def activities(self, conversation: str = "conversation-1") -> list[Activity]:
        """Everything that the bot sent there, in order."""
        return list(self._sent[conversation])

    def messages(self, conversation: str = "conversation-1") -> list[Activity]:
        """The messages among it."""
        return [one for one in self._sent[conversation] if one["type"] == "message"]

    def texts(self, conversation: str = "conversation-1") -> list[str]:
        """The texts of the messages; a card has none."""
        return [one["text"] for one in self.messages(conversation) if "text" in one]

    def cards(self, conversation: str = "conversation-1") -> list[Activity]:
        """The cards among the messages, as they look now."""
        return [
            attached["content"]
            for message in self.messages(conversation)
            for attached in message.get("attachments", [])
            if attached["contentType"] == CARD
        ]

    def buttons(self, conversation: str = "conversation-1") -> dict[str, Activity]:
        """The buttons of the newest card that has some, by their labels."""
        actions = [card["actions"] for card in self.cards(conversation) if card.get("actions")]
        return {action["title"]: action for action in actions[-1]}

    def id_of(self, activity: Activity) -> str:
        """What the channel calls a message that it took."""
        return next(
            sent_id
            for sent_id, (place, number) in self._sent_ids.items()
            if self._sent[place][number] is activity
        )

    async def until(
        self,
        is_it: Callable[[Activity], bool],
        *,
        conversation: str = "conversation-1",
        after: int = 0,
        seconds: float = 180.0,
    ) -> Activity:
        """Return the first activity past the `after`-th that `is_it`, waiting for it."""
        async with asyncio.timeout(seconds), self._arrived:
            while True:
                for activity in self._sent[conversation][after:]:
                    if is_it(activity):
                        return activity
                await self._arrived.wait()

    async def until_said(
        self,
        part: str,
        *,
        conversation: str = "conversation-1",
        after: int = 0,
        seconds: float = 180.0,
    ) -> Activity:
        """Return the first message past the `after`-th activity whose text holds `part`."""
        return await self.until(
            lambda activity: part in (activity.get("text") or ""),
            conversation=conversation,
            after=after,
            seconds=seconds,
        )

    async def until_refused(self, *, times: int = 1, seconds: float = 180.0) -> None:
        """Return once `times` replies were answered with a planned fault."""
        async with asyncio.timeout(seconds), self._arrived:
            await self._arrived.wait_for(lambda: self.refused >= times)

    async def until_quiet(
        self, conversation: str = "conversation-1", *, seconds: float = 0.3
    ) -> list[Activity]:
        """Return what was sent once nothing has come for `seconds`, in many turns of the loop.

        A process that stands still for so long has not been quiet.
        """
        seen = -1
        while seen != len(self._sent[conversation]):
            seen = len(self._sent[conversation])
            for _ in range(_TURNS_OF_QUIET):
                await asyncio.sleep(seconds / _TURNS_OF_QUIET)
        return self.activities(conversation)

    # -- the channel --------------------------------------------------------------------------

    def fail_next(
        self, status: int, *, times: int = 1, kind: str | None = None, **headers: str
    ) -> None:
        """Answer the next `times` replies with `status`; `Retry_After` stands for the header.

        Args:
            kind: Only activities of that type; None: whatever comes.
        """
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self._planned.extend([Fault(status, named, kind)] * times)

    def heal(self) -> None:
        """Take whatever comes from now on."""
        self._planned.clear()

    async def _take(self, request: web.Request) -> web.Response:
        conversation, activity, refusal = await self._checked(request)
        if refusal is None and stream_info(activity) is not None:
            refusal = self.streams.refusal(self._place(conversation), activity)
        if refusal is not None:
            return refusal
        if self._is_too_fast(conversation):
            return web.Response(status=429, headers={"Retry-After": "1"})
        info = stream_info(activity) or {}
        sent_id = info.get("streamId") or f"reply-{next(self._ids)}"
        self.streams.took(conversation, activity, sent_id)
        async with self._arrived:
            self._sent_ids[sent_id] = (conversation, len(self._sent[conversation]))
            self._sent[conversation].append(activity)
            self._arrived.notify_all()
        await asyncio.sleep(self.accept_seconds)
        return web.json_response({} if info.get("streamId") else {"id": sent_id}, status=201)

    async def _update(self, request: web.Request) -> web.Response:
        conversation, activity, refusal = await self._checked(request)
        if refusal is not None:
            return refusal
        place, number = self._sent_ids.get(request.match_info["activity"], ("", 0))
        if place != conversation:
            return web.Response(status=404)
        if self._is_too_fast(conversation):
            return web.Response(status=429, headers={"Retry-After": "1"})
        async with self._arrived:
            self._sent[conversation][number] = activity
            self._arrived.notify_all()
        return web.json_response({"id": request.match_info["activity"]})

    async def _upload(self, request: web.Request) -> web.Response:
        self.uploads.append(await request.read())
        return web.Response(status=201)

    async def _checked(self, request: web.Request) -> tuple[str, Activity, web.Response | None]:
        self.tokens.append(request.headers.get("Authorization"))
        conversation = unquote(request.match_info["conversation"])
        body = await request.read()
        activity: Activity = orjson.loads(body)
        self.signed.append((self.tokens[-1], activity))
        if self._planned and self._planned[0].kind in (None, activity.get("type")):
            fault = self._planned.popleft()
            async with self._arrived:
                self.refused += 1
                self._arrived.notify_all()
            if fault.status == RESET and request.transport is not None:
                request.transport.abort()
            return conversation, activity, web.Response(status=fault.status, headers=fault.headers)
        why = self._fault_in(conversation, activity, body)
        if why is None:
            return conversation, activity, None
        self.faults.append(why[1])
        refusal = web.json_response({"error": {"message": why[1]}}, status=why[0])
        return conversation, activity, refusal

    def _fault_in(
        self, conversation: str, activity: Activity, body: bytes
    ) -> tuple[int, str] | None:
        if activity.get("conversation", {}).get("id") != conversation:
            return 400, "the conversation is not the address's"
        if not activity.get("type") or not activity.get("from", {}).get("id"):
            return 400, "no type or no sender"
        size = max(len(body), len((activity.get("text") or "").encode("utf-16-le")))
        if size > MESSAGE_LIMITS_BYTES.get(self.channel_id, ELSEWHERE_LIMIT_BYTES):
            return 413, f"{size} bytes are too many"
        if activity.get("suggestedActions") and conversation in self.groups:
            return 400, "suggested actions in a group"
        faults = map(_entity_fault, activity.get("entities", []))
        return next(filter(None, faults), None)

    def _place(self, conversation: str) -> Activity:
        group = conversation in self.groups
        kind = {"conversationType": "groupChat" if group else "personal"}
        return {
            "id": conversation,
            "isGroup": group,
            **(kind if self.channel_id == "msteams" else {}),
        }

    def _card_of(self, button: Activity, conversation: str) -> str | None:
        for message in self.messages(conversation):
            for attached in message.get("attachments", []):
                if button in attached.get("content", {}).get("actions", []):
                    return self.id_of(message)
        return None

    def _is_too_fast(self, conversation: str) -> bool:
        now, times = time.monotonic(), self._times[conversation]
        while times and times[0] < now - 1.0:
            times.popleft()
        if len(times) >= self._per_second:
            return True
        times.append(now)
        return False


def _entity_fault(entity: dict[str, Any]) -> tuple[int, str] | None:
    claims = entity.get("citation", [])
    looks = [claim["appearance"] for claim in claims]
    if (
        len(claims) > CITATION_LIMIT
        or any(len(look["name"]) > NAME_LIMIT_CHARS for look in looks)
        or any(len(look["abstract"]) > ABSTRACT_LIMIT_CHARS for look in looks)
    ):
        return 400, "citations are over their limits"
    return None
