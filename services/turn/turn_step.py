"""What the steps of a turn work with, and what a turn shows besides the team's words.

There is one of each for the process, which holds nothing of any turn.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

from data_models.chart_view import ChartView
from data_models.chat_context import AgentMessage
from data_models.clock import Clock, IdSource
from data_models.conversations import turn_events
from data_models.conversations.conversation import QuestionKind
from data_models.identifiers import PatientId
from services.conversations.turn_effects import interrupted_text
from services.group_chat_port import GroupChat
from services.language.model_output.inert import inert
from services.language.words.own_texts import in_own_language
from services.patient_context.service import PatientContextService
from services.turn.documents import TurnDocuments
from services.turn.phases import ClaimedTurn, GroundedTurn, LoadedTurn, UnderstoodTurn
from services.turn.reading import shared_state, spoken_in
from services.turn.tools import ScenarioParts, TurnTools


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnReplies:
    """Emits events into the run of whatever turn it is given; holds none."""

    group_chat: GroupChat
    clock: Clock
    ids: IdSource

    def ask(
        self,
        turn: UnderstoodTurn,
        kind: QuestionKind,
        text: str,
        *,
        patient_id: PatientId | None,
        payload: Mapping[str, Any] | None = None,
        done: str = "",
    ) -> None:
        """Open a question, and say it behind what was `done`, which is not said again with it."""
        turn.ask(kind, text, patient_id=patient_id, payload=payload)
        self.answer(turn, f"{done} {text}".strip())

    def say_question(self, turn: UnderstoodTurn) -> None:
        """Say the question that this turn opened, if it did."""
        if turn.record.question is not None:
            self.answer(turn, turn.record.question.text)

    def answer(self, turn: UnderstoodTurn, text: str, *, views: Sequence[ChartView] = ()) -> None:
        """Show where the conversation stands, and say a line of the server's own."""
        self.show_state(turn)
        self.say(turn, text, views=views)

    def say(self, turn: ClaimedTurn, text: str, *, views: Sequence[ChartView] = ()) -> None:
        """Have the facilitator say a line of the server's own; `views` are shown, not kept."""
        message = AgentMessage(
            message_id=self.ids.new_id("msg"),
            agent=self.group_chat.facilitator,
            text=inert(in_own_language(text, spoken_in(turn)), hosts=()),
            timestamp=self.clock.now(),
            made_by="rules",
        )
        turn.run.emit(turn_events.AgentMessageStarted(message.message_id, message.agent))
        turn.run.emit(turn_events.AgentTextDelta(message.message_id, message.text))
        turn.record.hear("", at=self.clock.monotonic())
        turn.record.add_answer(message)
        for view in views:
            turn.run.emit(turn_events.ViewShown(message.message_id, view))
        turn.run.emit(turn_events.AgentMessageFinished(message))
        if turn.record.question is not None:
            turn.record.end("interrupt")

    def notify(
        self,
        turn: ClaimedTurn,
        text: str,
        *,
        kind: Literal["progress", "restored", "told", "interrupted"] = "told",
    ) -> None:
        """Show a line of the server's own beside the answers, in the user's language; not kept."""
        turn.run.emit(turn_events.Notice(kind, in_own_language(text, spoken_in(turn))))

    def tell_progress(self, turn: ClaimedTurn, done: int, total: int) -> None:
        """Say how far a long piece of work is."""
        self.notify(turn, f"{done} of {total} documents are archived.", kind="progress")

    def tell_interruption(self, turn: LoadedTurn) -> None:
        """Tell once of a turn that died, and of what it may have done."""
        died = turn.claim.conversation.interruption
        if died is not None and not died.was_told:
            self.notify(turn, interrupted_text(died), kind="interrupted")

    def tell_unmet(self, turn: GroundedTurn) -> None:
        """Own up to what an attempt that died had begun to change and this one left alone."""
        if unmet := turn.effects.unmet:
            self.say(turn, unmet)

    def show_state(self, turn: UnderstoodTurn) -> None:
        """Show what clients may know of the conversation now."""
        turn.run.emit(
            turn_events.StateChanged(shared_state(turn, self.group_chat, language=spoken_in(turn)))
        )

    def close_what_is_open(self, turn: ClaimedTurn) -> None:
        """End what was cut off; what an agent had said is kept, because it was shown."""
        for ended in turn.record.cut_calls():
            turn.run.emit(ended)
        is_model = self.group_chat.is_language_model
        for message in turn.record.cut_messages(at=self.clock.now(), is_model=is_model):
            turn.run.emit(turn_events.AgentMessageFinished(message))
        for step in turn.record.open_steps:
            turn.run.emit(turn_events.StepFinished(step))


@dataclass(kw_only=True, eq=False, repr=False)
class TurnStep:
    """Holds no state of any turn."""

    documents: TurnDocuments
    patients: PatientContextService
    group_chat: GroupChat
    tools: TurnTools
    replies: TurnReplies
    clock: Clock

    async def answer_here(self, turn: LoadedTurn, text: str) -> bool:
        """Say a line of the server's own beside the chart that stays open; it is the answer."""
        self.replies.answer(await self.documents.open(turn.stay(), turn.active_patient_id), text)
        return True

    @classmethod
    def beside(cls, step: "TurnStep", **more: Any) -> Self:
        """Return a step that shares what `step` works with, and has `more` of its own."""
        return cls(**{name: vars(step)[name] for name in TurnStep.__dataclass_fields__}, **more)

    @property
    def scenarios(self) -> ScenarioParts:
        """What turns share of the scenarios."""
        return self.tools.scenarios
