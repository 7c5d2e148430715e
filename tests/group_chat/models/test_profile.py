"""What is known of a model: set, told by its server, or learned; and what is refused."""

import asyncio
from dataclasses import replace
from pathlib import Path

import orjson
import pytest
import structlog
from pydantic import BaseModel

from data_models.errors import (
    ConfigurationError,
    ModelRequestError,
    ModelUnfitError,
    ModelWindowError,
)
from group_chat.models.__main__ import check_model, main
from group_chat.models.factory import build_models
from group_chat.models.learned import LearnedModel
from group_chat.models.model_settings import ModelProfile, ModelSettings, known_window, profile_of
from group_chat.models.wire_chat import CallSettings
from services.model_port import TokenUsage, usage_counter
from tests.fakes_openai import RecordedRequest, Reply, ToolCall
from tests.group_chat.models.conftest import SHORT, ModelSite, history, streamed


def listed(**row: object) -> Reply:
    return Reply(body=orjson.dumps({"data": [{"id": "fake", **row}]}))


@pytest.mark.parametrize("key", ["max_model_len", "context_length", "context_window"])
async def test_a_window_that_the_server_lists_is_taken(site: ModelSite, key: str) -> None:
    site.server.models_reply = listed(**{key: 16_384})
    models = site.models()
    await models.check()
    assert models.profile().window_tokens == 16_384


async def test_a_window_below_8192_is_refused_with_what_to_set(site: ModelSite) -> None:
    site.server.models_reply = listed(max_model_len=4_096)
    with pytest.raises(ModelUnfitError, match=r"OLLAMA_CONTEXT_LENGTH.*MODEL_CONTEXT_TOKENS"):
        await site.models().check()


def test_a_small_window_that_is_set_is_refused_at_start() -> None:
    profile = profile_of(window=4_096, output=1_000, lacks=(), prices="")
    settings = ModelSettings(provider="openai", model="m", url="http://x", profile=profile)
    with pytest.raises(ConfigurationError, match="8,192"):
        build_models(settings=settings)


async def test_what_refuses_a_long_prompt_is_asked_again_with_less(site: ModelSite) -> None:
    long = Reply(
        status=400,
        body=orjson.dumps({"error": {"message": "maximum context length is 9000 tokens"}}),
    )
    site.server.queue(long, Reply(text="Stable."))
    models, chat = site.models(), history("w" * 40_000)
    for _ in range(6):
        chat.add_assistant_message("a" * 4_000)
        chat.add_user_message("and now?")
    assert await streamed(models, chat) == "Stable."
    first, second = site.server.requests
    assert len(second.raw) < len(first.raw) / 2
    assert second.messages[-1]["content"].endswith("and now?")
    assert models.profile().window_tokens == 9_000


async def test_a_question_that_never_fits_is_the_operators_matter(site: ModelSite) -> None:
    site.server.brain = lambda _: Reply(
        status=400, body=orjson.dumps({"error": {"code": "context_length_exceeded"}})
    )
    with pytest.raises(ModelWindowError) as found:
        await streamed(site.models())
    assert "shorten" not in found.value.user_message


def test_a_server_that_reads_much_less_than_was_sent_is_found_out() -> None:
    learned = LearnedModel(profile=ModelProfile(window_tokens=32_000))
    learned.note_usage(TokenUsage(prompt=9_800), chars=35_000)
    learned.check()
    learned.note_usage(TokenUsage(prompt=4_096), chars=60_000)
    with pytest.raises(ModelUnfitError, match="without a word"):
        learned.check()


def test_a_short_or_dense_prompt_raises_no_alarm() -> None:
    learned = LearnedModel(profile=ModelProfile(window_tokens=32_000))
    learned.note_usage(TokenUsage(prompt=100), chars=3_000)
    learned.note_usage(TokenUsage(prompt=20_000), chars=20_000)
    learned.check()


@pytest.mark.parametrize("param", ["max_tokens", "temperature", "stream_options"])
async def test_what_a_server_refuses_is_left_out_or_rephrased(site: ModelSite, param: str) -> None:
    def picky(request: RecordedRequest) -> Reply:
        if param in request.body:
            return Reply(
                status=400, body=b'{"error":{"message":"Unsupported: %b"}}' % param.encode()
            )
        return Reply(text="Stable.")

    site.server.brain = picky
    models = site.models()
    assert await streamed(models) == "Stable."
    assert await streamed(models) == "Stable."
    assert len(site.server.requests) == (2 if param == "temperature" else 3)
    if param == "max_tokens":
        assert site.server.requests[-1].body["max_completion_tokens"] == 4_096


OFFERED = CallSettings(
    tools=[{"type": "function", "function": {"name": "rounds-results", "parameters": {}}}]
)
NO_TOOLS = Reply(status=400, body=b'{"error":{"message":"this one takes no tools"}}')


