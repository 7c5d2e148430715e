"""What a turn made is freed when it ends: nothing in it holds itself until the collector comes."""

import gc
from collections.abc import Iterator
from pathlib import Path

import aiohttp
import pytest

from data_models.chat_context import ChatContext
from group_chat.chat import ClinicalGroupChat
from group_chat.turn_context import TurnContext
from services.statements.rows.known import KnownRows
from services.turn.phases import GroundedTurn
from settings import Settings
from tests.e2e.in_process import serving
from tests.e2e.talks import StreamTalk
from tests.waiting import until

pytestmark = pytest.mark.slow

_OF_A_TURN = {ChatContext, ClinicalGroupChat, GroundedTurn, KnownRows, TurnContext}


def _of_turns() -> list[object]:
    return [one for one in gc.get_objects() if type(one) in _OF_A_TURN]


@pytest.fixture
def _without_collector() -> Iterator[None]:
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("_without_collector")
async def test_no_document_and_no_talk_of_a_turn_outlives_it(tmp_path: Path) -> None:
    before = _of_turns()  # of other tests
    settings = Settings(auth_mode="dev", llm_provider="offline", data_dir=tmp_path)
    async with serving(settings) as served, aiohttp.ClientSession() as client:
        url = f"{served.base}/api/ws/chats/freed/messages?stream=1"
        async with client.ws_connect(url) as socket:
            talk = StreamTalk("freed", socket)
            for text in ("patient_4", "latest CEA"):
                await talk.say(text)
            known = {id(one) for one in before}
            # The release follows the last event.
            await until(lambda: all(id(one) in known for one in _of_turns()))
