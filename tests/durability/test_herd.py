"""Servers die all the time, and every message is answered once, in order, by whoever is left."""

from pathlib import Path

import pytest

from tests.durability.herd import everybody_talks, running_herd

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


async def test_every_turn_is_answered_once_while_servers_are_killed(
    tmp_path: Path, azurite_account: str
) -> None:
    with running_herd(tmp_path, azurite_account, size=2) as herd:
        report = await everybody_talks(herd, bots=4, sockets=4, turns=8, kill_every_seconds=1.0)
    assert report.wrong == []
    assert (report.turns, report.answered_once) == (64, 64)
    assert report.kills >= 1, "nobody died: the test is too tame"
