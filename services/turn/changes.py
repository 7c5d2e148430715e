"""What the team's events change in the patient's document. Pure: no store, no clock."""

from services.group_chat_port import (
    ActionFinished,
    ArtifactMade,
    ChatFinished,
    ContinuationChanged,
    GroupChatEvent,
    NoteWritten,
    PlanChanged,
    QuestionAsked,
)
from services.memory_blocks.remembering import note
from services.turn.phases import GroundedTurn

ARTIFACTS_KEPT = 50
DocumentChange = (
    PlanChanged
    | ContinuationChanged
    | ArtifactMade
    | QuestionAsked
    | ActionFinished
    | NoteWritten
    | ChatFinished
)


def change_document(turn: GroundedTurn, event: DocumentChange) -> bool:
    """Change the patient's document as `event` says; True if clients should see it."""
    match event:
        case PlanChanged():
            turn.document.plan = event.plan
        case ArtifactMade():
            made = event.artifact
            others = [one for one in turn.document.artifacts if one.artifact_id != made.artifact_id]
            artifacts = [*others, made]
            turn.document.artifacts = artifacts[-ARTIFACTS_KEPT:]
        case ContinuationChanged():
            turn.document.continuation = event.continuation
            return False
        case QuestionAsked():
            turn.ask(
                event.kind,
                event.text,
                patient_id=turn.patient_id,
                question_id=event.question_id,
                payload=event.payload,
            )
            return False
        case NoteWritten():
            note(turn.document, event.text, by=event.by)
        case ActionFinished():
            return False
        case ChatFinished():
            turn.record.end("interrupt" if event.reason in ("gate", "question") else "success")
            return False
    return True


def is_stored_at_once(turn: GroundedTurn, event: GroupChatEvent) -> bool:
    """Whether the document is stored before clients see `event`: a file, and each step of a plan.

    A file that is shown can be asked for, and is served as the stored document names it.
    """
    if isinstance(event, PlanChanged):
        return turn.record.has_unsaved_answers
    return isinstance(event, ArtifactMade)
