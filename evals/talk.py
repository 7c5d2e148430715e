"""One conversation with the server over its WebSocket, and what each turn of it showed."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, TypeAlias

import aiohttp
import jsonpatch
import orjson
from pydantic import BaseModel, Field

Frame: TypeAlias = dict[str, Any]


class Message(BaseModel):
    """One message of an agent."""

    message_id: str
    agent: str
    text: str = ""
    citations: list[Frame] = Field(default_factory=list)
    claims: list[Frame] = Field(default_factory=list)

    @property
    def as_fact(self) -> str:
        """The text without the sentences that the server marked as not supported."""
        text = self.text
        marked = [one for one in self.claims if one.get("state") != "supported"]
        for one in sorted(marked, key=lambda each: -int(each["start"])):
            text = text[: int(one["start"])] + text[int(one["end"]) :]
        return _without_the_list(text)


def _without_the_list(text: str) -> str:
    """Return `text` without the block that lists what the record does not support."""
    return text.partition("**Not supported by the record:**")[0]


class ToolUse(BaseModel):
    """One call of a tool and what it returned."""

    agent: str = ""
    tool: str
    arguments: str = ""
    result: str = ""
    is_error: bool = False


class Turn(BaseModel):
    """All that one turn showed.

    Attributes:
        state: The shared state at the end, as clients have it.
        outcome: success, interrupt, cancelled or error.
        timing: The server's own figures.
    """

    user: str
    messages: list[Message] = Field(default_factory=list)
    tools: list[ToolUse] = Field(default_factory=list)
    views: list[Frame] = Field(default_factory=list)
    notices: list[str] = Field(default_factory=list)
    notice_texts: list[str] = Field(default_factory=list)
    state: Frame = Field(default_factory=dict)
    outcome: str = ""
    error: str = ""
    timing: Frame = Field(default_factory=dict)

    @property
    def text(self) -> str:
        """What the agents said."""
        return "\n\n".join(one.text for one in self.messages)

    @property
    def as_fact(self) -> str:
        """What they said, without sentences that are marked as not supported."""
        return "\n\n".join(one.as_fact for one in self.messages)

    @property
    def is_marked(self) -> bool:
        """Whether a sentence is marked as not supported, or one was withheld."""
        claims = [one for message in self.messages for one in message.claims]
        listed = any(_without_the_list(one.text) != one.text for one in self.messages)
        return listed or any(one.get("state") != "supported" for one in claims)

    @property
    def rows(self) -> str:
        """The typed rows that were shown beside the text, a line for each."""
        return "\n".join(_row(row) for view in self.views for row in view.get("rows", ()))

    @property
    def patient(self) -> str | None:
        """Whose chart is open at the end."""
        found = self.state.get("patient_id")
        return None if found is None else str(found)


def _row(row: Frame) -> str:
    fields = ("date", "end", "name", "value", "unit", "range", "flag", "status", "detail")
    texts = [str(row[key]) for key in fields if row.get(key)]
    if texts and row.get("range"):
        texts = [f"({one})" if one == str(row["range"]) else one for one in texts]
    return "  ".join([*texts, *(f"[{one}]" for one in row.get("sources", ()))])


class Talk:
    """A conversation; turns follow each other."""

    def __init__(
        self,
        *,
        conversation: str,
        socket: aiohttp.ClientWebSocketResponse,
        client: aiohttp.ClientSession,
        url: str,
    ) -> None:
        self.conversation = conversation
        self.turns: list[Turn] = []
        self._socket = socket
        self._client = client
        self._url = url

    async def say(self, text: str, *, seconds: float) -> Turn:
        """Say `text` and return what followed.

        Raises:
            TimeoutError: the turn did not end in time. The conversation is of no more use: what
                comes next may belong to this turn.
        """
        async with asyncio.timeout(seconds):
            await self._socket.send_json({"content": text, "sender": "Dr. Eval"})
            frames: list[Frame] = []
            while not frames or frames[-1]["type"] not in ("RUN_FINISHED", "RUN_ERROR"):
                frames.append(orjson.loads(await self._socket.receive_str()))
        before = self.turns[-1].state if self.turns else {}
        self.turns.append(turn_of(text, frames, before))
        return self.turns[-1]

    async def memory(self) -> str:
        """Return what is held of the open patient, a line for each thing; no turns' words."""
        address = f"{self._url}/api/chats/{self.conversation}/memory"
        async with self._client.get(address) as answer:
            body: Frame = orjson.loads(await answer.read())
        rows = [*body.get("understood", ()), *body.get("statements", ())]
        held = [one for one in rows if one.get("status") in ("active", "held", "corrected")]
        return "\n".join(f"{one.get('label', '')}: {one.get('value', '')}" for one in held)


