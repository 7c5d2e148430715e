"""Every way in which a model's server fails ends soon, in one of our own errors (R13)."""

import asyncio
import traceback
from dataclasses import replace

import pytest
from pydantic import BaseModel

from data_models import errors
from group_chat.models.factory import build_models
from group_chat.models.model_settings import CallLimits, ModelSettings
from services.model_port import usage_counter
from tests.fakes_openai import Reply, ToolCall
from tests.group_chat.models.conftest import (
    LONG,
    SHORT,
    ModelSite,
    history,
    streamed,
    until_aborted,
)

CANARY = "Melanoma-of-Mrs-Canary"


class Verdict(BaseModel):
    """What the structured tests ask for."""

    stays: bool


def problem(code: str | None = None) -> bytes:
    return f'{{"error":{{"message":"{CANARY}","code":"{code}"}}}}'.encode()


FAULTS = {
    "429": (Reply(status=429, body=problem()), errors.ModelUnavailableError),
    "500": (Reply(status=500, body=problem()), errors.ModelUnavailableError),
    "503 with html": (
        Reply(status=503, body=b"<html>" + CANARY.encode(), content_type="text/html"),
        errors.ModelUnavailableError,
    ),
    "401": (Reply(status=401, body=problem()), errors.ModelError),
    "400": (Reply(status=400, body=problem()), errors.ModelRequestError),
    "redirect": (Reply(status=302, headers={"Location": "http://127.0.0.1:1/"}), errors.ModelError),
    "content filter of the prompt": (
        Reply(status=400, body=problem("content_filter")),
        errors.ModelRefusedError,
    ),
    "reset at once": (Reply(text=CANARY, drop_after_bytes=0), errors.ModelUnavailableError),
    "reset before": (Reply(drop_after_bytes=-1), errors.ModelUnavailableError),
    "reset within": (Reply(text=CANARY * 50, drop_after_bytes=90), errors.ModelUnavailableError),
    "silence": (Reply(text=CANARY, delay_seconds=5), errors.ModelTimeoutError),
    "empty": (Reply(text=""), errors.ModelSilentError),
    "blank": (Reply(text=" \n "), errors.ModelSilentError),
    "null": (Reply(text=None), errors.ModelSilentError),
    "cut off": (Reply(text=CANARY, finish_reason="length"), errors.ModelOutputError),
    "content filter": (
        Reply(text=CANARY, finish_reason="content_filter"),
        errors.ModelRefusedError,
    ),
    "refusal": (Reply(refusal=CANARY), errors.ModelRefusedError),
    "html": (
        Reply(body=b"<html>" + CANARY.encode() + b"</html>", content_type="text/html"),
        errors.ModelOutputError,
    ),
    "no choices": (Reply(choices=False), errors.ModelOutputError),
    "choices are no list": (Reply(body=b'{"choices": 7}'), errors.ModelOutputError),
    "content is no text": (
        Reply(body=b'{"choices": [{"message": {"content": [1]}}]}'),
        errors.ModelOutputError,
    ),
    "1.5 MB": (Reply(text=CANARY * 68_000), errors.ModelOutputError),
    "one endless event": (
        Reply(body=b"data: " + b"x" * 1_500_000, content_type="text/event-stream"),
        errors.ModelOutputError,
    ),
    "malformed json": (
        Reply(body=b'{"choices": [{"message": {"content": "' + CANARY.encode()),
        errors.ModelOutputError,
    ),
    "malformed event": (
        Reply(body=b'data: {"choices": [{"delta": \n\n', content_type="text/event-stream"),
        errors.ModelOutputError,
    ),
    "json too deep": (Reply(body=b'{"choices":' + b"[" * 100_000), errors.ModelOutputError),
    "too many tools": (
        Reply(tool_calls=[ToolCall("f", call_id=f"c{n}") for n in range(100)]),
        errors.ModelOutputError,
    ),
    "a tool without a name": (Reply(tool_calls=[ToolCall("")]), errors.ModelOutputError),
    "a failure within the stream": (
        Reply(body=b"data: " + problem() + b"\n\n", content_type="text/event-stream"),
        errors.ModelUnavailableError,
    ),
}
ONLY_STREAMED = {
    "stopped without an end": (Reply(text=CANARY, end_stream=False), errors.ModelOutputError)
}


def limits_of(expected: type[errors.ModelError]) -> CallLimits:
    """Return limits that a server reaches which does not answer, and no busy machine otherwise."""
    return SHORT if expected is errors.ModelTimeoutError else LONG


def assert_says_nothing(error: BaseException) -> None:
    told = "".join(traceback.format_exception(error))
    assert CANARY not in told


@pytest.mark.parametrize("name", [*FAULTS, *ONLY_STREAMED])
@pytest.mark.slow
async def test_a_streamed_call_ends_in_our_own_error(site: ModelSite, name: str) -> None:
    reply, expected = (FAULTS | ONLY_STREAMED)[name]
    site.server.brain = lambda _: reply
    async with asyncio.timeout(20):
        with pytest.raises(errors.ModelError) as caught:
            await streamed(site.models(limits=limits_of(expected)))
    assert type(caught.value) is expected
    assert_says_nothing(caught.value)


