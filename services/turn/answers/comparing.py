"""What concerns several: a group is asked and told; two charts are laid side by side after a yes.

No model, no memory and no history holds both charts.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from data_models.chart_view import ChartView, LeftOut, ViewRow
from data_models.conversations.conversation import OpenQuestion
from data_models.conversations.conversation_accessor import Comparison
from data_models.identifiers import PatientId
from services.group_chat_port import ActionFinished, GroupChatEvent, PlanChanged
from services.identity.names.person import Person, both_identifiers
from services.language.charts.tools_named import SEARCH
from services.language.people.without_names import without_names
from services.language.questions.chart_questions import chart_questions
from services.language.replies.yes_no import says_no, says_yes
from services.language.utterance import ChartQuestion
from services.language.words.detection import language_of
from services.patient_context.answers import ASKED, OPTIONS, waiting_in
from services.patient_context.asking_again import not_answered
from services.patient_context.rights import closed_to_you
from services.patient_context.wording import whether_to_clear
from services.scenarios.session.progress import ToolAction
from services.turn.phases import GroundedTurn, LoadedTurn, UnderstoodTurn
from services.turn.request import TurnRequests
from services.turn.turn_step import TurnStep

_SOMEBODY = "Somebody"
_OF_DEEDS = frozenset({"destructive_tool", "which_entity", "retire_statement"})
_OWN_IS_OVER = "What you were asked before this chart was opened is over; nothing was done."
_ANOTHERS_IS_OVER = (
    "What somebody else here was asked is over with the chart before; nothing was done."
)


class TurnGroups(TurnStep):
    """Does nothing where one user talks alone. Holds no state of any turn."""

    async def asks_before_clear(self, turn: LoadedTurn) -> bool:
        """Whether the sender was asked whether to clear everybody's talk, and nothing was done."""
        question = turn.open_question()
        confirms = question is not None and question.kind == "clear" and says_yes(turn.answer)
        if not turn.message.is_group or confirms:
            return False
        registry = turn.registry
        asked = whether_to_clear(len(registry.patient_registry))
        grounded = await self.documents.open(turn.stay(), None)
        text = f"{_name(turn)}, this group shares one conversation. {asked}"
        self.replies.ask(
            grounded, "clear", text, patient_id=registry.active_patient_id, payload={OPTIONS: []}
        )
        return True

    def wording_of_clear(self, turn: LoadedTurn, text: str) -> str:
        """Return what is said of a clear: in a group with the name of who did it."""
        by = f"{_name(turn)} cleared this conversation for everybody. "
        return f"{by}{text}" if turn.message.is_group else text

    def tell_switch(self, turn: UnderstoodTurn, before: PatientId | None) -> None:
        """Say what ends with the chart before, and to a group who opened another one for all."""
        after, verdict = turn.verdict.patient_id, turn.verdict
        if after is None or before == after:
            return
        for asked in turn.claim.conversation.questions:
            is_alive = asked.is_alive(epoch=turn.claim.epoch, now=turn.now)
            is_own = asked.user == turn.message.sender.principal_id
            said = "" if asked.is_set_aside(after) else _over(asked, is_own=is_own)
            if is_alive and said:
                self.replies.notify(turn, said, kind="restored")
        if not turn.message.is_group or before is None:
            return
        who = "" if verdict.person is None else f"{both_identifiers(verdict.person)}, "
        text = (
            f"{_name(turn)} opened another chart for this group: {who}{after} (before: {before})."
        )
        self.replies.notify(turn, text)

    def tell_plan(self, turn: GroundedTurn, event: GroupChatEvent) -> None:
        """Tell a group that one of them ended the plan of another; most events end none."""
        if not isinstance(event, PlanChanged):
            return
        plan, before = event.plan, turn.document.plan
        ends = plan.status in ("cancelled", "replaced") or (
            before is not None and plan.plan_id != before.plan_id
        )
        if not turn.message.is_group or before is None or not before.is_open or not ends:
            return
        history = turn.document.chat_history
        asked_by = next((one.user for one in history if one.run_id == before.run_id), "")
        if asked_by != turn.message.sender.display_name:
            text = f"{_name(turn)} ended the plan that {asked_by or 'another member'} asked for."
            self.replies.notify(turn, text)


def _over(asked: OpenQuestion, *, is_own: bool) -> str:
    """Return what is said of a question that ends with the chart it was asked beside.

    "" of an own one that the chart may be the answer to. No item is named, as it may be about the
    patient before.
    """
    if is_own:
        return _OWN_IS_OVER if asked.kind in _OF_DEEDS else ""
    waits = waiting_in(asked)
    return not_answered(waits) if waits else _ANOTHERS_IS_OVER


def _name(turn: LoadedTurn) -> str:
    return turn.message.sender.display_name or _SOMEBODY


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
