"""How often code judges criteria as people do, and how often it wrongly says that one is met.

`python -m evals.trial_criteria.measure` prints the figures and each difference.
"""

import asyncio
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import yaml

from data_models.clock import SystemClock
from data_models.identifiers import PatientId
from evals.server import ROOT
from services.evidence.trials.facts import PatientFacts, facts_of
from services.evidence.trials.judge import judge
from services.records.folder.records import FolderRecords
from services.records.records_factory import id_fits

LABELLED = Path(__file__).parent / "labelled.yaml"
AS_OF = date(2026, 11, 23)


@dataclass(frozen=True, slots=True)
class Label:
    """One criterion, and what a person says of it."""

    patient_id: str
    text: str
    wanted: str


@dataclass(frozen=True, slots=True)
class Figures:
    """What came out.

    Attributes:
        differing: Labels judged otherwise, with what code said and why.
    """

    labels: int
    differing: tuple[tuple[Label, str, str], ...]

    @property
    def wrong_met(self) -> int:
        """How many are called met and are not."""
        return sum(said == "met" for _, said, _ in self.differing)

    @property
    def share(self) -> float:
        """How many are right, of 1."""
        return 1 - len(self.differing) / self.labels


def labels() -> Iterator[Label]:
    """Yield what people said."""
    document = yaml.safe_load(LABELLED.read_text(encoding="utf-8"))
    for patient_id, verdicts in document.items():
        for wanted, texts in verdicts.items():
            yield from (Label(patient_id, text, wanted) for text in texts)


async def measured() -> Figures:
    """Judge all of them."""
    records = FolderRecords(
        folder=ROOT / "samples" / "patients", clock=SystemClock(), fits=id_fits("^patient_[0-9]+$")
    )
    facts: dict[str, PatientFacts] = {}
    differing = []
    every = list(labels())
    for one in every:
        if one.patient_id not in facts:
            record = await records.load(PatientId(one.patient_id))
            facts[one.patient_id] = facts_of(record, today=AS_OF)
        found = judge(one.text, facts[one.patient_id])
        if found.verdict != one.wanted:
            differing.append((one, found.verdict, found.reason))
    return Figures(len(every), tuple(differing))


def main() -> int:
    """Print the figures."""
    figures = asyncio.run(measured())
    for one, said, why in figures.differing:
        sys.stdout.write(f"{one.patient_id}: {one.text}: wanted {one.wanted}, {said} ({why})\n")
    sys.stdout.write(
        f"{figures.labels} criteria, {figures.share:.1%} right, "
        f"{figures.wrong_met} wrongly called met\n"
    )
    return 0 if figures.share >= 0.95 and figures.wrong_met == 0 else 1


if __name__ == "__main__":
    raise SystemExit(main())