@asynccontextmanager
async def talking(url: str, key: str) -> AsyncIterator[Talk]:
    """Open a new conversation as the user of an API key."""
    headers = {"Authorization": f"Bearer {key}"}
    async with aiohttp.ClientSession(headers=headers) as client:
        async with client.post(f"{url}/api/chats") as answer:
            conversation = str((await answer.json())["chat_id"])
        address = f"{url}/api/ws/chats/{conversation}/messages?stream=1"
        async with client.ws_connect(address, max_msg_size=0) as socket:
            yield Talk(conversation=conversation, socket=socket, client=client, url=url)


def turn_of(user: str, frames: list[Frame], before: Frame) -> Turn:
    """Return what the frames of one run say."""
    turn, messages, tools = (
        Turn(user=user, state=before),
        dict[str, Message](),
        dict[str, ToolUse](),
    )
    for frame in frames:
        _add(turn, messages, tools, frame)
    turn.messages = [one for one in messages.values() if one.text]
    turn.tools = list(tools.values())
    return turn


def _add(turn: Turn, messages: dict[str, Message], tools: dict[str, ToolUse], frame: Frame) -> None:
    match frame["type"]:
        case "TEXT_MESSAGE_START":
            name, key = frame.get("name", ""), frame["messageId"]
            messages[key] = Message(message_id=key, agent=name)
        case "TEXT_MESSAGE_CONTENT":
            messages[frame["messageId"]].text += frame["delta"]
        case "TEXT_MESSAGE_END":
            found = frame.get("metadata", {}).get("citations", [])
            messages[frame["messageId"]].citations = found
        case "TOOL_CALL_START":
            agent = frame.get("metadata", {}).get("agent", "")
            tools[frame["toolCallId"]] = ToolUse(agent=agent, tool=frame["toolCallName"])
        case "TOOL_CALL_ARGS":
            tools[frame["toolCallId"]].arguments += frame["delta"]
        case "TOOL_CALL_RESULT":
            _add_result(tools, frame)
        case "CUSTOM":
            _add_custom(turn, messages, frame)
        case _:
            _add_state(turn, frame)


def _add_result(tools: dict[str, ToolUse], frame: Frame) -> None:
    used = tools[frame["toolCallId"]]
    used.result = frame["content"]
    used.is_error = bool(frame.get("metadata", {}).get("isError"))


def _add_custom(turn: Turn, messages: dict[str, Message], frame: Frame) -> None:
    value = frame.get("value") or {}
    if frame["name"] == "notice":
        turn.notices.append(str(value.get("kind", "")))
        turn.notice_texts.append(str(value.get("text", "")))
    elif frame["name"] == "view":
        turn.views.append(value)
    elif frame["name"] == "claims" and value.get("message_id") in messages:
        messages[value["message_id"]].claims = value.get("claims", [])


def _add_state(turn: Turn, frame: Frame) -> None:
    match frame["type"]:
        case "STATE_SNAPSHOT":
            turn.state = frame["snapshot"]
        case "STATE_DELTA":
            turn.state = jsonpatch.apply_patch(turn.state, frame["delta"])
        case "RUN_FINISHED":
            turn.outcome = frame["outcome"]["type"]
            turn.timing = frame.get("result", {}).get("timing", {})
        case "RUN_ERROR":
            turn.outcome, turn.error = "error", frame.get("code", "")
        case _:
            return
