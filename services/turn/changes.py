"""What the team's events change in a turn's draft. Pure: no store, no clock."""

from data_models.turn_events import (
    AgentMessageFinished,
    AgentMessageStarted,
    AgentTextDelta,
    ToolCallResult,
    ToolCallStarted,
    TurnEvent,
    ViewShown,
)
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
from services.turn.draft import TurnDraft
from services.turn.spoken_part import SpokenPart

ARTIFACTS_KEPT = 50
CHANGES = (
    PlanChanged,
    ContinuationChanged,
    ArtifactMade,
    QuestionAsked,
    ActionFinished,
    NoteWritten,
    ChatFinished,
)


def change_document(
    turn: TurnDraft,
    event: PlanChanged
    | ContinuationChanged
    | ArtifactMade
    | QuestionAsked
    | ActionFinished
    | NoteWritten
    | ChatFinished,
) -> bool:
    """Change the patient's document as `event` says; True if clients should see it."""
    match event:
        case PlanChanged():
            turn.document().plan = event.plan
        case ArtifactMade():
            made = event.artifact
            others = [
                one for one in turn.document().artifacts if one.artifact_id != made.artifact_id
            ]
            artifacts = [*others, made]
            turn.document().artifacts = artifacts[-ARTIFACTS_KEPT:]
        case ContinuationChanged():
            turn.document().continuation = event.continuation
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
            note(turn.document(), event.text, by=event.by)
        case ActionFinished():
            return False
        case ChatFinished():
            turn.outcome = "interrupt" if event.reason in ("gate", "question") else "success"
            return False
    return True


def is_stored_at_once(turn: TurnDraft, event: GroupChatEvent) -> bool:
    """Whether the document is stored before clients see `event`: a file, and each step of a plan.

    A file that is shown can be asked for, and is served as the stored document names it.
    """
    if isinstance(event, PlanChanged):
        return turn.has_unsaved_answers
    return isinstance(event, ArtifactMade)


def follow(turn: TurnDraft, event: TurnEvent, *, at: float) -> None:
    """Keep what was said and what is under way; `at` is now in monotonic seconds."""
    match event:
        case AgentMessageStarted():
            turn.speaking[event.message_id] = SpokenPart(event.message_id, event.agent)
        case AgentTextDelta():
            turn.hear(event.text, at=at, message_id=event.message_id)
        case ViewShown():
            turn.views.append(event.view)
        case AgentMessageFinished():
            turn.add_answer(event.message)
        case ToolCallStarted():
            turn.open_calls.append(event.call_id)
        case ToolCallResult():
            turn.open_calls.remove(event.call_id)
        case _:
            pass
