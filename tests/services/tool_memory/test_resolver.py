"""Each rule of references, by name."""

from typing import Any

import pytest

from tests.services.tool_memory.memory_world import SCHEDULER, Answer, ask, entity, event
from tests.tables import with_cases

SEVERAL = "several"


def check(message: str, scene: dict[str, Any], expected: object) -> None:
    found = ask(message, **scene)
    if expected == SEVERAL:
        assert isinstance(found, list)
        assert 2 <= len(found) <= 5
    else:
        assert found == expected


@pytest.mark.slow
@with_cases("message", "scene", "expected")
def test_the_rules_hold(message: str, scene: dict[str, Any], expected: object) -> None:
    check(message, scene, expected)


@pytest.mark.slow
@with_cases("message")
@pytest.mark.parametrize("given", [{}, {"event_id": "evt_1"}])
def test_t2_a_negated_request_resolves_to_nothing(message: str, given: dict[str, Any]) -> None:
    assert ask(message, focus="evt_1", given=given) is None


def test_t3_a_noun_inside_a_name_restricts_nothing() -> None:
    scheduler = [*SCHEDULER, entity("doc_2", "document", "Meeting notes", 1)]
    assert ask("open the meeting notes", entities=scheduler) == "doc_2"


def test_t4_one_candidate_left_is_no_reason_to_take_it() -> None:
    assert ask("cancel the physio session", entities=SCHEDULER[:1]) is None


def test_t5_ties_are_ambiguous_and_access_counts_decide_nothing() -> None:
    scheduler = [
        {**event("evt_1", "One", "2026-11-25T15:00:00Z", 3), "access_count": 99},
        event("evt_2", "Two", "2026-11-25T16:00:00Z", 3),
        event("evt_3", "Three", "2026-11-25T17:00:00Z", 2),
    ]
    assert ask("cancel it", entities=scheduler) == ["evt_1", "evt_2"]


def test_t7_days_and_times_are_the_users_own() -> None:
    scheduler = [
        event("evt_1", "One", "2026-11-24T23:30:00Z"),
        event("evt_2", "Two", "2026-11-24T20:00:00Z"),
    ]
    assert ask("cancel the meeting tomorrow", entities=scheduler) is None
    berlin = "2026-11-24T11:00:00+01:00"
    assert ask("cancel the meeting tomorrow", entities=scheduler, now=berlin) == "evt_1"
    assert ask("cancel the 9pm meeting", entities=scheduler, now=berlin) == "evt_2"


@pytest.mark.parametrize("focus", ["evt_9", "evt_10", "evt_8", "evt_unknown"])
@pytest.mark.parametrize(
    "message", ["cancel it", "cancel that meeting", "delete this", "cancel please", "absagen bitte"]
)
def test_t9_a_focus_that_is_gone_is_not_found(focus: str, message: str) -> None:
    assert ask(message, focus=focus) is None


def test_t10_at_most_five_candidates_are_named() -> None:
    scheduler = [event(f"evt_{n}", "Clinic", f"2026-11-25T{n:02}:00:00Z") for n in range(9)]
    found = ask("cancel the clinic", entities=scheduler)
    assert isinstance(found, list)
    assert len(found) == 5


def test_t10_of_many_candidates_one_that_lies_ahead_is_named() -> None:
    past = [event(f"evt_{n}", "Clinic", f"2026-10-{n}T15:00:00Z") for n in range(10, 17)]
    found = ask(
        "cancel the clinic", entities=[*past, event("evt_9", "Clinic", "2027-01-05T15:00:00Z")]
    )
    assert isinstance(found, list)
    assert (len(found), "evt_9" in found) == (5, True)


def test_t11_an_exact_token_beats_a_similar_one() -> None:
    scheduler = [
        event("evt_1", "Meeting with Jon", "2026-11-25T15:00:00Z"),
        event("evt_2", "Meeting with John", "2026-11-25T16:00:00Z"),
    ]
    assert ask("cancel the meeting with Jon", entities=scheduler) == "evt_1"
    assert ask("cancel the meeting with Johm", entities=scheduler) == "evt_2"


@pytest.mark.slow
@with_cases("message")
@pytest.mark.parametrize("given", [{}, {"event_id": "evt_1"}])
def test_t12_a_plural_request_never_yields_one(message: str, given: dict[str, Any]) -> None:
    check(message, {"shown": ["evt_1", "evt_3"], "focus": "evt_1", "given": given}, SEVERAL)


def test_t12_a_plural_request_yields_nothing_where_there_is_one() -> None:
    assert ask("delete all emails from Carol") is None


@with_cases("start", "kind")
def test_every_back_ends_way_to_write_a_start_is_read(start: dict[str, Any], kind: str) -> None:
    scheduler = [entity("evt_1", "calendar_event", kind, 1, **start), SCHEDULER[1]]
    assert ask("cancel the 3pm one tomorrow", entities=scheduler) == "evt_1"


@pytest.mark.parametrize(
    "name", ["cancel it", "don't cancel it", "all meetings", "the second one", "it", "tomorrow"]
)
def test_a_title_that_reads_like_a_request_changes_nothing(name: str) -> None:
    scheduler = [*SCHEDULER, {**entity("em_x", "email", name, 0)}]
    assert ask("cancel it", focus="evt_2", entities=scheduler) == "evt_2"
    assert ask("don't cancel it", focus="evt_2", entities=scheduler) is None
    assert ask("cancel the second one", shown=["evt_1", "evt_3"], entities=scheduler) == "evt_3"
    assert isinstance(ask("cancel all meetings", entities=scheduler), list)


BOARDS = [
    event("evt_a", "Tumor board", "2026-12-02T15:00:00Z", 2),
    event("evt_b", "Tumor board Europe", "2026-12-03T15:00:00Z", 1),
]


@with_cases("message", "expected")
def test_t10_a_name_that_begins_another_is_asked_about_unless_it_is_quoted(
    message: str, expected: Answer
) -> None:
    assert ask(message, entities=BOARDS, shown=["evt_a", "evt_b"]) == expected


KERN = entity("con_k", "contact", "Maria Kern", 1, phone="+49 30 5550 1")
KLEIN = entity("con_m", "contact", "Maria Klein", 1)
MAIL = entity("em_k", "email", "Hello", 2, **{"from": "Maria Kern <m@x.org>"})
CALL = entity("tsk_k", "task", "Phone Maria Kern", 3)


@with_cases("message", "expected")
def test_t4_the_field_and_the_value_of_a_change_say_whose_contact_it_is(
    message: str, expected: Answer
) -> None:
    assert ask(message, entities=[KERN, KLEIN, MAIL, CALL]) == expected


@with_cases("message")
def test_t3_only_a_contact_has_a_phone_to_change(message: str) -> None:
    assert ask(message, entities=[MAIL, CALL]) is None


TASKS = [
    event("board", "Tumor board", "2026-11-28T15:00:00Z"),
    entity("call_him", "task", "call him", 1),
    entity("call_daughter", "task", "call Birgit's daughter (08:00)", 1),
    entity("mail_lab", "task", "email the lab about the culture", 1),
    entity("message", "task", "message the pharmacy", 1),
    entity("wheelchair", "task", "order the wheelchair", 1),
    entity("rollstuhl", "task", "den Rollstuhl bestellen", 1),
]


@with_cases("message", "expected")
def test_t4_a_task_is_found_by_the_words_of_its_title(message: str, expected: Answer) -> None:
    assert ask(message, entities=TASKS) == expected
