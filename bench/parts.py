"""What single parts cost, without a server: `python -m bench.parts [PART …]`; all without a name.

`entities` merges and shows what agents want, `tool_memory` resolves and records, `memory` rotates
full blocks, `statements` checks sentences against rows, `exports` writes a long talk down.
Processor time; a missed time fails nothing, a missed number fails the run.
"""

import argparse
import statistics
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from time import process_time

from bench.figures import Figure, exit_code, info, p95, table
from data_models.chat_context import AgentMessage, ChatContext, Turn
from data_models.clock import RandomIds
from data_models.entities.entities import Entities
from data_models.tool_memory import ToolMemory
from group_chat.drafts.statement_checking import read_words
from routes.export import History, as_markdown
from routes.export_word import as_word
from services.entities.circumstances import AgentNames, Writing
from services.entities.delta import EntityDelta
from services.entities.merge import get_agent_entity_context, merge_entity_delta
from services.memory_blocks.blocks import MemoryRules, blocks_of
from services.memory_blocks.limits import bound, validate
from services.memory_blocks.plain_reading import understand
from services.memory_blocks.remembering import conclude, take_in
from services.memory_blocks.rotation import ROTATE_ABOVE_TURNS, rotate
from services.statements.check import MessageCheck
from services.statements.grounds import Grounds, Speaker
from services.statements.rows.known import KnownRows
from services.tool_memory.extractors import extracted
from services.tool_memory.session import FinishedRun, ToolMemorySession
from services.tool_memory.store import ToolEntityStore, ToolMemoryLimits
from tests.services.statements.corpus import Chart, charts

NOW = datetime(2030, 1, 2, tzinfo=UTC)
ROUNDS = 500
AGENT = "AppointmentManager"
KEYS, TURNS = 7, 100
ENTITIES, ROWS = 50, 20
CHARTS = 10
EXPORTED_TURNS = 3_000
ASKED = "The lesion is stable. How bad is the pain, 0-10?"
MESSAGES = {
    "it": "cancel it",
    "an ordinal": "cancel the second one",
    "a name": "cancel the conference with Person17",
    "a misspelt name and a time": "cancel the conferense with Person17 on 3 December at 3pm please",
    "a long text": "please cancel the quarterly budget planning conference about recurrent glioma",
}
ROW = "- 2024-03-20 **Osimertinib** (medication): 80 mg by mouth; active [MedicationStatement/{}]"


def _ms(work: Callable[[], object]) -> float:
    began = process_time()
    work()
    return (process_time() - began) * 1_000


def _median_ms(work: Callable[[], object]) -> float:
    return statistics.median(_ms(work) for _ in range(ROUNDS))


def entities() -> list[Figure]:
    """Measure a full delta into full managers, and what a hundred turns leave behind."""
    writing = Writing(now=NOW, team=AgentNames.of([AGENT, "Registration"]))
    delta = EntityDelta(
        entities_to_update={f"wish_{key}": f"value {key}" for key in range(KEYS)},
        derived_entities_to_update={f"find_{key}": [key, "3pm"] for key in range(KEYS)},
    )
    held = Entities()

    def merge(into: Entities, what: EntityDelta = delta) -> None:
        merge_entity_delta(into, what, agent_name=AGENT, writing=writing)

    def show() -> None:
        get_agent_entity_context(held.conversation, held.derived, agent_name=AGENT, now=NOW)

    def load_merge_save() -> None:
        loaded = Entities.model_validate_json(stored)
        merge(loaded)
        loaded.model_dump_json()

    merge(held)
    stored = held.model_dump_json()
    figures = [
        Figure("entities", "merge of a full delta", _median_ms(lambda: merge(held)), "ms", 0.1),
        Figure("entities", "what an agent is shown", _median_ms(show), "ms", 0.1),
        Figure("entities", "load, merge and save", _median_ms(load_merge_save), "ms", 1.0),
    ]
    for number in range(TURNS):
        merge(held, EntityDelta(entities_to_update={f"turn_{number}": number}))
    left = len(held.conversation.entities)
    kept = f"kept after {TURNS} turns"
    return [*figures, Figure("entities", kept, left, "", KEYS, kind="count")]


def _event(number: int) -> dict[str, object]:
    start = NOW + timedelta(hours=number)
    return {
        "id": f"event_{number}",
        "title": f"Case conference {number}",
        "start": start.isoformat(),
        "end": (start + timedelta(minutes=45)).isoformat(),
        "attendees": [f"Person{number}", f"Doctor{number}"],
        "location": f"Room {number}",
    }


def _remembered() -> ToolEntityStore:
    store = ToolEntityStore(memory=ToolMemory(), limits=ToolMemoryLimits(), now=NOW)
    for number in range(ENTITIES):
        for found in extracted(_event(number)):
            store.store_entity(found, execution_id="exec", turn_id=number)
    store.shown([f"event_{number}" for number in range(5)])
    store.touch("event_3", turn_id=9)
    return store


