"""What the bot does with each type of activity. It decides nothing about patients or agents."""

from dataclasses import dataclass

from bots.incoming import MessageReader
from bots.reference import TEAMS, Activity, Answer, Inbound, Reference, place_of, reference_of
from bots.rendering.cards import SAY_LIMIT_CHARS, said_anew_card, welcome_card
from bots.rendering.delivery import Delivery
from bots.rendering.rendering import card_activity, text_activity
from bots.sign_in import Invokes, UserSignIn, home_of
from data_models.conversations.incoming_message import IncomingMessage
from data_models.errors import StoreError, UserInputError
from data_models.values import Newest
from services.channels.ports import ChannelServices
from services.language.words.own_texts import told_to

# What users did with messages that is not read, and what they are told of it. Pure.

CHANGES = ("messageUpdate", "messageDelete")
_UNDELETED = "undeleteMessage"
# Every formatted message comes as HTML once more; a card brings no words that the text lacks.
_READ_AS_TEXT = ("text/html", "text/plain", "application/vnd.microsoft.card.")
_FILES = (
    "*I cannot see pictures or read files that are sent here, and nothing of what I say is about "
    "them. A letter or report can be given on Rounds' page, with* Attach*.*"
)
_QUOTES = "*I read what you write, not the message that you quote.*"
_CHANGED = (
    "A message was changed after it was sent. I do not go back to what I have read: what I said "
    "and noted is about the words as they were. If I am to answer the new ones, send them anew."
)
_DELETED = (
    "*A message was deleted here. What I had read and answered stays with the conversation; "
    '"clear patient context" puts all of it away.*'
)


def note_of_unread(activity: Inbound) -> str:
    """Return what the user of a message is told about what came with it; empty: nothing did."""
    kinds = [(one.content_type or "").lower() for one in activity.attachments or ()]
    has_files = any(not kind.startswith(_READ_AS_TEXT) for kind in kinds)
    has_quotes = any(one.type == "quotedReply" for one in activity.entities or ())
    notes = [_FILES] if has_files else []
    return "\n\n".join([*notes, *([_QUOTES] if has_quotes else [])])


def note_of_change(activity: Inbound, text: str) -> Activity | None:
    """Return what is said of a message that was changed or deleted; None where nothing is.

    Args:
        text: Its words as they are now.
    """
    if activity.event == _UNDELETED:
        return None
    if activity.type == "messageDelete":
        return text_activity(_DELETED)
    if not 0 < len(text) <= SAY_LIMIT_CHARS:
        return text_activity(_CHANGED)
    return card_activity(said_anew_card(_CHANGED, text), summary="A message was changed.")


# What the bot says when it meets somebody (spec page 6.3).

REMEMBERED = 10_000
_GREETING = "Hello, I am Rounds: a team of agents for your patients, one patient at a time."


class Greeter:
    """Says in which conversations a welcome is due: once in each, while this process runs."""

    def __init__(self) -> None:
        self._greeted = Newest[str, None](limit=REMEMBERED)

    def is_due(self, activity: Inbound) -> bool:
        """Tell whether `activity` brings somebody new, and remember its conversation."""
        place = activity.conversation
        if place is None or activity.recipient is None or not _adds_a_member(activity):
            return False
        key = f"{activity.channel_id}/{activity.recipient.id}/{place.id}"
        known = key in self._greeted
        self._greeted[key] = None
        return not known


def _adds_a_member(activity: Inbound) -> bool:
    bot = activity.recipient.id if activity.recipient is not None else None
    added = {member.id for member in activity.members_added or ()}
    # Teams adds the bot where it is installed; elsewhere the bot is added before the user comes.
    return bot in added if activity.channel_id == TEAMS else bool(added - {bot})


_CARD_ACTION = "adaptiveCard/action"
_TAKEN = {
    "statusCode": 200,
    "type": "application/vnd.microsoft.activity.message",
    "value": "Thank you.",
}
_NOT_OURS = {
    "statusCode": 400,
    "type": "application/vnd.microsoft.error",
    "value": {"code": "BadRequest", "message": "This button is not one of ours."},
}


