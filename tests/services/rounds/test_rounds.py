"""Rounds over the services: who may see what, what a failure leaves, what a dead replica leaves."""

import asyncio
from dataclasses import dataclass, field
from datetime import UTC, date, timedelta
from pathlib import Path

import pytest

from data_models.conversations.claim_decision import ClaimTimes, Lease
from data_models.errors import ChartClosedError, NoSuchListError, RoundsListError
from services.chart_access.chart_guard import ChartGuard
from services.evidence.looks import LookBook
from services.identity.directory import FileDirectory
from services.patient_context.reading.pattern import PatientIdPattern
from services.records.local_resources import LocalResources
from services.rounds.preparing import RoundPreparer
from services.rounds.round_actions import RoundActions
from services.rounds.round_list import RoundBook, RoundEntry, RoundPlace, SignOut
from services.rounds.round_service import Choice, RoundService
from services.views.patient_finder import PatientFinder
from services.views.visits_by_day import DayInFolder
from tests.fakes import ClosedCharts, RememberedAudit
from tests.services.records.charts import records_in
from tests.services.rounds import charts_of_a_ward
from tests.services.world import OWNER, World
from tests.tables import with_cases
from tests.waiting import until

COLLEAGUE = "ben"


@dataclass
class Ward:
    """One replica with charts in a folder; several may share a world's stores."""

    folder: Path
    world: World = field(default_factory=World)
    roster: ClosedCharts = field(default_factory=ClosedCharts)
    times: ClaimTimes = field(default_factory=ClaimTimes)
    keeps_looks: bool = True

    def __post_init__(self) -> None:
        world = self.world
        self.audit = RememberedAudit()
        self.guard = ChartGuard(policy=self.roster, audit=self.audit, clock=world.clock)
        self.pattern = PatientIdPattern.compile("^patient_[0-9]+$")
        self.records = records_in(self.folder, world.clock)
        directory = FileDirectory(
            records=self.records, fits=self.pattern.matches, clock=world.clock
        )
        self.entry = RoundEntry(book=RoundBook(store=world.users), guard=self.guard)
        self.preparer = RoundPreparer(
            scheduler=world.scheduler,
            reader=world.reader,
            records=self.records,
            entry=self.entry,
            replica=world.replica,
            parallel=3,
            times=self.times,
        )
        self.service = RoundService(
            entry=self.entry,
            preparer=self.preparer,
            choice=Choice(
                finder=PatientFinder(directory=directory, guard=self.guard),
                pattern=self.pattern,
                days=DayInFolder(
                    records=self.records,
                    clinic=LocalResources(
                        patients=self.records,
                        folder=self.folder / "none",
                        store=world.users,
                        zone=UTC,
                        clock=world.clock,
                    ),
                    directory=directory,
                    clock=world.clock,
                ),
                zone=UTC,
            ),
            records=self.records,
            reader=world.reader,
            looks=LookBook(store=world.users) if self.keeps_looks else None,
        )
        self.deeds = RoundActions(entry=self.entry, preparer=self.preparer)

    async def prepared(self, *entries: str, owner: str = OWNER) -> str:
        made = await self.service.create(
            owner=owner, entries=list(entries), day=None, language="en"
        )
        await self.preparer.idle()
        return made.round_id

    def actions(self, name: str) -> list[str | None]:
        return [one.patient for one in self.audit.entries if name in one.actions]


@pytest.fixture
def ward(tmp_path: Path) -> Ward:
    charts_of_a_ward.write_ward(tmp_path, 6)
    return Ward(tmp_path)


def sign_out(ward: Ward, **more: str) -> SignOut:
    said = {"by": OWNER, "to": COLLEAGUE, "illness_severity": "watcher",
            "patient_summary": "Stable on the ward.", **more}  # fmt: skip
    return SignOut.model_validate({**said, "at": ward.world.clock.now()})


