"""What the team is handed of a turn, of one patient alone, and what its events change there."""

from collections.abc import Collection
from dataclasses import dataclass

from data_models.conversations.claim_decision import queue_length
from data_models.conversations.incoming_message import Press
from data_models.errors import StaleQuestionError
from data_models.identifiers import PatientId
from data_models.memory_blocks import NOTE
from services import group_chat_port
from services.attachments.papers import papers_of
from services.language.replies.yes_no import yes_no_in
from services.language.words.text_words import asks_question
from services.memory_blocks.history import said_now, shown_history
from services.memory_blocks.recall import PatientArtifacts, PatientPast
from services.memory_blocks.remembering import note
from services.orders.draft_order import drafts_of
from services.turn.phases import GroundedTurn, LoadedTurn
from services.turn.reading import identity_of, others_of, snapshot_of, utterance_of
from services.turn.turn_step import TurnStep

_OF_DEEDS = ("destructive_tool", "retire_statement")


@dataclass(kw_only=True, eq=False, repr=False)
class TurnRequests(TurnStep):
    """Makes requests of drafts. Holds no state of any turn.

    Attributes:
        turn_seconds: How long a turn may take.
    """

    turn_seconds: float

    def make(self, turn: GroundedTurn) -> group_chat_port.GroupChatRequest:
        """Return the request for a turn whose patient is swapped in.

        Raises:
            StaleQuestionError: a button was pressed that belongs to nothing open.
        """
        message, context, press = turn.message, turn.document, _press_of_plan(turn)
        tool_memory, last = self.tools.open(turn), None if turn.went_before else -1
        points = context.memory.key_points
        return group_chat_port.GroupChatRequest(
            conversation_id=turn.conversation_id,
            run_id=turn.run.run_id,
            patient_id=turn.patient_id,
            active=turn.active_patient_id,
            all_patient_ids=turn.roster.patient_ids,
            snapshot=snapshot_of(turn),
            history=shown_history(context, context.chat_history[:last]),
            told=shown_history(context, context.told),
            text=tool_memory.request,
            user=message.sender.display_name,
            principal_id=message.sender.principal_id,
            may_order=message.sender.may_order,
            now=turn.now,
            received_at=message.received_at,
            deadline=turn.started + self.turn_seconds,
            artifacts=self._artifacts(turn, turn.patient_id),
            mentions=message.mentions,
            addressed_agent=message.addressed_agent or tool_memory.goes_on_with,
            plan=context.plan,
            continuation=turn.continuation,
            press=press,
            grounding=tool_memory.grounding(),
            papers=papers_of(context, contexts=self.documents.contexts),
            tool_memory=tool_memory,
            entities=self.tools.entities.open(turn),
            scenario=turn.sessions.scenario,
            past=PatientPast(
                contexts=self.documents.contexts, context=context, run_id=turn.run.run_id
            ),
            meaning=self.documents.memory.meaning(turn),
            effects=turn.effects,
            notes=[one.text for one in points if one.kind == NOTE and one.status == "active"],
            held=[said_now(one) for one in context.memory.key_points if one.status == "active"],
            look=turn.sessions.look,
            said=turn.kept,
            is_group=message.is_group,
            is_asked=_is_asked(turn),
            is_awaited=lambda: turn.run.others_wait or queue_length(turn.claim.conversation) > 0,
            identity=identity_of(turn, turn.patient_id),
            identities={one: identity_of(turn, one) for one in turn.roster.patient_ids},
            others_named=others_of(turn).words_in,
            utterance=utterance_of(turn, tool_memory.request, self.group_chat.agents),
        )

    def for_reading(
        self, turn: LoadedTurn, patient_id: PatientId
    ) -> group_chat_port.GroupChatRequest:
        """Return a request in whose scope one chart is read: nothing of the turn's words in it."""
        message = turn.message
        return group_chat_port.GroupChatRequest(
            conversation_id=turn.conversation_id,
            run_id=turn.run.run_id,
            patient_id=patient_id,
            all_patient_ids=(patient_id,),
            snapshot="",
            history=(),
            text="",
            user=message.sender.display_name,
            principal_id=message.sender.principal_id,
            now=turn.now,
            deadline=turn.started + self.turn_seconds,
            artifacts=self._artifacts(turn, patient_id),
        )

    def _artifacts(self, turn: LoadedTurn, patient_id: PatientId | None) -> PatientArtifacts:
        """Return where this turn's agents put files: beside one patient's document only."""
        return PatientArtifacts(
            contexts=self.documents.contexts,
            conversation_id=turn.conversation_id,
            patient_id=patient_id,
            run_id=turn.run.run_id,
            clock=self.clock,
        )


