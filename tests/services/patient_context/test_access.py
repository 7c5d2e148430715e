"""A chart opens to whom the policy says, and many charts in an hour are noticed."""

from pathlib import Path

import pytest

from data_models.errors import ConfigurationError, RecordsUnavailableError
from data_models.identifiers import PatientId
from services.chart_access.chart_guard import (
    ALERT_CHARTS,
    CareRoster,
    ChartCounter,
    read_care_roster,
)
from services.identity.linking import SubjectLinker
from services.identity.names.person import Person
from tests.fakes import FixedClock, GivenPeople, RememberedAudit
from tests.services.patient_context.test_who import MARGARET, TUNDE
from tests.services.patient_context.world import PATTERN, World
from tests.tables import with_cases


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
    assert (asked.decision, asked.patient_id) == ("NONE", None)
    assert (await here.say("open patient_8")).patient_id is None, "it would say who is open"
    assert here.registry.active_patient_id == "patient_7", "it stays so for who may see it"
    await here.say("open patient_4")
    assert {*here.registry.patient_registry} == {"patient_4", "patient_7"}


async def test_who_was_asked_about_by_a_closed_number_is_named_no_further(tmp_path: Path) -> None:
    access = CareRoster(file=roster(tmp_path, "dr-a: [patient_4]\n"))
    linker = SubjectLinker(directory=GivenPeople(MARGARET, TUNDE), fits=PATTERN.matches)
    here = World("patient_4", active="patient_4", linker=linker, access=access)
    assert (await here.say("meds for patient_4 and patient_7")).question is not None

    asked = await here.say("the man in bed 4: hb")

    assert asked.question is not None
    assert "Tunde" not in (asked.reply or "")
    assert "patient_7" not in asked.question.payload["options"]


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

    opened = [counter.opened("a", PatientId(f"patient_{n}")) for n in range(ALERT_CHARTS + 5)]
    assert opened.count(True) == 1
    assert not any(counter.opened("b", PatientId("patient_4")) for _ in range(ALERT_CHARTS + 5))
    clock.advance(3_601)
    assert not counter.opened("a", PatientId("patient_4"))


async def test_an_emergency_opens_a_closed_chart_by_a_reason_a_while(
    tmp_path: Path,
) -> None:
    file = roster(tmp_path, "dr-a: [patient_4]\n")
    here = World(access=CareRoster(file=file), break_glass_minutes=30)
    await here.say("open patient_4")

    refused = await here.say("open patient_7")
    assert refused.question is not None
    assert "break glass:" in (refused.reply or "")
    opened = await here.say("Break glass: unconscious in the resuscitation room")
    assert opened.patient_id == "patient_7"
    assert "unconscious in the resuscitation room" in (opened.reply or "")
    assert here.alerts.count("break_glass") == 1
    asked = await here.say("any allergies?")
    assert asked.patient_id == "patient_7"
    assert "Emergency access until" in asked.notice
    (grant,) = await here.glass.all()
    assert (grant.principal, grant.patient_id) == ("dr-a", "patient_7")
    assert grant.review is None

    here.clock.advance(31 * 60)
    ended = await here.say("any allergies?")
    assert ended.patient_id is None
    assert (ended.reply or ended.notice).startswith("The chart that you had open here is not open")


@with_cases("says")
async def test_a_closed_chart_is_not_told_from_nobodys(tmp_path: Path, says: str) -> None:
    """Whatever is said of whom the user may not know of, they are told what of nobody is told."""
    file = roster(tmp_path, "dr-a: [patient_4]\n")

    async def told(*people: Person) -> list[str]:
        linker = SubjectLinker(directory=GivenPeople(MARGARET, *people), fits=PATTERN.matches)
        heard = []
        for active in ("patient_4", None):
            here = World(linker=linker, access=CareRoster(file=file), break_glass_minutes=30)
            if active is not None:
                await here.say(f"open {active}")
            one = await here.say(says)
            heard += [one.reply or "", one.decision, str(one.question and one.question.payload)]
        return heard

    assert await told(TUNDE) == await told()


@with_cases("says")
async def test_who_is_named_beyond_doubt_is_refused_and_nobody_else(
    tmp_path: Path, says: str
) -> None:
    linker = SubjectLinker(directory=GivenPeople(MARGARET, TUNDE), fits=PATTERN.matches)
    access = CareRoster(file=roster(tmp_path, "dr-a: [patient_4]\n"))
    here = World("patient_4", active="patient_4", linker=linker, access=access)

    assert "patient_7` is not open to you" in ((await here.say(says)).reply or "")


@pytest.mark.parametrize(
    "said", ["break glass:", "break glass: please", "break glass: xxxxxxxxxxx"]
)
async def test_no_reason_opens_nothing(tmp_path: Path, said: str) -> None:
    here = World(access=CareRoster(file=roster(tmp_path, "{}\n")), break_glass_minutes=30)
    await here.say("open patient_7")

    assert (await here.say(said)).registry is None
    assert await here.glass.all() == []
    assert (await here.say("break glass: sepsis, on call tonight")).patient_id == "patient_7"


@pytest.mark.parametrize("said", ["yes", "no", "open patient_8", "what is her dose?", "OK please"])
async def test_nothing_but_the_typed_command_breaks_the_glass(tmp_path: Path, said: str) -> None:
    here = World(access=CareRoster(file=roster(tmp_path, "{}\n")), break_glass_minutes=30)
    await here.say("open patient_7")

    assert (await here.say(said)).registry is None
    assert await here.glass.all() == []


async def test_only_who_was_refused_breaks_the_glass_and_of_that_chart(
    tmp_path: Path,
) -> None:
    here = World(access=CareRoster(file=roster(tmp_path, "{}\n")), break_glass_minutes=30)
    await here.say("open patient_7")

    assert (await here.say("break glass: I am curious too", user="dr-b")).registry is None
    await here.say("open patient_8")
    assert (await here.say("break glass: bleeding in theatre 2")).patient_id == "patient_8"
    assert [one.patient_id for one in await here.glass.all()] == ["patient_8"]


async def test_where_no_glass_may_be_broken_none_is_offered(tmp_path: Path) -> None:
    here = World(access=CareRoster(file=roster(tmp_path, "{}\n")))

    refused = await here.say("open patient_7")
    assert "break glass" not in (refused.reply or "")
    assert (await here.say("break glass: bleeding in theatre 2")).registry is None


async def test_a_refusal_is_on_record(tmp_path: Path) -> None:
    audit = RememberedAudit()
    here = World(access=CareRoster(file=roster(tmp_path, "{}\n")), audit=audit)

    await here.say("open patient_7")
    assert [(one.principal, one.patient, one.outcome) for one in audit.entries] == [
        ("dr-a", "patient_7", "refused")
    ]


class Unanswered:
    """An `AccessPolicy` whose records are down."""

    async def may_open(self, principal_id: str, patient_id: PatientId) -> bool:
        raise RecordsUnavailableError


async def test_where_nobody_can_tell_the_chart_stays_closed_and_that_is_said() -> None:
    here = World(access=Unanswered())

    refused = await here.say("open patient_7")
    assert refused.registry is None
    assert "cannot be checked just now" in (refused.reply or "")
