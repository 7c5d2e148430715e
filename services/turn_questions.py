"""What an answer to the server's one open question does, before anything else is decided."""

from data_models.clock import Clock
from data_models.conversation import OpenQuestion
from data_models.errors import ToolInputError
from services.assistant.desk import AssistantDesk
from services.patient_context.commands import is_no, is_yes
from services.tool_memory.session import FinishedRun
from services.turn_documents import TurnDocuments
from services.turn_draft import TurnDraft
from services.turn_tools import TurnTools

AGENT = "Assistant"


class TurnQuestions:
    """Answers questions about confirmed actions. Holds no state of any turn."""

    def __init__(
        self,
        *,
        documents: TurnDocuments,
        tools: TurnTools,
        clock: Clock,
    ) -> None:
        self._documents = documents
        self._tools = tools
        self._clock = clock

    async def answered(self, turn: TurnDraft) -> str | None:
        """Return what the user is told if this message is a yes or no to our question, else None.

        Anything else is another message, and what was asked about is not done.
        """
        question = turn.open_question()
        if question is None or turn.is_press_elsewhere:
            return None
        if not (is_yes(turn.answer) or is_no(turn.answer)):
            return None
        match question.kind:
            case "new_history":
                return await self._new_history(turn, question)
            case "destructive_tool":
                return await self._action(turn, question)
            case _:
                return None

    async def _new_history(self, turn: TurnDraft, question: OpenQuestion) -> str:
        if is_yes(turn.answer):
            await self._documents.start_over(turn, question.patient_id)
            return "A new history is started. What would you like to review?"
        await self._documents.open(turn, None)
        return "Nothing was changed. An operator can restore the history."

    async def _action(self, turn: TurnDraft, question: OpenQuestion) -> str | None:
        """Do what a tool asked about, unless the patient changed meanwhile."""
        active, desk = turn.loaded_registry().active_patient_id, self._tools.assistant
        if question.patient_id != active:
            return None
        await self._documents.open(turn, active)
        if is_no(turn.answer) or desk is None:
            return f"Nothing was changed: {question.payload['name']} stays."
        return await self._carried_out(turn, question, desk)

    async def _carried_out(
        self, turn: TurnDraft, question: OpenQuestion, desk: AssistantDesk
    ) -> str:
        memory, began = self._tools.open(turn), self._clock.monotonic()
        error: str | None = None
        try:
            principal = turn.claim.message.sender.principal_id
            text = await desk.perform(question.payload, principal_id=principal)
        except ToolInputError as failure:
            text, error = failure.user_message, str(failure)
        else:
            memory.deleted(str(question.payload["entity_id"]))
        memory.record(
            FinishedRun(
                tool=str(question.payload["action"]),
                agent=AGENT,
                parameters={"event_id": question.payload["entity_id"]},
                data={"result": text},
                error=error,
                duration_ms=(self._clock.monotonic() - began) * 1_000,
            )
        )
        return text
