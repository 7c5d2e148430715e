"""One patient leaves every conversation and archive; nobody else loses a word."""

import json
from datetime import timedelta
from itertools import count

import pytest

from data_models.conversations.conversation import Interruption, OutsideChange, RunningTurn
from data_models.errors import ConversationBusyError
from data_models.identifiers import ConversationLayout, PatientId
from services.chart_access.break_glass import BreakGlass
from services.conversations.maintenance_lease import MaintenanceLease
from services.operations.forgetting import Forgetting
from services.rounds.round_list import Note, RoundBook, RoundList, RoundNotes, RoundPatient
from services.views.conversation_list import NameStore
from tests.fakes_store import MemoryBlobStore
from tests.faults import FaultyBlobStore, Kill, SimulatedKill
from tests.given import present
from tests.services.world import FarReplica, World

GONE, CANARY = PatientId("patient_4"), "CANARYFOUR"


def forgetting_on(world: World, *, wait_seconds: float = 5.0) -> Forgetting:
    # A process of its own, as the command is: the servers remember what they read before.
    beside = World(
        sessions=world.sessions, users=world.users, clock=world.clock, replica=FarReplica()
    )
    maintenance_lease = MaintenanceLease(
        claimant=beside.claimant, ids=world.ids, wait_seconds=wait_seconds
    )
    return Forgetting(
        sessions=world.sessions, users=world.users, maintenance_lease=maintenance_lease
    )


def stored(world: World) -> dict[str, bytes]:
    assert isinstance(world.sessions, MemoryBlobStore)
    return dict(world.sessions.contents)


async def talked() -> World:
    world = World()
    for chat in ("chat_1", "chat_2"):
        await world.say(f"start a tumor board for patient_4 {CANARY}", chat=chat)
        await world.say("start a tumor board for patient_15 KEPTFIFTEEN", chat=chat)
        await world.say("switch to patient_4", chat=chat)
        await world.say(f"stage? {CANARY}", chat=chat)
    await world.say("clear patient context", chat="chat_2")
    await world.say(f"start a tumor board for patient_4 {CANARY}", chat="chat_2")
    await world.tell("start a tumor board for patient_40 KEPTFORTY", chat="chat_3")
    return world


async def test_no_word_and_no_row_of_the_patient_is_left() -> None:
    world = await talked()
    before = stored(world)
    report = await forgetting_on(world).run(GONE, dry_run=False)
    after = stored(world)
    assert [name for name, data in after.items() if CANARY.encode() in data] == []
    assert [name for name in after if "patient_4_" in name] == []
    assert report.conversations == ["chat_1", "chat_2"]
    assert (report.mentions, report.unreadable) == ([], [])
    kept = [name for name in before if "patient_15" in name or "patient_40" in name]
    assert {name: after.get(name) for name in kept} == {name: before[name] for name in kept}


@pytest.mark.slow
async def test_the_conversation_goes_on_without_the_patient() -> None:
    world = await talked()
    await forgetting_on(world).run(GONE, dry_run=False)
    answer = await world.say("which patients have we discussed?", chat="chat_1")
    request = world.team.requests[-1]
    assert answer.texts
    assert (request.patient_id, list(request.all_patient_ids)) == (None, ["patient_15"])
    again = await world.say("switch to patient_4", chat="chat_1")
    assert again.texts
    assert world.team.requests[-1] is request  # a bare switch asks no team; the history is new
    await world.say("what do we know?", chat="chat_1")
    assert [turn.user_message for turn in world.team.requests[-1].history] == [
        "switch to patient_4"
    ]


async def test_a_message_answered_before_is_still_no_second_turn() -> None:
    world = World()
    await world.tell(f"start a tumor board for patient_4 {CANARY}", message_id="m1")
    await forgetting_on(world).run(GONE, dry_run=False)
    turns = len(world.team.requests)
    await world.say(f"start a tumor board for patient_4 {CANARY}", message_id="m1")
    assert len(world.team.requests) == turns


