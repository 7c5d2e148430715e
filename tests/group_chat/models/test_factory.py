"""Which models are built, whom they call and with which key."""

import logging
from base64 import b64encode
from dataclasses import replace
from functools import partial

import pytest
from pydantic import BaseModel

from data_models.errors import ModelError, ModelUnavailableError
from group_chat.models.factory import build_models
from group_chat.models.model_settings import ModelSettings
from services.own_sign_in import ManagedIdentity
from tests.fakes import FixedClock
from tests.fakes_openai import FakeOpenAI, Reply
from tests.group_chat.models.conftest import ModelSite, history, streamed


class Word(BaseModel):
    """One word."""

    word: str


async def test_a_server_without_keys_is_called_without_one_of_ours(site: ModelSite) -> None:
    await streamed(site.models())
    assert site.server.requests[0].header("Authorization") == "Bearer none"
    assert site.server.requests[0].header("Cookie") is None


async def test_azure_is_called_with_its_key_at_the_deployment_and_version() -> None:
    async with FakeOpenAI() as server:
        models = build_models(
            settings=ModelSettings(
                provider="azure",
                url=server.base_url.removesuffix("/v1"),
                model="gpt-deploy",
                api_key="key-7",
                api_version="2024-10-21",
            )
        )
        assert (await streamed(models)).startswith("You said")
        request = server.requests[0]
        await models.close()
    assert request.header("api-key") == "key-7"
    assert request.path == "/openai/deployments/gpt-deploy/chat/completions"
    assert b"api-version=2024-10-21" in request.head


async def test_the_classifier_may_be_asked_of_a_smaller_model(site: ModelSite) -> None:
    models = build_models(
        settings=ModelSettings(
            provider="openai", url=site.server.base_url, model="large", small_model="small"
        )
    )
    site.server.queue(Reply(text='{"word": "a"}'))
    await models.structured.ask(purpose="t", instructions="i", text="t", answer=Word)
    await streamed(models)
    await models.close()
    assert [request.body["model"] for request in site.server.requests] == ["small", "large"]


async def test_an_image_is_sent_once_and_only_to_a_model_that_takes_images(
    site: ModelSite,
) -> None:
    settings = ModelSettings(provider="openai", url=site.server.base_url, model="eyes")
    models = build_models(settings=settings)
    assert await models.read_image(b"pixels", "image/png") is None
    await models.close()
    models = build_models(settings=replace(settings, reads_images=True))
    site.server.queue(Reply(text="<think>A letter.</think>Potassium | 5.6"), Reply(text="NO TEXT."))
    said = [await models.read_image(one, "image/png") for one in (b"pixels", b"pixels", b"cat")]
    before = models.profile()
    await models.close()
    assert said == ["Potassium | 5.6", "Potassium | 5.6", ""]
    first, _ = site.server.requests
    [image] = first.body["messages"][1]["content"]
    assert image["image_url"]["url"] == f"data:image/png;base64,{b64encode(b'pixels').decode()}"
    assert models.profile() == before


def test_the_key_is_not_in_what_settings_print() -> None:
    assert "secret" not in repr(ModelSettings(provider="openai", api_key="secret"))


async def test_readiness_asks_the_server(site: ModelSite) -> None:
    models = site.models()
    await models.check()
    assert not site.server.requests


@pytest.mark.parametrize("status", [401, 403, 429, 503])
async def test_a_server_that_would_not_serve_is_not_ready(site: ModelSite, status: int) -> None:
    site.server.models_reply = Reply(status=status, body=b"Canary")
    with pytest.raises(ModelError, match=str(status)):
        await site.models().check()


async def test_a_server_without_a_list_of_models_is_ready(site: ModelSite) -> None:
    site.server.models_reply = Reply(status=404)
    await site.models().check()


def test_without_an_address_openai_itself_is_meant() -> None:
    assert ModelSettings(provider="openai", model="gpt").url == "https://api.openai.com/v1"


async def test_the_offline_model_needs_nothing_and_says_what_it_is() -> None:
    models = build_models(settings=ModelSettings())
    assert not models.is_language_model
    await models.check()
    await models.close()


async def test_neither_prompt_nor_answer_is_logged(
    site: ModelSite, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    site.server.queue(Reply(text="Canary-answer"), Reply(status=500, body=b"Canary-problem"))
    models = site.models()
    await streamed(models, history("Canary-prompt"))
    with pytest.raises(ModelError):
        await streamed(models, history("Canary-prompt"))
    assert "Canary" not in caplog.text
    for name in ("semantic_kernel", "openai"):
        assert not logging.getLogger(f"{name}.anything").isEnabledFor(logging.INFO)


async def test_a_model_without_an_identity_is_unavailable_and_says_no_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from azure.core.exceptions import ClientAuthenticationError
    from azure.identity.aio import DefaultAzureCredential

    alone = partial(
        DefaultAzureCredential,
        exclude_managed_identity_credential=True,
        exclude_cli_credential=True,
        exclude_powershell_credential=True,
        exclude_developer_cli_credential=True,
        exclude_shared_token_cache_credential=True,
        exclude_workload_identity_credential=True,
    )
    monkeypatch.delenv("AZURE_CLIENT_ID", raising=False)
    monkeypatch.setattr("azure.identity.aio.DefaultAzureCredential", alone)
    identity = ManagedIdentity(scope="x", refused=ModelUnavailableError, clock=FixedClock())
    with pytest.raises(ModelUnavailableError) as caught:
        await identity()
    assert not isinstance(caught.value, ClientAuthenticationError)
