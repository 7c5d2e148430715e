"""The rules of spec page 2.2, each by its name."""

import json
import unicodedata
from typing import Any

import pytest
from structlog.testing import capture_logs

from data_models.entities.conversation_entities import Provenance
from data_models.entities.derived_entities import UNKNOWN_OWNER
from data_models.entities.entities import ENTITIES_LIMIT_BYTES, Entities
from data_models.errors import EntityDeltaError, StaleEntitiesError, UnknownAgentError
from services.entities.delta import EntityDelta, parse_entity_delta
from services.entities.legacy import file_legacy
from tests.services.entities.world import BOOKING, SCHEDULER, World
from tests.tables import with_cases

SEVEN = {f"wish_{number}": number for number in range(7)}


def reloaded(entities: Entities) -> Entities:
    text = json.dumps(entities.model_dump(mode="json"), sort_keys=True)
    return Entities.model_validate_json(text)


@pytest.fixture
def world() -> World:
    return World()


class TestQueue:
    def test_e1_order_is_a_counter_and_no_timestamp(self) -> None:
        world = World(seconds=1_000)
        world.wants({"late": 1})
        world.seconds = 0
        world.wants({"early": 2})
        assert world.order() == ["late", "early"]

    def test_e1_the_counter_goes_on_after_a_reload(self, world: World) -> None:
        world.wants({"first": 1, "second": 2})
        world.wants(remove=["second"])
        world.entities = reloaded(world.entities)
        world.wants({"third": 3})
        seqs = [one.seq for one in world.entities.conversation.entities.values()]
        assert seqs == [1, 3]

    def test_e2_overwriting_keeps_the_place_in_the_queue(self, world: World) -> None:
        world.wants({"time_preference": "2pm", "doctor_preference": "Dr. Smith"})
        world.seconds = 60
        report = world.wants({"time_preference": "3pm"})["conversation"]
        one = world.entities.conversation.entities["time_preference"]
        assert report["updated"] == ["time_preference"]
        assert world.order() == ["time_preference", "doctor_preference"]
        assert (one.updated_at - one.inserted_at).total_seconds() == 60

    @pytest.mark.parametrize(
        ("stored", "sent"),
        [({"a": 1, "b": [2]}, {"b": [2], "a": 1}), (1, 1.0), ("x", "x"), ([], []), (None, None)],
    )
    def test_e3_an_equal_value_is_unchanged(self, stored: Any, sent: Any, world: World) -> None:
        world.finds({"doctor_uuid": stored})
        before = world.entities.conversation.revision
        assert world.finds({"doctor_uuid": sent})["derived"]["unchanged"] == ["doctor_uuid"]
        assert world.entities.conversation.revision == before

    @pytest.mark.parametrize(("stored", "sent"), [(1, True), (0, False), ("1", 1), ([], {})])
    def test_e3_values_that_only_look_equal_are_not(
        self, stored: Any, sent: Any, world: World
    ) -> None:
        world.wants({"wish": stored})
        assert world.wants({"wish": sent})["conversation"]["updated"] == ["wish"]
        assert world.wanted()["wish"] is sent or world.wanted()["wish"] == sent

    def test_e4_what_the_delta_touches_leaves_after_what_it_does_not(self, world: World) -> None:
        world.wants(SEVEN)
        report = world.wants({"wish_0": "touched", "new": 1})["conversation"]
        assert report["evicted"] == ["wish_1"]
        assert world.order()[0] == "wish_0"

    def test_e4_a_key_that_is_sent_unchanged_counts_as_touched(self, world: World) -> None:
        world.wants(SEVEN)
        report = world.wants({"wish_0": 0, "new": 1})["conversation"]
        assert (report["unchanged"], report["evicted"]) == (["wish_0"], ["wish_1"])

    def test_e5_of_a_delta_over_the_cap_the_last_keys_stay(self, world: World) -> None:
        world.wants({"old": 1})
        report = world.wants({f"new_{number}": number for number in range(9)})["conversation"]
        assert report["rejected"] == {"new_0": "capacity", "new_1": "capacity"}
        assert report["evicted"] == ["old"]
        assert world.order() == [f"new_{number}" for number in range(2, 9)]

    def test_e5_a_stored_key_that_finds_no_room_leaves_with_its_old_value(
        self, world: World
    ) -> None:
        world.wants({"kept_out": "old"})
        report = world.wants({"kept_out": "new", **SEVEN})["conversation"]
        assert report["rejected"] == {"kept_out": "capacity"}
        assert report["evicted"] == ["kept_out"]


