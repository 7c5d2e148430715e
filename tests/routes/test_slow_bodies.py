"""Who sends a body drop by drop holds a place for a moment only."""

import asyncio
import re
from pathlib import Path

import pytest
from yarl import URL

from services.access import limits
from tests.routes.conftest import ADA, Server
from tests.tables import with_cases

PATIENCE_SECONDS = 20.0
ROOT = Path(__file__).parents[2]


@pytest.mark.slow
@with_cases("method", "path")
async def test_a_body_that_does_not_come_is_not_waited_for(
    server: Server, method: str, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "BODY_SECONDS", 0.2)
    url = URL(server.base)
    reader, writer = await asyncio.open_connection(url.host, url.port)
    head = f"{method} {path} HTTP/1.1\r\nHost: {url.authority}\r\nContent-Length: 100\r\n"
    token = f"Authorization: {ADA['Authorization']}\r\nContent-Type: application/json\r\n\r\n"
    writer.write(f"{head}{token}{{".encode())
    answer = await asyncio.wait_for(reader.read(100), PATIENCE_SECONDS)
    writer.close()
    assert answer.startswith(b"HTTP/1.1 408 " if path != "/api/slow" else b"HTTP/1.1 404 ")


def test_nothing_else_reads_a_body() -> None:
    reads = re.compile(r"request\.(?:read|json|text|post|multipart|content)\b\(?")
    files = [
        path for name in ("routes", "bots", "services") for path in (ROOT / name).rglob("*.py")
    ]
    found = [path.name for path in files if reads.search(path.read_text("utf-8"))]
    assert found == ["limits.py"]
