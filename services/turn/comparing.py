"""Lays two charts side by side after a yes; no model, no memory and no history holds both."""

from collections.abc import Sequence
from dataclasses import dataclass

from data_models.chart_view import ChartView
from data_models.comparison import Comparison
from data_models.conversation import OpenQuestion
from data_models.identifiers import PatientId
from services.comparing.side_by_side import ChartRead, side_by_side
from services.group_chat_port import ActionFinished, GroupChat
from services.identity.person import Person, both_identifiers
from services.language.chart_questions import chart_questions
from services.language.detection import language_of
from services.language.tools_named import SEARCH
from services.language.utterance import ChartQuestion
from services.language.without_names import without_names
from services.language.yes_no import says_no, says_yes
from services.patient_context.answers import ASKED, OPTIONS
from services.patient_context.closed import closed_to_you
from services.patient_context.service import PatientContextService
from services.scenarios.session.action import ToolAction
from services.turn.draft import TurnDraft
from services.turn.request import TurnRequests
from services.turn.turn_replies import TurnReplies

_QUESTIONS_LIMIT = 6
_EVERYTHING = (
    ChartQuestion("problems"),
    ChartQuestion("medications"),
    ChartQuestion("allergies"),
    ChartQuestion("results", {"last": 1}),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnComparing:
    """Holds no state of any turn."""

    patients: PatientContextService
    requests: TurnRequests
    group_chat: GroupChat
    replies: TurnReplies

    async def answer(self, turn: TurnDraft) -> bool:
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
        turn.decision, turn.withdraws_question = "UNCHANGED", True
        await self.requests.documents.open(turn, None)
        if says_no(turn.answer):
            self.replies.show_state(turn)
            self.replies.say(turn, "Nothing was compared.")
            return True
        await self._compare(turn, question)
        return True

    async def _compare(self, turn: TurnDraft, question: OpenQuestion) -> None:
        ids = [PatientId(one) for one in question.payload.get(OPTIONS, []) if isinstance(one, str)]
        principal = turn.claim.message.sender.principal_id
        for one in ids:
            if not await self.patients.may_open(principal, one):
                self.replies.show_state(turn)
                return self.replies.say(turn, closed_to_you(one))
        people = [await self._person(one) for one in ids]
        asked = str(question.payload.get(ASKED, ""))
        questions = _questions(turn, asked, people)
        for one in ids:
            await self.requests.documents.record_access(turn, one, action="compare")
        left, right = [await self._read(turn, one, questions) for one in people]
        view = side_by_side(left, right, view_id=f"view_{turn.run.run_id}")
        await self.requests.documents.note_compared(turn, ids)
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
        self.replies.show_state(turn)
        self.replies.say(turn, _told(left, right), views=(view,))
        return None

    async def _person(self, patient_id: PatientId) -> Person:
        found = await self.patients.person(patient_id)
        return found or Person(patient_id, "", ())

    async def _read(
        self, turn: TurnDraft, person: Person, questions: Sequence[ChartQuestion]
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


def _questions(turn: TurnDraft, asked: str, people: Sequence[Person]) -> tuple[ChartQuestion, ...]:
    """Return what is wanted of both charts; the main lists where nothing is named."""
    for one in people:
        asked = asked.replace(one.patient_id or "\n", " ")
        asked = without_names(asked, [one.name], born=one.birth_date)
    found = chart_questions(asked, today=turn.now.date(), language=language_of(asked))
    wanted = tuple(one for one in found if one.tool != SEARCH)[:_QUESTIONS_LIMIT]
    return wanted or _EVERYTHING


def _told(left: ChartRead, right: ChartRead) -> str:
    return (
        f"Side by side: {left.heading} and {right.heading}. Each chart was read by itself. "
        "Nothing of it was added to either patient's memory; say whom your next message is about."
    )
