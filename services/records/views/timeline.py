"""The course of the disease in order of time."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import Literal, TypeAlias, get_args

from services.records.dates import day_text, first_day, last_day
from services.records.documents import ClinicalDocument
from services.records.facts import Source, View
from services.records.fhir_resources import Condition, ImagingStudy, Observation
from services.records.observations import is_biomarker, name_of, value_of
from services.records.record import PatientRecord
from services.records.views.treatments import Treatment, treatments

EventKind: TypeAlias = Literal[
    "diagnosis", "medication", "procedure", "imaging", "pathology", "biomarker", "observation",
    "note", "report", "laboratory", "vital sign",
]  # fmt: skip
ALL_KINDS: frozenset[EventKind] = frozenset(get_args(EventKind))
DEFAULT_KINDS = ALL_KINDS - {"laboratory", "vital sign"}
TIMELINE_LIMIT = 100
_DETAIL_LIMIT_CHARS = 300
_DOCUMENT_KINDS: dict[str, EventKind] = {
    "note": "note",
    "imaging report": "imaging",
    "pathology report": "pathology",
    "other report": "report",
}


_Thing: TypeAlias = Condition | Treatment | Observation | ImagingStudy | ClinicalDocument
_Told: TypeAlias = tuple[str, list[str | None], str | None]


@dataclass(frozen=True, slots=True)
class _Draft:
    """An event before it is written out; only those that are shown are."""

    day: str | None
    kind: EventKind
    ref: str
    thing: _Thing


class TimelineEvent(View):
    """Something that happened or was found.

    Attributes:
        date: As recorded, perhaps partial; None when undated.
        until: Where a span ended.
        detail: At most 300 characters.
    """

    date: str | None
    until: str | None = None
    kind: EventKind
    title: str
    detail: str | None
    source: Source


class Timeline(View):
    """Events, oldest first, undated last.

    Attributes:
        left_out: Events of the asked time and kinds over `limit`; the oldest are left out.
        undated_left_out: Undated events, when a span of time was asked for.
        other_kinds: How many events of kinds that were not asked for there are.
        incomplete: Why the record itself may lack entries.
    """

    events: tuple[TimelineEvent, ...]
    limit: int
    left_out: int
    undated_left_out: int
    other_kinds: dict[str, int]
    incomplete: str | None


def timeline(
    record: PatientRecord,
    *,
    since: date | None = None,
    until: date | None = None,
    kinds: frozenset[EventKind] = DEFAULT_KINDS,
    limit: int = TIMELINE_LIMIT,
) -> Timeline:
    """Return the events between `since` and `until`, both inclusive.

    A partial date counts as inside when any of its days is.
    """
    drafts = list(_drafts(record))
    asked = [draft for draft in drafts if draft.kind in kinds]
    spanned = since is not None or until is not None
    dated = [draft for draft in asked if draft.day and _inside(draft.day, since, until)]
    dated.sort(key=lambda draft: (draft.day or "", draft.ref))
    undated = [draft for draft in asked if draft.day is None]
    found = dated if spanned else [*undated, *dated]
    kept = found[max(0, len(found) - limit) :]
    return Timeline(
        events=tuple(_event(draft) for draft in sorted(kept, key=lambda d: d.day is None)),
        limit=limit,
        left_out=len(found) - len(kept),
        undated_left_out=len(undated) if spanned else 0,
        other_kinds=dict(Counter(draft.kind for draft in drafts if draft.kind not in kinds)),
        incomplete=record.left_out.sentence(),
    )


def _drafts(record: PatientRecord) -> Iterator[_Draft]:
    for ref, condition in record.of(Condition):
        yield _Draft(day_text(condition.clinical_date), "diagnosis", ref, condition)
    for treatment in treatments(record):
        kind: EventKind = "medication" if treatment.kind == "medication" else "procedure"
        yield _Draft(treatment.start, kind, treatment.source.ref, treatment)
    for ref, observation in record.of(Observation):
        day = day_text(observation.clinical_date)
        yield _Draft(day, _observation_kind(observation), ref, observation)
    for ref, study in record.of(ImagingStudy):
        yield _Draft(day_text(study.clinical_date), "imaging", ref, study)
    for document in record.documents:
        yield _Draft(document.date, _DOCUMENT_KINDS[document.kind], document.ref, document)


def _observation_kind(observation: Observation) -> EventKind:
    if is_biomarker(observation):
        return "biomarker"
    for category in observation.category:
        if "vital-signs" in category.codes:
            return "vital sign"
        if "laboratory" in category.codes:
            return "laboratory"
    return "observation"


def _event(draft: _Draft) -> TimelineEvent:
    title, parts, until = _told(draft.thing)
    detail = "; ".join(part for part in parts if part)
    return TimelineEvent(
        date=draft.day,
        until=day_text(until),
        kind=draft.kind,
        title=title,
        detail=detail[:_DETAIL_LIMIT_CHARS] or None,
        source=Source(ref=draft.ref, date=draft.day, title=title),
    )


def _told(thing: _Thing) -> _Told:
    """Return the title, the details and the end of what happened."""
    match thing:
        case Condition():
            return _diagnosed(thing)
        case Treatment():
            return thing.name, [thing.detail], thing.end
        case Observation():
            parts = [value_of(thing), *(note.text for note in thing.note)]
            return name_of(thing), parts, None
        case ImagingStudy():
            modalities = [modality.display or modality.code for modality in thing.modality]
            return thing.description or "Imaging study", modalities, None
        case ClinicalDocument():
            said = thing.summary or (thing.text or thing.problem or "").partition("\n")[0]
            return thing.title, [said, thing.author], None


def _diagnosed(condition: Condition) -> _Told:
    title = (condition.code.label if condition.code else None) or "Unnamed condition"
    stages = [stage.summary.label for stage in condition.stage if stage.summary]
    sites = [site.label for site in condition.body_site]
    status = condition.clinical_status.label if condition.clinical_status else None
    certainty = condition.verification_status.label if condition.verification_status else None
    unsure = certainty if certainty != "confirmed" else None
    notes = [note.text for note in condition.note]
    return title, [*sites, *stages, status, unsure, *notes], condition.abatement_date_time


def _inside(recorded: str, since: date | None, until: date | None) -> bool:
    first, last = first_day(recorded), last_day(recorded)
    if first is None or last is None:
        return False
    return (since is None or last >= since) and (until is None or first <= until)