@pytest.mark.slow
async def test_a_card_holds_one_patients_rows_and_the_list_ids_and_states(ward: Ward) -> None:
    round_id = await ward.prepared("patient_1", "patient_2", "patient_3")
    for number in (1, 2, 3):
        card = await ward.service.card(RoundPlace(round_id, f"patient_{number}", OWNER))
        assert charts_of_a_ward.strangers_in(card.model_dump_json(), number) == []
        assert charts_of_a_ward.canary(number) in card.model_dump_json()
        assert (card.place, card.of, card.row.state) == (number, 3, "ready")
    blob = await ward.world.users.read(f"rounds/{round_id}.json")
    assert blob is not None
    assert [word for word in ("Canary", "Fam", "Giv") if word.encode() in blob.data] == []
    assert await ward.world.reader.list_of(owner=OWNER) == []
    assert ward.actions("prepare_round") == ["patient_1", "patient_2", "patient_3"]
    assert "rounds-open" not in [one async for one in ward.world.users.folders()]


@pytest.mark.slow
async def test_each_patient_has_a_conversation_whose_prompts_name_no_other(ward: Ward) -> None:
    await ward.prepared("patient_1", "patient_2", "patient_3", "patient_4")
    asked = [(one.patient_id, one.text) for one in ward.world.team.requests]
    assert sorted(str(patient) for patient, _ in asked) == [f"patient_{n}" for n in (1, 2, 3, 4)]
    for patient, text in asked:
        named = [f"patient_{n}" for n in (1, 2, 3, 4) if f"patient_{n}" in text]
        assert named == [patient]


async def test_a_chart_closed_before_the_preparation_is_listed_by_its_number(ward: Ward) -> None:
    ward.roster.closed.add((OWNER, "patient_2"))
    round_id = await ward.prepared("patient_1", "patient_2")
    view = await ward.service.show(round_id, principal=OWNER)
    assert [one.state for one in view.patients] == ["ready", "closed"]
    assert view.patients[1].who is None
    assert charts_of_a_ward.strangers_in(view.model_dump_json(), 1) == []
    assert [one.patient_id for one in ward.world.team.requests] == ["patient_1"]


async def test_access_withdrawn_after_the_preparation_shows_nothing_more(ward: Ward) -> None:
    round_id = await ward.prepared("patient_1", "patient_2")
    ward.roster.closed.add((OWNER, "patient_2"))
    with pytest.raises(ChartClosedError):
        await ward.service.card(RoundPlace(round_id, "patient_2", OWNER))
    for found in (
        (await ward.service.show(round_id, principal=OWNER)).model_dump_json(),
        str([one.model_dump_json() for one in await ward.service.ward_list(
            round_id, principal=OWNER)]),
    ):  # fmt: skip
        assert charts_of_a_ward.strangers_in(found, 1) == []
        assert "not open to you" in found
    with pytest.raises(ChartClosedError):
        await ward.deeds.note(RoundPlace(round_id, "patient_2", OWNER), text="x")
    with pytest.raises(ChartClosedError):
        await ward.deeds.tick(RoundPlace(round_id, "patient_2", OWNER), is_done=True)


async def test_a_damaged_chart_says_so_on_its_card_and_keeps_no_other_back(ward: Ward) -> None:
    (ward.folder / "patient_2.json").write_text('{"resourceType": "Bundle", "entry": [')
    round_id = await ward.prepared("patient_1", "patient_2", "patient_3")
    summary = (await ward.service.list_lists(OWNER))[0]
    assert (summary.ready, summary.failed, summary.waiting) == (2, 1, 0)
    card = await ward.service.card(RoundPlace(round_id, "patient_2", OWNER))
    assert card.parts is None
    assert card.row.state == "failed"
    assert card.row.problem
    # Mended, it is prepared again on a word.
    charts_of_a_ward.write_ward(ward.folder, 2)
    later = Ward(ward.folder, world=ward.world)
    await later.deeds.prepare_again(RoundPlace(round_id, "patient_2", OWNER))
    await later.preparer.idle()
    assert (await later.service.card(RoundPlace(round_id, "patient_2", OWNER))).row.state == "ready"


async def test_somebody_elses_list_does_not_exist(ward: Ward) -> None:
    round_id = await ward.prepared("patient_1")
    for read in (round_id, "round_none", "../users", "rounds/x", "a" * 300):
        with pytest.raises(NoSuchListError):
            await ward.service.show(read, principal="eve")
    with pytest.raises(NoSuchListError):
        await ward.service.card(RoundPlace(round_id, "patient_2", OWNER))
    assert await ward.service.list_lists("eve") == []


