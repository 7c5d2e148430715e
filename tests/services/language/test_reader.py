"""The one question to a model about a message."""

import json

import pytest

from services.language.reader import (
    AddressedReading,
    FollowedReading,
    ReaderTeam,
    addressed_shape,
    followed_shape,
    instructions,
    is_of_the_open,
    is_settled,
    question,
)
from services.language.utterance import ChartQuestion, TeamMember, Utterance

TEAM = ReaderTeam(
    (
        TeamMember("Lead", is_facilitator=True, description="Leads."),
        TeamMember("Radiology", tools=("imaging_reports",), description="Imaging reports."),
    )
)


def test_only_the_patients_that_are_listed_can_be_meant() -> None:
    shape = addressed_shape(TEAM, 2).model_json_schema()
    assert shape["properties"]["patient"]["enum"] == ["open", "p1", "p2", "another", "clear"]
    assert addressed_shape(TEAM, 0).model_json_schema()["properties"]["patient"]["enum"] == [
        "open", "another", "clear",
    ]  # fmt: skip


def test_where_no_patient_is_listed_none_is_asked_for() -> None:
    assert "patient" not in followed_shape(TEAM).model_json_schema()["properties"]
    assert "patient:" not in instructions(TEAM)
    assert "patient:" in instructions(TEAM, with_patients=True)


def test_where_patients_are_listed_no_wording_is_asked_for() -> None:
    assert "standalone" not in addressed_shape(TEAM, 1).model_json_schema()["properties"]
    assert "standalone:" not in instructions(TEAM, with_patients=True)


def test_what_is_nobodys_work_is_the_leads_without_its_being_a_choice() -> None:
    shape = followed_shape(TEAM).model_json_schema()
    assert shape["properties"]["agent"]["enum"] == ["nobody", "Radiology"]
    assert "Lead:" not in instructions(TEAM)


def test_source_ids_of_the_last_answer_are_left_out() -> None:
    said = "Stable [DocumentReference/note-1]. Shall I go on [Observation/o-2]?"
    shown = json.loads(question("yes", said=said))
    assert shown["before"]["answer"] == "Stable. Shall I go on?"


def test_a_reading_is_of_the_open_patient_unless_another_is_meant() -> None:
    assert is_of_the_open(FollowedReading(task="answer", agent="nobody"))
    assert is_of_the_open(AddressedReading(task="answer", agent="nobody", patient="open"))
    assert not is_of_the_open(AddressedReading(task="answer", agent="nobody", patient="p1"))


@pytest.mark.parametrize(
    ("name", "head", "settled"),
    [("margin free", "margin", True), ("margin", "", True), ("zebra", "", False)],
)
def test_a_model_is_asked_only_where_a_search_is_for_words_that_no_list_has(
    name: str, head: str, settled: bool
) -> None:
    asked = ChartQuestion("search_record", {"query": name}, name=name, head=head)
    said = Utterance("…", task="answer", agent="PatientHistory", about=(asked,))
    assert is_settled(said) is settled
