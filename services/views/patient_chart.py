"""Shows the chart of a patient beside the conversation, without a turn: who, what, and whence."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from pydantic import BaseModel

from data_models.chart_view import ATTACHED, ChartView
from data_models.errors import BadFrameError, NotFoundError
from data_models.identifiers import PatientId, storable_patient_id
from data_models.patient_context_models import PatientIdentity, identity_noted
from services.attachments.papers import is_paper, papers_of
from services.audit.trail import Visitor
from services.records.big_charts import make_view
from services.records.resources.ports import PERSON, PatientRecords
from services.records.resources.record import PatientRecord
from services.records.views.course import course
from services.records.views.demographics import demographics
from services.records.views.lists import allergies, encounters, problems
from services.records.views.medications import medications
from services.records.views.needs import need_of_results, need_of_source, need_of_tool
from services.records.views.papers import documents
from services.records.views.results import results
from services.records.views.source import SourceText, source_text
from services.records.views.summary import chart_summary
from services.views.conversation_reader import ConversationReader, OwnedChat
from services.views.patient_finder import FoundPatients, PatientFinder

# The parts of a chart that are shown without a turn, and how each is read.

NAME_LIMIT_CHARS = 200
_VALUES_OF_ONE = 60


@dataclass(frozen=True, slots=True)
class _Part:
    """One part of the chart, and the tool whose reads it shares."""

    tool: str
    view: Callable[[PatientRecord, datetime], ChartView]


_PARTS: Mapping[str, _Part] = {
    "summary": _Part(
        "chart_summary",
        lambda record, now: chart_summary(record, today=now.date(), now=now.isoformat()),
    ),
    "results": _Part("results", lambda record, _: results(record)),
    "problems": _Part("problems", lambda record, _: problems(record, status="all")),
    "medications": _Part(
        "medications", lambda record, now: medications(record, today=now.date(), status="all")
    ),
    "allergies": _Part("allergies", lambda record, _: allergies(record)),
    "timeline": _Part("timeline", lambda record, now: course(record, today=now.date())),
    "encounters": _Part(
        "encounters", lambda record, now: encounters(record, now=now.isoformat(), last=50)
    ),
    "documents": _Part("documents", lambda record, _: documents(record)),
}
PARTS = tuple(_PARTS)


def check_part(part: str, name: str) -> None:
    """Return if there is such a part, and `name` may go with it.

    Raises:
        BadFrameError: not so; the text names what may be asked for.
    """
    if part not in _PARTS:
        raise BadFrameError(f"part must be one of {', '.join(PARTS)}")
    if len(name) > NAME_LIMIT_CHARS or (name and part != "results"):
        raise BadFrameError("name is of one result, at most 200 characters, with part=results")


async def view_of_part(
    records: PatientRecords, patient_id: PatientId, part: str, *, name: str, now: datetime
) -> ChartView:
    """Return a part of the chart that says whose it is; who may see it is asked before.

    Args:
        part: One of `PARTS`.
        name: With `results`: the values of one thing over time, the newest 60.

    Raises:
        RecordsError: the records have no answer.
    """
    if name:
        record = await records.load(patient_id, need_of_results([name]))
        found = await make_view(record, lambda one: results(one, names=[name], last=_VALUES_OF_ONE))
    else:
        shown = _PARTS[part]
        need = need_of_results([]) if shown.tool == "results" else need_of_tool(shown.tool)
        record = await records.load(patient_id, need)
        found = await make_view(record, lambda one: shown.view(one, now))
    # Whose rows they are goes with them: a page must never draw them under another's name.
    return found.model_copy(update={"patient_id": patient_id})


REF_LIMIT_CHARS = 130


class Identity(BaseModel):
    """What a clinician checks before reading on: who this patient is."""

    patient_id: str
    name: str | None
    birth_date: str | None
    sex: str | None


@dataclass(frozen=True, kw_only=True)
class PatientChart:
    """Answers for patients in the caller's own conversation only, and leaves an audit record."""

    reader: ConversationReader
    records: PatientRecords

    async def demographics(self, chat: OwnedChat) -> Identity:
        """Return who the patient is.

        Raises:
            NotFoundError: no such conversation, not the owner's, or the patient is not in it.
            ChartClosedError: the patient's chart is not open to the owner.
            RecordsError: the records have no answer.
        """
        patient = await self.reader.enter_chart(chat, "read_demographics")
        record = await self.records.load(patient, PERSON)
        shown = demographics(record, today=self.reader.clock.now().date())
        return Identity(
            patient_id=patient,
            name=shown.name or None,
            birth_date=shown.birth_date or None,
            sex=shown.sex or None,
        )

    async def part(self, chat: OwnedChat, *, part: str, name: str = "") -> ChartView:
        """Return a part of the chart: one of `PARTS`.

        Args:
            name: With `results`: the values of one thing over time, the newest 60.

        Raises:
            BadFrameError: there is no such part; the text names those that are.
            RoundsError: as `demographics`.
        """
        check_part(part, name)
        patient, now = await self.reader.enter_chart(chat, f"read_{part}"), self.reader.clock.now()
        return await view_of_part(self.records, patient, part, name=name, now=now)

    async def source(self, chat: OwnedChat, *, ref: str) -> SourceText:
        """Return what stands behind the source id `ref` of the patient's record.

        Raises:
            NotFoundError: as `demographics`, or the patient's record holds no such source;
                another patient's is none.
            RoundsError: as `demographics`.
        """
        if is_paper(ref):
            return await self._paper(chat, ref)
        if len(ref) > REF_LIMIT_CHARS:
            raise NotFoundError("no such source here")
        patient = await self.reader.enter_chart(chat, "read_source")
        found = source_text(await self.records.load(patient, need_of_source(ref)), ref)
        if found is None:
            raise NotFoundError("no such source here")
        return found

    async def _paper(self, chat: OwnedChat, ref: str) -> SourceText:
        document = await self.reader.document(chat, "read_source")
        papers = await papers_of(document, contexts=self.reader.contexts).record()
        found = None if papers is None else source_text(papers, ref)
        if found is None:
            raise NotFoundError("no such source here")
        return found.model_copy(update={"kind": ATTACHED})


