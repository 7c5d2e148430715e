"""Other patients stay out of what a model sees of a clinician's own things."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_models.chat_context import ChatContext
from data_models.tool_memory import ToolMemory
from data_models.values import upgraded
from services.language.people.names_within import CHECKED_LIMIT_CHARS, names_one_of
from services.tool_memory.extractors import Found, with_time_only
from services.tool_memory.resolution import Resolved
from services.tool_memory.store import ToolEntityStore
from tests.fakes import FixedClock
from tests.services.tool_memory.memory_world import SCHEDULER, ask, entity, run_of, session_of
from tests.tables import tables_beside, with_cases

OTHERS = frozenset({"patient_15", "MRN-77.4", "Zoë Çelik-Sørensen", "Doyle", "J Doyle"})


@with_cases("text")
def test_whoever_is_named_is_withheld_however_it_is_written(text: str) -> None:
    for row in ({"title": text}, {"attendees": [{"name": text}]}, {"body": f"a\n{text}\nb"}):
        assert names_one_of(row, OTHERS)
    row = {"id": "e", "title": text, "start": "2026-11-25T15:00:00Z", "location": text}
    assert [with_time_only(row, "calendar_event")] == [
        {"id": "e", "title": "other appointment", "start": "2026-11-25T15:00:00Z"}
    ]


@pytest.mark.parametrize("text", ["patient_1", "patient_155", "Doyleston", "Zoe", "MRN 77", ""])
def test_nobody_else_is(text: str) -> None:
    assert not names_one_of({"title": text}, OTHERS)


@given(before=st.text(max_size=20), after=st.text(max_size=20))
def test_what_stands_around_a_name_does_not_hide_it(before: str, after: str) -> None:
    assert names_one_of({"title": f"{before} Doyle {after}"}, OTHERS)


@pytest.mark.parametrize(
    ("told", "written"),
    [("Müller", "Mueller"), ("Mueller", "Müller"), ("Mueller", "Muller"), ("Ørsted", "Oersted")],
)
def test_both_spellings_of_a_vowel_are_one_name(told: str, written: str) -> None:
    assert names_one_of({"title": f"MRI of {written}"}, frozenset({told}))


@pytest.mark.slow
@given(before=st.integers(0, 90_000), blank=st.sampled_from(["word ", "x\n", "long-line", "é, "]))
def test_how_far_in_a_name_stands_makes_no_difference(before: int, blank: str) -> None:
    text = (blank * (before // len(blank) + 1))[:before]
    assert names_one_of({"body": f"{text} Zoë Çelik-Sørensen {text}"}, OTHERS)


@pytest.mark.slow
def test_a_text_too_long_to_look_through_is_taken_to_name_somebody() -> None:
    assert not names_one_of({"body": "word " * (CHECKED_LIMIT_CHARS // 5)}, OTHERS)
    assert names_one_of({"body": "word " * (CHECKED_LIMIT_CHARS // 5 + 1)}, OTHERS)


def test_a_thousand_patients_cost_little() -> None:
    many = frozenset(f"Given{number} Family{number}" for number in range(6_000))
    rows = [{"title": f"Meeting {number}", "body": "word " * 200} for number in range(25)]
    assert sum(names_one_of(row, many) for row in rows) == 0


NOVAK = frozenset({"patient_21", "Ji\u0159\u00ed Nov\u00e1k", "Nov\u00e1k", "J Nov\u00e1k"})


@with_cases("called", "is_other")
def test_a_namesake_in_the_address_book_is_nobody_elses(called: str, is_other: bool) -> None:
    row = {"id": "contact-p-novak", "name": called, "email": "p.novak@hospital.example"}
    assert names_one_of(row, NOVAK, called=called) is is_other
    assert names_one_of(
        {**row, "notes": "brother of Ji\u0159\u00ed Nov\u00e1k"}, NOVAK, called=called
    )


def test_what_is_withheld_is_called_by_its_kind() -> None:
    assert with_time_only({"id": "c", "name": "Doyle"}, "contact")["title"] == "other contact"


def store(memory: ToolMemory, principal: str) -> ToolEntityStore:
    return session_of(memory, principal=principal).store


def test_a_colleague_neither_sees_nor_loses_what_is_not_theirs() -> None:
    memory = ToolMemory()
    mail = Found("m1", "email", "Anna's private mail", {"id": "m1"}, True, "assistant")
    booked = Found("Appointment/a1", "calendar_event", "Visit", {}, True, "clinic")
    anna = store(memory, "anna")
    for found in (mail, booked):
        anna.store_entity(found, execution_id="e1", turn_id=1)

    bert = store(memory, "bert")

    assert [one.entity_id for one in bert.get_recent_entities()] == ["Appointment/a1"]
    assert bert.get("m1") is None
    assert {one.entity_id for one in store(memory, "anna").get_recent_entities()} == {
        "m1",
        "Appointment/a1",
    }


def test_a_colleagues_words_mean_nothing_that_is_not_theirs() -> None:
    memory = ToolMemory()
    event = Found("e1", "calendar_event", "Squash", {"id": "e1"}, True, "assistant")
    anna, now = store(memory, "anna"), FixedClock().now()
    anna.store_entity(event, execution_id="r1", turn_id=1)
    anna.shown(["e1"])
    anna.touch("e1", turn_id=1)

    for words in ("cancel that event", "cancel the first one", "cancel it", "cancel squash", "e1"):
        meant = store(memory, "bert").resolve(words, "calendar_event", local_now=now)
        assert not isinstance(meant, Resolved), words
        assert "e1" not in str(meant), words
    own = store(memory, "anna").resolve("cancel that event", "calendar_event", local_now=now)
    assert isinstance(own, Resolved)
    assert own.entity_id == "e1"


def test_what_0_1_kept_of_anybodys_mailbox_stays_in_the_backup_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # What 0.1 called its own stays so, whatever later versions do.
    monkeypatch.setattr("data_models.tool_memory.PERSONAL_TOOLS", frozenset({"results"}))
    monkeypatch.setattr("data_models.tool_memory.PERSONAL_KINDS", frozenset({"document"}))
    entities = [
        {"entity_id": "m1", "entity_type": "email", "display_name": "Private"},
        {"entity_id": "Appointment/a1", "entity_type": "calendar_event", "display_name": "Visit"},
        {"entity_id": "d1", "entity_type": "document", "display_name": "Report"},
        "damaged",
    ]
    runs = [{"tool_name": "search_mail"}, {"tool_name": "results"}]
    old = {"tool_memory": {"entities": entities, "executions": runs, "focus": "m1"}}
    data = json.dumps({"schema_version": 1, **old}).encode()

    memory = upgraded(data, ChatContext, 1)["tool_memory"]

    assert [one["entity_id"] for one in memory["entities"]] == ["Appointment/a1", "d1"]
    assert memory["executions"] == [{"tool_name": "results"}]


def test_a_document_of_0_1_without_tool_memory_is_upgraded_as_it_is() -> None:
    for old in ({}, {"tool_memory": None}, {"tool_memory": {"entities": None}}):
        assert upgraded(json.dumps(old).encode(), ChatContext, 1)["schema_version"] > 1


INJECTIONS: list[str] = tables_beside(Path(__file__))["injections"]
MESSAGES: dict[str, Any] = tables_beside(Path(__file__))["messages"]


def test_the_set_is_of_thirty() -> None:
    assert len(set(INJECTIONS)) == 30


@pytest.mark.slow
@pytest.mark.parametrize("title", INJECTIONS)
@pytest.mark.parametrize("kind", ["email", "calendar_event"])
def test_a_title_decides_nothing(title: str, kind: str) -> None:
    scheduler = [*SCHEDULER, entity("new_1", kind, title, 0, subject=title, body=title)]
    for message, expected in MESSAGES.items():
        found = ask(message, focus="evt_2", shown=["evt_1", "evt_3"], entities=scheduler)
        assert found == expected or (isinstance(found, list) and expected in found)


@pytest.mark.parametrize("title", INJECTIONS)
def test_a_title_reaches_models_as_one_json_string(title: str) -> None:
    session = session_of(now=datetime(2026, 11, 24, tzinfo=UTC))
    row = {"id": "evt_1", "title": title, "start": "2026-11-25T15:00:00Z"}
    session.record(run_of({"events": [row]}))
    shown = json.loads(session.grounding().partition(": ")[2])
    assert session.grounding().count("\n") == 0
    assert [one["name"] for one in shown["recent_entities"]] == [" ".join(title.split())]