@pytest.mark.slow
async def test_an_archives_manifest_tells_the_truth_of_what_is_left() -> None:
    world = await talked()
    await forgetting_on(world).run(GONE, dry_run=False)
    after = stored(world)
    (name,) = [each for each in after if each.endswith("manifest.json")]
    folder = name.rpartition("/")[0]
    rows = json.loads(after[name])["documents"]
    assert {f"{folder}/{row['name']}" for row in rows} | {name} == {
        each for each in after if each.startswith(f"{folder}/")
    }
    assert all(row["size_bytes"] == len(after[f"{folder}/{row['name']}"]) for row in rows)


@pytest.mark.slow
async def test_a_dry_run_changes_nothing_and_counts() -> None:
    world = await talked()
    before = stored(world)
    report = await forgetting_on(world).run(GONE, dry_run=True)
    assert stored(world) == before
    assert (report.looked_at, report.conversations) == (3, ["chat_1", "chat_2"])
    assert report.deleted >= 3
    done = await forgetting_on(world).run(GONE, dry_run=False)
    assert (report.deleted, report.rewritten) == (done.deleted, done.rewritten)


@pytest.mark.slow
async def test_talk_that_names_the_patient_elsewhere_is_reported() -> None:
    world = await talked()
    await world.say("start a tumor board for patient_15", chat="chat_4")
    await world.say("is this like patient_4?", chat="chat_4")
    await world.tell("start a tumor board for patient_4", chat="chat_4")
    report = await forgetting_on(world).run(GONE, dry_run=False)
    left = [name for name, data in stored(world).items() if b"patient_4" in data]
    assert sorted(report.mentions) == sorted(name for name in left if name.startswith("chat_4"))


@pytest.mark.slow
async def test_a_conversation_that_only_names_the_patient_is_reported_too() -> None:
    world = await talked()
    offered = "chat_3/session_context_turns/1-2.json"
    await world.sessions.create(offered, b'{"text": "1. Ada Cole, born 1960-05-01 (patient_4)"}')
    for dry_run in (True, False):
        report = await forgetting_on(world).run(GONE, dry_run=dry_run)
        assert (report.mentions, report.conversations) == ([offered], ["chat_1", "chat_2"])


@pytest.mark.slow
async def test_a_reply_that_waits_for_its_channel_is_not_delivered_any_more() -> None:
    world = await talked()
    owed, record = "deliveries/chat_1/owed/run_1.json", "resources/Appointment/appointment-1"
    await world.users.create(owed, b'{"text": "stage of `patient_4`"}')
    await world.users.create(record, b'{"actor": "Patient/patient_4"}')
    await world.users.create("deliveries/chat_3/owed/run_2.json", b'{"text": "`patient_40`"}')
    report = await forgetting_on(world).run(GONE, dry_run=False)
    left = [row.name async for row in world.users.list("deliveries/")]
    assert left == ["deliveries/chat_3/owed/run_2.json"]
    assert report.mentions == [record]


@pytest.mark.slow
async def test_a_conversation_in_the_middle_of_a_turn_is_waited_for() -> None:
    world = await talked()
    run = await world.hold("and the stage?", chat="chat_1")
    with pytest.raises(ConversationBusyError):
        await forgetting_on(world, wait_seconds=0).run(GONE, dry_run=False)
    world.team.gate.set()
    await forgetting_on(world).run(GONE, dry_run=False)
    assert run is not None
    assert [name for name, data in stored(world).items() if CANARY.encode() in data] == []


@pytest.mark.slow
async def test_killed_anywhere_it_is_finished_by_running_it_again() -> None:
    for dies_at in count(1, 7):
        world = await talked()
        broken = FaultyBlobStore(world.sessions, {dies_at: Kill()})
        forgetting = forgetting_on(world)
        dying = Forgetting(
            sessions=broken, users=world.users, maintenance_lease=forgetting.maintenance_lease
        )
        try:
            await dying.run(GONE, dry_run=False)
        except SimulatedKill:
            await forgetting.run(GONE, dry_run=False)
            assert [name for name in stored(world) if "patient_4_" in name] == []
            assert [name for name, data in stored(world).items() if CANARY.encode() in data] == []
        else:
            assert dies_at > 30
            return


@pytest.mark.slow
async def test_journals_of_runs_that_were_watched_go_too() -> None:
    world = await talked()
    await world.sessions.append("chat_1/watched/run_0/dead-0.jsonl", CANARY.encode(), position=0)
    await forgetting_on(world).run(GONE, dry_run=False)
    assert [name for name, data in stored(world).items() if CANARY.encode() in data] == []