@dataclass(kw_only=True, eq=False, repr=False)
class RoundsBot:
    """One bot for the facilitator and for each agent."""

    services: ChannelServices
    delivery: Delivery
    invokes: Invokes
    orderers: frozenset[str] | None
    sign_in: UserSignIn | None

    def __post_init__(self) -> None:
        self._greeter = Greeter()
        examples = (
            f"start tumor board for {self.services.patient_id_example}",
            "which patients have we discussed?",
            "clear patient context",
        )
        self._welcome = card_activity(welcome_card(_GREETING, examples), summary=_GREETING)

    async def answer(self, activity: Inbound, agent: str | None) -> Answer | None:
        """Take one activity; return what the request is answered with, None for a bare 202.

        Args:
            agent: Whose bot is spoken to; None for the team's.
        """
        match activity.type:
            case "message" if not _is_own(activity):
                return await self._on_message(activity, self._reader(agent))
            case "invoke" if activity.name == _CARD_ACTION:
                return await self._on_action(activity, self._reader(agent))
            case "invoke":
                return await self.invokes.take(activity, reference_of(activity, agent=agent))
            case kind if kind in CHANGES and not _is_own(activity):
                message = self._reader(agent).read(activity, now=self.services.clock.now())
                return self._say_counted(activity, message, note_of_change(activity, message.text))
            case "conversationUpdate":
                said = [self._welcome] if self._greeter.is_due(activity) else []
                return self._say(activity, reference_of(activity, agent=agent), said)
            case _:
                return Answer({"activities": []}) if activity.expects_replies else None

    async def _on_message(self, activity: Inbound, reader: MessageReader) -> Answer | None:
        message = reader.read(activity, now=self.services.clock.now())
        if message.press is None and not message.text and activity.value is not None:
            # A button of somebody else's card.
            return None
        note = note_of_unread(activity)
        if note and not message.text:
            return self._say_counted(activity, message, text_activity(note))
        message = await self._move_home(message, activity)
        if activity.expects_replies:
            try:
                self.services.rate.take(message.sender.principal_id)
                run = await self.services.scheduler.submit(message)
            except UserInputError as error:
                told = told_to(error.user_message, message.text, language=message.language)
                return Answer({"activities": [text_activity(told)]})
            before = [text_activity(note)] if note else []
            return Answer({"activities": [*before, *await self.delivery.collect(run)]})
        if note:
            self.delivery.tell(place_of(message), note)
        await self._submit(message)
        return None

    async def _on_action(self, activity: Inbound, reader: MessageReader) -> Answer:
        message = reader.read_action(activity, now=self.services.clock.now())
        if message is None:
            return Answer(_NOT_OURS)
        await self._submit(await self._move_home(message, activity))
        return Answer(_TAKEN)

    async def _move_home(self, message: IncomingMessage, activity: Inbound) -> IncomingMessage:
        """Return `message` in the conversation it belongs to; its sender may have signed in."""
        if self.sign_in is not None:
            self.sign_in.met(message)
        home = await home_of(activity, reader=self.services.reader)
        return message.model_copy(update={"conversation_id": home})

    def _say_counted(
        self, activity: Inbound, message: IncomingMessage, note: Activity | None
    ) -> Answer | None:
        """Say what no run does to what a user did, as often as they may write."""
        try:
            self.services.rate.take(message.sender.principal_id)
        except UserInputError:
            note = None
        return self._say(activity, place_of(message), [] if note is None else [note])

    def _say(self, activity: Inbound, reference: Reference, said: list[Activity]) -> Answer | None:
        """Say what no run does: in the answer to the request, or behind it."""
        if activity.expects_replies:
            return Answer({"activities": said})
        for one in said:
            self.delivery.send(reference, one)
        return None

    async def _submit(self, message: IncomingMessage) -> None:
        """Have `message` answered; the user is told what refused it."""
        try:
            self.services.rate.take(message.sender.principal_id)
            run = await self.services.scheduler.submit(message)
        except (UserInputError, StoreError) as error:
            told = told_to(error.user_message, message.text, language=message.language)
            self.delivery.tell(place_of(message), told)
            if isinstance(error, StoreError):
                raise  # A channel that sends it again may be luckier.
            return
        if (delivering := self.delivery.start(run)) is not None:
            await self.services.hand_over.watch(message, delivering)

    def _reader(self, agent: str | None) -> MessageReader:
        names = [card.name for card in self.services.team.agents]
        known = {name.casefold(): name for name in names}
        addressed = None if agent is None else known[agent.casefold()]
        if addressed == self.services.team.facilitator:
            addressed = None
        own = addressed or self.services.team.facilitator
        return MessageReader(
            agents=names, own=own, addressed_agent=addressed, orderers=self.orderers
        )


def _is_own(activity: Inbound) -> bool:
    """Tell whether the bot hears itself, as some channels let it."""
    sender, bot = activity.from_, activity.recipient
    return sender is not None and (
        sender.role == "bot" or (bot is not None and sender.id == bot.id)
    )
