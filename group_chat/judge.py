"""Asks a model who of several addressed agents speaks next."""

from collections.abc import Sequence

from semantic_kernel.connectors.ai.chat_completion_client_base import ChatCompletionClientBase
from semantic_kernel.contents import AuthorRole, ChatHistory, ChatMessageContent

from data_models.errors import ModelOutputError, ModelRefusedError
from services.language.hand_over import last_line

NAMES_FOLLOW = "the one who should speak first: "
_INSTRUCTIONS = (
    "Several colleagues were addressed at once. Answer with one name from this list and nothing "
    f"else, {NAMES_FOLLOW}"
)


class Judge:
    """Shared by all turns; holds nothing of any."""

    def __init__(self, *, chat_model: ChatCompletionClientBase) -> None:
        self._chat_model = chat_model

    async def pick(self, agents: Sequence[str], text: str) -> str | None:
        """Return one of `agents`, or None if the verdict is unusable.

        Raises:
            ModelError: the model cannot be reached or is too slow.
        """
        instructions = _INSTRUCTIONS + ", ".join(agents)
        history = ChatHistory(
            messages=[
                ChatMessageContent(role=AuthorRole.SYSTEM, content=instructions),
                ChatMessageContent(role=AuthorRole.USER, content=last_line(text)),
            ]
        )
        settings = self._chat_model.get_prompt_execution_settings_class()(
            service_id=self._chat_model.service_id
        )
        try:
            answers = await self._chat_model.get_chat_message_contents(history, settings)
        except (ModelOutputError, ModelRefusedError):
            return None
        verdict = answers[0].content.strip(" \t\r\n*.\"'`").casefold() if answers else ""
        return next((agent for agent in agents if agent.casefold() == verdict), None)