class TestValues:
    @pytest.mark.parametrize("blank", [None, "", "   ", "\n\t", "\u00a0"])
    def test_e6_null_and_blank_text_of_a_model_are_ignored(
        self, blank: str | None, world: World
    ) -> None:
        world.wants({"time_preference": "3pm"})
        report = world.wants({"time_preference": blank})["conversation"]
        assert report["ignored"] == ["time_preference"]
        assert world.wanted() == {"time_preference": "3pm"}

    @pytest.mark.parametrize("value", [[], {}, 0, False, 0.0])
    def test_e6_empty_collections_zero_and_false_are_values(self, value: Any, world: World) -> None:
        assert world.wants({"wish": value})["conversation"]["added"] == ["wish"]
        assert world.wanted() == {"wish": value}

    def test_e6_what_a_tool_found_to_be_null_is_a_value(self, world: World) -> None:
        world.finds({"insurance_verified": None})
        assert world.found() == {"insurance_verified": None}

    def test_e7_a_key_leaves_only_when_it_is_named(self, world: World) -> None:
        world.wants({"time_preference": "3pm", "doctor_preference": "Dr. Smith"})
        world.finds({"available_slots": ["3pm"]})
        delta = EntityDelta(entities_to_remove=["time_preference", "available_slots", "nothing"])
        report = world.sends(delta, agent=BOOKING)
        assert report["conversation"]["removed"] == ["time_preference"]
        assert report["derived"]["removed"] == ["available_slots"]
        assert (world.order(), world.found()) == (["doctor_preference"], {})

    def test_e7_removals_run_before_updates(self, world: World) -> None:
        world.wants({"first": 1, "second": 2})
        report = world.wants({"first": 9}, remove=["first"])["conversation"]
        assert (report["removed"], report["added"]) == (["first"], ["first"])
        assert world.order() == ["second", "first"]

    def test_e7_a_removal_makes_room_for_the_other_namespace(self, world: World) -> None:
        world.finds({"insurance_card": "seen"})
        world.sends(
            EntityDelta(
                entities_to_update={"insurance_card": "at home"},
                entities_to_remove=["insurance_card"],
            ),
            agent=BOOKING,
        )
        assert (world.wanted(), world.found()) == ({"insurance_card": "at home"}, {})

    def test_e8_values_are_replaced_whole(self, world: World) -> None:
        world.wants({"wish": {"a": 1, "b": 2}})
        world.wants({"wish": {"b": 3}})
        assert world.wanted() == {"wish": {"b": 3}}

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


class TestKeys:
    @with_cases("raw", "key")
    def test_e9_a_key_is_brought_into_its_one_form(self, raw: str, key: str, world: World) -> None:
        world.wants({raw: "x"})
        assert world.order() == [key]

    @pytest.mark.parametrize(
        "raw", ["", " ", "1st", "_x", "a.b", "clé", "ключ", "a" * 65, "a\x00b"]
    )
    def test_e9_what_is_no_key_is_rejected_alone(self, raw: str) -> None:
        report = World().wants({raw: "x", "fine": "y"})["conversation"]
        assert (report["rejected"], report["added"]) == ({raw: "key"}, ["fine"])

    def test_e9_a_key_of_64_characters_is_one(self) -> None:
        assert World().wants({"a" * 64: 1})["conversation"]["added"] == ["a" * 64]

    def test_e9_composed_and_decomposed_spellings_are_rejected_alike(self) -> None:
        raw = unicodedata.normalize("NFD", "clé")
        assert World().wants({raw: 1})["conversation"]["rejected"] == {raw: "key"}

    def test_e9_of_two_spellings_the_later_one_counts(self, world: World) -> None:
        report = world.wants({"doctor_name": "A", "doctor_preference": "B"})["conversation"]
        assert report["added"] == ["doctor_preference"]
        assert world.wanted() == {"doctor_preference": "B"}

    @pytest.mark.parametrize(
        "key", ["available_slots", "doctor_uuid", "eligibility_checked", "room_id", "x_retrieved"]
    )
    def test_e10_a_derived_key_is_no_wish(self, key: str) -> None:
        report = World().wants({key: 1, "fine": 2})["conversation"]
        assert (report["rejected"], report["added"]) == ({key: "namespace"}, ["fine"])

    @pytest.mark.parametrize("key", ["reason_visit", "user_name", "room_preference"])
    def test_e10_a_wish_is_nothing_derived(self, key: str) -> None:
        report = World().concludes({key: 1, "fine": 2})["derived"]
        assert (report["rejected"], report["added"]) == ({key: "namespace"}, ["fine"])

    def test_e10_the_suffix_of_a_preference_comes_first(self) -> None:
        report = World().wants({"doctor_id_preference": "x"})["conversation"]
        assert report["added"] == ["doctor_id_preference"]

    def test_e10_an_unlisted_key_stays_where_it_came_first(self, world: World) -> None:
        world.wants({"parking": "needed"})
        world.finds({"entrance": "north"})
        assert world.finds({"parking": "full"})["derived"]["rejected"] == {"parking": "namespace"}
        report = world.wants({"entrance": "south"})["conversation"]
        assert report["rejected"] == {"entrance": "namespace"}

    def test_e10_a_key_offered_to_both_is_stored_once(self, world: World) -> None:
        delta = EntityDelta(
            entities_to_update={"parking": 1}, derived_entities_to_update={"parking": 2}
        )
        report = world.sends(delta, agent=BOOKING)
        assert report["derived"]["rejected"] == {"parking": "namespace"}
        assert (world.wanted(), world.found()) == ({"parking": 1}, {})

    def test_e10_an_expired_find_does_not_hold_a_key(self, world: World) -> None:
        world.finds({"parking": "full"}, valid_for=5)
        world.seconds = 5
        assert world.wants({"parking": "needed"})["conversation"]["added"] == ["parking"]
        assert all("parking" not in rows for rows in world.entities.derived.agent_entities.values())


