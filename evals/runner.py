"""Runs cases against real servers, several conversations at a time, and keeps the results."""

import asyncio
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import aiohttp
import orjson

from evals.cases import Case, Given, Person, said_plan
from evals.choosing import samples_folder
from evals.models import ModelChosen
from evals.parts.playing import played
from evals.results import FoundRow, Progress, PromptKept, Result
from evals.scoring.checks import Row, Seen, facts_of, rows_of
from evals.scoring.meanings import held
from evals.server import key_of, running_server, settings_for
from evals.spending import Spending, Usage, said_in
from evals.talk import Talk, Turn, talking
from evals.wire import Asked, Wire

_OF_PATIENTS = ("subject", "which_patient")
_CAREFUL = ("another", "clear", "")


def decided_by(turn: Turn, asked: Sequence[Asked]) -> str:
    """Return rule, model or guard.

    Guard: the model named one patient, and the code asked the user all the same.
    """
    said = [named for one in asked if (named := _named_by(one, turn.user)) is not None]
    if not said:
        return "rule"
    question = turn.state.get("question") or {}
    is_asked = question.get("kind") in _OF_PATIENTS
    return "guard" if is_asked and said[-1] not in _CAREFUL else "model"


def _named_by(asked: Asked, message: str) -> str | None:
    """Return whom the model named; None where it was not asked, "" where nothing can be read."""
    schema = (asked.body.get("response_format") or {}).get("json_schema") or {}
    if "patient" not in schema.get("schema", {}).get("properties", {}):
        return None
    given = _object(str(asked.body["messages"][-1].get("content") or ""))
    if not given.get("patients") or given.get("message") != message:
        return None
    return str(_object(said_in(asked.answer)).get("patient", ""))


def _object(text: str) -> dict[str, Any]:
    try:
        found = orjson.loads(text)
    except orjson.JSONDecodeError:
        return {}
    return found if isinstance(found, dict) else {}


KEPT_PROMPT_CHARS = 60_000
# So many keys fit into one variable of the environment.
MOST_USERS = 1_000
Say: TypeAlias = Callable[[str], Awaitable[Turn]]


