"""What a talk costs in tokens: `python -m bench.tokens [--json]`.

Thirty turns with two boards over the real server and wire; the model plays by rote
(`bench/token_talk.py`). Tokens are counted by `estimated_tokens`, which stands for a tokenizer that
cannot be shipped: figures are to be compared with each other. Exits 1 if a bar is missed.
"""

import argparse
import asyncio
import re
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import orjson

from bench.chat import chatting, client
from bench.figures import Figure, info, table
from bench.processes import environment_of, running_server
from bench.token_talk import TALK, Part, RoteModel
from tests.fakes_openai import Brain, FakeOpenAI, RecordedRequest

PLACE = "tokens"
_PIECE = re.compile(r"[^\W\d_]+|\d|[^\w\s]{1,3}|\n+|_+")
_WORD_CHARS = 9
_MESSAGE_TOKENS = 4
_CALL_SECONDS = 0.5
BOARD = "yes proceed"
BEFORE = {
    "requests of the talk": 114,
    "prompt tokens of the talk": 293_494,
    "shared prefix": 0.50,
    "a record question, at most": 14_265,
    "a record question, mean": 10_759,
    "calls of a record question, at most": 4,
    "calls of a board, all in sequence": 11,
}
"""The same figures of 0.1, measured with this bench on its last commit."""


@dataclass
class Turn:
    """What one turn sent.

    Attributes:
        in_sequence: Calls of a board that waited for each other, by the time it took.
    """

    part: Part
    requests: list[RecordedRequest] = field(default_factory=list)
    in_sequence: int = 0

    @property
    def tokens(self) -> int:
        """Prompt tokens of all its calls."""
        return sum(prompt_tokens(one) for one in self.requests)


def estimated_tokens(text: str) -> int:
    """Return about how many tokens common tokenizers make of `text`."""
    total = 0
    for piece in _PIECE.findall(text):
        is_word = piece[0].isalpha()
        total += -(-len(piece) // _WORD_CHARS) if is_word else 1
    return total


def prompt_tokens(request: RecordedRequest) -> int:
    """Return the tokens of one request: messages, tool calls, tools and schema."""
    parts = _parts(request)
    return sum(estimated_tokens(part) for part in parts) + _MESSAGE_TOKENS * len(request.messages)


def shared_prefix(requests: Sequence[RecordedRequest]) -> float:
    """Return the share of characters that a server has read before, at a request's beginning.

    Of any earlier request, whoever was asked: a cache knows no agents.
    """
    before: list[str] = []
    same = total = 0
    for request in requests:
        sent = "\0".join(_parts(request))
        same += max((_same_chars(one, sent) for one in before), default=0)
        total += len(sent)
        before.append(sent)
    return same / total if total else 0.0


def _same_chars(one: str, other: str) -> int:
    pairs = zip(one, other, strict=False)
    return next((place for place, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def _parts(request: RecordedRequest) -> list[str]:
    """Return what the model reads, in its order: instructions, tools, and then the talk."""
    body = request.body
    first, *rest = [orjson.dumps(row, option=orjson.OPT_SORT_KEYS).decode() for row in _read(body)]
    tools = [orjson.dumps(one).decode() for one in body.get("tools") or ()]
    shape = [orjson.dumps(body["response_format"]).decode()] if "response_format" in body else []
    return [first, *tools, *shape, *rest]


def _read(body: dict[str, object]) -> list[dict[str, object]]:
    messages = body["messages"]
    return list(messages) if isinstance(messages, list) else []


async def talk(
    server_of: Callable[[Brain], Brain] = lambda model: model,
    *,
    parts: Sequence[Part] = TALK,
    call_seconds: float = _CALL_SECONDS,
    **settings: str,
) -> list[Turn]:
    """Have the talk, and return what each of its turns sent.

    Args:
        parts: What is said.
        call_seconds: How long a call of a board takes, so that those in sequence can be told.
        server_of: Makes a model's server of another kind: one that refuses or rewords things.
        settings: Of the server under measurement.

    Raises:
        TurnFailedError: a message was not answered.
    """
    model, turns = RoteModel(), list[Turn]()
    with tempfile.TemporaryDirectory(prefix="rounds-tokens-") as folder:
        async with FakeOpenAI(brain=server_of(model), keep_requests=1) as wire:
            environment = environment_of(wire.base_url, DATA_DIR=folder, **settings)
            async with running_server(environment) as server, client() as session:
                name = f"tokens-{time.monotonic_ns()}"
                async with chatting(session, server.url, name) as chat:
                    for part in parts:
                        model.part, model.requests = part, []
                        is_board = part.text == BOARD
                        wire.delay_seconds = call_seconds if is_board else 0.0
                        shown = await chat.say(part.text)
                        await asyncio.sleep(0.05)
                        # On a busy machine time says more than there were calls.
                        waits = shown.seconds // call_seconds if is_board and call_seconds else 0
                        in_sequence = min(int(waits), len(model.requests))
                        turns.append(Turn(part, model.requests, in_sequence))
    return turns


def figures_of(turns: Sequence[Turn]) -> list[Figure]:
    """Return the figures of page 11.5, beside its bars."""
    requests = [one for turn in turns for one in turn.requests]
    lookups = [turn for turn in turns if turn.part.looks_up]
    boards = [turn for turn in turns if turn.part.text == BOARD]
    dearest = max(lookups, key=lambda turn: turn.tokens)
    tokens = sum(turn.tokens for turn in turns)
    calls = max(len(turn.requests) for turn in lookups)
    shared = shared_prefix(requests)
    readers = [prompt_tokens(one) for one in requests if "response_format" in one.body]
    return [
        info(PLACE, "requests of the talk", len(requests), ""),
        _bar("prompt tokens of the talk", tokens, "tokens", 117_000),
        Figure(PLACE, "shared prefix", shared, "", 0.75, True, "count"),
        info(PLACE, "… tokens that no server has read before", tokens * (1 - shared), ""),
        _bar("a record question, at most", dearest.tokens, "tokens", 3_500),
        info(PLACE, "a record question, mean", sum(t.tokens for t in lookups) / len(lookups), ""),
        _bar("the reader's call, at most", max(readers), "tokens", 600),
        _bar("calls of a record question, at most", calls, "", 2),
        info(PLACE, "calls of a board", max(len(turn.requests) for turn in boards), ""),
        _bar("… in sequence", max(turn.in_sequence for turn in boards), "", 7),
    ]


def _bar(name: str, measured: float, unit: str, bar: float) -> Figure:
    return Figure(PLACE, name, measured, unit, bar, kind="count")


def main() -> int:
    """Run the bench; 1 if a bar is missed."""
    parser = argparse.ArgumentParser(description="Measures what a talk costs in tokens.")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--turns", action="store_true", help="print each turn, too")
    options = parser.parse_args()
    turns = asyncio.run(talk())
    figures = figures_of(turns)
    if options.json:
        sys.stdout.write(orjson.dumps([one.as_json() for one in figures]).decode() + "\n")
        return int(any(one.is_missed for one in figures))
    if options.turns:
        for turn in turns:
            sys.stdout.write(f"{len(turn.requests):3} {turn.tokens:7,} {turn.part.text}\n")
    sys.stdout.write(table(figures) + "\n\nBefore (0.1):\n")
    sys.stdout.writelines(f"  {name}: {value:,}\n" for name, value in BEFORE.items())
    return int(any(one.is_missed for one in figures))


if __name__ == "__main__":
    sys.exit(main())
