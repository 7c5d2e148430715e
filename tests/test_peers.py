"""The programs that slow tests lean on start, answer and stop; a missing one says what to run."""

import socket
import subprocess
from pathlib import Path

import aiohttp
import pytest
from azure.storage.blob.aio import BlobServiceClient

from tests import peers


def test_a_missing_tool_fails_with_the_command_that_installs_it(tmp_path: Path) -> None:
    with pytest.raises(pytest.fail.Exception, match=r"python3 -m scripts\.test_tools azurite"):
        peers.needed(tmp_path / "absent", "azurite")


@pytest.mark.slow
async def test_azurite_stores_a_blob(azurite: str) -> None:
    async with BlobServiceClient.from_connection_string(azurite) as service:
        container = await service.create_container("peers-test")
        await container.upload_blob("a", b"1")
        download = await container.download_blob("a")
        assert await download.readall() == b"1"


@pytest.mark.slow
def test_azurite_is_gone_after_its_block(tmp_path: Path) -> None:
    with peers.running_azurite(tmp_path) as connection_string:
        port = int(connection_string.rsplit(":", 1)[1].split("/")[0])
        socket.create_connection(("127.0.0.1", port), timeout=5).close()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), timeout=5)


@pytest.mark.slow
async def test_playground_shows_its_page(tmp_path: Path) -> None:
    endpoint = "http://127.0.0.1:9/api/messages"
    with peers.running_playground(tmp_path, endpoint=endpoint) as address:
        async with aiohttp.ClientSession() as session, session.get(address) as page:
            assert "Agents Playground" in await page.text()


@pytest.mark.slow
def test_a_peer_that_ends_at_once_fails_the_test_with_its_words(tmp_path: Path) -> None:
    words = ["-e", "console.log('no such option'); process.exit(3)"]
    with (
        pytest.raises(pytest.fail.Exception, match="no such option"),
        peers.running_node(words, folder=tmp_path, ready="never"),
    ):
        pass


@pytest.mark.slow
def test_the_browser_starts(chromium: Path) -> None:
    told = subprocess.run([chromium, "--version"], capture_output=True, text=True, check=True)
    assert told.stdout.startswith("Chromium")


@pytest.mark.slow
def test_the_small_model_is_a_model_file(small_model: Path) -> None:
    with small_model.open("rb") as file:
        assert file.read(4) == b"GGUF"
