"""The tokens that replies carry."""

import asyncio
from collections.abc import Callable

import pytest
import requests
from botframework.connector.auth import AppCredentials

from bots.endpoint import KEEP_SECONDS, AppTokens
from data_models.errors import ChannelUnavailableError
from tests.fakes import FixedClock


class Directory(AppCredentials):  # type: ignore[misc]  # botbuilder ships no types
    """Gives tokens one after the other, or fails as the real one does."""

    def __init__(self) -> None:
        super().__init__(app_id="app")
        self.asked = 0
        self.failure: Exception | None = None

    def get_access_token(self, force_refresh: bool = False) -> str:
        self.asked += 1
        if self.failure is not None:
            raise self.failure
        return f"token-{self.asked}"


@pytest.fixture
def directory() -> Directory:
    return Directory()


@pytest.fixture
def tokens(directory: Directory, clock: FixedClock) -> AppTokens:
    return AppTokens(credentials=lambda: directory, clock=clock)


async def test_many_replies_ask_for_one_token(tokens: AppTokens, directory: Directory) -> None:
    assert set(await asyncio.gather(*(tokens.token() for _ in range(10)))) == {"token-1"}
    assert directory.asked == 1


async def test_a_token_is_asked_for_before_it_is_old(tokens: AppTokens, clock: FixedClock) -> None:
    await tokens.token()
    clock.advance(KEEP_SECONDS)
    assert await tokens.token() == "token-2"


@pytest.mark.parametrize(
    "failure",
    [
        lambda: PermissionError("Failed to get access token: secret"),
        lambda: KeyError("access_token"),
        lambda: requests.ConnectionError("secret"),
        lambda: ValueError("secret"),
    ],
)
async def test_a_directory_that_gives_none_is_a_channel_that_cannot_be_reached(
    failure: Callable[[], Exception], tokens: AppTokens, directory: Directory
) -> None:
    directory.failure = failure()
    with pytest.raises(ChannelUnavailableError) as caught:
        await tokens.token()
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None
    directory.failure = None
    assert await tokens.token() == "token-2"


async def test_a_renewed_token_comes_from_new_credentials(clock: FixedClock) -> None:
    made: list[Directory] = []

    def credentials() -> Directory:
        made.append(Directory())
        return made[-1]

    tokens = AppTokens(credentials=credentials, clock=clock)
    assert tokens.note_refusal(await tokens.token())
    assert await tokens.token() == "token-1"
    assert [one.asked for one in made] == [1, 1]
