"""What the export of a long talk costs: `python -m bench.exports`. Processor time, 3,000 turns."""

import sys
from collections.abc import Callable
from time import process_time

from bench.figures import Figure, table
from data_models.chat_context import AgentMessage, Turn
from routes.export import as_markdown
from routes.export_word import as_word
from tests.routes.fakes import NOW

PLACE = "export"
_TURNS = 3_000
_BAR_SECONDS = 3.0
_ROW = "- 2024-03-20 **Osimertinib** (medication): 80 mg by mouth; active [MedicationStatement/{}]"


def talk() -> list[Turn]:
    """Return turns with answers of eight rows each."""
    text = "\n".join(["**From the record**", *(_ROW.format(number) for number in range(8))])
    return [
        Turn(
            turn_id=number,
            run_id=f"run_{number}",
            timestamp=NOW,
            user="Dr. Ada",
            user_message="what is she on?",
            agent_responses=[
                AgentMessage(
                    message_id=f"m{number}", agent="PatientStatus", text=text, timestamp=NOW
                )
            ],
        )
        for number in range(_TURNS)
    ]


def _seconds(work: Callable[[], object]) -> float:
    began = process_time()
    work()
    return process_time() - began


def main() -> int:
    """Run the bench; a missed time fails nothing."""
    turns = talk()
    figures = [
        Figure(PLACE, f"{_TURNS:,} turns as {name}", _seconds(work), "s", _BAR_SECONDS)
        for name, work in (
            ("Markdown", lambda: as_markdown(turns, patient_id="patient_4")),
            ("Word", lambda: as_word(turns, patient_id="patient_4")),
        )
    ]
    sys.stdout.write(f"{table(figures)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