def tool_memory() -> list[Figure]:
    """Measure what a message refers to among fifty entities, and a run with twenty."""
    store, found = _remembered(), list[Figure]()
    for name, text in MESSAGES.items():
        measured = _median_ms(lambda text=text: store.resolve(text, local_now=NOW))  # type: ignore[misc]
        found.append(Figure("resolve", f"{name}, {ENTITIES} entities", measured, "ms", 1.0))
    session = ToolMemorySession(
        store=_remembered(), turn_id=1, user_text="go", now=NOW, roster=frozenset(), ids=RandomIds()
    )
    rows = {"events": [_event(number) for number in range(ROWS)]}
    run = FinishedRun("list_events", "Secretary", {}, rows, None, 1.0)
    measured = _median_ms(lambda: session.record(run))
    return [*found, Figure("record", f"a run with {ROWS} entities", measured, "ms", 1.0)]


def _full_blocks() -> ChatContext:
    """Return a document that holds as much as it may, one turn before it makes room."""
    context = ChatContext(conversation_id="bench")
    began = NOW
    for number in range(1, ROTATE_ABOVE_TURNS + 2):
        at = began + timedelta(minutes=number)
        answer = AgentMessage(
            message_id=f"m{number}", agent="Radiology", text=f"{'x' * 650}. {ASKED}", timestamp=at
        )
        turn = Turn(
            turn_id=number, run_id=f"run_{number}", timestamp=at, user="A",
            user_message=f"My pain is back, visit {number}. {'y' * 80}",
            agent_responses=[answer], turn_status="COMPLETED",
        )  # fmt: skip
        found = understand(turn.user_message, earlier=context.chat_history, memory=context.memory,
                           intents=())  # fmt: skip
        context.chat_history.append(turn)
        context.next_turn_id = number + 1
        take_in(context, turn, found)
        conclude(context, turn)
        bound(context.memory)
    return context


def memory() -> list[Figure]:
    """Measure blocks that hold as much as they may."""
    context, rules = _full_blocks(), MemoryRules()

    def rotate_and_check() -> None:
        validate(context, agents={"Radiology"})
        rotate(context.chat_history)
        bound(context.memory)

    def read() -> None:
        understand("8", earlier=context.chat_history, memory=context.memory, intents=())

    made = _median_ms(lambda: blocks_of(context, now=NOW, rules=rules))
    return [
        Figure("memory", "rotation and validation", _median_ms(rotate_and_check), "ms", 5.0),
        Figure("memory", "a message read by rules", _median_ms(read), "ms", 0.5),
        info("memory", "the four blocks, made to be looked at", made, "ms"),
    ]


def _rows_of(chart: Chart) -> KnownRows:
    rows = KnownRows()
    for view in chart.views:
        rows.add_view(view)
    return rows


def statements() -> list[Figure]:
    """Measure right and wrong sentences on the charts there are, each against all its rows."""
    found = list(charts(CHARTS))
    largest = max(found, key=lambda one: sum(len(view.rows) for view in one.views))
    read_words()
    taken_in = _ms(lambda: _rows_of(largest))
    known = [(_rows_of(one), one.cases) for one in [largest, *found]]
    times = [_checked(rows, case.text) for rows, cases in known for case in cases]
    return [
        info("check", "the largest chart's rows taken in, while the model writes", taken_in, "ms"),
        Figure("check", "the first sentence, once it is complete", times[0], "ms", 50),
        Figure("check", "a sentence, mean", statistics.mean(times[1:]), "ms", 0.3),
        info("check", "a sentence, p95", p95(times[1:]), "ms"),
    ]


def _checked(rows: KnownRows, text: str) -> float:
    check = MessageCheck(grounds=Grounds(rows=rows), speaker=Speaker())
    return _ms(lambda: check.check(text))


def exports() -> list[Figure]:
    """Measure 3,000 turns with answers of eight rows each."""
    text = "\n".join(["**From the record**", *(ROW.format(number) for number in range(8))])
    turns = [
        Turn(
            turn_id=number, run_id=f"run_{number}", timestamp=NOW, user="Dr. Ada",
            user_message="what is she on?",
            agent_responses=[AgentMessage(message_id=f"m{number}", agent="PatientStatus",
                                          text=text, timestamp=NOW)],
        )
        for number in range(EXPORTED_TURNS)
    ]  # fmt: skip
    found, ways = History(turns, patient_id="patient_4"), {"Markdown": as_markdown, "Word": as_word}
    return [
        Figure("export", f"{EXPORTED_TURNS:,} turns as {name}",
               _ms(lambda write=write: write(found)) / 1_000, "s", 3.0)  # type: ignore[misc]
        for name, write in ways.items()
    ]  # fmt: skip


PARTS: Mapping[str, Callable[[], list[Figure]]] = {
    "entities": entities,
    "tool_memory": tool_memory,
    "memory": memory,
    "statements": statements,
    "exports": exports,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the figures; 1 if a number is missed."""
    parser = argparse.ArgumentParser(prog="python -m bench.parts", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    wanted = parser.parse_args(arguments).parts or [*PARTS]
    if unknown := [name for name in wanted if name not in PARTS]:
        parser.error(f"no such part: {', '.join(unknown)}")
    figures = [figure for name in wanted for figure in PARTS[name]()]
    sys.stdout.write(f"{table(figures)}\n")
    return exit_code(figures)


if __name__ == "__main__":
    sys.exit(main())
