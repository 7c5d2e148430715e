"""The course of the disease in order of time."""

from collections import Counter
from collections.abc import Iterator
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
    events = list(_events(record))
    asked = [event for event in events if event.kind in kinds]
    spanned = since is not None or until is not None
    dated = [event for event in asked if event.date and _inside(event.date, since, until)]
    dated.sort(key=lambda event: (event.date or "", event.source.ref))
    undated = [event for event in asked if event.date is None]
    found = dated if spanned else [*undated, *dated]
    kept = found[max(0, len(found) - limit) :]
    return Timeline(
        events=tuple(sorted(kept, key=lambda event: event.date is None)),
        limit=limit,
        left_out=len(found) - len(kept),
        undated_left_out=len(undated) if spanned else 0,
        other_kinds=dict(Counter(event.kind for event in events if event.kind not in kinds)),
        incomplete=record.left_out.sentence(),
    )


def _events(record: PatientRecord) -> Iterator[TimelineEvent]:
    for ref, condition in record.of(Condition):
        yield _diagnosis(ref, condition)
    for treatment in treatments(record):
        yield _treated(treatment)
    for ref, observation in record.of(Observation):
        yield _observed(ref, observation)
    for ref, study in record.of(ImagingStudy):
        yield _imaged(ref, study)
    for document in record.documents:
        yield _documented(document)


def _diagnosis(ref: str, condition: Condition) -> TimelineEvent:
    title = (condition.code.label if condition.code else None) or "Unnamed condition"
    stages = [stage.summary.label for stage in condition.stage if stage.summary]
    sites = [site.label for site in condition.body_site]
    status = condition.clinical_status.label if condition.clinical_status else None
    certainty = condition.verification_status.label if condition.verification_status else None
    unsure = certainty if certainty != "confirmed" else None
    parts = [*sites, *stages, status, unsure, *(note.text for note in condition.note)]
    return _event(
        ref, "diagnosis", title, condition.clinical_date, parts, condition.abatement_date_time
    )


def _treated(treatment: Treatment) -> TimelineEvent:
    return TimelineEvent(
        date=treatment.start,
        until=treatment.end,
        kind="medication" if treatment.kind == "medication" else "procedure",
        title=treatment.name,
        detail=treatment.detail[:_DETAIL_LIMIT_CHARS] if treatment.detail else None,
        source=treatment.source,
    )


def _observed(ref: str, observation: Observation) -> TimelineEvent:
    parts = [value_of(observation), *(note.text for note in observation.note)]
    kind = _observation_kind(observation)
    return _event(ref, kind, name_of(observation), observation.clinical_date, parts)


def _observation_kind(observation: Observation) -> EventKind:
    if is_biomarker(observation):
        return "biomarker"
    codes = frozenset[str]().union(*(category.codes for category in observation.category))
    if "vital-signs" in codes:
        return "vital sign"
    return "laboratory" if "laboratory" in codes else "observation"


def _imaged(ref: str, study: ImagingStudy) -> TimelineEvent:
    modalities = [modality.display or modality.code for modality in study.modality]
    title = study.description or "Imaging study"
    return _event(ref, "imaging", title, study.clinical_date, modalities)


def _documented(document: ClinicalDocument) -> TimelineEvent:
    first = (document.text or document.problem or "").partition("\n")[0]
    kind = _DOCUMENT_KINDS[document.kind]
    return _event(document.ref, kind, document.title, document.date, [document.author, first])


def _event(
    ref: str,
    kind: EventKind,
    title: str,
    when: str | None,
    parts: list[str | None],
    until: str | None = None,
) -> TimelineEvent:
    day = day_text(when)
    detail = "; ".join(part for part in parts if part)
    return TimelineEvent(
        date=day,
        until=day_text(until),
        kind=kind,
        title=title,
        detail=detail[:_DETAIL_LIMIT_CHARS] or None,
        source=Source(ref=ref, date=day, title=title),
    )


def _inside(recorded: str, since: date | None, until: date | None) -> bool:
    first, last = first_day(recorded), last_day(recorded)
    if first is None or last is None:
        return False
    return (since is None or last >= since) and (until is None or first <= until)
