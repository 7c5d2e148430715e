"""Lays two charts side by side after a yes; no model, no memory and no history holds both."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from data_models.chart_view import ChartView, LeftOut, ViewRow
from data_models.conversations.conversation import OpenQuestion
from data_models.conversations.conversation_accessor import Comparison
from data_models.identifiers import PatientId
from services.group_chat_port import ActionFinished
from services.identity.names.person import Person, both_identifiers
from services.language.charts.tools_named import SEARCH
from services.language.people.without_names import without_names
from services.language.questions.chart_questions import chart_questions
from services.language.replies.yes_no import says_no, says_yes
from services.language.utterance import ChartQuestion
from services.language.words.detection import language_of
from services.patient_context.answers import ASKED, OPTIONS
from services.patient_context.rights import closed_to_you
from services.scenarios.session.progress import ToolAction
from services.turn.phases import GroundedTurn, LoadedTurn
from services.turn.request import TurnRequests
from services.turn.turn_step import TurnStep

ROWS_LIMIT = 60
NOT_READ = "could not be read"
_READ_APART = (
    "Each chart was read by itself. "
    "Nothing of it was added to either patient's memory; say whom your next message is about."
)
_COLUMNS = ("name", "value", "detail")
_SHOWN_CHARS = 160


@dataclass(frozen=True, slots=True)
class ChartRead:
    """What was read of one chart, by itself.

    Attributes:
        heading: Name, birth date and id: what stands over the column.
        views: One for each question, None where it could not be read.
    """

    patient_id: str
    heading: str
    views: Sequence[ChartView | None]


def side_by_side(left: ChartRead, right: ChartRead, *, view_id: str) -> ChartView:
    """Return a table of what both charts hold of the same questions, at most 60 rows.

    `value` of a row is of the left chart and `detail` of the right one; `labels` says whose. A
    row names no source: ids of two charts stand nowhere together.
    """
    rows = [row for pair in zip(left.views, right.views, strict=True) for row in _laid(*pair)]
    more = len(rows) - ROWS_LIMIT
    return ChartView(
        view_id=view_id,
        tool="compare",
        kind="table",
        title=f"{left.heading} beside {right.heading}",
        columns=_COLUMNS,
        labels=("", left.heading, right.heading),
        rows=tuple(rows[:ROWS_LIMIT]),
        left_out=(LeftOut(count=more, what="rows"),) if more > 0 else (),
        notes=tuple(_notes((left, right))),
    )


def _laid(left: ChartView | None, right: ChartView | None) -> Iterator[ViewRow]:
    title = next((one.title for one in (left, right) if one is not None), "")
    of_left, of_right = _by_name(left), _by_name(right)
    if not of_left and not of_right:
        yield _row(title, _nothing(left), _nothing(right))
        return
    for name in dict.fromkeys([*of_left, *of_right]):
        absent = NOT_READ if left is None else "–", NOT_READ if right is None else "–"
        yield _row(name, of_left.get(name, absent[0]), of_right.get(name, absent[1]))


def _by_name(view: ChartView | None) -> Mapping[str, str]:
    """Return what a view says of each thing, the newest first where it says several."""
    said: dict[str, list[str]] = {}
    for row in view.rows if view is not None else ():
        value = f"{row.value} {row.unit}".strip() if row.value else row.detail
        since = row.date[:10]
        parts = (value, row.flag, row.status, f"({since})" if since else "")
        said.setdefault(row.name, []).append(" ".join(filter(None, parts)))
    return {name: "; ".join(dict.fromkeys(filter(None, texts)) or ["yes"])[:_SHOWN_CHARS]
            for name, texts in said.items()}  # fmt: skip


def _nothing(view: ChartView | None) -> str:
    return NOT_READ if view is None else (view.nothing or "nothing in the record")


def _row(name: str, left: str, right: str) -> ViewRow:
    return ViewRow(kind="comparison", name=name, value=left, detail=right)


def _notes(charts: Iterable[ChartRead]) -> Iterator[str]:
    for one in charts:
        for view in one.views:
            if view is not None:
                yield from (f"{one.heading}: {note}" for note in view.notes)


_QUESTIONS_LIMIT = 6
_EVERYTHING = (
    ChartQuestion("problems"),
    ChartQuestion("medications"),
    ChartQuestion("allergies"),
    ChartQuestion("results", {"last": 1}),
)


@dataclass(kw_only=True, eq=False, repr=False)
class TurnComparing(TurnStep):
    """Holds no state of any turn."""

    requests: TurnRequests

    async def answer(self, turn: LoadedTurn) -> bool:
        """Whether the message answered our question whether to compare; it is done by then.

        Raises:
            StoreError: the comparison could not be kept, so it is not shown.
            AuditUnavailableError: an access is not on record, so it does not happen.
        """
        question = turn.open_question()
        if question is None or question.kind != "compare" or turn.is_press_elsewhere:
            return False
        if not (says_yes(turn.answer) or says_no(turn.answer)):
            return False
        grounded = await self.requests.documents.open(turn.stay(), None)
        if says_no(turn.answer):
            self.replies.answer(grounded, "Nothing was compared.")
            return True
        await self._compare(grounded, question)
        return True

    async def _compare(self, turn: GroundedTurn, question: OpenQuestion) -> None:
        ids = [PatientId(one) for one in question.payload.get(OPTIONS, []) if isinstance(one, str)]
        principal = turn.message.sender.principal_id
        for one in ids:
            if not await self.patients.may_open(principal, one):
                return self.replies.answer(turn, closed_to_you(one))
        people = [await self._person(one) for one in ids]
        asked = str(question.payload.get(ASKED, ""))
        questions = _questions(turn, asked, people)
        for one in ids:
            await self.requests.documents.access.record(turn, one, action="compare")
        left, right = [await self._read(turn, one, questions) for one in people]
        view = side_by_side(left, right, view_id=f"view_{turn.run.run_id}")
        # The next message that names nobody is asked about: two charts were side by side.
        registry = turn.registry.model_copy(update={"compared": list(ids)})
        turn = await self.requests.documents.activate(turn, registry)
        await turn.claim.hold()
        await self.requests.documents.comparisons.keep(
            Comparison(
                conversation_id=turn.conversation_id,
                epoch=turn.claim.epoch,
                run_id=turn.run.run_id,
                patients=ids,
                asked=asked,
                compared_by=principal,
                compared_at=turn.now,
                view=view,
            )
        )
        said = f"Side by side: {left.heading}; {right.heading}. {_READ_APART}"
        self.replies.answer(turn, said, views=(view,))
        return None

    async def _person(self, patient_id: PatientId) -> Person:
        found = await self.patients.person(patient_id)
        return found or Person(patient_id, "", ())

    async def _read(
        self, turn: GroundedTurn, person: Person, questions: Sequence[ChartQuestion]
    ) -> ChartRead:
        """Read one chart in a scope of its own, by the tools that its own turns use."""
        patient_id = PatientId(person.patient_id or "")
        request = self.requests.for_reading(turn, patient_id)
        views: list[ChartView | None] = []
        for place, one in enumerate(questions):
            key = f"{turn.run.run_id}-{patient_id}-{place}"
            action = ToolAction(one.tool, dict(one.arguments), key)
            found: ChartView | None = None
            async for event in self.group_chat.act(request, action):
                if isinstance(event, ActionFinished) and event.succeeded:
                    found = event.view
            views.append(found)
        return ChartRead(patient_id, f"{both_identifiers(person)} ({patient_id})", views)


def _questions(
    turn: GroundedTurn, asked: str, people: Sequence[Person]
) -> tuple[ChartQuestion, ...]:
    """Return what is wanted of both charts; the main lists where nothing is named."""
    for one in people:
        asked = asked.replace(one.patient_id or "\n", " ")
        asked = without_names(asked, [one.name], born=one.birth_date)
    found = chart_questions(asked, today=turn.now.date(), language=language_of(asked))
    wanted = tuple(one for one in found if one.tool != SEARCH)[:_QUESTIONS_LIMIT]
    return wanted or _EVERYTHING
