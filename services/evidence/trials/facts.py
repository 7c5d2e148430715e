"""The rows of one chart that criteria are judged by, read once."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from data_models.chart_view import ViewRow
from services.records.resources.facts import Fact
from services.records.resources.record import PatientRecord
from services.records.resources.values import with_unit
from services.records.rows.rows import row_of
from services.records.views.lists import problems
from services.records.views.medications import medications
from services.records.views.oncology.oncology import biomarkers_view
from services.records.views.oncology.status import current_status
from services.records.views.results import results

# True, false or not known, with the rows that say so. Pure.


@dataclass(frozen=True, slots=True)
class Truth:
    """Whether something holds; None: nobody can tell."""

    holds: bool | None
    reason: str = ""
    sources: tuple[str, ...] = ()

    def negated(self) -> "Truth":
        """Return the opposite."""
        holds = None if self.holds is None else not self.holds
        return Truth(holds, self.reason, self.sources)


UNKNOWN = Truth(None)


def all_of(judged: Sequence[Truth]) -> Truth:
    """Return whether all hold: one that does not decides, one that is unknown leaves it open."""
    if not judged:
        return UNKNOWN
    holds = [one.holds for one in judged]
    whole = False if False in holds else None if None in holds else True
    return _joined(whole, judged)


def any_of(judged: Sequence[Truth]) -> Truth:
    """Return whether any holds."""
    holds = [one.holds for one in judged]
    whole = True if True in holds else None if None in holds else False
    return _joined(whole, judged)


def _joined(holds: bool | None, judged: Sequence[Truth]) -> Truth:
    deciding = [one for one in judged if one.holds is holds] if holds is not None else judged
    reasons = dict.fromkeys(one.reason for one in deciding if one.reason)
    return Truth(holds, "; ".join(reasons), tuple(ref for one in deciding for ref in one.sources))


def of_row(row: ViewRow, *, holds: bool | None, why: str = "") -> Truth:
    """Return what a row of the chart says, in its words."""
    value = with_unit(row.value, row.unit) if row.value else ""
    date = f"({row.date[:10]})" if row.date else ""
    status = row.status if row.status not in ("", "active", "final") else ""
    text = " ".join(filter(None, [row.name, value, status, date]))
    return Truth(holds, f"{text}: {why}" if why else text, row.sources)


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
