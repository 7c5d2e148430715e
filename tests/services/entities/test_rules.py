"""The rules of spec page 2.2, each by its name."""

from typing import Any

import pytest
from structlog.testing import capture_logs

from data_models.entities.entities import ENTITIES_LIMIT_BYTES, Entities
from data_models.errors import EntityDeltaError
from evals.parts.entities import replay
from services.entities.delta import EntityDelta, parse_entity_delta
from tests.services.entities.world import BOOKING, SCHEDULER, World
from tests.tables import with_cases

SEVEN = {f"wish_{number}": number for number in range(7)}


@pytest.fixture
def world() -> World:
    return World()


class TestValues:
    @pytest.mark.parametrize(
        ("value", "fits"),
        [("x" * 2_000, True), ("x" * 2_001, False), (["x" * 1_996], True), (["x" * 1_997], False)],
    )
    def test_e8_a_value_has_at_most_2000_characters(
        self, value: Any, fits: bool, world: World
    ) -> None:
        report = world.wants({"wish": value, "other": 1})["conversation"]
        assert report["rejected"] == ({} if fits else {"wish": "too_large"})
        assert "other" in world.wanted()

    @pytest.mark.parametrize("value", [float("nan"), float("inf"), "\ud800", {"x": ["\udfff"]}])
    def test_e8_what_is_no_json_is_rejected(self, value: Any) -> None:
        report = World().wants({"wish": value})["conversation"]
        assert report["rejected"] == {"wish": "value"}

    def test_e8_over_the_budget_the_oldest_leave_first(self, world: World) -> None:
        for number in range(7):
            world.wants({f"wish_{number}": "x" * 2_000})
        assert world.order() == [f"wish_{number}" for number in range(2, 7)]
        assert world.entities.stored_bytes() <= ENTITIES_LIMIT_BYTES

    def test_e8_the_report_names_what_left_for_the_budget(self, world: World) -> None:
        for number in range(5):
            world.finds({f"row_{number}_id": "é" * 2_000})
        report = world.wants({"wish": "é" * 2_000}, agent=SCHEDULER)
        assert world.entities.stored_bytes() <= ENTITIES_LIMIT_BYTES
        assert report["conversation"]["added"] == ["wish"]
        assert "wish" in world.wanted()


class TestAgents:
    def test_e12_a_hand_over_copies_with_where_it_comes_from(self, world: World) -> None:
        world.finds({"available_slots": ["3pm"]}, params={"day": "2030-01-03"}, valid_for=60)
        world.seconds = 50
        delta = EntityDelta(handover=["available_slots", "doctor_uuid"], handover_to=SCHEDULER)
        report = world.sends(delta, agent=BOOKING)["derived"]
        copy = world.entities.derived.agent_entities[SCHEDULER]["available_slots"]
        assert report["rejected"] == {"doctor_uuid": "absent"}
        assert (copy.source_tool, copy.source_params) == ("find_slots", {"day": "2030-01-03"})
        assert (copy.agent_name, copy.handed_over_from) == (SCHEDULER, BOOKING)
        world.seconds = 60
        assert world.found(SCHEDULER) == {}, "a copy is no younger than what it copies"


class TestAge:
    def test_e13_tomorrow_said_again_tomorrow_is_another_day(self, world: World) -> None:
        world.wants({"date_preference": "tomorrow"}, source="extracted")
        world.finds({"available_slots": ["3pm"]}, depends_on=["date_preference"])
        world.wants({"date_preference": "tomorrow"}, source="extracted")
        assert world.found() == {"available_slots": ["3pm"]}
        world.seconds = 86_400
        world.wants({"date_preference": "tomorrow"}, source="extracted")
        assert world.found() == {}
        said = world.entities.conversation.entities["date_preference"].reference_time
        assert said == world.now

    def test_e14_overwriting_renews_origin_and_clock(self, world: World) -> None:
        world.finds({"available_slots": ["3pm"]}, params={"day": 1}, valid_for=10)
        world.seconds = 9
        world.finds({"available_slots": ["4pm"]}, tool="search", params={"day": 2}, valid_for=20)
        one = world.entities.derived.agent_entities[BOOKING]["available_slots"]
        assert (one.source_tool, one.source_params, one.valid_for) == ("search", {"day": 2}, 20)
        assert (one.updated_at, one.inserted_at) == (world.now, world.now.replace(second=0))


class TestSources:
    @pytest.mark.parametrize("value", ["tomorrow", "next Monday", "in 2 days", "Friday 3pm"])
    def test_e16_relative_values_keep_when_they_were_said(self, value: str) -> None:
        world = World(seconds=42)
        world.wants({"date_preference": value})
        assert world.entities.conversation.entities["date_preference"].reference_time == world.now

    def test_e16_absolute_values_need_no_reference(self, world: World) -> None:
        world.wants({"date_preference": "2030-02-01"})
        assert world.entities.conversation.entities["date_preference"].reference_time is None


class TestMessages:
    @with_cases("payload")
    def test_e18_a_malformed_message_changes_nothing(self, payload: Any, world: World) -> None:
        with pytest.raises(EntityDeltaError):
            world.replies(payload)
        assert world.entities == Entities()


