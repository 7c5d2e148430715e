"""Judges what criteria say of treatments and diseases; what is not found stays open. Pure."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path

from data_models.chart_view import ViewRow
from data_models.plain_yaml import read_yaml
from services.evidence.trials.facts import PatientFacts, Truth, of_row
from services.language.studies.criteria import Named
from services.records.concepts.words import words_of
from services.records.resources.dates import last_day
from services.records.resources.standing import NEVER, NOT_YET
from services.records.rows.finding import means

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
