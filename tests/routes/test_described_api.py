"""The HTTP API against its own description, with requests that nobody thought of."""

import asyncio
import re
import sys
from pathlib import Path

import pytest

from tests.amounts import amount
from tests.routes.conftest import Server

pytestmark = [pytest.mark.slow, pytest.mark.large]
EXAMPLES = amount(by_day=10, by_night=100)
CHECKS = "not_a_server_error,response_schema_conformance,status_code_conformance"
# The tool writes no recordings; tests/routes/test_speech.py does.
UNDESCRIBABLE = (
    "/api/ws/chats/{chat_id}/messages",
    "/",
    "/worker.js",
    "/assets/{name}",
    "/api/speech",
)


async def test_no_request_within_the_description_gets_an_answer_outside_it(server: Server) -> None:
    socket = await server.socket("0")
    await socket.say("hello")
    await socket.until_done()
    excluded = [word for path in UNDESCRIBABLE for word in ("--exclude-path", path)]
    process = await asyncio.create_subprocess_exec(
        str(Path(sys.executable).with_name("schemathesis")),
        *("run", f"{server.base}/api/openapi.json", "--header", "Authorization: Bearer ada-key"),
        *(
            "--checks",
            CHECKS,
            "--max-examples",
            str(EXAMPLES),
            "--phases",
            "fuzzing",
            "--seed",
            "7",
        ),
        *("--request-timeout", "120"),
        *excluded,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output, _ = await asyncio.wait_for(process.communicate(), 280)
    assert process.returncode == 0, output.decode()[-4_000:]
    passed = [int(count) for count in re.findall(rb"(\d+) passed", output)]
    assert passed[0] >= 18, "an operation is no longer described, or no longer tried"
