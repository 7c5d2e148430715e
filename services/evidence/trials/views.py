"""Studies and judged criteria as rows. Pure."""

from collections.abc import Iterable, Sequence

from data_models.chart_view import ChartView, LeftOut, ViewRow, ViewSource
from services.evidence.trials.facts import PatientFacts
from services.evidence.trials.judge import Judgement, judge
from services.evidence.trials.search import TrialSearch
from services.evidence.trials.study import Study
from services.language.evidence_questions import TRIALS

KIND = "criterion"
_NOTHING = "No open study was found for this search."


def trials_view(
    studies: Sequence[Study], facts: PatientFacts, search: TrialSearch, *, sent_to: str
) -> ChartView:
    """Return each study's criteria with verdict and row; what was sent where is a note."""
    rows, sources, left_out = list[ViewRow](), list[ViewSource](), 0
    ranked = sorted(((one, _judged(one, facts)) for one in studies), key=lambda it: _fit(it[1]))
    for study, judged in ranked:
        rows.append(_row_of_study(study, judged))
        sources.append(ViewSource(ref=f"Study/{study.nct_id}", title=study.title))
        rows += [_row(study, one, is_exclusion=excludes) for one, excludes in judged]
        for one, _ in judged:
            # The chart's own words stand beside the source: they are what supports a statement.
            sources += [ViewSource(ref=ref, title=one.reason, quote=one.reason)
                        for ref in one.sources]  # fmt: skip
        left_out += study.left_out
    return ChartView(
        tool=TRIALS,
        patient_id=facts.record.patient_id,
        kind="table",
        title="Studies, criterion by criterion",
        columns=("name", "value", "status", "detail"),
        labels=("Study or criterion", "Kind", "Verdict", "Row, or what is missing"),
        rows=tuple(rows),
        sources=tuple({one.ref: one for one in reversed(sources)}.values()),
        left_out=(LeftOut(count=left_out, what="further criteria"),) if left_out else (),
        nothing="" if rows else _NOTHING,
        notes=_notes(search, sent_to),
    )


def _notes(search: TrialSearch, sent_to: str) -> tuple[str, ...]:
    if sent_to:
        return (f"sent to {sent_to}: {search.said}",)
    return (f"searched here, nothing was sent: {search.said}",)


def _judged(study: Study, facts: PatientFacts) -> list[tuple[Judgement, bool]]:
    return [
        (judge(one.text, facts, is_exclusion=one.is_exclusion), one.is_exclusion)
        for one in study.criteria
    ]


def _against(judged: Iterable[tuple[Judgement, bool]]) -> int:
    """Return how many criteria stand against taking part."""
    return sum(one.verdict == ("met" if excludes else "not met") for one, excludes in judged)


def _fit(judged: Sequence[tuple[Judgement, bool]]) -> tuple[int, int]:
    return _against(judged), -sum(one.verdict != "unknown" for one, _ in judged)


def _row_of_study(study: Study, judged: Sequence[tuple[Judgement, bool]]) -> ViewRow:
    against, open_ = _against(judged), sum(one.verdict == "unknown" for one, _ in judged)
    verdict = f"{against} against" if against else "nothing against"
    return ViewRow(
        kind="study",
        name=f"{study.nct_id}: {study.title}",
        value=study.phase,
        status=f"{verdict}, {open_} of {len(judged)} unknown",
        detail="; ".join(filter(None, [study.status, ", ".join(study.countries)])),
        sources=(f"Study/{study.nct_id}",),
    )


def _row(study: Study, one: Judgement, *, is_exclusion: bool) -> ViewRow:
    return ViewRow(
        kind=KIND,
        name=one.text,
        value="exclusion" if is_exclusion else "inclusion",
        status=one.verdict,
        detail=one.reason,
        sources=(*one.sources, f"Study/{study.nct_id}"),
    )