# Shows programs the charts that their user may open, by the patient's id and without a turn.


@dataclass(frozen=True, slots=True)
class ProgramPart:
    """A part of a chart, and who the patient is: both identifiers go with every answer."""

    identity: PatientIdentity
    view: ChartView


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramCharts:
    """Nothing is open here: each call names its patient, is asked of the guard and recorded."""

    finder: PatientFinder
    records: PatientRecords

    async def find(self, text: str, *, principal_id: str) -> FoundPatients:
        """Return whom `text` finds, as `PatientFinder.find`."""
        return await self.finder.find(text, owner=principal_id)

    async def part(
        self, patient_id: str, *, principal_id: str, part: str, name: str = ""
    ) -> ProgramPart:
        """Return a part of the chart: one of `PARTS`.

        Raises:
            BadFrameError: there is no such part.
            InvalidIdentifierError: `patient_id` can be nobody's.
            ChartClosedError: the chart is not open to the principal; that is on record.
            StoreError: the access could not be put on record; nothing was read.
            RecordsError: the records have no answer.
        """
        check_part(part, name)
        patient = storable_patient_id(patient_id)
        await self.finder.guard.open_chart(Visitor(principal_id), patient, f"program_read_{part}")
        now = self.finder.guard.clock.now()
        who = demographics(await self.records.load(patient, PERSON), today=now.date())
        identity = identity_noted(
            {"name": who.name, "birth_date": who.birth_date, "sex": who.sex}
        ) or PatientIdentity("", "", "")
        view = await view_of_part(self.records, patient, part, name=name, now=now)
        return ProgramPart(identity, view)
