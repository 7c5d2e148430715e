"""Entities during a turn: what agents send, what tools find, what is shown, counted and logged."""

import json
from typing import Any

import pytest
from prometheus_client import CollectorRegistry
from structlog.testing import capture_logs

from data_models.entities.entities import Entities
from data_models.errors import EntityDeltaError, StaleEntitiesError, UnknownAgentError
from services.entities.circumstances import AgentNames
from services.entities.meter import EntityMeter
from services.entities.session import Derives, EntitySession, StoredRun
from services.telemetry.logs import redacted
from tests.fakes import FixedClock
from tests.given import present
from tests.services.entities.world import BOOKING, SCHEDULER, shown

SLOTS = (Derives("available_slots", ("slots",), 300.0, ("date_preference",)),)


class Turn:
    """A session with a registry whose figures can be read."""

    def __init__(self, *, entities: Entities | None = None, **more: Any) -> None:
        self.registry, self.clock = CollectorRegistry(), FixedClock()
        self.entities = entities or Entities()
        self.session = EntitySession(
            entities=self.entities,
            team=AgentNames.of([BOOKING, SCHEDULER]),
            clock=self.clock,
            meter=EntityMeter(registry=self.registry, agents=[BOOKING, SCHEDULER]),
            session_id="conversation",
            **more,
        )

    def figure(self, name: str, agent: str, operation: str) -> float:
        labels = {"agent": agent, "operation": operation}
        return self.registry.get_sample_value(name, labels) or 0.0


@pytest.fixture
def turn() -> Turn:
    return Turn()


def test_what_the_user_said_is_there_before_the_first_agent(turn: Turn) -> None:
    turn.session.heard({"date_preference": "tomorrow"})
    assert shown(turn.session, BOOKING)["entities"] == {"date_preference": "tomorrow"}
    assert shown(turn.session, SCHEDULER)["said_at"] == {
        "date_preference": "2030-01-02T03:04:05+00:00"
    }


def test_where_nothing_is_known_nothing_is_shown() -> None:
    assert Turn().session.grounding(BOOKING) == ""


def test_a_tools_values_are_filed_as_it_declares(turn: Turn) -> None:
    result = {"slots": ["15:00"], "noise": 1}
    turn.session.store_tool_result(BOOKING, "available_slots", {"day": "x"}, result, derives=SLOTS)
    assert shown(turn.session, BOOKING)["derived_entities"] == {"available_slots": ["15:00"]}
    assert shown(turn.session, SCHEDULER) == {}
    turn.session.heard({"date_preference": "friday"})
    assert shown(turn.session, BOOKING)["derived_entities"] == {}


def test_a_result_without_the_declared_member_derives_nothing(turn: Turn) -> None:
    done = turn.session.store_tool_result(BOOKING, "t", {}, {"error": "x"}, derives=SLOTS)
    assert (done, turn.session.grounding(BOOKING)) == (None, "")


def test_a_value_that_is_too_large_is_kept_as_a_reference_to_its_run(turn: Turn) -> None:
    rows = {"slots": ["x" * 100] * 100}
    turn.session.store_tool_result(
        BOOKING, "t", {}, rows, derives=SLOTS, run=StoredRun("exec_1", ("slot_1", "slot_2"))
    )
    assert shown(turn.session, BOOKING)["derived_entities"]["available_slots"] == {
        "run": "exec_1",
        "entity_ids": ["slot_1", "slot_2"],
        "characters": 10_301,
    }


def test_an_agent_does_not_overwrite_what_changed_since_it_was_shown(turn: Turn) -> None:
    turn.session.grounding(BOOKING)
    turn.session.heard({"date_preference": "2030-01-07"})
    with pytest.raises(StaleEntitiesError):
        turn.session.replied(
            {"entities_to_update": {"time_preference": "15:00"}}, agent_name=BOOKING
        )
    assert shown(turn.session, BOOKING)["entities"] == {"date_preference": "2030-01-07"}
    turn.session.replied({"entities_to_update": {"time_preference": "15:00"}}, agent_name=BOOKING)
    assert shown(turn.session, BOOKING)["entities"]["time_preference"] == "15:00"
    assert turn.figure("entity_merge_failure_total", BOOKING, "merge_delta") == 1


def test_an_agents_own_writes_and_finds_make_none_of_its_later_writes_stale(turn: Turn) -> None:
    turn.session.grounding(BOOKING)
    for number in range(9):  # the last ones push others out
        turn.session.replied({"entities_to_update": {f"wish_{number}": 1}}, agent_name=BOOKING)
    turn.session.store_tool_result(BOOKING, "t", {}, {"slots": ["15:00"]}, derives=SLOTS)
    turn.session.replied({"derived_entities_to_update": {"note_id": 1}}, agent_name=BOOKING)
    assert turn.session.restored("wish_0", agent_name=BOOKING)
    turn.session.replied({"entities_to_remove": ["wish_8"]}, agent_name=BOOKING)
    assert "wish_8" not in shown(turn.session, BOOKING)["entities"]


