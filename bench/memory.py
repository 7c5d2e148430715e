"""`python -m bench.memory [--quick] [--json]`: memory blocks against spec pages 4.5 and 8.

What rules, validator and rotation take at a full block; what waits for the model that reads a
message, and what runs beside it; and what a turn costs after 5,000 turns beside a full window.
"""

import argparse
import asyncio
import os
import sys
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import perf_counter

import orjson

from bench.chat import Chat, chatting, client
from bench.figures import Figure, info, p50, table
from bench.model import Asked, Orders
from bench.processes import ModelPeer, running_model, running_server
from bench.sections import Bench, Effort, histories, history_name
from bench.seed import Place, seeding
from data_models.chat_context import AgentMessage, ChatContext, Turn
from services.memory_blocks.blocks import MemoryRules, blocks_of
from services.memory_blocks.limits import bound
from services.memory_blocks.plain_reading import understand
from services.memory_blocks.remembering import conclude, take_in
from services.memory_blocks.rotation import ROTATE_ABOVE_TURNS, rotate
from services.memory_blocks.validator import validate

PLACE = "memory"
CALL_SECONDS = 0.4
ROUNDS = 200
BAR_MS = 5.0
_ASKED = "The lesion is stable. How bad is the pain, 0-10?"
_EARLIER = 100
_TALK = "talk"


def _full() -> ChatContext:
    """Return a document that holds as much as it may, one turn before it makes room."""
    context = ChatContext(conversation_id="bench")
    began = datetime(2026, 1, 5, 8, tzinfo=UTC)
    for number in range(1, ROTATE_ABOVE_TURNS + 2):
        at = began + timedelta(minutes=number)
        answer = AgentMessage(
            message_id=f"m{number}", agent="Radiology", text=f"{'x' * 650}. {_ASKED}", timestamp=at
        )
        turn = Turn(
            turn_id=number, run_id=f"run_{number}", timestamp=at, user="A",
            user_message=f"My pain is back, visit {number}. {'y' * 80}",
            agent_responses=[answer], turn_status="COMPLETED",
        )  # fmt: skip
        found = understand(turn.user_message, earlier=context.chat_history, memory=context.memory,
                           intents=())  # fmt: skip
        context.chat_history.append(turn)
        context.next_turn_id = number + 1
        take_in(context, turn, found)
        conclude(context, turn)
        bound(context.memory)
    return context


def _median_ms(work: Callable[[], object]) -> float:
    times = []
    for _ in range(ROUNDS):
        began = perf_counter()
        work()
        times.append((perf_counter() - began) * 1_000)
    return p50(times)


def computing() -> list[Figure]:
    """Measure what needs neither storage nor a model."""
    context = _full()
    now, rules = datetime.now(UTC), MemoryRules()

    def rotate_and_check() -> None:
        validate(context, agents={"Radiology"})
        rotate(context.chat_history)
        bound(context.memory)

    read = _median_ms(
        lambda: understand("8", earlier=context.chat_history, memory=context.memory, intents=())
    )
    return [
        Figure(PLACE, "rotation and validation, full block", _median_ms(rotate_and_check), "ms",
               bar=BAR_MS),
        Figure(PLACE, "a message read by rules", read, "ms", bar=0.5),
        info(PLACE, "the four blocks, made to be looked at",
             _median_ms(lambda: blocks_of(context, now=now, rules=rules)), "ms"),
    ]  # fmt: skip


async def waiting(model: ModelPeer, chat: Chat) -> list[Figure]:
    """Measure who waits for a model that takes 400 ms a call."""
    slow = Orders(delay_seconds=CALL_SECONDS)
    asks = Orders(endings=[f"\n\n{_ASKED}"])
    beside, read = await _said(model, chat, slow, "What does the latest imaging show?")
    await _said(model, chat, asks, "What does the latest imaging show?")
    first, answered = await _said(model, chat, slow, "8")
    yes, confirmed = await _said(model, chat, slow, "yes")
    return [
        Figure(PLACE, "400 ms a call: read beside the answer", beside, "s", bar=0.6),
        Figure(PLACE, "… model calls", read.calls, "", bar=2, kind="count"),
        info(PLACE, "… prompt characters, both", read.prompt_chars, "chars"),
        Figure(PLACE, '400 ms a call: "8" is read, then answered', first, "s", bar=0.95),
        Figure(PLACE, "… model calls", answered.calls, "", bar=2, kind="count"),
        Figure(PLACE, "400 ms a call: a confirmation", yes, "s", bar=0.55),
        Figure(PLACE, "… model calls", confirmed.calls, "", bar=1, kind="count"),
    ]


async def _said(model: ModelPeer, chat: Chat, orders: Orders, text: str) -> tuple[float, Asked]:
    await asyncio.sleep(0.1)
    await model.order(orders)
    shown = await chat.say(text)
    return shown.seconds, await model.order(Orders())


async def _measure(folder: Path, messages: int, rounds: int) -> list[Figure]:
    place = Place("local", folder)
    effort = Effort(0, rounds, 0.0, (_EARLIER, messages), (), (), 0)
    async with seeding(place) as seeder:
        await seeder.conversation(_TALK, messages=10)
        for size in effort.histories:
            await seeder.conversation(history_name(size), messages=size)
    async with running_model() as model, client() as session:
        environment = {
            "PATH": os.environ["PATH"],
            "LLM_PROVIDER": "openai",
            "OPENAI_BASE_URL": model.url,
            "OPENAI_API_KEY": "none",
            "LOG_FORMAT": "json",
            "LOG_LEVEL": "WARNING",
            **place.environment,
        }
        async with running_server(environment) as server:
            async with chatting(session, server.url, _TALK) as chat:
                waits = await waiting(model, chat)
            bench = Bench(PLACE, server, model, session, effort)
            return [*waits, *await histories(bench)]


def main() -> int:
    """Print the table; 1 if a bar is missed that does not depend on the machine."""
    parser = argparse.ArgumentParser(description="Measures memory blocks.")
    parser.add_argument("--quick", action="store_true", help="1,000 earlier messages, fewer turns")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    messages, rounds = (1_000, 8) if options.quick else (10_000, 25)
    figures = computing()
    with tempfile.TemporaryDirectory(prefix="rounds-memory-") as made:
        figures += asyncio.run(_measure(Path(made), messages, rounds))
    if options.json:
        print(orjson.dumps([figure.as_json() for figure in figures]).decode())
    else:
        print(table(figures))
    return int(any(figure.is_missed and figure.kind == "count" for figure in figures))


if __name__ == "__main__":
    sys.exit(main())
