"""Only `services/language` reads prose: every other pattern is over ids, formats or marks."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
_CODE = ("bots", "data_models", "group_chat", "legacy", "routes", "services")
_READS_PROSE = ROOT / "services" / "language"
_COMPILED = re.compile(r"\bre\.compile\(")
# What the patterns of the other files are over. None of them reads what users or models write.
OVER = {
    "addresses of the network, headers, tokens": {
        "bots/inbound.py",
        "group_chat/tools/mail_tools.py",
        "routes/auth.py",
        "services/access/origin.py",
        "services/assistant/assistant_factory.py",
        "services/assistant/graph_wire.py",
        "services/records/fhir_client.py",
        "settings.py",
    },
    "formats of files and of messages on the wire": {
        "bots/incoming.py",
        "data_models/entity_values.py",
        "group_chat/models/dialect.py",
        "group_chat/models/faults.py",
        "group_chat/models/probing.py",
        "services/assistant/document_text.py",
        "services/assistant/local_file.py",
        "services/entities/delta.py",
        "services/records/dates.py",
        "services/records/folder/files.py",
        "services/records/report.py",
        "services/records/views/source.py",
    },
    "ids, keys and names of blobs": {
        "data_models/azure_blob_store.py",
        "data_models/blob_names.py",
        "data_models/chat_context_accessor.py",
        "data_models/entity_keys.py",
        "data_models/identifiers.py",
        "data_models/layout.py",
        "group_chat/checked_output.py",
        "group_chat/citations.py",
        "services/access/launch_context.py",
        "services/access/on_behalf.py",
        "services/access/smart.py",
        "services/audit/receipt.py",
        "services/audit/__main__.py",
        "services/conversations/patient_artifacts.py",
        "services/entities/legacy.py",
        "services/entities/circumstances.py",
        "services/patient_context/candidates.py",
        "services/patient_context/pattern.py",
        "services/patient_context/pattern_probe.py",
        "services/records/records_factory.py",
        "services/records/patient_lookup.py",
        "services/scenarios/migration/scenario_store.py",
        "services/scenarios/migration/tag_index.py",
        "services/telemetry/logs.py",
        "services/telemetry/scrubbing_exporter.py",
        "services/tool_memory/grounding.py",
    },
    "marks and lines of our own": {
        "data_models/scenario.py",
        "data_models/written_order.py",
        "group_chat/messages.py",
        "group_chat/tools/report_tool.py",
        "routes/export_word.py",
        "services/memory_blocks/recall.py",
        "services/memory_blocks/wording.py",
        "services/patient_context/markers.py",
        "services/scenarios/definition/conditions.py",
        "services/scenarios/definition/faults.py",
    },
    "words of the record": {
        "services/assistant/graph_mail.py",
        "services/records/concepts/words.py",
        "services/records/documents.py",
        "services/records/observations.py",
        "services/records/search_index.py",
        "services/records/views/status.py",
        "services/statements/rows.py",
        "services/statements/view_rows.py",
    },
}


def _with_patterns() -> set[str]:
    """Return the product's files outside of the language that compile a pattern."""
    files = [path for folder in _CODE for path in (ROOT / folder).rglob("*.py")]
    outside = [one for one in files if _READS_PROSE not in one.parents]
    return {
        path.relative_to(ROOT).as_posix()
        for path in [*outside, *ROOT.glob("*.py")]
        if _COMPILED.search(path.read_text())
    }


@pytest.mark.slow
def test_no_pattern_over_prose_stands_outside_the_language() -> None:
    known = {name for names in OVER.values() for name in names}
    assert _with_patterns() - known == set(), (
        "read the words in services/language, or say what it is"
    )


@pytest.mark.slow
def test_the_list_names_no_file_that_has_no_pattern() -> None:
    known = {name for names in OVER.values() for name in names}
    assert known - _with_patterns() == set()