@pytest.mark.slow
@pytest.mark.parametrize("name", FAULTS)
async def test_a_structured_call_ends_in_our_own_error(site: ModelSite, name: str) -> None:
    reply, expected = FAULTS[name]
    site.server.brain = lambda _: reply
    async with asyncio.timeout(20):
        with pytest.raises(errors.ModelError) as caught:
            await site.models(limits=limits_of(expected)).structured.ask(
                purpose="test", instructions="Say.", text="Text", answer=Verdict
            )
    # A server that takes no form of the request is asked in every form first.
    assert type(caught.value) is expected
    assert_says_nothing(caught.value)


@pytest.mark.slow
@pytest.mark.parametrize("name", FAULTS)
async def test_the_next_call_works(site: ModelSite, name: str) -> None:
    reply, expected = FAULTS[name]
    models = site.models(limits=replace(limits_of(expected), call_seconds=60.0))
    site.server.brain = lambda _: reply
    with pytest.raises(expected):
        await streamed(models)
    site.server.brain = lambda _: Reply(text="All is well.")
    assert await streamed(models) == "All is well."


async def test_a_server_that_is_not_there_is_unavailable() -> None:
    models = build_models(
        settings=ModelSettings(
            provider="openai", url="http://127.0.0.1:9/v1", model="m", limits=SHORT
        )
    )
    with pytest.raises(errors.ModelUnavailableError):
        await streamed(models)
    with pytest.raises(errors.ModelUnavailableError):
        await models.check()
    await models.close()


@pytest.mark.slow
async def test_a_stream_that_falls_silent_is_given_up_though_it_had_begun(site: ModelSite) -> None:
    site.server.queue(Reply(text="word " * 50, chunk_chars=5, tokens_per_second=1.5))
    with pytest.raises(errors.ModelTimeoutError):
        await streamed(site.models(limits=SHORT))
    await until_aborted(site)


@pytest.mark.slow
async def test_a_slow_stream_ends_with_the_budget_of_the_call(site: ModelSite) -> None:
    site.server.queue(Reply(text="word " * 5_000, chunk_chars=5, tokens_per_second=50))
    limits = CallLimits(idle_seconds=0.3, call_seconds=0.4, retries=1)
    async with asyncio.timeout(60):
        with pytest.raises(errors.ModelTimeoutError):
            await streamed(site.models(limits=limits))
    assert len(site.server.requests) == 1


@pytest.mark.slow
async def test_calls_beyond_the_limit_wait_no_longer_than_their_budget(site: ModelSite) -> None:
    site.server.queue(Reply(text="In time.", delay_seconds=0.01))
    site.server.delay_seconds = 60
    limits = CallLimits(concurrent_calls=1, call_seconds=1.0)
    models = site.models(limits=limits)
    results = await asyncio.gather(*[streamed(models) for _ in range(4)], return_exceptions=True)
    assert [type(result) for result in results].count(errors.ModelTimeoutError) == 3
    assert isinstance(results[0], str)


async def test_what_an_error_tells_is_safe_to_log(site: ModelSite) -> None:
    site.server.queue(Reply(status=400, body=problem()))
    with pytest.raises(errors.ModelError) as caught:
        await streamed(site.models(), history(CANARY))
    assert CANARY not in str(caught.value)
    assert_says_nothing(caught.value)


async def test_half_a_character_in_a_prompt_ends_in_our_own_error(site: ModelSite) -> None:
    with pytest.raises(errors.ModelError) as caught:
        await streamed(site.models(), history(f"{CANARY} \ud83d"))
    assert CANARY not in str(caught.value)
    assert_says_nothing(caught.value)
    assert not site.server.requests


@pytest.mark.slow
async def test_a_dead_server_costs_a_turn_one_budget_whatever_it_asks(site: ModelSite) -> None:
    site.server.delay_seconds = 60
    limits = CallLimits(idle_seconds=9.0, call_seconds=1.0, least_seconds=0.1, retries=0)
    models = site.models(limits=limits)
    began = asyncio.get_running_loop().time()
    with usage_counter():
        for _ in range(24):
            with pytest.raises(errors.ModelTimeoutError):
                await streamed(models)
    took = asyncio.get_running_loop().time() - began
    assert 1.0 < took < 24.0, "each waited as if it were the first"


@pytest.mark.slow
async def test_the_repair_of_an_answer_shares_its_budget(site: ModelSite) -> None:
    bad = Reply(text="no json", delay_seconds=0.6)
    site.server.brain = lambda _: bad
    limits = CallLimits(idle_seconds=2.0, call_seconds=1.0, least_seconds=0.1, retries=0)
    with pytest.raises(errors.ModelTimeoutError):
        await site.models(limits=limits).structured.ask(
            purpose="test", instructions="Say.", text="Text", answer=Verdict
        )
    assert len(site.server.requests) == 2
