"""A chart opens to whom the policy says, and many charts in an hour are noticed."""

from pathlib import Path

import pytest

from data_models.errors import ConfigurationError
from services.identity.access_policy import ALERT_CHARTS, CareRoster, ChartCounter, read_care_roster
from tests.fakes import FixedClock
from tests.services.patient_context.world import World


def roster(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "care.yaml"
    file.write_text(text)
    return file


async def test_a_chart_that_the_roster_does_not_open_stays_closed(tmp_path: Path) -> None:
    file = roster(tmp_path, "dr-a: [patient_4]\ndr-b: ['*']\n")
    here = World(access=CareRoster(file=file))

    refused = await here.say("open patient_7")
    assert refused.registry is None
    assert "not open to you" in (refused.reply or "")
    assert (await here.say("open patient_4")).patient_id == "patient_4"
    assert (await here.say("open patient_7", user="dr-b")).patient_id == "patient_7"
    # In a group, what another user opened is neither answered nor named to who may not.
    asked = await here.say("any allergies?")
    assert asked.reply is not None
    assert "patient_7" not in asked.reply


async def test_the_roster_is_read_again_and_a_damaged_one_opens_nothing(tmp_path: Path) -> None:
    file = roster(tmp_path, "dr-a: [patient_4]\n")
    here = World(access=CareRoster(file=file))
    await here.say("open patient_4")

    file.write_text("dr-a: [patient_4, patient_7]\n# more\n")
    assert (await here.say("open patient_7")).patient_id == "patient_7"
    file.write_text("dr-a: {{{ torn")
    assert "not open to you" in ((await here.say("open patient_4")).reply or "")


def test_a_roster_that_is_none_stops_the_start(tmp_path: Path) -> None:
    for text in ("just text", "dr-a: patient_4"):
        with pytest.raises(ConfigurationError, match="CARE_ROSTER_FILE"):
            read_care_roster(roster(tmp_path, text))


def test_many_charts_in_an_hour_raise_one_alert() -> None:
    clock = FixedClock()
    counter = ChartCounter(clock=clock)

    assert [counter.opened("a") for _ in range(ALERT_CHARTS + 5)].count(True) == 1
    clock.advance(3_601)
    assert not counter.opened("a")
