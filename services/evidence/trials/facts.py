"""The rows of one chart by which criteria are judged: facts, treatments and diseases. Pure.

What is not found stays open.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

from data_models.chart_view import ViewRow
from data_models.plain_yaml import read_yaml
from services.language.studies.criteria import Named
from services.records.concepts.words import words_of
from services.records.resources.dates import last_day
from services.records.resources.facts import Fact
from services.records.resources.record import PatientRecord
from services.records.resources.standing import NEVER, NOT_YET
from services.records.resources.values import with_unit
from services.records.rows.finding import means
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


_NAMES = read_yaml(Path(__file__).with_name("names.yaml").read_text("utf-8"))


def _by_name(kind: str) -> Mapping[str, tuple[frozenset[str], ...]]:
    """Return by the compared form of each name the words that stand for it."""
    return {
        " ".join(words_of(name)): tuple(frozenset(words_of(one)) for one in said.split("|"))
        for names, said in _NAMES[kind].items()
        for name in names.split("|")
    }


TREATMENTS: Mapping[str, frozenset[str]] = {
    name: drugs for name, (drugs,) in _by_name("treatments").items()
}
PROCEDURES, CANCERS = _by_name("procedures"), _by_name("cancers")


_NEVER_GIVEN = NEVER | NOT_YET
_UNSURE = ("suspected", "provisional", "unconfirmed", "differential", "possible", "probable")
_OVER = frozenset({"resolved", "inactive", "remission"})
_WORDS_LIMIT = 5


def judge_therapy(named: Named, facts: PatientFacts, within_days: int | None) -> Truth:
    """Return whether a treatment was or is given."""
    name = " ".join(words_of(named.name))
    if not name or len(name.split()) > _WORDS_LIMIT:
        return Truth(None, f"“{named.name}”: has to be read by a person")
    found = [row for row in _given(name, facts) if row.status.casefold() not in _NEVER_GIVEN]
    if named.when == "now":
        found = [row for row in found if row.status == "active"]
    if not found:
        return Truth(None, f"{named.name}: not in the record, which proves no absence")
    if within_days is None:
        return of_row(found[0], holds=True)
    return _in_time(found, facts, within_days)


def _given(name: str, facts: PatientFacts) -> list[ViewRow]:
    if name in PROCEDURES:
        return [row for row in facts.procedures if _holds(row, PROCEDURES[name])]
    if (drugs := TREATMENTS.get(name)) is not None:
        return [row for row in facts.drugs if drugs & {*words_of(row.name)}]
    return [row for row in facts.drugs if means("drug", name, label=row.name, codes=row.code)]


def _in_time(found: Sequence[ViewRow], facts: PatientFacts, within_days: int) -> Truth:
    """Return whether any was given within so many days; one without an end leaves it open."""
    oldest = facts.today - timedelta(days=within_days)
    for row in found:
        if row.status == "active":
            return of_row(row, holds=True)
    ends = [(row, last_day((row.end or (row.date if row.kind == "procedure" else ""))[:10]))
            for row in found]  # fmt: skip
    for row, day in ends:
        if day is not None and day >= oldest:
            return of_row(row, holds=True)
    if any(day is None for _, day in ends):
        return of_row(found[0], holds=None, why="its last day is not in the record")
    return of_row(found[0], holds=False, why=f"more than {within_days} days ago")


def judge_disease(named: Named, facts: PatientFacts) -> Truth:
    """Return whether a disease is on record."""
    if not (name := " ".join(words_of(named.name))):
        return Truth(None)
    if name in CANCERS:
        found = [row for row in facts.problems if _holds(row, CANCERS[name])]
    else:
        found = [
            row
            for row in facts.problems
            if means("problem", named.name, label=row.name, codes=row.code)
        ]
    if not found:
        return Truth(None, f"{named.name}: not in the record, which proves no absence")
    sure = [row for row in found if not _is_unsure(row)]
    if not sure:
        return of_row(found[0], holds=None, why="not confirmed")
    going_on = [row for row in sure if row.status.casefold() not in _OVER]
    if named.when == "now" and not going_on:
        return of_row(sure[0], holds=None, why="resolved; whether it counts has to be read")
    return of_row((going_on or sure)[0], holds=True)


def _holds(row: ViewRow, wanted: Sequence[frozenset[str]]) -> bool:
    have = {*words_of(f"{row.name} {row.detail if row.kind == 'procedure' else ''}")}
    return any(words <= have for words in wanted)


def _is_unsure(row: ViewRow) -> bool:
    said = f"{row.name} {row.detail}".casefold()
    return any(word in said for word in _UNSURE)