@with_cases("entry", "why")
async def test_an_entry_not_of_one_patient_makes_no_list(ward: Ward, entry: str, why: str) -> None:
    with pytest.raises(RoundsListError) as refused:
        await ward.service.create(owner=OWNER, entries=[entry], day=None, language="en")
    assert why in refused.value.user_message
    assert await ward.service.list_lists(OWNER) == []


async def test_names_birth_dates_and_ids_mix_and_nobody_is_twice_on_a_list(ward: Ward) -> None:
    round_id = await ward.prepared(
        "patient_3",
        f"{charts_of_a_ward.given(1)} {charts_of_a_ward.family(1)}",
        f"{charts_of_a_ward.family(2)}, 1942-02-03",
        "patient_1",
    )
    view = await ward.service.show(round_id, principal=OWNER)
    assert [one.patient_id for one in view.patients] == ["patient_3", "patient_1", "patient_2"]


@pytest.mark.slow
async def test_a_day_lists_who_is_seen_then_and_open_to_the_user(ward: Ward) -> None:
    ward.roster.closed.add((OWNER, "patient_5"))
    day = date.fromisoformat(charts_of_a_ward.DAY)
    made = await ward.service.create(owner=OWNER, entries=[], day=day, language="en")
    await ward.preparer.idle()
    view = await ward.service.show(made.round_id, principal=OWNER)
    assert [one.patient_id for one in view.patients] == [f"patient_{n}" for n in (1, 2, 3, 4, 6)]
    before = day - timedelta(days=1)
    with pytest.raises(RoundsListError):
        await ward.service.create(owner=OWNER, entries=[], day=before, language="en")


async def test_showing_a_card_is_a_look_and_preparing_or_printing_it_is_none(ward: Ward) -> None:
    round_id = await ward.prepared("patient_1")
    await ward.service.ward_list(round_id, principal=OWNER)
    assert [row async for row in ward.world.users.list("looked/")] == []
    await ward.service.card(RoundPlace(round_id, "patient_1", OWNER))
    assert len([row async for row in ward.world.users.list("looked/")]) == 1


async def test_a_patient_handed_over_is_the_colleagues_with_a_synthesis(ward: Ward) -> None:
    round_id = await ward.prepared("patient_1", "patient_2")
    await ward.deeds.note(RoundPlace(round_id, "patient_1", OWNER), text="Ask the daughter.")
    await ward.deeds.hand_over(RoundPlace(round_id, "patient_1", OWNER), sign_out(ward))
    (theirs,) = await ward.service.list_lists(COLLEAGUE)
    assert (theirs.patients, theirs.is_mine) == (1, False)
    card = await ward.service.card(RoundPlace(round_id, "patient_1", COLLEAGUE))
    assert card.sign_outs[-1].illness_severity == "watcher"
    assert card.notes[0].text == "Ask the daughter."
    assert (card.chat_id, card.said) == ("", [])
    with pytest.raises(NoSuchListError):
        await ward.service.card(RoundPlace(round_id, "patient_2", COLLEAGUE))
    await ward.deeds.accept(
        RoundPlace(round_id, "patient_1", COLLEAGUE), synthesis="Watch the fever."
    )
    mine = await ward.service.card(RoundPlace(round_id, "patient_1", OWNER))
    assert mine.sign_outs[-1].synthesis == "Watch the fever."
    assert mine.row.accepted_at is not None
    with pytest.raises(RoundsListError):
        await ward.deeds.accept(RoundPlace(round_id, "patient_1", COLLEAGUE), synthesis="again")


