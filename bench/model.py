"""The model of the bench: an OpenAI-compatible server in a process of its own.

Whoever started it says on its standard input, one JSON object a line, how it shall answer from
then on, and reads on its standard output what was asked since the line before.
"""

import asyncio
import sys
import time
from dataclasses import dataclass, field
from typing import Any

import orjson

from tests.fakes_openai import FakeOpenAI, RecordedRequest, Reply
from tests.fakes_openai_brain import structured_answer

CHUNKS = 5
CHUNK_CHARS = 24
TOKEN_CHARS = 4
SENTENCE = "The record shows no change since then. "


@dataclass
class Orders:
    """How to answer: text of `chars` in pieces of `chunk_chars`; the first ones end as told."""

    chars: int = CHUNKS * CHUNK_CHARS
    chunk_chars: int = CHUNK_CHARS
    endings: list[str] = field(default_factory=list)
    delay_seconds: float = 0.0
    tokens_per_second: float | None = None


@dataclass
class Asked:
    """What was asked since the last orders; times are monotonic, the same in all processes."""

    calls: int = 0
    prompt_chars: int = 0
    body_bytes: int = 0
    last_at: float = 0.0


class BenchModel:
    """Answers every question of the classifier by its schema and everything else with text."""

    def __init__(self) -> None:
        self.server = FakeOpenAI(brain=self._brain, keep_requests=1)
        self.orders = Orders()
        self.asked = Asked()

    def obey(self, line: bytes) -> Asked:
        """Take new orders and return what was asked under the old ones."""
        self.orders = Orders(**orjson.loads(line))
        self.server.delay_seconds = self.orders.delay_seconds
        self.server.pace = self.orders.tokens_per_second
        asked, self.asked = self.asked, Asked()
        return asked

    def _brain(self, request: RecordedRequest) -> Reply:
        body = request.body
        self.asked.calls += 1
        self.asked.prompt_chars += prompt_chars(body)
        self.asked.body_bytes += len(request.raw)
        self.asked.last_at = time.monotonic()
        if "response_format" in body:
            return Reply(text=structured_answer(body))
        orders = self.orders
        # Numbered: an answer that says the same again and again is broken off.
        count = orders.chars // len(SENTENCE) + 1
        text = "".join(f"{SENTENCE}({number}) " for number in range(count))[: orders.chars]
        ending = orders.endings.pop(0) if orders.endings else ""
        return Reply(text=text + ending, chunk_chars=orders.chunk_chars)


def prompt_chars(body: dict[str, Any]) -> int:
    """Return the characters of all messages of one request, as the wire carried them."""
    contents = (message.get("content") or "" for message in body["messages"])
    return sum(len(content) for content in contents if isinstance(content, str))


async def serve() -> None:
    """Serve until the standard input ends."""
    model = BenchModel()
    lines = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    async with model.server:
        print(model.server.base_url, flush=True)
        while line := await lines.readline():
            print(orjson.dumps(model.obey(line)).decode(), flush=True)


if __name__ == "__main__":
    asyncio.run(serve())
