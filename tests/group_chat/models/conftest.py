"""Models that speak to a server on loopback, with limits short enough for tests."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace

import pytest
from semantic_kernel.contents import ChatHistory

from group_chat.models.factory import Models, build_models
from group_chat.models.model_settings import CallLimits, ModelProfile, ModelSettings
from group_chat.models.wire_chat import CallSettings
from tests.fakes_openai import FakeOpenAI
from tests.waiting import until

SHORT = CallLimits(
    idle_seconds=0.3, call_seconds=1.0, connect_seconds=0.3, retries=0, retry_after_seconds=0.5
)

LONG = replace(SHORT, idle_seconds=60.0, call_seconds=60.0, connect_seconds=60.0)
"""Where nothing is to be given up: a busy machine keeps a server waiting for seconds."""


@dataclass
class ModelSite:
    """A server and the models built for it."""

    server: FakeOpenAI
    built: list[Models] = field(default_factory=list)

    def models(self, *, limits: CallLimits = LONG, profile: ModelProfile | None = None) -> Models:
        models = build_models(
            settings=ModelSettings(
                provider="openai",
                url=self.server.base_url,
                model="fake",
                limits=limits,
                profile=profile or ModelProfile(),
            )
        )
        self.built.append(models)
        return models


@pytest.fixture
async def site() -> AsyncIterator[ModelSite]:
    async with FakeOpenAI() as server:
        site = ModelSite(server)
        yield site
        for models in site.built:
            await models.close()


def history(text: str = "Hello") -> ChatHistory:
    chat_history = ChatHistory(system_message="You are a test.")
    chat_history.add_user_message(text)
    return chat_history


async def until_aborted(site: ModelSite) -> None:
    """Return once the server has seen that its first request was given up."""
    await until(lambda: site.server.requests[0].was_aborted)


async def streamed(
    models: Models,
    chat_history: ChatHistory | None = None,
    *,
    settings: CallSettings | None = None,
) -> str:
    """Return the text that an agent would show."""
    text = ""
    parts = models.chat.get_streaming_chat_message_contents(
        chat_history or history(), settings or CallSettings()
    )
    async for items in parts:
        text += items[0].content
    return text
