"""Names of what is stored: one each, reversible, and none reaches another conversation."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from data_models.identifiers import ConversationLayout, PatientId, timestamp
from data_models.storage.blob_store import checked_blob_name, checked_blob_prefix

TS = "20250930T164500"
CONVERSATIONS = st.one_of(
    st.sampled_from(["19:abc@thread.tacv2", "a/b", "..", ".", "CON", "x" * 2_000, "🙂", "c", "c1"]),
    st.text(min_size=1, max_size=300).filter(
        lambda text: not any(0xD800 <= ord(each) < 0xE000 for each in text)
    ),
)
PATIENTS = st.one_of(
    st.none(),
    st.sampled_from(["patient_4", "4", "context_registry", "4_turns", "4_turns_1-3", "4_context"]),
    st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_-]{0,12}", fullmatch=True),
).map(lambda raw: None if raw is None else PatientId(raw))


def names(layout: ConversationLayout, patient: PatientId | None) -> list[str]:
    return [
        layout.context(patient),
        layout.turns(patient, 1, 3),
        layout.turns(patient, 1, 31),
        layout.runs(patient, 7),
        layout.changes(patient, 1, 20),
        layout.artifact(patient, "file_1"),
        f"{layout.context(patient)}.corrupt-{TS}",
    ]


def test_the_files_are_named_as_documented() -> None:
    layout = ConversationLayout.of("19:abc@thread.tacv2")
    folder = "19%3Aabc%40thread.tacv2"
    patient = PatientId("patient_4")
    assert layout.context(None) == f"{folder}/session_context.json"
    assert layout.context(patient) == f"{folder}/patient_patient_4_context.json"
    assert layout.registry == f"{folder}/patient_context_registry.json"
    assert layout.conversation == f"{folder}/conversation.json"
    assert layout.inbox(7) == f"{folder}/inbox/7.json"
    assert layout.turns(patient, 1, 9) == f"{folder}/patient_patient_4_turns/1-9.json"
    assert layout.turns(None, 1, 9) == f"{folder}/session_turns/1-9.json"


def test_archives_are_named_as_documented() -> None:
    layout = ConversationLayout.of("c")
    inner = f"c/archive/{TS}/c/{TS}"
    patient = PatientId("patient_4")
    assert layout.archived(layout.context(None), TS) == f"{inner}_session_archived.json"
    assert (
        layout.archived(layout.context(patient), TS) == f"{inner}_patient_patient_4_archived.json"
    )
    assert layout.archived(layout.registry, TS) == f"{inner}_patient_context_registry_archived.json"
    assert layout.manifest(TS) == f"c/archive/{TS}/c/manifest.json"


def test_a_time_is_written_in_utc_to_the_second() -> None:
    assert timestamp(datetime(2025, 9, 30, 16, 45, 0, 999_999, tzinfo=UTC)) == TS


@given(CONVERSATIONS, CONVERSATIONS, PATIENTS)
def test_no_conversation_reaches_anothers_files(
    one: str, other: str, patient: PatientId | None
) -> None:
    mine, theirs = ConversationLayout.of(one), ConversationLayout.of(other)
    for name in [*names(mine, patient), mine.conversation, mine.inbox(0), mine.archived("x", TS)]:
        assert checked_blob_name(name) == name
        assert name.startswith(mine.prefix)
        assert (name.startswith(theirs.prefix)) == (one == other)
    assert checked_blob_prefix(mine.prefix) == mine.prefix


@given(st.lists(PATIENTS, unique=True, min_size=2, max_size=5))
def test_no_two_documents_are_archived_under_one_name(patients: list[PatientId | None]) -> None:
    layout = ConversationLayout.of("c")
    originals = [layout.registry, layout.legacy]
    originals += [name for patient in patients for name in names(layout, patient)]
    assert len(set(originals)) == len(originals)
    archived = [layout.archived(name, TS) for name in originals]
    assert len(set(archived)) == len(archived)
    assert layout.manifest(TS) not in archived


def test_all_that_is_stored_of_one_patient_belongs_to_that_patient_alone() -> None:
    layout, mine, other = (
        ConversationLayout.of("c"),
        PatientId("patient_4"),
        PatientId("patient_40"),
    )
    own = names(layout, mine)
    # What commands beside the server write.
    own += [f"c/patient_patient_4_tool_memory/{TS}.json", f"{layout.context(mine)}.before-entities"]
    for name in [*own, *(layout.archived(name, TS) for name in own)]:
        assert layout.belongs_to(mine, name), name
        assert not layout.belongs_to(other, name), name


def test_a_clear_makes_no_copy_of_the_commit_record_the_queue_journals_and_archives() -> None:
    layout = ConversationLayout.of("c")
    kept = [layout.conversation, layout.inbox(1), layout.answered(1), layout.manifest(TS)]
    kept.append("c/watched/run_1/one-0.jsonl")
    assert all(map(layout.survives_clear, kept))
    gone = [*names(layout, PatientId("patient_4")), layout.registry, layout.legacy]
    assert not any(map(layout.survives_clear, gone))


def test_only_queued_messages_have_a_number() -> None:
    layout = ConversationLayout.of("c")
    assert layout.inbox_number(layout.inbox(12)) == 12
    assert layout.inbox_number("c/inbox/12.json.corrupt-1") == -1
    assert layout.inbox_number(layout.conversation) == -1