@dataclass(slots=True)
class Run:
    """What is to be run, and how.

    Attributes:
        folder: Where progress, data of the servers and the reports are.
        parallel: Conversations at a time.
        turn_seconds: A turn of a case fails after so long.
        say: Told of each result, for people who wait.
    """

    cases: Sequence[Case]
    model: ModelChosen
    spending: Spending
    folder: Path
    repeat: int = 1
    parallel: int = 4
    turn_seconds: float = 330.0
    say: Callable[[Result], None] = lambda _: None
    results: list[Result] = field(default_factory=list)
    recorded: list[tuple[str, Asked]] = field(default_factory=list)

    async def finish(self) -> list[Result]:
        """Run what no earlier life of this run has done; return all results.

        Raises:
            ConfigurationError: a server did not start.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        progress = Progress(self.folder / "progress.jsonl")
        wanted = {case.key for case in self.cases}
        self.results = [one for one in progress.read() if one.case in wanted]
        done = {(one.case, one.repeat) for one in self.results}
        await self._play_parts(done, progress)
        for world, tries in self._by_world(done).items():
            await self._in_world(world, tries, progress)
        order = {case.key: index for index, case in enumerate(self.cases)}
        return sorted(self.results, key=lambda one: (order[one.case], one.repeat))

    def _by_world(self, done: set[tuple[str, int]]) -> Mapping["World", list[tuple[Case, int]]]:
        """Return what is left to do, by the server that it needs."""
        worlds: dict[World, list[tuple[Case, int]]] = defaultdict(list)
        for repeat in range(self.repeat):
            for case in self.cases:
                if case.play is None and (case.key, repeat) not in done:
                    worlds[World.of(case.given)].append((case, repeat))
        return worlds

    async def _play_parts(self, done: set[tuple[str, int]], progress: Progress) -> None:
        """Play the cases that need no server."""
        parts = [one for one in self.cases if one.play is not None]
        for repeat in range(self.repeat):
            for case in parts:
                if (case.key, repeat) in done:
                    continue
                rows, taken = await played(case, points=self.model.kind == "scripted")
                wrong = [FoundRow(row=one.row, why=one.why) for one in rows]
                turn = Turn(user=" / ".join(case.say), outcome="success")
                result = Result(
                    case=case.key, suite=case.suite, repeat=repeat, tags=list(case.tags),
                    about=case.about, wrong=wrong, decided="rule", turns=[turn], part=taken,
                )  # fmt: skip
                self._keep(result, progress)

    def _keep(self, result: Result, progress: Progress) -> None:
        progress.add(result)
        self.results.append(result)
        self.say(result)

    async def _in_world(
        self, world: "World", tries: list[tuple[Case, int]], progress: Progress
    ) -> None:
        async with AsyncExitStack() as stack:
            wire = await stack.enter_async_context(self.model.wire(self.cases, self.spending))
            samples = samples_folder(world.samples)
            users = [f"eval-{number}" for number in range(min(len(tries), MOST_USERS))]
            server = running_server(
                folder=self.folder / f"server-{abs(hash(world)) % 10**8}",
                samples=samples,
                settings={
                    **settings_for(users),
                    **self.model.settings(wire),
                    **dict(world.settings),
                },
            )
            url = await stack.enter_async_context(server)
            gate = asyncio.Semaphore(self.parallel)
            free = deque(users)

            async def one(case: Case, repeat: int) -> None:
                async with gate:
                    if self.spending.is_over:
                        return
                    # A user's own calendar is shared by their conversations, so each has another.
                    user = free.popleft()
                    free.append(user)
                    result = await self._tried(case, repeat, Door(url, key_of(user)), wire)
                    self._keep(result, progress)

            async with asyncio.TaskGroup() as group:
                for case, repeat in tries:
                    group.create_task(one(case, repeat))

    async def _tried(self, case: Case, repeat: int, door: "Door", wire: Wire | None) -> Result:
        base = Result(
            case=case.key, suite=case.suite, repeat=repeat, tags=list(case.tags), about=case.about
        )
        seen: Seen | None = None
        asked: list[Asked] = []
        turns: list[Turn] = []
        try:
            async with talking(door.url, door.key) as talk:
                turns = talk.turns
                try:
                    seen = await self._seen(case, talk, wire)
                finally:
                    asked = wire.end(talk.conversation) if wire is not None else []
            rows = rows_of(case, seen)
        except TimeoutError:
            rows = [Row("outcome", f"a turn did not end in {self.turn_seconds:g} s")]
        except (aiohttp.ClientError, TypeError) as error:
            rows = [Row("outcome", f"the connection failed: {type(error).__name__}")]
        self.recorded += [(case.key, one) for one in asked]
        found = base.model_copy(
            update={
                "part": held(case, rows) if seen is not None else None,
                "wrong": [FoundRow(row=one.row, why=one.why) for one in rows],
                "turns": turns,
                "prompts": [_kept(one) for one in asked] if rows else [],
                **({} if seen is None else _measured(case, seen, asked)),
            }
        )
        usage = sum((one.usage for one in asked), Usage())
        return found.with_usage(usage, calls=len(asked), cost=self.spending.cost(usage))

    async def _seen(self, case: Case, talk: Talk, wire: Wire | None) -> Seen:
        async def say(text: str) -> Turn:
            if wire is not None:
                wire.begin(talk.conversation, case.key, text)
            return await talk.say(text, seconds=self.turn_seconds)

        opened = await prepare(case.given, say)
        before = talk.turns[-1].patient if talk.turns else None
        for text in case.say[:-1]:
            await say(text)
        turn = await say(case.say[-1])
        memory = await talk.memory() if case.expect.memory is not None else ""
        return Seen(turn=turn, before=before, same=opened, memory=memory)


@dataclass(frozen=True, slots=True)
class Door:
    """Where the server is, and the key of the user who knocks."""

    url: str
    key: str


@dataclass(frozen=True, slots=True)
class World:
    """What a server stands on; cases of one world share it."""

    samples: str
    settings: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, given: Given) -> "World":
        """Return the world that a case needs."""
        return cls(samples=given.samples, settings=tuple(sorted(given.settings.items())))


async def prepare(given: Given, say: Say) -> frozenset[str]:
    """Say what stands before the message; return ids that stand for the patient of the case."""
    for patient in given.known:
        await say(f"switch to {patient}")
    same: frozenset[str] = frozenset()
    if given.open is not None:
        turn = await say(f"switch to {given.open}")
        if turn.patient != given.open and given.person is not None:
            same = await _open_by_name(given.person, say)
    for text in given.turns:
        await say(text)
    if given.plan is not None:
        await say(said_plan(given))
    return same


async def _open_by_name(person: Person, say: Say) -> frozenset[str]:
    """Open a chart whose id the server chooses, as a user would: by name and birth date."""
    born = f", born {person.birth_date}" if person.birth_date else ""
    turn = await say(f"open the chart of {person.name}{born}")
    if turn.state.get("question") is not None:
        turn = await say("1")
    return frozenset({turn.patient}) if turn.patient else frozenset()


def _measured(case: Case, seen: Seen, asked: Sequence[Asked]) -> dict[str, object]:
    """Return the fields of a result that a finished case has."""
    facts, timing = facts_of(case.expect, seen.turn), seen.turn.timing
    return {
        "facts": facts[0] if facts else None,
        "decided": decided_by(seen.turn, asked),
        "first_text_ms": timing.get("first_token_ms"),
        "total_ms": timing.get("total_ms", 0.0),
    }


def _kept(asked: Asked) -> PromptKept:
    body = orjson.dumps(asked.body, option=orjson.OPT_INDENT_2).decode()
    return PromptKept(
        body=body[:KEPT_PROMPT_CHARS], answer=asked.answer[:KEPT_PROMPT_CHARS], status=asked.status
    )