async def test_nothing_is_handed_to_somebody_whose_chart_it_is_not(ward: Ward) -> None:
    round_id = await ward.prepared("patient_1")
    ward.roster.closed.add((COLLEAGUE, "patient_1"))
    with pytest.raises(RoundsListError):
        await ward.deeds.hand_over(RoundPlace(round_id, "patient_1", OWNER), sign_out(ward))
    with pytest.raises(RoundsListError):
        await ward.deeds.hand_over(
            RoundPlace(round_id, "patient_1", OWNER), sign_out(ward, to=OWNER)
        )
    assert await ward.service.list_lists(COLLEAGUE) == []
    assert (await ward.service.card(RoundPlace(round_id, "patient_1", OWNER))).sign_outs == ()


@pytest.mark.slow
async def test_ticks_notes_and_preparations_at_once_lose_nothing(ward: Ward) -> None:
    ward.world.team.gate.clear()
    made = await ward.service.create(
        owner=OWNER, entries=[f"patient_{n}" for n in range(1, 7)], day=None, language="en"
    )
    for number in range(1, 7):
        patient = f"patient_{number}"
        await ward.deeds.tick(RoundPlace(made.round_id, patient, OWNER), is_done=True)
        await ward.deeds.note(RoundPlace(made.round_id, patient, OWNER), text=f"note {number}")
    ward.world.team.gate.set()
    await ward.preparer.idle()
    (summary,) = await ward.service.list_lists(OWNER)
    assert (summary.ready, summary.ticked) == (6, 6)


async def left_by(ward: Ward, replica: str, until: timedelta) -> str:
    """Keep a list that `replica` had begun to prepare; return its id."""
    ward.world.team.gate.clear()
    made = await ward.service.create(
        owner=OWNER, entries=["patient_1", "patient_2"], day=None, language="en"
    )
    await ward.preparer.rest()
    ward.world.team.gate.set()
    hold = Lease(replica=replica, expires_at=ward.world.clock.now() + until)
    await ward.entry.book.change(
        made.round_id, lambda found: found.model_copy(update={"hold": hold})
    )
    return made.round_id


async def test_what_a_dead_replica_left_another_finds_and_prepares(ward: Ward) -> None:
    await left_by(ward, "elsewhere", timedelta(minutes=-1))
    other = Ward(ward.folder, world=ward.world)
    other.preparer.start()
    async with asyncio.timeout(30):
        while (await other.service.list_lists(OWNER))[0].ready < 2:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    await other.preparer.rest()
    for number in (1, 2):
        asked = [one for one in ward.world.team.requests if one.patient_id == f"patient_{number}"]
        assert len(asked) == 1


async def test_what_another_replica_prepares_is_left_to_it(ward: Ward) -> None:
    round_id = await left_by(ward, "elsewhere", timedelta(minutes=1))
    other = Ward(ward.folder, world=ward.world)
    other.preparer.prepare(round_id)
    await other.preparer.idle()
    assert (await other.service.list_lists(OWNER))[0].waiting == 2
    assert ward.world.team.requests == []


@pytest.mark.slow
async def test_no_more_are_prepared_side_by_side_than_the_setting_says(ward: Ward) -> None:
    ward.world.team.gate.clear()
    made = await ward.service.create(
        owner=OWNER, entries=[f"patient_{n}" for n in range(1, 7)], day=None, language="en"
    )
    await until(lambda: len(ward.world.team.requests) >= 3)
    for _ in range(20):
        await asyncio.sleep(0)
    assert len(ward.world.team.requests) == 3
    ward.world.team.gate.set()
    await ward.preparer.idle()
    assert (await ward.service.list_lists(OWNER))[0].ready == 6
    assert len(ward.world.team.requests) == 6
    assert made.waiting == 6


@pytest.mark.slow
async def test_who_is_forgotten_while_a_round_is_prepared_opens_no_more(ward: Ward) -> None:
    ward.world.team.gate.clear()
    made = await ward.service.create(
        owner=OWNER, entries=[f"patient_{n}" for n in range(1, 7)], day=None, language="en"
    )
    await until(lambda: len(ward.world.team.requests) >= 3)
    await ward.entry.book.change(made.round_id, lambda found: found.without("patient_6"))
    ward.world.team.gate.set()
    await ward.preparer.idle()
    (summary,) = await ward.service.list_lists(OWNER)
    assert (summary.patients, summary.ready) == (5, 5)
    assert "patient_6" not in [one.patient_id for one in ward.world.team.requests]