@pytest.mark.slow
async def test_what_an_interrupted_turn_had_begun_for_the_patient_goes_too() -> None:
    world = await talked()
    kept = present(await world.conversations.read("chat_1"))
    kept.document.interruption = Interruption(
        run_id="run_0",
        patient_id=PatientId("patient_15"),
        interrupted_at=world.clock.now(),
        # An earlier attempt took the message to be about the other patient.
        deeds=[
            OutsideChange(key="k", tool="add_task", arguments={"title": CANARY}, patient_id=GONE)
        ],
        deeds_for=PatientId("patient_15"),
    )
    await world.conversations.write(kept.document, etag=kept.etag)
    await forgetting_on(world).run(GONE, dry_run=False)
    assert [name for name, data in stored(world).items() if CANARY.encode() in data] == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("chat", "wish"),
    [
        ("chat_1", f"show the CT of {CANARY}"),  # a name that nobody but people can tell
        ("chat_9", f"show the CT of patient 4, {CANARY}"),
        ("chat_9", f"show the CT of PATIENT_4 and patient_15, {CANARY}"),
    ],
)
async def test_a_wish_that_waits_and_may_name_the_patient_goes_too(chat: str, wish: str) -> None:
    world = await talked()
    await world.say("clear", chat="chat_1")
    await world.tell(wish, chat=chat)
    held = present(await world.conversations.read(chat, fresh=True))
    assert CANARY in str(held.document.open_question)
    assert chat in (await forgetting_on(world).run(GONE, dry_run=True)).conversations
    report = await forgetting_on(world).run(GONE, dry_run=False)
    assert chat in report.conversations
    assert CANARY.encode() not in stored(world)[f"{chat}/conversation.json"]


@pytest.mark.slow
async def test_a_wish_for_nobody_of_that_name_waits_on() -> None:
    world = await talked()
    await world.tell("show the CT of patient 40", chat="chat_9")
    before = stored(world)["chat_9/conversation.json"]
    await forgetting_on(world).run(GONE, dry_run=False)
    assert stored(world)["chat_9/conversation.json"] == before


@pytest.mark.slow
async def test_what_an_interrupted_turn_had_asked_about_the_patient_goes_too() -> None:
    world = await talked()
    kept = present(await world.conversations.read("chat_1"))
    kept.document.interruption = Interruption(
        run_id="run_0",
        patient_id=None,
        interrupted_at=world.clock.now(),
        asked=f"Book the scan of patient_4 {CANARY}?",
    )
    await world.conversations.write(kept.document, etag=kept.etag)
    await forgetting_on(world).run(GONE, dry_run=False)
    assert [name for name, data in stored(world).items() if CANARY.encode() in data] == []


@pytest.mark.slow
async def test_why_a_chart_was_opened_in_an_emergency_is_erased_and_who_did_it_stays() -> None:
    world = await talked()
    glass = BreakGlass(store=world.users, clock=world.clock, ids=world.ids, minutes=30)
    for patient in (GONE, PatientId("patient_15")):
        await glass.grant("ada", patient, conversation_id="c", reason=f"{CANARY} bleeds")

    report = await forgetting_on(world).run(GONE, dry_run=False)
    assert report.mentions == []
    reasons = {one.patient_id: (one.principal, one.reason) for one in await glass.all()}
    assert reasons == {"patient_4": ("ada", "(erased)"), "patient_15": ("ada", f"{CANARY} bleeds")}


@pytest.mark.slow
async def test_the_question_of_a_turn_that_was_killed_goes_too() -> None:
    world = await talked()
    kept = present(await world.conversations.read("chat_1"))
    # As a server leaves it that died while an agent spoke about the patient.
    kept.document.running_turn = RunningTurn(
        run_id="run_dead",
        message=world.message(f"{CANARY} is HIV positive", chat="chat_1"),
        replica="gone",
        patient_id=GONE,
        decided=True,
        started_at=world.clock.now() - timedelta(minutes=11),
        expires_at=world.clock.now() - timedelta(minutes=10),
    )
    await world.conversations.write(kept.document, etag=kept.etag)
    report = await forgetting_on(world).run(GONE, dry_run=False)
    assert report.unreadable == []
    assert [name for name, data in stored(world).items() if CANARY.encode() in data] == []


