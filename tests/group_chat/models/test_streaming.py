"""Text, tool calls, retries and cancelling through Semantic Kernel and the openai client."""

import asyncio
import time
from collections.abc import AsyncIterator

import pytest
from semantic_kernel import Kernel
from semantic_kernel.connectors.ai.function_choice_behavior import FunctionChoiceBehavior
from semantic_kernel.functions import kernel_function

from data_models.errors import ModelOutputError, ModelUnavailableError
from group_chat.models.factory import Models
from group_chat.models.model_settings import CallLimits
from group_chat.models.wire_chat import CallSettings
from services.model_port import usage_counter
from tests.fakes_openai import FakeOpenAI, Reply, ToolCall
from tests.group_chat.models.conftest import ModelSite, history, streamed, until_aborted
from tests.waiting import until

RETRYING = CallLimits(idle_seconds=0.5, call_seconds=3, retries=1, retry_after_seconds=1.5)


class Charts:
    """A plugin with one tool, which notes how it was called."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    @kernel_function(description="Finds a note.")
    async def find(self, word: str) -> str:
        """Return what is known of `word`."""
        self.calls.append(word)
        return f"note about {word}"


async def with_tools(models: Models, charts: Charts) -> str:
    kernel = Kernel()
    kernel.add_plugin(charts, "charts")
    settings = CallSettings(
        function_choice_behavior=FunctionChoiceBehavior.Auto(maximum_auto_invoke_attempts=3)
    )
    text = ""
    parts = models.chat.get_streaming_chat_message_contents(history(), settings, kernel=kernel)
    async for items in parts:
        text += items[0].content
    return text


async def test_text_comes_in_the_order_it_was_said(site: ModelSite) -> None:
    said = "Grüße, 患者 4 😀: " + "word " * 100
    site.server.queue(Reply(text=said, chunk_chars=3))
    assert await streamed(site.models()) == said


@pytest.mark.slow
async def test_the_first_text_does_not_wait_for_the_last(site: ModelSite) -> None:
    site.server.queue(Reply(text="x" + "b" * 199, chunk_chars=1, tokens_per_second=5.0))
    parts = site.models(limits=CallLimits()).chat.get_streaming_chat_message_contents(
        history(), CallSettings()
    )
    first = await anext(parts)
    assert first[0].content == "x"
    site.server.is_hasty = True  # else the last would come after forty seconds
    rest = [items[0].content async for items in parts]
    assert "".join(rest) == "b" * 199


async def test_a_tool_call_in_pieces_runs_once_and_its_result_is_sent(site: ModelSite) -> None:
    charts = Charts()
    call = ToolCall("charts-find", {"word": "a rather long word to find"})
    site.server.queue(
        Reply(text="Let me look. ", tool_calls=[call], chunk_chars=4), Reply(text="Found it.")
    )
    text = await with_tools(site.models(), charts)
    assert charts.calls == ["a rather long word to find"]
    assert text.startswith("Let me look. ")
    assert text.endswith("Found it.")
    after = site.server.requests[1].messages
    assert after[-1]["role"] == "tool"
    assert after[-1]["content"] == "note about a rather long word to find"
    assert after[-2]["tool_calls"][0]["id"] == after[-1]["tool_call_id"]


async def test_several_tool_calls_of_one_answer_all_run(site: ModelSite) -> None:
    charts = Charts()
    calls = [ToolCall("charts-find", {"word": word}) for word in ("a", "b", "c")]
    site.server.queue(Reply(tool_calls=calls), Reply(text="Done."))
    assert (await with_tools(site.models(), charts)).endswith("Done.")
    assert sorted(charts.calls) == ["a", "b", "c"]


async def test_malformed_arguments_are_told_to_the_model(site: ModelSite) -> None:
    charts = Charts()
    site.server.queue(
        Reply(tool_calls=[ToolCall("charts-find", '{"word": ')]), Reply(text="Sorry.")
    )
    assert (await with_tools(site.models(), charts)).endswith("Sorry.")
    assert charts.calls == []
    assert site.server.requests[1].messages[-1]["role"] == "tool"


async def test_an_unknown_tool_is_told_to_the_model(site: ModelSite) -> None:
    site.server.queue(Reply(tool_calls=[ToolCall("charts-burn", {})]), Reply(text="Sorry."))
    assert (await with_tools(site.models(), Charts())).endswith("Sorry.")


async def test_a_model_that_never_stops_calling_tools_is_stopped(site: ModelSite) -> None:
    site.server.brain = lambda _: Reply(tool_calls=[ToolCall("charts-find", {"word": "again"})])
    charts = Charts()
    assert "again" not in (await with_tools(site.models(), charts)).replace("note about again", "")
    assert len(charts.calls) == 3


async def until_asked(site: ModelSite) -> None:
    await until(lambda: site.server.requests)


async def test_cancelling_aborts_the_call_on_the_wire(site: ModelSite) -> None:
    site.server.queue(Reply(text="word " * 200, chunk_chars=5, tokens_per_second=50))
    models = site.models(limits=CallLimits())
    turn = asyncio.create_task(streamed(models))
    await until_asked(site)
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn
    await until_aborted(site)


async def test_cancelling_before_the_first_byte_aborts_the_call_too(site: ModelSite) -> None:
    site.server.queue(Reply(text="word", delay_seconds=60))
    turn = asyncio.create_task(streamed(site.models(limits=CallLimits())))
    await until_asked(site)
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn
    await until_aborted(site)


async def test_closing_a_stream_halfway_aborts_the_call_and_frees_it(site: ModelSite) -> None:
    site.server.queue(Reply(text="word " * 200, chunk_chars=5, tokens_per_second=50))
    models = site.models(limits=CallLimits(concurrent_calls=1))
    parts = models.chat.get_streaming_chat_message_contents(history(), CallSettings())
    await anext(parts)
    await parts.aclose()
    await until_aborted(site)
    site.server.queue(Reply(text="Next."))
    assert await streamed(models) == "Next."


@pytest.mark.slow
@pytest.mark.parametrize(
    "first",
    [
        Reply(status=429),
        Reply(status=408),
        Reply(status=500),
        Reply(text="lost", drop_after_bytes=0),
        Reply(text="lost", delay_seconds=2),
        Reply(text=""),
        Reply(body=b"data: {\n\n", content_type="text/event-stream"),
    ],
)
async def test_what_fails_before_its_first_token_is_repeated(site: ModelSite, first: Reply) -> None:
    site.server.queue(first, Reply(text="At last."))
    assert await streamed(site.models(limits=RETRYING)) == "At last."
    assert len(site.server.requests) == 2


@pytest.mark.slow
async def test_what_fails_twice_is_not_tried_a_third_time(site: ModelSite) -> None:
    site.server.queue(Reply(status=500), Reply(status=500), Reply(text="never"))
    with pytest.raises(ModelUnavailableError):
        await streamed(site.models(limits=RETRYING))
    assert len(site.server.requests) == 2


async def test_what_fails_after_its_first_token_is_not_repeated(site: ModelSite) -> None:
    site.server.queue(Reply(text="said " * 50, end_stream=False, chunk_chars=5), Reply(text="No"))
    with pytest.raises(ModelOutputError):
        await streamed(site.models(limits=RETRYING))
    assert len(site.server.requests) == 1


async def test_what_can_only_fail_again_is_not_tried_again(site: ModelSite) -> None:
    site.server.queue(Reply(status=401), Reply(text="never"))
    with pytest.raises(Exception, match="401"):
        await streamed(site.models(limits=RETRYING))
    assert len(site.server.requests) == 1


@pytest.mark.slow
async def test_the_pause_is_as_long_as_the_server_asks(site: ModelSite) -> None:
    site.server.queue(Reply(status=429, headers={"Retry-After": "1"}), Reply(text="At last."))
    began = time.monotonic()
    assert await streamed(site.models(limits=RETRYING)) == "At last."
    assert time.monotonic() - began >= 1


async def test_a_pause_beyond_our_patience_ends_the_call_at_once(site: ModelSite) -> None:
    site.server.queue(Reply(status=429, headers={"Retry-After": "600"}), Reply(text="never"))
    with pytest.raises(ModelUnavailableError):
        await streamed(site.models(limits=RETRYING))
    assert len(site.server.requests) == 1


async def test_calls_one_after_another_share_a_connection(site: ModelSite) -> None:
    models = site.models()
    for _ in range(5):
        await streamed(models)
    assert site.server.connections == 1


async def test_a_connection_that_has_become_stale_costs_no_retry(site: ModelSite) -> None:
    models = site.models()
    site.server.queue(Reply(text="One."), Reply(drop_after_bytes=-1), Reply(text="Two."))
    assert await streamed(models) == "One."
    assert await streamed(models) == "Two."


@pytest.mark.slow
async def test_prompt_characters_are_counted_for_each_request_of_the_turn(site: ModelSite) -> None:
    models = site.models(limits=RETRYING)
    site.server.queue(Reply(status=500))
    with usage_counter() as usage:
        await streamed(models, history("Hello"))
    assert usage.calls == 2
    assert usage.prompt_chars == 2 * len("You are a test.Hello")


@pytest.fixture
async def elsewhere() -> AsyncIterator[FakeOpenAI]:
    async with FakeOpenAI() as server:
        yield server


async def test_a_redirect_is_not_followed(site: ModelSite, elsewhere: FakeOpenAI) -> None:
    site.server.queue(
        Reply(status=307, headers={"Location": f"{elsewhere.base_url}/chat/completions"})
    )
    with pytest.raises(Exception, match="307"):
        await streamed(site.models())
    assert not elsewhere.requests


async def test_many_calls_side_by_side_keep_their_answers_apart(site: ModelSite) -> None:
    site.server.brain = lambda request: Reply(text=str(request.messages[-1]["content"]) * 20)
    models = site.models(limits=CallLimits())
    words = [f"canary-{number} " for number in range(60)]
    said = await asyncio.gather(*[streamed(models, history(word)) for word in words])
    assert said == [word * 20 for word in words]


async def test_a_temperature_that_the_model_refuses_is_left_out_after(site: ModelSite) -> None:
    refusal = b'{"error": {"message": "no", "param": "temperature", "code": "unsupported_value"}}'
    site.server.queue(Reply(status=400, body=refusal), Reply(text="One."), Reply(text="Two."))
    models = site.models()
    settings = CallSettings(temperature=0.1)
    for said in ("One.", "Two."):
        parts = models.chat.get_streaming_chat_message_contents(history(), settings)
        assert "".join([items[0].content async for items in parts]) == said
    assert ["temperature" in r.body for r in site.server.requests] == [True, False, False]
