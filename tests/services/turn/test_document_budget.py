"""The parts of a context document fit into it together, whatever each of them holds."""

from data_models.entities.entities import ENTITIES_LIMIT_BYTES
from data_models.memory_blocks import CHANGES_LIMIT_BYTES, MEMORY_LIMIT_BYTES
from services.memory_blocks.rotation import HISTORY_LIMIT_BYTES
from services.tool_memory.store import LIMIT_BYTES as TOOL_MEMORY_LIMIT_BYTES

DOCUMENT_BYTES = 96_000
SCENARIO_AND_PROFILE_BYTES = 8_000


def test_the_budgets_of_all_parts_add_up_to_no_more_than_the_documents() -> None:
    parts = {
        "history": HISTORY_LIMIT_BYTES,
        "blocks": MEMORY_LIMIT_BYTES,
        "entities": ENTITIES_LIMIT_BYTES,
        "tool memory": TOOL_MEMORY_LIMIT_BYTES,
        "scenario and profile": SCENARIO_AND_PROFILE_BYTES,
        "changes by people": CHANGES_LIMIT_BYTES,
    }
    assert sum(parts.values()) <= DOCUMENT_BYTES, parts
