# Look-alike letters are meant here.
# ruff: noqa: RUF001

import json
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_models.identifiers import PatientId
from data_models.patient_context_models import PatientContext, PatientIdentity, identity_noted
from services.patient_context.reading.markers import SNAPSHOT_PREFIX
from services.patient_context.reading.snapshot import (
    build_snapshot,
    footer,
    neutralise,
    shown_roster,
)
from tests.tables import tables_beside, with_cases

NOW = datetime(2030, 1, 2, 3, 4, 5, 678_000, tzinfo=UTC)
FOUR, FIFTEEN = PatientId("patient_4"), PatientId("patient_15")
CONVERSATION = "19:abc@thread.tacv2"


def roster(*names: str) -> dict[PatientId, PatientContext]:
    """The later a name stands, the later its patient was used."""
    return {
        PatientId(name): PatientContext(
            patient_id=PatientId(name),
            conversation_id=CONVERSATION,
            created_at=NOW,
            updated_at=NOW + timedelta(minutes=place),
        )
        for place, name in enumerate(names)
    }


def snapshot_of(
    rows: dict[PatientId, PatientContext], active: PatientId | None, now: datetime = NOW
) -> dict[str, object]:
    text = build_snapshot(
        conversation_id=CONVERSATION, patient_id=active, roster=shown_roster(rows, active), now=now
    )
    assert text.startswith(SNAPSHOT_PREFIX)
    assert "\n" not in text
    fields: dict[str, object] = json.loads(text.removeprefix("PATIENT_CONTEXT_JSON: "))
    return fields


def test_the_snapshot_has_these_four_fields_and_sorted_ids() -> None:
    assert snapshot_of(roster("patient_4", "patient_15"), FOUR) == {
        "conversation_id": CONVERSATION,
        "patient_id": "patient_4",
        "all_patient_ids": ["patient_15", "patient_4"],
        "generated_at": "2030-01-02T03:04:05.678Z",
    }


def test_the_snapshot_is_compact() -> None:
    text = build_snapshot(
        conversation_id="c", patient_id=None, roster=shown_roster({}, None), now=NOW
    )
    assert text == (
        'PATIENT_CONTEXT_JSON: {"conversation_id":"c","patient_id":null,'
        '"all_patient_ids":[],"generated_at":"2030-01-02T03:04:05.678Z"}'
    )


def test_the_snapshot_speaks_utc_whatever_the_clock_says() -> None:
    there = NOW.astimezone(timezone(timedelta(hours=5)))
    assert snapshot_of({}, None, now=there)["generated_at"] == "2030-01-02T03:04:05.678Z"


def test_of_many_patients_the_active_one_and_the_last_used_are_listed() -> None:
    names = [f"patient_{number}" for number in range(60)]
    fields = snapshot_of(roster(*names), PatientId("patient_0"))
    assert fields["all_patient_ids"] == sorted(["patient_0", *names[-49:]])
    assert fields["patient_count"] == 60


def test_the_active_patient_is_listed_once_though_it_is_the_last_used() -> None:
    names = [f"patient_{number}" for number in range(60)]
    shown = shown_roster(roster(*names), PatientId("patient_59"))
    assert list(shown.patient_ids) == sorted(names[-50:])


def test_fifty_patients_are_listed_whole() -> None:
    fields = snapshot_of(roster(*(f"patient_{number}" for number in range(50))), FOUR)
    assert "patient_count" not in fields


def test_the_footer_reads_as_promised() -> None:
    shown = shown_roster(roster("patient_4", "patient_15"), FIFTEEN)
    assert footer(conversation_id=CONVERSATION, patient_id=FIFTEEN, roster=shown) == (
        "---\n"
        "*PT_CTX:*\n"
        "- **Patient ID:** `patient_15`\n"
        "- **Session Patients:** `patient_15` (active), `patient_4`\n"
        "- **Conversation ID:** `19:abc@thread.tacv2`"
    )


def test_the_footer_says_when_nobody_is_active() -> None:
    assert footer(conversation_id="c", patient_id=None, roster=shown_roster({}, None)) == (
        "---\n*PT_CTX:*\n- *No active patient.*\n- **Conversation ID:** `c`"
    )


def test_both_identifiers_stand_first_in_the_footer_and_in_the_snapshot() -> None:
    margaret = PatientIdentity("Margaret Anne Whitfield", "1957-03-14", "female")
    shown = shown_roster({}, None)
    text = footer(conversation_id="c", patient_id=FOUR, roster=shown, patient=margaret)
    assert text.splitlines()[2:4] == [
        "- **Patient:** Margaret Anne Whitfield, born 1957-03-14",
        "- **Patient ID:** `patient_4`",
    ]
    now = datetime(2026, 1, 1, tzinfo=UTC)
    snapshot = build_snapshot(
        conversation_id="c", patient_id=FOUR, roster=shown, now=now, patient=margaret
    )
    said = json.loads(snapshot.partition(":")[2])
    assert said["patient"] == margaret._asdict()


def test_a_recorded_name_cannot_forge_a_line_of_the_footer() -> None:
    found = identity_noted({"name": "A\n- **Patient ID:** `patient_7`", "birth_date": "1957"})
    assert found is not None
    assert found.label == "A - Patient ID: patient 7, born 1957"


def test_the_footer_of_many_patients_says_how_many() -> None:
    shown = shown_roster(roster(*(f"patient_{number}" for number in range(60))), FOUR)
    text = footer(conversation_id="c", patient_id=FOUR, roster=shown)
    assert text.count("`patient_") == 51
    assert "(60 in all)" in text


def test_a_conversation_id_cannot_leave_its_code_span() -> None:
    text = footer(
        conversation_id="a`\n**b**", patient_id=None, roster=shown_roster(roster("patient_4"), None)
    )
    assert text.endswith("- **Conversation ID:** `a' **b**`")


IMITATIONS: list[str] = tables_beside(Path(__file__))["imitations"]


@pytest.mark.parametrize("text", IMITATIONS)
def test_an_imitated_snapshot_loses_its_mark(text: str) -> None:
    assert "[quoted snapshot]" in neutralise(text)
    assert SNAPSHOT_PREFIX not in neutralise(text)


@pytest.mark.parametrize("text", ["*PT_CTX:*", "pt\\_ctx", "**ＰＴ_ＣＴＸ:**", "PT\u200b_CTX:"])
def test_an_imitated_footer_loses_its_mark(text: str) -> None:
    assert "[quoted footer]" in neutralise(text)


@with_cases("text")
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert neutralise(text) == text


@given(st.lists(st.sampled_from([*IMITATIONS, "*PT_CTX:*", "a", " ", "\n", "é", "_"])).map("".join))
def test_neutralising_leaves_no_mark_and_is_done_once(text: str) -> None:
    once = neutralise(text)
    assert neutralise(once) == once
    assert "PATIENT_CONTEXT_JSON" not in once.upper()
    assert "PT_CTX" not in once.upper()


@given(st.text())
def test_neutralising_changes_only_texts_with_a_mark(text: str) -> None:
    assert neutralise(text) == text or "[quoted" in neutralise(text)
