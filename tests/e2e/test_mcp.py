"""A program of elsewhere at the real server: it reads what its user may, and nothing else."""

import hashlib
from pathlib import Path

import httpx
import pytest
from mcp import ClientSession, types
from mcp.client.streamable_http import streamable_http_client

from tests.e2e.server import running_server

pytestmark = pytest.mark.slow


async def test_a_program_reads_the_charts_of_its_user_only(tmp_path: Path) -> None:
    roster = tmp_path / "roster.yaml"
    roster.write_text('"key:ada": [patient_4]\n', "utf-8")
    settings = {
        "AUTH_MODE": "api_key",
        "API_KEYS": f"ada:{hashlib.sha256(b'ada-key').hexdigest()}",
        "ACCESS_POLICY": "roster",
        "CARE_ROSTER_FILE": str(roster),
        "LLM_PROVIDER": "offline",
        "MCP_ENDPOINT": "true",
    }
    key = {"Authorization": "Bearer ada-key"}
    with running_server(tmp_path / "server", **settings) as server:
        async with (
            httpx.AsyncClient(headers=key, trust_env=False) as http,
            streamable_http_client(f"{server.url}/mcp", http_client=http) as (read, write, _),
            ClientSession(read, write) as session,
        ):
            await session.initialize()
            found = await session.call_tool("find_patients", {"query": "whitfield"})
            everybody = await session.call_tool("find_patients", {"query": "patient_"})
            shown = await session.call_tool("allergies", {"patient_id": "patient_4"})
            closed = await session.call_tool("allergies", {"patient_id": "patient_7"})
        async with httpx.AsyncClient(trust_env=False) as stranger:
            refused = await stranger.post(f"{server.url}/mcp", json={})
        log = server.log
        audit = [path.read_text("utf-8") for path in (server.data / "audit-trail").rglob("*.jsonl")]
    assert "patient_4  Margaret Anne Whitfield  1957-03-14" in text_of(found)
    assert "patient_7" not in text_of(found) + text_of(everybody)
    assert text_of(shown).startswith("Margaret Anne Whitfield, born 1957-03-14 · patient_4\n")
    assert "enicillin" in text_of(shown)
    assert closed.isError
    assert text_of(closed) == "This patient's chart is not open to you. Nothing of it was shown."
    assert refused.status_code == 401
    assert not [word for word in ("Whitfield", "1957", "patient_4", "enicillin") if word in log]
    assert "program_read_allergies" in "".join(audit)


def text_of(answer: types.CallToolResult) -> str:
    [said] = answer.content
    assert isinstance(said, types.TextContent)
    return said.text