class TestState:
    def test_e20_reads_return_copies(self, world: World) -> None:
        world.wants({"wish": [{"a": [1]}]})
        world.finds({"available_slots": ["3pm"]})
        world.wanted()["wish"][0]["a"].append(2)
        world.found()["available_slots"].append("4pm")
        world.entities.conversation.get_all()["wish"].append(3)
        assert world.wanted() == {"wish": [{"a": [1]}]}
        assert world.found() == {"available_slots": ["3pm"]}

    def test_e20_what_is_stored_is_a_copy_too(self) -> None:
        world, mine = World(), ["a"]
        world.wants({"wish": mine})
        mine.append("b")
        assert world.wanted() == {"wish": ["a"]}

    @pytest.mark.parametrize(
        "delta",
        [
            EntityDelta(entities_to_update={"a": 1, "b": [2]}),
            EntityDelta(entities_to_update={"b": 1}, entities_to_remove=["a"]),
            EntityDelta(entities_to_update={"a": 1, "c": 3}, entities_to_remove=["a"]),
            EntityDelta(entities_to_update={f"k{number}": number for number in range(9)}),
            EntityDelta(derived_entities_to_update={"x_id": 1, "y": 2}, entities_to_remove=["y"]),
            EntityDelta(handover=["slot_id"], handover_to=SCHEDULER),
        ],
    )
    def test_e20_a_delta_twice_changes_nothing_the_second_time(
        self, delta: EntityDelta, world: World
    ) -> None:
        world.wants({"a": 0, **{f"w{number}": 0 for number in range(6)}})
        world.finds({"slot_id": 1})
        world.sends(delta, agent=BOOKING)
        before = world.entities.model_copy(deep=True)
        world.seconds = 10
        report = world.sends(delta, agent=BOOKING)
        assert world.entities == before
        assert not any(report["conversation"][kind] for kind in ("added", "updated", "evicted"))


class TestPlans:
    def test_e25_pinned_finds_stay_even_over_the_budget(self, world: World) -> None:
        world.finds({"appointment_id": "a" * 2_000}, pinned=["appointment_id"])
        for number in range(7):
            world.finds({f"row_{number}_id": "x" * 2_000}, pinned=["appointment_id"])
        assert "appointment_id" in world.found()

    def test_e25_the_evicted_can_be_restored(self, world: World) -> None:
        world.wants(SEVEN)
        world.wants({"new": 1})
        assert world.entities.conversation.restore("wish_0", now=world.now)["added"] == ["wish_0"]
        assert world.wanted()["wish_0"] == 0
        assert "wish_1" not in world.wanted(), "the cap holds"
        again = world.entities.conversation.restore("wish_0", now=world.now)
        assert again["rejected"] == {"wish_0": "absent"}

    def test_e25_the_list_of_evicted_ones_is_bounded(self, world: World) -> None:
        for number in range(40):
            world.wants({f"wish_{number}": number})
        gone = [one.key for one in world.entities.conversation.recently_evicted]
        assert gone == [f"wish_{number}" for number in range(13, 33)]


def test_errors_hold_nothing_of_what_was_sent() -> None:
    with capture_logs() as logs:
        for payload in (
            '{"entities_to_update": {"a": "Mrs Secret" ]',
            {"entities_to_remove": ["x", 1]},
        ):
            with pytest.raises(EntityDeltaError) as caught:
                parse_entity_delta(payload)
            assert "Secret" not in str(caught.value)
            assert caught.value.__cause__ is None
            assert caught.value.__context__ is None
    assert logs == []


AGENTS = {"A": BOOKING, "B": SCHEDULER}
SHOWN = {"wanted": "entities", "found": "derived_entities", "provenance": "provenance"}


def operation(step: dict[str, Any]) -> dict[str, Any]:
    """Return a step as an operation of `replay`."""
    more = {name: step[name] for name in (*OPTIONS, "remove") if name in step}
    agent = AGENTS.get(one := step.get("agent", "A"), one)
    if "finds" in step:
        return {"op": "tool", "agent": agent, "tool": "find", "result": step["finds"], **more}
    if "migrates" in step:
        owner = AGENTS.get(step.get("owner", ""), step.get("owner"))
        return {"op": "migrate_legacy", "entities": step["migrates"], "owner": owner}
    if "reload" in step:
        return {"op": "reload", **more}
    if "wants" in step:
        wishes = SEVEN if step["wants"] == "SEVEN" else step["wants"]
        body = {"entities_to_update": wishes, "entities_to_remove": more.pop("remove", [])}
        return {"op": "delta", "body": body, **more}
    body = step.get("sends") or {"derived_entities_to_update": step["concludes"]}
    if "handover_to" in body:
        body = {**body, "handover_to": AGENTS.get(body["handover_to"], body["handover_to"])}
    return {"op": "delta", "body": body, "agent": agent, **more}


OPTIONS = ("now", "source", "pinned", "expected_rev", "valid_for", "depends_on")
OF_OPERATIONS = {
    *(*OPTIONS, "remove", "agent", "owner", "error"),
    *("wants", "sends", "concludes", "finds", "migrates", "reload"),
}


@with_cases("steps")
def test_the_rules_hold(steps: list[dict[str, Any]]) -> None:
    views = [{"op": "view", "agent": agent} for agent in AGENTS.values()]
    ops = [op for step in steps for op in (operation(step), *views)]
    case = {"id": "one", "ops": ops, "config": {"agents": list(AGENTS.values())}}
    results = replay({"cases": [case]})["results"]["one"]
    for step, report, shown, other in zip(
        steps, results[::3], results[1::3], results[2::3], strict=True
    ):
        assert report.get("error", "").partition(":")[0] == step.get("error", ""), step
        given = {
            **{name: shown[field] for name, field in SHOWN.items()},
            "order": list(shown["entities"]),
            "order_found": list(shown["derived_entities"]),
            "found_by_B": other["derived_entities"],
        }
        for half in ("conversation", "derived"):
            given |= {f"{half}.{kind}": one for kind, one in report.get(half, {}).items()}
        told = {name: one for name, one in step.items() if name not in OF_OPERATIONS}
        assert told == {name: given.get(name, "unknown") for name in told}, step
