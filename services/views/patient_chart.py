"""Shows the chart of a patient beside the conversation, without a turn."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from data_models.chart_view import ChartView
from data_models.clock import Clock
from data_models.errors import BadFrameError, NotFoundError
from data_models.identifiers import PatientId
from services.audit.entry import AuditEntry
from services.audit.trail import Audit
from services.records.big_charts import viewed
from services.records.ports import PatientRecords
from services.records.record import PatientRecord
from services.records.views.course import course
from services.records.views.lists import allergies, encounters
from services.records.views.medications import medications
from services.records.views.needs import need_of_results, need_of_tool
from services.records.views.papers import documents
from services.records.views.problems import problems
from services.records.views.results import results
from services.records.views.summary import chart_summary
from services.views.conversation_reader import ConversationReader

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


class PatientChart:
    """Answers for patients in the caller's own conversation only, and leaves an audit record."""

    def __init__(
        self, *, reader: ConversationReader, records: PatientRecords, audit: Audit, clock: Clock
    ) -> None:
        self._reader = reader
        self._records = records
        self._audit = audit
        self._clock = clock

    async def part(
        self, conversation_id: str, *, owner: str, patient_id: str, part: str, name: str = ""
    ) -> ChartView:
        """Return a part of the chart: one of `PARTS`.

        Args:
            name: With `results`: the values of one thing over time, the newest 60.

        Raises:
            BadFrameError: there is no such part; the text names those that are.
            NotFoundError: no such conversation, not the owner's, or the patient is not in it.
            ChartClosedError: the patient's chart is not open to the owner.
            RecordsError: the records have no answer.
        """
        shown = _PARTS.get(part)
        if shown is None:
            raise BadFrameError(f"part must be one of {', '.join(PARTS)}")
        if len(name) > NAME_LIMIT_CHARS or (name and part != "results"):
            raise BadFrameError("name is of one result, at most 200 characters, with part=results")
        patient = await self._reader.roster_member(
            conversation_id, owner=owner, patient_id=patient_id
        )
        if patient is None:
            raise NotFoundError("no such patient here")
        await self._audit.record(
            AuditEntry(
                principal=owner,
                conversation=conversation_id,
                patient=patient,
                actions=(f"read_{part}",),
            )
        )
        found = await self._view(patient, shown, name)
        # Whose rows they are goes with them: a page must never draw them under another's name.
        return found.model_copy(update={"patient_id": patient})

    async def _view(self, patient: PatientId, part: _Part, name: str) -> ChartView:
        now = self._clock.now()
        if name:
            record = await self._records.load(patient, need_of_results([name]))
            return await viewed(record, lambda one: results(one, names=[name], last=_VALUES_OF_ONE))
        need = need_of_results([]) if part.tool == "results" else need_of_tool(part.tool)
        record = await self._records.load(patient, need)
        return await viewed(record, lambda one: part.view(one, now))