@pytest.mark.slow
async def test_a_document_that_could_not_be_looked_into_is_named() -> None:
    world = await talked()
    blob = present(await world.sessions.read("chat_1/conversation.json"))
    await world.sessions.replace("chat_1/conversation.json", b"{patient_4", etag=blob.etag)
    report = await forgetting_on(world).run(GONE, dry_run=False)
    assert report.unreadable == ["chat_1/conversation.json"], "the command ends with 1 for it"


@pytest.mark.parametrize("folder", ["looked", "drafts", "worklist"])
async def test_what_users_saw_began_to_write_and_pinned_is_forgotten_and_of_others_stays(
    folder: str,
) -> None:
    world = World()
    for name in (
        f"{folder}/u1/patient_4.json",
        f"{folder}/u2/patient_4.json",
        f"{folder}/u1/patient_40.json",
    ):
        await world.users.create(name, b'{"patient_id": "patient_4"}')
    await forgetting_on(world).run(GONE, dry_run=True)
    assert len([row async for row in world.users.list(f"{folder}/")]) == 3
    await forgetting_on(world).run(GONE, dry_run=False)
    left = [row.name async for row in world.users.list(f"{folder}/")]
    assert left == [f"{folder}/u1/patient_40.json"]


async def test_what_users_tools_told_while_the_chart_was_open_is_forgotten() -> None:
    world = World()
    names = [f"personal/u1/chat_1/{one}.json" for one in ("patient_patient_4", "session")]
    for name in (*names, "personal/u1/chat_1/patient_patient_40.json"):
        await world.users.create(name, b"{}")
    await forgetting_on(world).run(GONE, dry_run=False)
    left = [row.name async for row in world.users.list("personal/")]
    assert left == ["personal/u1/chat_1/patient_patient_40.json", names[1]]


@pytest.mark.slow
async def test_what_users_called_a_conversation_with_the_patient_is_forgotten() -> None:
    world = await talked()
    names = NameStore(store=world.users)
    await names.change("ada", "chat_1", title="Her breast cancer")
    await names.change("ada", "chat_elsewhere", title="Another")
    await forgetting_on(world).run(GONE, dry_run=True)
    assert (await names.read("ada")).of("chat_1").title == "Her breast cancer"
    await forgetting_on(world).run(GONE, dry_run=False)
    kept = await names.read("ada")
    assert (kept.of("chat_1").title, kept.of("chat_elsewhere").title) == ("", "Another")


async def test_a_patient_leaves_the_lists_of_rounds_with_all_that_was_written_of_them() -> None:
    world = World()
    book = RoundBook(store=world.users)
    ward = (GONE, other := PatientId("patient_40"))
    rows = tuple(
        RoundPatient(patient_id=one, conversation_id=f"rounds_{number}")
        for number, one in enumerate(ward)
    )
    await book.create(
        RoundList(round_id="round_1", owner="a", created_at=world.clock.now(), patients=rows)
    )
    note = Note(by="a", at=world.clock.now(), text=CANARY)
    for one in ward:
        await book.change_notes("round_1", one, lambda notes: RoundNotes(notes=(note,)))
    dry = await forgetting_on(world).run(GONE, dry_run=True)
    assert len((await book.read("round_1")).patients) == 2
    report = await forgetting_on(world).run(GONE, dry_run=False)
    assert (report.deleted, report.rewritten) == (dry.deleted, dry.rewritten) == (1, 1)
    assert [one.patient_id for one in (await book.read("round_1")).patients] == [other]
    assert (await book.notes("round_1", GONE)).notes == ()
    assert (await book.notes("round_1", other)).notes == (note,)
    assert report.mentions == []


@pytest.mark.slow
async def test_what_was_thought_of_answers_about_the_patient_goes_too() -> None:
    world = await talked()
    layout = ConversationLayout.of("chat_1")
    about = {PatientId("patient_15"): "run_1-a", GONE: "run_2-a"}
    for patient, name in about.items():
        body = json.dumps({"patient_id": patient, "comment": "not hers"}).encode()
        await world.sessions.create(layout.feedback(name), body)
    await forgetting_on(world).run(GONE, dry_run=False)
    left = [name for name in stored(world) if layout.is_feedback(name)]
    assert left == [layout.feedback("run_1-a")]
