"""Tools over the user's own documents; deleting only asks."""

import asyncio

from pydantic import Field

from data_models.values import ClosedValue
from group_chat.tools.personal import ROWS_SHOWN, PersonalAssistant
from group_chat.tools.tool import Tool, ToolOutput, tools_of
from group_chat.turn_context import TurnContext
from services.assistant.documents import DOCUMENT_TEXT_LIMIT_CHARS
from services.language.names_within import names_one_of

DOCUMENT_TOOLS = ("search_documents", "read_own_document", "delete_document")
_WITHHELD = "the document names another patient, so it is not shown here"


class DocumentSearchArguments(ClosedValue):
    """Which documents."""

    words: str = Field(default="", max_length=200, description="In the name of the document.")
    since: str | None = Field(default=None, max_length=32, description="Changed then or later.")
    until: str | None = Field(
        default=None, max_length=32, description="The same; a day is included."
    )


class DocumentArguments(ClosedValue):
    """Which document."""

    document_id: str = Field(default="", max_length=500, description="Its id, if a tool gave one.")


class DocumentTools:
    """Works on the documents of whoever asks."""

    def __init__(self, *, assistant: PersonalAssistant) -> None:
        self._assistant = assistant

    async def search_documents(
        self, turn: TurnContext, asked: DocumentSearchArguments
    ) -> ToolOutput:
        """The user's own files."""
        assistant = await self._assistant.open(turn)
        since, until = assistant.span(asked.since, asked.until)
        found = await assistant.services.documents.search(
            asked.words, since=since, until=until, limit=ROWS_SHOWN + 1
        )
        return assistant.listed("documents", found)

    async def read_own_document(self, turn: TurnContext, asked: DocumentArguments) -> ToolOutput:
        """The text of the document."""
        assistant = await self._assistant.open(turn)
        documents = assistant.services.documents
        document = await assistant.meant("document", asked.document_id, documents.get)
        found, row = await documents.text(document.id), assistant.rows([document])
        said = {"text": found.text, "beside": found.beside}
        if await asyncio.to_thread(names_one_of, said, assistant.memory.others):
            return {"document": row, "withheld": _WITHHELD}
        shown = {"document": row, "text": found.text[:DOCUMENT_TEXT_LIMIT_CHARS]}
        return shown if shown["text"] == found.text else {**shown, "cut": _cut(found.text)}

    async def delete_document(self, turn: TurnContext, asked: DocumentArguments) -> ToolOutput:
        """Asks the user to confirm that the document they mean is deleted."""
        assistant = await self._assistant.open(turn, changes=True)
        documents = assistant.services.documents
        meant = await assistant.all_meant("document", asked.document_id, documents.get)
        return assistant.ask_first("delete_document", meant)


def _cut(text: str) -> str:
    return f"the first {DOCUMENT_TEXT_LIMIT_CHARS:,} of {len(text):,} characters"


def document_tools(assistant: PersonalAssistant) -> tuple[Tool, ...]:
    """Return the tools over the documents of whoever asks."""
    own = DocumentTools(assistant=assistant)
    return tools_of(own.search_documents, own.read_own_document, own.delete_document)