class TestAgents:
    def test_e11_an_agent_sees_its_own_finds_only(self, world: World) -> None:
        world.wants({"doctor_preference": "Dr. Smith"})
        world.finds({"available_slots": ["3pm"]})
        assert world.found(BOOKING) == {"available_slots": ["3pm"]}
        assert world.found(SCHEDULER) == {}

    @pytest.mark.parametrize("name", ["", " ", "Ghost", UNKNOWN_OWNER])
    def test_e11_an_agent_outside_the_team_is_an_error_and_stores_nothing(
        self, name: str, world: World
    ) -> None:
        delta = EntityDelta(entities_to_update={"a": 1}, derived_entities_to_update={"b": 2})
        with pytest.raises(UnknownAgentError):
            world.sends(delta, agent=name)
        with pytest.raises(UnknownAgentError):
            world.finds({"b": 2}, agent=name)
        assert world.entities == Entities()

    def test_e12_each_agent_has_a_cap_of_its_own(self, world: World) -> None:
        world.finds({f"row_{number}_id": number for number in range(7)}, agent=BOOKING)
        report = world.finds({"patient_id_retrieved": "p"}, agent=SCHEDULER)["derived"]
        assert report["evicted"] == []
        assert len(world.found(BOOKING)) == 7
        assert world.finds({"more_id": 1}, agent=BOOKING)["derived"]["evicted"] == ["row_0_id"]

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

    def test_e12_a_copy_lives_on_its_own(self, world: World) -> None:
        world.finds({"available_slots": ["3pm"]})
        world.sends(EntityDelta(handover=["available_slots"], handover_to=SCHEDULER), agent=BOOKING)
        world.finds({"available_slots": ["4pm"]})
        assert world.found(SCHEDULER) == {"available_slots": ["3pm"]}

    def test_e12_nothing_is_handed_to_a_stranger(self, world: World) -> None:
        world.finds({"available_slots": ["3pm"]})
        before = world.entities.model_copy(deep=True)
        delta = EntityDelta(
            entities_to_update={"a": 1}, handover=["available_slots"], handover_to="Ghost"
        )
        with pytest.raises(UnknownAgentError):
            world.sends(delta, agent=BOOKING)
        assert world.entities == before