def test_operations_are_counted_by_agent() -> None:
    turn = Turn(reads_legacy=True)
    turn.session.replied({"entities_to_update": {"a": 1}}, agent_name=BOOKING)
    turn.session.replied({"entities": {"b": 2}}, agent_name=BOOKING)
    with pytest.raises(EntityDeltaError):
        turn.session.replied("{oops", agent_name=BOOKING)
    with pytest.raises(UnknownAgentError):
        turn.session.replied({"entities_to_update": {"a": 1}}, agent_name="Ghost")
    turn.session.store_tool_result(BOOKING, "t", {}, {"slots": ["15:00"]}, derives=SLOTS)
    turn.session.grounding(BOOKING)
    with pytest.raises(UnknownAgentError):
        turn.session.grounding("Ghost")
    assert turn.figure("entity_merge_success_total", BOOKING, "merge_delta") == 2
    assert turn.figure("entity_merge_failure_total", "unknown", "merge_delta") == 1
    assert turn.figure("delta_parse_total", BOOKING, "merge_delta") == 3
    assert turn.figure("delta_parse_errors_total", BOOKING, "merge_delta") == 1
    assert turn.figure("delta_legacy_format_total", BOOKING, "merge_delta") == 1
    assert turn.figure("agent_name_validation_failures_total", "unknown", "merge_delta") == 1
    assert turn.figure("agent_switch_success_total", BOOKING, "get_context") == 1
    assert turn.figure("agent_switch_failure_total", "unknown", "get_context") == 1
    assert turn.figure("agent_name_validation_failures_total", "unknown", "get_context") == 1
    # Two wishes and what the tool found.
    assert turn.figure("entity_age_seconds_count", BOOKING, "get_context") == 3
    assert turn.figure("entity_merge_duration_seconds_count", BOOKING, "store_derived") == 1


def test_what_left_a_full_queue_is_counted_and_named(turn: Turn) -> None:
    for number in range(9):
        turn.session.heard({f"wish_{number}": number})
    told = present(turn.session.eviction_notice())
    assert told.details == {"keys": ["wish_0", "wish_1"]}
    assert turn.session.eviction_notice() is None
    assert turn.figure("entity_fifo_evictions_total", "unknown", "evict_fifo") == 2


def test_log_lines_hold_keys_and_no_values(turn: Turn) -> None:
    with capture_logs() as logs:
        turn.session.replied(
            {"entities_to_update": {"doctor_preference": "Dr. Secret", "mrs_secret": 1}},
            agent_name=BOOKING,
        )
        turn.session.grounding(BOOKING)
    text = json.dumps(logs)
    assert "ecret" not in text
    assert "conversation" not in [line["session_id"] for line in logs]
    first = logs[0]
    assert first["operation"] == "merge_delta"
    assert first["operation_details"]["added_keys"][0] == "doctor_preference"
    assert (first["success"], first["error"]) == (True, None)
    assert first["operation_details"]["delta_size"] == 2
    assert redacted(first)["operation_details"] == first["operation_details"]
    assert [line["operation"] for line in logs] == ["merge_delta", "get_context"]
    assert {line["log_level"] for line in logs} == {"info"}


def test_what_leaves_a_full_queue_is_a_record_of_its_own(turn: Turn) -> None:
    with capture_logs() as logs:
        turn.session.heard({f"wish_{number}": number for number in range(7)})
        turn.session.heard({"doctor_preference": "Dr. Smith"})
    assert [line["operation"] for line in logs] == ["merge_delta", "merge_delta", "evict_fifo"]
    evicted = logs[2]["operation_details"]
    assert (evicted["delta_size"], len(evicted["evicted_keys"])) == (1, 1)
    assert turn.figure("entity_merge_success_total", "unknown", "merge_delta") == 2
    assert turn.figure("entity_merge_success_total", "unknown", "evict_fifo") == 0


def test_what_an_open_plan_needs_comes_back_when_it_had_left() -> None:
    before = Turn()
    for number in range(8):
        before.session.heard({f"wish_{number}": number})
    assert "wish_0" not in shown(before.session, BOOKING)["entities"]
    after = Turn(entities=before.entities, pinned=["wish_0"])
    assert shown(after.session, BOOKING)["entities"]["wish_0"] == 0


def test_the_complete_state_form_can_be_switched_off() -> None:
    with pytest.raises(EntityDeltaError, match="switched off"):
        Turn(reads_legacy=False).session.replied({"entities": {"a": 1}}, agent_name=BOOKING)


@pytest.mark.parametrize("key", ["appointment_id", "appointmentId", "eligibility_checked"])
@pytest.mark.parametrize("half", ["entities_to_update", "derived_entities_to_update"])
def test_what_only_the_server_knows_no_model_writes(key: str, half: str, turn: Turn) -> None:
    sent = {half: {key: "FORGED-1", "remark": "check"}}
    report = turn.session.replied(sent, agent_name=BOOKING)
    assert report["derived"]["rejected"][key] == "tools alone write this"
    assert "FORGED" not in turn.session.grounding(BOOKING)
    told = shown(turn.session, BOOKING)
    assert {**told["entities"], **told["derived_entities"]} == {"remark": "check"}


def test_a_model_that_quotes_the_user_corrects_what_rules_read(turn: Turn) -> None:
    turn.session.heard({"doctor_preference": "Dr. Smith"})
    sent = {"entities_to_update": {"doctor_preference": "Dr. Jones"}}
    turn.session.replied(sent, agent_name=BOOKING)
    assert shown(turn.session, BOOKING)["entities"]["doctor_preference"] == "Dr. Smith"
    turn.session.replied(sent, agent_name=BOOKING, is_quoted=True)
    assert shown(turn.session, BOOKING)["entities"]["doctor_preference"] == "Dr. Jones"
