"""Keeps the tool memory within its share of the context document: 12 kB. Pure."""

from data_models.tool_memory import ToolMemory

LIMIT_BYTES = 12_000
_HEAD_CHARS = 120


def size_bytes(memory: ToolMemory) -> int:
    """Return what the memory takes in its document, as UTF-8."""
    return len(memory.model_dump_json().encode())


def fit(memory: ToolMemory, *, kept: tuple[str, ...] = ()) -> None:
    """Shorten and drop the oldest until the memory fits.

    Heads of old outputs go first, then old runs, then data of old entities, then those entities;
    whole outputs are in the runs' own blobs.
    """
    if size_bytes(memory) <= LIMIT_BYTES:
        return
    for run in memory.executions[:-3]:
        run.raw_output = run.raw_output[:_HEAD_CHARS]
    _drop_runs(memory, keep=10)
    for run in memory.executions:
        run.raw_output = run.raw_output[:_HEAD_CHARS]
        run.parameters = {} if len(str(run.parameters)) > 400 else run.parameters
    _drop_entities(memory, kept)
    _drop_runs(memory, keep=1)


def _drop_runs(memory: ToolMemory, *, keep: int) -> None:
    excess = size_bytes(memory) - LIMIT_BYTES
    while excess > 0 and len(memory.executions) > keep:
        excess -= len(memory.executions.pop(0).model_dump_json().encode()) + 1


def _drop_entities(memory: ToolMemory, kept: tuple[str, ...]) -> None:
    excess = size_bytes(memory) - LIMIT_BYTES
    loose = [one for one in memory.entities if one.entity_id not in kept]
    for entity in sorted(loose, key=lambda one: (one.status == "active", one.last_accessed)):
        if excess <= 0:
            return
        excess -= len(entity.model_dump_json().encode()) + 1
        memory.entities = [one for one in memory.entities if one is not entity]
