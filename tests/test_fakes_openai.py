"""The stand-in for a model's server keeps the contract that the stock client expects."""

import asyncio
import sys
from collections.abc import AsyncIterator

import pytest
from openai import AsyncOpenAI, RateLimitError
from pydantic import BaseModel

from group_chat.models.factory import build_models
from group_chat.models.model_settings import ModelSettings
from services.language.reader import AddressedReading, question
from tests.fakes_openai import FakeOpenAI, Reply, ToolCall
from tests.fakes_openai_brain import brain
from tests.given import present
from tests.group_chat.team_world import team_world


@pytest.fixture
async def server() -> AsyncIterator[FakeOpenAI]:
    async with FakeOpenAI() as server:
        yield server


@pytest.fixture
async def client(server: FakeOpenAI) -> AsyncIterator[AsyncOpenAI]:
    async with AsyncOpenAI(base_url=server.base_url, api_key="none", max_retries=0) as client:
        yield client


@pytest.mark.slow
async def test_the_stock_client_reads_a_whole_answer(
    server: FakeOpenAI, client: AsyncOpenAI
) -> None:
    server.queue(Reply(text="Hello."))
    answer = await client.chat.completions.create(
        model="m", messages=[{"role": "user", "content": "Hi"}]
    )
    assert answer.choices[0].message.content == "Hello."
    assert server.requests[0].messages == [{"role": "user", "content": "Hi"}]


@pytest.mark.parametrize("pace", [None, 500.0])
@pytest.mark.slow
async def test_the_stock_client_reads_a_stream_with_tool_calls(
    server: FakeOpenAI, client: AsyncOpenAI, pace: float | None
) -> None:
    calls = [ToolCall("find", {"word": "a long word"}), ToolCall("read", "{}")]
    server.queue(Reply(text="Let me see.", tool_calls=calls, chunk_chars=4, tokens_per_second=pace))
    async with client.chat.completions.stream(
        model="m", messages=[{"role": "user", "content": "Hi"}]
    ) as stream:
        async for _ in stream:
            pass
        message = (await stream.get_final_completion()).choices[0].message
    assert message.content == "Let me see."
    told = [(one.function.name, one.function.arguments) for one in message.tool_calls or ()]
    assert told == [("find", '{"word":"a long word"}'), ("read", "{}")]


class Word(BaseModel):
    """A structured answer."""

    word: str
    count: int


@pytest.mark.slow
async def test_the_stock_client_parses_a_structured_answer_of_the_brain(
    server: FakeOpenAI, client: AsyncOpenAI
) -> None:
    server.brain = brain
    answer = await client.chat.completions.parse(
        model="m", messages=[{"role": "user", "content": "Hi"}], response_format=Word
    )
    assert answer.choices[0].message.parsed == Word(word="", count=0)


async def test_the_stock_client_honours_its_retry_after(server: FakeOpenAI) -> None:
    server.queue(Reply(status=429, headers={"retry-after-ms": "20"}), Reply(text="Hello."))
    async with AsyncOpenAI(base_url=server.base_url, api_key="none", max_retries=1) as client:
        await client.chat.completions.create(
            model="m", messages=[{"role": "user", "content": "Hi"}]
        )
    assert len(server.requests) == 2


async def test_a_queued_reply_that_nobody_asked_for_is_noticed(server: FakeOpenAI) -> None:
    server.queue(Reply(text="unused"))
    with pytest.raises(AssertionError, match="1 queued"):
        server.assert_finished()


async def test_a_failure_has_the_stock_clients_type(
    server: FakeOpenAI, client: AsyncOpenAI
) -> None:
    server.queue(Reply(status=429))
    with pytest.raises(RateLimitError):
        await client.chat.completions.create(
            model="m", messages=[{"role": "user", "content": "Hi"}]
        )


@pytest.mark.slow
async def test_the_brain_leads_a_tumor_board() -> None:
    async with team_world() as world:
        world.model.brain = brain
        proposed = await world.say("start tumor board")
        assert proposed.reason == "gate"
        assert proposed.plan is not None
        ran = await world.say("yes", plan=proposed.plan)
        steps = [step.agent for step in proposed.plan.steps]
        spoke = [name for name in ran.speakers if name != "Orchestrator"]
        # Those who work side by side begin as their models answer.
        assert (sorted(spoke), spoke[-1]) == (sorted(steps), steps[-1])
        assert present(ran.plan).status == "done"
        assert ran.reason == "answered"


async def test_the_brain_reads_the_classifiers_question() -> None:
    async with FakeOpenAI(brain=brain) as server:
        models = build_models(
            settings=ModelSettings(provider="openai", url=server.base_url, model="m")
        )
        read = await models.structured.ask(
            purpose="reader",
            instructions="Read.",
            text=question("has patient_15 had surgery?", patients=["patient_4", "patient_15"]),
            answer=AddressedReading,
        )
        await models.close()
    assert read.patient == "p1"


@pytest.mark.slow
async def test_it_runs_as_a_program() -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.fakes_openai", stdout=asyncio.subprocess.PIPE
    )
    address = (await present(process.stdout).readline()).decode().strip()
    async with AsyncOpenAI(base_url=address, api_key="none") as client:
        assert [model.id async for model in client.models.list()] == ["fake"]
    process.terminate()
    await process.wait()
