"""Tools beside the chart: the hospital's guidelines, studies judged by the chart, research."""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date

from pydantic import Field

from data_models.chart_view import ChartView, LeftOut, ViewRow, ViewSource
from data_models.errors import RecordsError, ToolInputError
from group_chat.tools.foreign_tools import ForeignTools
from group_chat.tools.tool import Tool, tools_of
from group_chat.turn_context import TurnContext
from services.evidence.guidelines.library import GuidelineFolder, Library, passages_view
from services.evidence.pubmed import RESEARCH, PubMed, abstracts_view
from services.evidence.trials.facts import PatientFacts, facts_of
from services.evidence.trials.judge import Judgement, judge
from services.evidence.trials.sources import Study, StudySource, TrialSearch, search_from
from services.language.charts.evidence_questions import GUIDELINES, TRIALS, topics_in
from services.language.figures.written_dates import dates_in
from services.records.big_charts import make_view
from services.records.resources.ports import PERSON, PatientRecords
from services.records.resources.record import PatientRecord

EVIDENCE_TOOLS = (GUIDELINES, TRIALS, RESEARCH)


_DATED = "a date does not leave; search again without it"
_NO_CHART = "The chart could not be read: none of its rows stands beside the passages."
_NO_CONDITION = "No coded diagnosis is in the record, so no study can be looked for."


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceTools:
    """The tools over guidelines, studies and published research.

    Attributes:
        guidelines: The folder; it may be one that holds nothing.
        country: Where studies are looked for; "" for anywhere.
        research: What is asked for publications; None: nothing is.
        outside: Decides what may be told to others.
    """

    guidelines: GuidelineFolder
    studies: StudySource
    records: PatientRecords
    outside: ForeignTools
    country: str = ""
    research: PubMed | None = None

    async def search_guidelines(
        self,
        turn: TurnContext,
        question: str = Field(
            min_length=1, max_length=400, description="In the guidelines' words."
        ),
    ) -> ChartView:
        """Passages of the hospital's own guidelines with section, version and date, and the open
        chart's rows that they speak of. Ask with no topic for those that are for the patient.
        """  # noqa: D205 - is told to models as it stands
        library, today = await self.guidelines.library(), turn.request.now.date()
        patient, record = turn.request.patient_id, None
        notes: tuple[str, ...] = ()
        try:
            record = None if patient is None else await self.records.load(patient)
        except RecordsError:
            if not topics_in(question):
                raise
            notes = (_NO_CHART,)  # what they say of a topic holds for whoever it is
        # Of thousands of passages each is compared with the chart.
        view = await asyncio.to_thread(_passages_view, library, question, record, today)
        return view.model_copy(update={"notes": (*view.notes, *notes)})

    async def clinical_trials(self, turn: TurnContext) -> ChartView:
        """Open studies for the patient, each criterion judged by the chart, with its row."""
        today = turn.request.now.date()
        record = await self.records.load(turn.patient_id)
        facts = await make_view(record, lambda one: facts_of(one, today=today))
        search = search_from(facts, country=self.country)
        if not search.conditions:
            return ChartView(tool=TRIALS, kind="table", title="Studies", nothing=_NO_CONDITION)
        studies = await self.studies.find(search)
        return trials_view(studies, facts, search, sent_to=self.studies.leaves)

    async def search_pubmed(
        self,
        turn: TurnContext,
        query: str = Field(
            min_length=2,
            max_length=300,
            description="Medical terms; never a name, a date or a number of a patient.",
        ),
    ) -> ChartView:
        """Abstracts from PubMed with PMID, study type and year, for medical terms."""
        if self.research is None:
            raise ToolInputError("no published research is connected; tell the user")
        patient = turn.request.patient_id
        person = None if patient is None else await self.records.load(patient, PERSON)
        await self.outside.check_leaves(turn, [query], person)
        said = [one for found in dates_in(query) for one in found.readings]
        if any(one.month is not None for one in said):
            raise ToolInputError(_DATED)
        return abstracts_view(
            await self.research.search(query),
            query=query,
            sent_to=self.research.host,
            patient_id=patient or "",
        )

    def tools(self) -> Sequence[Tool]:
        """Return them for the catalogue."""
        return tools_of(self.search_guidelines, self.clinical_trials, self.search_pubmed)


def _passages_view(
    library: Library, question: str, record: PatientRecord | None, today: date
) -> ChartView:
    facts = None if record is None else facts_of(record, today=today)
    return passages_view(library, question, facts=facts, today=today)


KIND = "criterion"
_NOTHING = "No open study was found for this search."


def trials_view(
    studies: Sequence[Study], facts: PatientFacts, search: TrialSearch, *, sent_to: str
) -> ChartView:
    """Return each study's criteria with verdict and row; what was sent where is a note."""
    rows, sources, left_out = list[ViewRow](), list[ViewSource](), 0
    every = [
        (one, [(judge(each.text, facts, is_exclusion=each.is_exclusion), each.is_exclusion)
               for each in one.criteria])
        for one in studies
    ]  # fmt: skip
    every.sort(key=lambda it: (_against(it[1]), -sum(one.verdict != "unknown" for one, _ in it[1])))
    for study, judged in every:
        rows.append(_row_of_study(study, judged))
        sources.append(ViewSource(ref=f"Study/{study.nct_id}", title=study.title))
        for one, excludes in judged:
            rows.append(
                ViewRow(
                    kind=KIND,
                    name=one.text,
                    value="exclusion" if excludes else "inclusion",
                    status=one.verdict,
                    detail=one.reason,
                    sources=(*one.sources, f"Study/{study.nct_id}"),
                )
            )
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


def _against(judged: Iterable[tuple[Judgement, bool]]) -> int:
    """Return how many criteria stand against taking part."""
    return sum(one.verdict == ("met" if excludes else "not met") for one, excludes in judged)


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