class TestAge:
    def test_e13_a_find_is_gone_the_second_it_expires(self, world: World) -> None:
        world.finds({"available_slots": ["3pm"]}, valid_for=300)
        world.seconds = 299.999
        assert world.found() == {"available_slots": ["3pm"]}
        world.seconds = 300
        assert world.found() == {}

    def test_e13_the_expired_leave_first(self, world: World) -> None:
        world.finds({f"row_{number}_id": number for number in range(6)})
        world.finds({"available_slots": ["3pm"]}, valid_for=10)
        world.seconds = 10
        assert world.finds({"new_id": 1})["derived"]["evicted"] == ["available_slots"]

    def test_e13_changing_what_a_find_depends_on_expires_it(self, world: World) -> None:
        world.wants({"date_preference": "2030-01-03", "user_name": "Ann"})
        world.finds({"available_slots": ["3pm"]}, depends_on=["date_preference"])
        world.wants({"user_name": "Anna"})
        assert world.found() == {"available_slots": ["3pm"]}
        world.wants({"date_preference": "2030-01-04"})
        assert world.found() == {}

    @pytest.mark.parametrize(
        "change", [{"remove": ["date_preference"]}, {"updates": {"date_preference": "x"}}]
    )
    def test_e13_removing_and_setting_are_changes_too(
        self, change: dict[str, Any], world: World
    ) -> None:
        if "remove" in change:
            world.wants({"date_preference": "2030-01-03"})
        world.finds({"available_slots": ["3pm"]}, depends_on=["date_preference"])
        world.wants(change.get("updates"), remove=change.get("remove", ()))
        assert world.found() == {}

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

    def test_e14_an_equal_find_lives_longer(self, world: World) -> None:
        world.finds({"available_slots": ["3pm"]}, valid_for=10)
        world.seconds = 9
        assert world.finds({"available_slots": ["3pm"]}, valid_for=10)["derived"]["unchanged"]
        world.seconds = 18
        assert world.found() == {"available_slots": ["3pm"]}

    def test_e15_a_model_does_not_overwrite_what_a_tool_found(self, world: World) -> None:
        world.finds({"available_slots": ["3pm"]}, valid_for=10)
        report = world.concludes({"available_slots": ["5pm"]})["derived"]
        assert report["rejected"] == {"available_slots": "tool_value"}
        assert world.found() == {"available_slots": ["3pm"]}

    def test_e15_a_model_may_fill_in_where_the_find_is_gone(self, world: World) -> None:
        world.finds({"available_slots": ["3pm"]}, valid_for=10)
        world.seconds = 10
        assert world.concludes({"available_slots": ["3pm"]})["derived"]["updated"]
        assert world.found() == {"available_slots": ["3pm"]}
        assert world.concludes({"available_slots": ["4pm"]})["derived"]["updated"]

    def test_e15_repeating_a_find_does_not_make_it_live_longer(self, world: World) -> None:
        world.finds({"available_slots": ["3pm"]}, valid_for=10)
        world.seconds = 9
        assert world.concludes({"available_slots": ["3pm"]})["derived"]["unchanged"]
        world.seconds = 10
        assert world.found() == {}


class TestSources:
    def test_e16_a_weaker_source_does_not_overwrite_a_stronger_one(self, world: World) -> None:
        world.wants({"time_preference": "3pm"}, source="user_stated")
        weaker: tuple[Provenance, ...] = ("inferred", "extracted")
        for source in weaker:
            report = world.wants({"time_preference": "4pm"}, source=source)["conversation"]
            assert report["rejected"] == {"time_preference": "provenance"}
        assert world.wanted() == {"time_preference": "3pm"}

    def test_e16_an_equal_or_stronger_source_does(self, world: World) -> None:
        sources: tuple[Provenance, ...] = ("inferred", "inferred", "extracted", "user_stated")
        for number, source in enumerate(sources):
            world.wants({"time_preference": f"{number}pm"}, source=source)
        one = world.entities.conversation.entities["time_preference"]
        assert (one.value, one.provenance) == ("3pm", "user_stated")

    def test_e16_a_user_who_confirms_a_guess_has_stated_it(self, world: World) -> None:
        world.wants({"time_preference": "3pm"})
        report = world.wants({"time_preference": "3pm"}, source="user_stated")["conversation"]
        assert report["unchanged"] == ["time_preference"]
        assert world.wants({"time_preference": "4pm"})["conversation"]["rejected"]

    @pytest.mark.parametrize("value", ["tomorrow", "next Monday", "in 2 days", "Friday 3pm"])
    def test_e16_relative_values_keep_when_they_were_said(self, value: str) -> None:
        world = World(seconds=42)
        world.wants({"date_preference": value})
        assert world.entities.conversation.entities["date_preference"].reference_time == world.now

    def test_e16_absolute_values_need_no_reference(self, world: World) -> None:
        world.wants({"date_preference": "2030-02-01"})
        assert world.entities.conversation.entities["date_preference"].reference_time is None


class TestMessages:
    @pytest.mark.parametrize(
        "key", ["entities_to_update", "entities_to_remove", "derived_entities_to_update"]
    )
    def test_e17_beside_a_delta_the_complete_state_is_ignored(self, key: str, world: World) -> None:
        world.replies({key: [] if key.endswith("remove") else {}, "entities": {"a": 1}})
        assert world.wanted() == {}

    def test_e17_alone_the_complete_state_is_read_as_a_delta(self, world: World) -> None:
        world.wants({"user_name": "Ann"})
        world.replies({"entities": {"doctor_name": "Dr. Smith", "available_slots": ["3pm"]}})
        assert world.wanted() == {"user_name": "Ann", "doctor_preference": "Dr. Smith"}
        assert world.found() == {"available_slots": ["3pm"]}

    @with_cases("payload")
    def test_e18_a_malformed_message_changes_nothing(self, payload: Any, world: World) -> None:
        with pytest.raises(EntityDeltaError):
            world.replies(payload)
        assert world.entities == Entities()


