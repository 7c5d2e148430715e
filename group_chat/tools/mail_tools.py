"""Tools over the user's own mail; sending only asks."""

import asyncio
import re

from pydantic import Field

from data_models.errors import ToolInputError
from data_models.values import ClosedValue
from group_chat.tools.personal import ROWS_SHOWN, PersonalAssistant
from group_chat.tools.tool import Tool, ToolOutput, tools_of
from group_chat.turn_context import TurnContext
from services.assistant.mail import NewEmail, without_cut_text

MAIL_TOOLS = ("search_mail", "read_mail", "draft_mail", "send_mail")
_ADDRESS = re.compile(r"[^\s@<>\",;]{1,64}@[A-Za-z0-9.-]{1,190}")


class MailSearchArguments(ClosedValue):
    """Which messages."""

    words: str = Field(default="", max_length=200, description="In sender, subject or text.")
    since: str | None = Field(default=None, max_length=32, description="ISO, or yesterday, Friday.")
    until: str | None = Field(
        default=None, max_length=32, description="The same; a day is included."
    )


class MailArguments(ClosedValue):
    """Which message."""

    mail_id: str = Field(default="", max_length=500, description="Its id, if a tool gave one.")


class DraftArguments(ClosedValue):
    """What to write."""

    to: list[str] = Field(min_length=1, max_length=20, description="E-mail addresses.")
    title: str = Field(min_length=1, max_length=200, description="Its subject line.")
    text: str = Field(min_length=1, max_length=10_000)
    answers: str = Field(default="", max_length=500, description="Id of the message it answers.")


class MailTools:
    """Works on the mail of whoever asks."""

    def __init__(self, *, assistant: PersonalAssistant) -> None:
        self._assistant = assistant

    async def search_mail(self, turn: TurnContext, asked: MailSearchArguments) -> ToolOutput:
        """The user's own mail, newest first."""
        assistant = await self._assistant.open(turn)
        since, until = assistant.span(asked.since, asked.until)
        found = await assistant.services.mail.search(
            asked.words, since=since, until=until, limit=ROWS_SHOWN + 1
        )
        return assistant.listed("messages", [without_cut_text(one) for one in found])

    async def read_mail(self, turn: TurnContext, asked: MailArguments) -> ToolOutput:
        """The text of the message the user means."""
        assistant = await self._assistant.open(turn)
        mail = await assistant.meant("email", asked.mail_id, assistant.services.mail.get)
        # Off the loop: the whole text is looked through for other patients' names.
        return {"message": await asyncio.to_thread(assistant.rows, [mail])}

    async def draft_mail(self, turn: TurnContext, asked: DraftArguments) -> ToolOutput:
        """Writes a message as a draft, unsent."""
        if not all(_ADDRESS.fullmatch(one) for one in asked.to):
            raise ToolInputError("to must hold e-mail addresses; search_contacts finds them")
        assistant = await self._assistant.open(turn, changes=True)
        subject = " ".join(asked.title.split())
        new = NewEmail(to=tuple(asked.to), subject=subject, text=asked.text, answers=asked.answers)
        return {
            "draft": await assistant.show_made(
                await assistant.services.mail.draft(new, assistant.effect)
            )
        }

    async def send_mail(self, turn: TurnContext, asked: MailArguments) -> ToolOutput:
        """Asks the user to confirm that a draft is sent."""
        assistant = await self._assistant.open(turn, changes=True)
        meant = await assistant.all_meant("email", asked.mail_id, assistant.services.mail.get)
        if any(one.folder != "drafts" for one in meant):
            raise ToolInputError("only a draft can be sent; write one with draft_mail")
        return assistant.ask_first("send_mail", meant)


def mail_tools(assistant: PersonalAssistant) -> tuple[Tool, ...]:
    """Return the tools over the mail of whoever asks."""
    own = MailTools(assistant=assistant)
    return (
        *tools_of(own.search_mail, own.read_mail, own.send_mail),
        *tools_of(own.draft_mail, changes=True),
    )