async def test_tools_that_were_refused_are_offered_again_after_ten_minutes(
    site: ModelSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.server.brain = lambda request: (
        NO_TOOLS if "tools" in request.body else Reply(text="Stable.")
    )
    models, loop = site.models(), asyncio.get_running_loop()
    for _ in range(2):
        assert await streamed(models, settings=OFFERED) == "Stable."
    offers = ["tools" in one.body for one in site.server.requests]
    assert offers == [True, False, False]
    real = loop.time
    monkeypatch.setattr(loop, "time", lambda: real() + 601)
    site.server.brain = lambda _: Reply(text="Stable.")
    await streamed(models, settings=OFFERED)
    assert "tools" in site.server.requests[-1].body


async def test_a_refusal_that_only_names_tools_is_not_learned(site: ModelSite) -> None:
    site.server.queue(NO_TOOLS, Reply(status=400, body=b"{}"), Reply(text="Stable."))
    models = site.models()
    with pytest.raises(ModelRequestError):
        await streamed(models, settings=OFFERED)
    assert await streamed(models, settings=OFFERED) == "Stable."
    assert ["tools" in one.body for one in site.server.requests] == [True, False, True]


async def test_tokens_and_their_price_are_counted_for_the_turn(site: ModelSite) -> None:
    counted = {
        "prompt_tokens": 1_000_000,
        "completion_tokens": 500_000,
        "prompt_tokens_details": {"cached_tokens": 400_000},
    }
    choice = {"message": {"content": "Stable."}, "finish_reason": "stop"}
    body = orjson.dumps({"choices": [choice], "usage": counted})
    site.server.queue(Reply(body=body))
    learned = profile_of(window=None, output=500, lacks=(), prices="2, 0.5, 8")
    with usage_counter() as usage:
        assert await streamed(site.models(profile=learned)) == "Stable."
    assert (usage.tokens.prompt, usage.tokens.cached, usage.tokens.answer) == (
        1_000_000, 400_000, 500_000,
    )  # fmt: skip
    assert usage.tokens.dollars == pytest.approx(0.6 * 2 + 0.4 * 0.5 + 0.5 * 8)


@pytest.mark.parametrize(("lacks", "prices"), [(("wings",), ""), ((), "2"), ((), "a, b, c")])
def test_a_wrong_setting_is_named(lacks: tuple[str, ...], prices: str) -> None:
    with pytest.raises(ConfigurationError, match=r"MODEL_(LACKS|PRICES)"):
        profile_of(window=None, output=500, lacks=lacks, prices=prices)


def test_well_known_models_need_no_setting() -> None:
    assert known_window("gpt-4.1-mini") == 1_047_576
    assert known_window("openai/gpt-4o") == 128_000
    assert known_window("llama3.1") is None


class Colour(BaseModel):
    colour: str


def capable(request: RecordedRequest) -> Reply:
    if "tools" in request.body:
        return Reply(tool_calls=[ToolCall("current_status")])
    return Reply(text='{"colour": "red"}' if "response_format" in request.body else "Red.")


def settings_of(site: ModelSite) -> ModelSettings:
    return ModelSettings(provider="openai", url=site.server.base_url, model="fake", limits=SHORT)


async def test_the_check_prints_the_profile_and_five_answers(site: ModelSite) -> None:
    site.server.brain, site.server.models_reply = capable, listed(max_model_len=32_768)
    text, serves = await check_model(settings_of(site))
    assert serves
    assert "32,768" in text
    assert text.count(" ok\n") == 5
    assert "MODEL_LACKS" not in text


async def test_the_check_says_what_to_set(site: ModelSite) -> None:
    site.server.brain = lambda request: (
        Reply(status=400) if "tool_choice" in request.body else capable(request)
    )
    text, serves = await check_model(settings_of(site))
    assert serves
    assert "MODEL_LACKS=forced_tools" in text
    assert "set MODEL_CONTEXT_TOKENS" in text


async def test_the_check_refuses_a_small_window(site: ModelSite) -> None:
    site.server.brain, site.server.models_reply = capable, listed(max_model_len=4_096)
    text, serves = await check_model(settings_of(site))
    assert not serves
    assert "OLLAMA_CONTEXT_LENGTH" in text


async def test_the_check_asks_no_more_where_nothing_answers(site: ModelSite) -> None:
    site.server.brain = lambda _: Reply(status=401)
    text, serves = await check_model(settings_of(site))
    assert not serves
    assert f"{site.server.base_url} gave no answer as 'fake'" in text
    assert "the key of OPENAI_" in text
    assert len(site.server.requests) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "refusal",
    [
        {"message": "System role not supported"},
        {"message": "'messages[0].role' does not support 'system'", "param": "messages[0].role"},
    ],
)
async def test_a_template_without_a_system_role_is_found_out(
    site: ModelSite, refusal: dict[str, str]
) -> None:
    def gemma(request: RecordedRequest) -> Reply:
        if request.messages[0]["role"] == "system":
            return Reply(status=400, body=orjson.dumps({"error": refusal}))
        return capable(request)

    site.server.brain = gemma
    text, serves = await check_model(settings_of(site))
    assert serves
    assert text.endswith("Set MODEL_LACKS=system_role\n"), text
    models = site.models()
    for _ in range(2):
        await models.structured.ask(purpose="p", instructions="Be brief.", text="?", answer=Colour)
        assert await streamed(models) == "Red."
    roles = [[row["role"] for row in one.messages] for one in site.server.requests]
    assert roles[-3:] == [["user"]] * 3, "what is learned once is not tried again"
    assert "You are a test." in site.server.requests[-1].messages[0]["content"]


async def test_a_template_that_opens_thoughts_is_found_out(site: ModelSite) -> None:
    site.server.brain = lambda request: replace(
        capable(request), text=f"He asks.</think>{capable(request).text}"
    )
    text, _ = await check_model(settings_of(site))
    assert text.endswith("Set MODEL_LACKS=thoughts_open\n"), text
    models = site.models()
    await models.structured.ask(purpose="p", instructions="Be brief.", text="?", answer=Colour)
    assert await streamed(models) == "Red."


def test_the_check_reads_what_the_server_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["group_chat.models", "check"])
    monkeypatch.setattr(structlog, "configure", lambda **_: None)
    (tmp_path / ".env").write_text("LLM_PROVIDER=openai\nOPENAI_MODEL=\n", "utf-8")
    assert main() == 1
    assert "OPENAI_" in capsys.readouterr().err