class TestState:
    def test_e19_order_survives_sorted_keys(self, world: World) -> None:
        world.wants({"zebra": 1, "apple": 2, "mango": 3})
        world.finds({"z_id": 1, "a_id": 2})
        world.entities = reloaded(world.entities)
        assert world.order() == ["zebra", "apple", "mango"]
        assert list(world.found()) == ["z_id", "a_id"]

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

    def test_e20_a_stale_write_is_refused_whole(self, world: World) -> None:
        world.wants({"a": 1}, revision=0)
        before = world.entities.model_copy(deep=True)
        with pytest.raises(StaleEntitiesError):
            world.wants({"b": 2}, revision=0)
        assert world.entities == before
        assert world.wants({"b": 2}, revision=1)["conversation"]["added"] == ["b"]

    def test_e20_the_revision_is_no_field_of_a_delta(self) -> None:
        delta = parse_entity_delta({"entities_to_update": {"a": 1}, "expected_rev": 99})
        assert World().sends(delta, revision=0)["conversation"]["added"] == ["a"]

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
    def test_e25_what_an_open_plan_needs_never_leaves(self, world: World) -> None:
        world.wants(SEVEN)
        report = world.wants({"new": 1}, pinned=["wish_0", "wish_1"])["conversation"]
        assert report["evicted"] == ["wish_2"]

    def test_e25_where_everything_is_pinned_the_new_one_stays_out(self, world: World) -> None:
        world.wants(SEVEN)
        report = world.wants({"new": 1}, pinned=list(SEVEN))["conversation"]
        assert report["rejected"] == {"new": "capacity"}
        assert world.order() == list(SEVEN)

    def test_e25_a_pinned_key_of_an_overlong_delta_stays(self, world: World) -> None:
        many = {"needed": 1, **{f"k{number}": number for number in range(8)}}
        report = world.wants(many, pinned=["needed"])["conversation"]
        assert "needed" in world.order()
        assert list(report["rejected"]) == ["k0", "k1"]

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


class TestMigration:
    def test_e26_every_key_stays_whatever_the_cap(self, world: World) -> None:
        old = {f"wish_{number}": number for number in range(12)} | {"x_id": 1, "9 lives!": None}
        file_legacy(
            world.entities, old, owner="appointment_manager", team=world.team, now=world.now
        )
        assert len(world.wanted()) == 13
        assert world.found(BOOKING) == {"x_id": 1}
        assert world.found(SCHEDULER) == {}

    def test_e26_two_old_keys_of_one_meaning_stay_apart(self, world: World) -> None:
        old = {"doctor_name": "A", "doctor_preference": "B"}
        file_legacy(world.entities, old, owner=None, team=world.team, now=world.now)
        assert world.wanted() == {"doctor_preference": "B", "doctor_name": "A"}

    def test_e26_without_an_owner_all_read_it_until_a_tool_runs(self, world: World) -> None:
        old = {"available_slots": ["3pm"], "room_id": 7}
        file_legacy(world.entities, old, owner=None, team=world.team, now=world.now)
        assert world.found(BOOKING) == world.found(SCHEDULER) == old
        world.finds({"available_slots": ["4pm"]}, agent=BOOKING)
        assert world.found(BOOKING) == {"room_id": 7, "available_slots": ["4pm"]}
        assert world.found(SCHEDULER) == {"room_id": 7}

    def test_e26_an_owner_whom_nobody_knows_is_an_error(self, world: World) -> None:
        with pytest.raises(UnknownAgentError):
            file_legacy(world.entities, {"a": 1}, owner="ghost", team=world.team, now=world.now)
        assert world.entities == Entities()

    def test_e26_migrating_twice_adds_nothing(self, world: World) -> None:
        old = {"time_preference": "3pm", "room_id": 7}
        file_legacy(world.entities, old, owner=BOOKING, team=world.team, now=world.now)
        world.wants({"time_preference": "4pm"})
        before = world.entities.model_copy(deep=True)
        report = file_legacy(world.entities, old, owner=BOOKING, team=world.team, now=world.now)
        assert report["conversation"]["rejected"] == {"time_preference": "newer"}
        assert report["derived"]["unchanged"] == ["room_id"]
        assert world.entities == before


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