def ask_again(turn: GroundedTurn, *, is_beside: bool = False) -> None:
    """Keep asking for a yes to a deed behind a message that was no answer to it.

    Args:
        is_beside: Whether an agent waits for what the message was not. Nobody but the question
            itself waits for the yes to a deed of the user's own.
    """
    question = turn.open_question()
    if question is None or turn.record.question is not None or turn.verdict.pending:
        return
    is_of_own = question.kind == "retire_statement" or "entity_id" in question.payload
    # Of a draft only a question leaves it open: "make it a CT" wants another one.
    asks = asks_question(turn.text) and yes_no_in(turn.text.rstrip("? ")) is None
    is_of_own |= asks and bool(drafts_of(question.payload))
    for run in turn.document.tool_memory.executions[-1:]:  # "cancel it?", "move it to 3"
        is_now = run.turn_id == turn.row.turn_id and run.tool_name.startswith(
            ("move_", "complete_")
        )
        is_of_own &= not (is_now and question.payload.get("entity_id") in run.entity_ids)
    if _is_asked(turn, _OF_DEEDS) and (is_beside or is_of_own):
        turn.record.ask(question)


def _is_asked(turn: GroundedTurn, kinds: Collection[str] = _OF_DEEDS[:1]) -> bool:
    question = turn.open_question()
    is_of_deed = question is not None and question.kind in kinds
    return is_of_deed and question is not None and question.patient_id == turn.patient_id


def _press_of_plan(turn: GroundedTurn) -> Press | None:
    """Return the button of the open plan that was pressed; None for one of our own questions."""
    press, plan = turn.message.press, turn.document.plan
    if press is None or turn.question_press() is not None:
        return None
    if plan is None or plan.plan_id != press.target_id or not plan.is_open:
        raise StaleQuestionError
    return press


# What the team's events change in the patient's document. Pure: no store, no clock.

ARTIFACTS_KEPT = 50
DocumentChange = (
    group_chat_port.PlanChanged
    | group_chat_port.ContinuationChanged
    | group_chat_port.ArtifactMade
    | group_chat_port.QuestionAsked
    | group_chat_port.ActionFinished
    | group_chat_port.NoteWritten
    | group_chat_port.ChatFinished
)


def change_document(turn: GroundedTurn, event: DocumentChange) -> bool:
    """Change the patient's document as `event` says; True if clients should see it."""
    match event:
        case group_chat_port.PlanChanged():
            turn.document.plan = event.plan
        case group_chat_port.ArtifactMade():
            made = event.artifact
            others = [one for one in turn.document.artifacts if one.artifact_id != made.artifact_id]
            artifacts = [*others, made]
            turn.document.artifacts = artifacts[-ARTIFACTS_KEPT:]
        case group_chat_port.ContinuationChanged():
            turn.wait_for(event.continuation)
            return False
        case group_chat_port.QuestionAsked():
            turn.ask(event.kind, event.text, patient_id=turn.patient_id, payload=event.payload)
            return False
        case group_chat_port.NoteWritten():
            note(turn.document, event.text, by=event.by)
        case group_chat_port.ActionFinished():
            return False
        case group_chat_port.ChatFinished():
            turn.record.end("interrupt" if event.reason in ("gate", "question") else "success")
            ask_again(turn, is_beside=event.is_beside)
            return False
    return True


def is_stored_at_once(turn: GroundedTurn, event: group_chat_port.GroupChatEvent) -> bool:
    """Whether the document is stored before clients see `event`: a file, and each step of a plan.

    A file that is shown can be asked for, and is served as the stored document names it.
    """
    if isinstance(event, group_chat_port.PlanChanged):
        return turn.record.has_unsaved_answers
    return isinstance(event, group_chat_port.ArtifactMade)
