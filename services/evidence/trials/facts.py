"""The rows of one chart that criteria are judged by, read once."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from data_models.chart_view import ViewRow
from services.records.facts import Fact
from services.records.record import PatientRecord
from services.records.rows import row_of
from services.records.views.medications import medications
from services.records.views.oncology import biomarkers_view
from services.records.views.problems import problems
from services.records.views.results import results
from services.records.views.status import current_status


@dataclass(frozen=True, slots=True)
class PatientFacts:
    """What is known of a patient on a day.

    Attributes:
        ecog: Every value that counts now; several where sources differ.
        stages: Likewise.
    """

    record: PatientRecord
    today: date
    age: Fact
    sex: Fact
    ecog: Fact
    stage: Fact | None
    markers: Sequence[ViewRow]
    problems: Sequence[ViewRow]
    drugs: Sequence[ViewRow]
    procedures: Sequence[ViewRow]

    def values(self, name: str) -> list[ViewRow]:
        """Return the newest value of what a name means, one row for each thing it may mean."""
        found = results(self.record, names=[name], last=1).rows
        return [row for row in found if row.number is not None]


def facts_of(record: PatientRecord, *, today: date) -> PatientFacts:
    """Return the facts of a chart."""
    status = current_status(record, today=today)
    stage = next((fact for fact in status.staging if fact.name == "stage"), None)
    return PatientFacts(
        record=record,
        today=today,
        age=status.age,
        sex=status.sex,
        ecog=status.ecog,
        stage=stage,
        markers=biomarkers_view(record).rows,
        problems=problems(record, status="all").rows,
        drugs=medications(record, today=today, status="all", name=None).rows,
        procedures=[row_of(record, entry) for entry in record.entries_of("Procedure")],
    )


def readings_of(fact: Fact | None) -> list[str]:
    """Return each value that stands now; none where nothing is recorded."""
    if fact is None or fact.value is None:
        return []
    return [one.value for one in fact.disagreement] or [fact.value]


def refs_of(fact: Fact | None) -> tuple[str, ...]:
    """Return the sources of what stands now."""
    if fact is None:
        return ()
    cited = [*fact.sources, *(source for one in fact.disagreement for source in one.sources)]
    return tuple(dict.fromkeys(source.ref for source in cited))
