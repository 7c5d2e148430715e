"""SIGKILL at storage operations of a switch and a clear, on local files.

A few places: `test_crash_sweep.py` tries every one, without a process.
"""

import asyncio
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from data_models.conversations.turn_events import RunFailed
from tests.durability.dying_process import BEFORE, TEXTS, world_at
from tests.durability.evidence import Evidence
from tests.services.world import CHAT, World


async def close(world: World) -> None:
    await world.scheduler.idle()
    for store in (world.sessions, world.users, world.audit_store):
        await store.close()


@pytest.mark.slow
@pytest.mark.parametrize("after", ["before", "after"])
@pytest.mark.parametrize("number", [4, 10, 22])
async def test_a_process_killed_for_good_leaves_a_legal_state(
    number: int, after: str, tmp_path: Path
) -> None:
    first = world_at(tmp_path)
    await first.say(BEFORE)
    await close(first)

    command = [sys.executable, "-m", "tests.durability.dying_process"]
    dying = [*command, str(tmp_path), str(number), after]
    ended = await asyncio.to_thread(subprocess.run, dying, capture_output=True, check=False)
    assert ended.returncode == -signal.SIGKILL, ended.stderr.decode()[-2_000:]

    second = world_at(tmp_path)
    told = await second.say(TEXTS[0], message_id="m-0")  # the client saw no end and sends again
    assert not isinstance(told.end, RunFailed) or told.end.code == "interrupted"
    assert not isinstance((await second.say("what now?")).end, RunFailed)
    await close(second)
    root = tmp_path / "sessions"
    files = [path for path in (root / CHAT).rglob("*.json") if path.is_file()]
    contents = {path.relative_to(root).as_posix(): path.read_bytes() for path in files}
    found = Evidence(contents, CHAT)
    assert found.conversation.running_turn is None
    assert found.conversation.pending_clear is None
    assert [len(found.saying(word)) for word in ("says two", "says alpha")] == [1, 1]
