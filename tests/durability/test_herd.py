"""Servers die all the time, and every message is answered once, in order, by whoever is left."""

from pathlib import Path

import pytest

from tests.durability.herd import Harm, everybody_talks, running_herd
from tests.durability.herd_report import report_of

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


async def test_every_turn_is_answered_once_while_servers_are_killed(
    tmp_path: Path, azurite_account: str
) -> None:
    with running_herd(tmp_path, azurite_account, size=2) as herd:
        talks = await everybody_talks(herd, bots=4, sockets=4, turns=6, harm=Harm(kill_every=3.0))
        report = report_of(herd, talks)
    assert report.wrong == []
    assert (report.turns, report.answered_once) == (48, 48)
    assert report.kills >= 1, "nobody died: the test is too tame"
