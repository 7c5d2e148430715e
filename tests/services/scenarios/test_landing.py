"""What one outcome stores (M11, M19): everything at once, or progress alone."""

from datetime import timedelta

from data_models.identifiers import hashed
from data_models.scenarios.scenario_session import (
    MigrationAppliedEvent,
    PatientProfile,
    ProfileField,
    ScenarioSession,
)
from services.audit.trail import NoAudit
from services.scenarios.migration.plans.move import VersionChain
from services.scenarios.operators.journal import JUMPED, ActLog, JournalEntry
from services.scenarios.scenario_settings import MigrationConfig, ReRoutingConfig
from tests.fakes import FixedClock
from tests.fakes_store import MemoryBlobStore
from tests.services.scenarios.worlds import NOW, Node, graph_of, once, play, session_at

OLD = (
    Node("a", "a"),
    Node("pay", "pay", checkpoint=True),
    Node("gone", "gone"),
    Node("b", "b"),
    Node("c", "c", uses=("dose",)),
)
NEW = (
    Node("a", "a"),
    Node("pay2", "pay", checkpoint=True),
    Node("n", "n", collects=("dose",)),
    Node("b", "b"),
    Node("c", "c", uses=("dose",)),
)
GRAPHS = [graph_of(OLD, 1), graph_of(NEW, 2)]


def paid() -> ScenarioSession:
    return session_at(GRAPHS[0], ["a", "pay", "gone", "b"], ["pay"])


def test_m11_a_landing_carries_everything_in_one_value() -> None:
    landed = play(GRAPHS, paid(), {"dose": 2}, {}).session
    assert (landed.version, landed.checksum, landed.step) == (2, GRAPHS[1].checksum, "b")
    assert [(v.step_id, v.skipped) for v in landed.step_history] == [
        ("a", False),
        ("pay2", False),
        ("n", True),
        ("b", False),
    ]
    assert [(one.step_id, one.version) for one in landed.completed_checkpoints] == [("pay2", 2)]
    assert (landed.progress, landed.pending_migration, landed.review) == (None, None, None)
    assert len(landed.outbox) == 1


def test_m11_asking_changes_progress_and_nothing_else() -> None:
    before = paid()
    outcome = once(VersionChain(graphs=GRAPHS, plans={}), before, PatientProfile())
    assert outcome.collect_fields == ("dose",)
    after = outcome.session
    assert after.progress is not None
    assert [item.field for item in after.progress.work] == ["dose"]
    assert after.model_copy(update={"progress": None}) == before


def test_m11_a_session_survives_storage_between_question_and_answer() -> None:
    chain = VersionChain(graphs=GRAPHS, plans={})
    asked = once(chain, paid(), PatientProfile()).session
    stored = ScenarioSession.model_validate_json(asked.model_dump_json())
    assert stored == asked
    known = PatientProfile(fields={"dose": ProfileField(value=2)})
    assert once(chain, stored, known).session.version == 2


def test_m19_the_audit_event_says_what_happened_and_no_value() -> None:
    (event,) = play(GRAPHS, paid(), {}, {"dose": 4711}).session.outbox
    assert (event.from_version, event.to_version, event.migration_scenario) == (1, 2, "gap_fill")
    assert (event.step_before, event.step_after, event.action_taken) == ("b", "b", "teleport")
    assert event.fields_collected == ["dose"]
    assert event.timestamp == NOW
    assert "4711" not in event.model_dump_json()


def test_m19_the_same_jump_has_the_same_event_id() -> None:
    first = play(GRAPHS, paid(), {"dose": 2}, {}).session.outbox[0]
    again = play(GRAPHS, paid(), {}, {"dose": 3}).session.outbox[0]
    assert first.event_id == again.event_id


def test_m10_a_lost_checkpoint_is_found_again_when_its_step_comes_back() -> None:
    without = graph_of((Node("a", "a"), Node("b", "b"), Node("c", "c")), 2)
    session = play([GRAPHS[0], without], paid(), {}, {}).session
    assert [(one.step_id, one.version) for one in session.completed_checkpoints] == [("pay", 1)]
    back = play([GRAPHS[0], without, graph_of(OLD, 3)], session, {}, {}).session
    assert (back.version, back.step) == (3, "b")
    assert [(one.step_id, one.version) for one in back.completed_checkpoints] == [("pay", 3)]


def test_without_re_routing_a_session_lands_on_its_own_step_with_a_warning() -> None:
    old = graph_of((Node("a", "a"), Node("b", "b"), Node("c", "c", uses=("dose",))), 1)
    new = graph_of(
        (
            Node("a", "a", forks=(("age < 18", "d"),)),
            Node("n", "n", collects=("dose",)),
            Node("b", "b"),
            Node("c", "c", uses=("dose",)),
            Node("d", "d"),
        ),
        2,
    )
    chain = VersionChain(graphs=[old, new], plans={})
    config = MigrationConfig(re_routing=ReRoutingConfig(enabled=False))
    session, minor = session_at(old, ["a", "b"], []), {"age": ProfileField(value=3)}
    asked = once(chain, session, PatientProfile(fields=minor), config=config)
    assert asked.collect_fields == ("dose",)
    known = PatientProfile(fields={**minor, "dose": ProfileField(value=2)})
    outcome = once(chain, asked.session, known, config=config)
    assert (outcome.scenario, outcome.session.step) == ("gap_fill", "b")
    assert outcome.checkpoint_warning == "re-routing is off; the fork at 'a' was not applied"


SESSION = "chat_1/patient_4"


def jump(number: int) -> MigrationAppliedEvent:
    return MigrationAppliedEvent(
        event_id=f"e{number}",
        session_id=SESSION,
        scenario_id="booking",
        plan_ids=["p"],
        from_version=1,
        to_version=2,
        migration_scenario="clean_graft",
        anchor_hash="h",
        step_before="slot",
        step_after="slot",
        action_taken="teleport",
        timestamp=NOW + timedelta(minutes=number),
    )


async def test_jumps_stand_among_the_acts_newest_first() -> None:
    store = MemoryBlobStore()
    journal = ActLog(audit=NoAudit(), blobs=store, now=FixedClock().now)
    act = JournalEntry(time=NOW + timedelta(minutes=2), operator="ada", action="deploy")
    await journal.write("booking", act)
    for number in (1, 3):
        name = f"scenarios/booking/events/e{number}.json"
        await store.create(name, jump(number).model_dump_json().encode())
    entries = await journal.newest("booking")
    assert [one.action for one in entries] == [JUMPED, "deploy", JUMPED]
    assert entries[0].note == (
        f"session {hashed(SESSION)[:10]}: version 1 to 2, slot to slot, clean graft"
    )
    assert "patient_4" not in entries[0].note
    assert await journal.newest("another") == []
