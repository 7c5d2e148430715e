"""Activities as messages for the scheduler. Pure."""

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from bots.reference import TEAMS, Account, Inbound, reference_of
from bots.rendering.cards import label_of, press_in, words_in
from data_models.conversations.incoming_message import IncomingMessage, Press, Sender
from data_models.errors import BadFrameError
from services.access.principal import user_id
from services.language.words.vocabulary import language_of_tag

V = TypeVar("V")
_GROUPS = ("groupChat", "channel")
# Bounded, so that a text of tags which never close takes no longer than any other.
# A quoted message is a number of Teams', which says nothing of patients.
_AT = re.compile(r"(?i)<at\b[^<>]{0,200}>([^<>]{0,1000})</at>|<quoted\b[^<>]{0,200}/>")


@dataclass(kw_only=True, eq=False, repr=False)
class MessageReader:
    """Reads messages of one turn's team.

    Attributes:
        agents: Names of the team.
        own: The agent whose bot is spoken to.
        addressed_agent: The same, if it is not the facilitator's bot.
        orderers: Principal ids with the role `order`; None: everybody who reaches it.
    """

    agents: Sequence[str]
    own: str
    addressed_agent: str | None
    orderers: frozenset[str] | None = frozenset()

    def __post_init__(self) -> None:
        self._agents = {name.casefold(): name for name in self.agents}

    def read(self, activity: Inbound, *, now: datetime) -> IncomingMessage:
        """Return the message that `activity` is.

        Raises:
            BadFrameError: it has no id, sender or conversation.
        """
        return self._message(activity, press_in(activity.value), now)

    def read_action(self, activity: Inbound, *, now: datetime) -> IncomingMessage | None:
        """Return the press that an `adaptiveCard/action` is, or None for another's button.

        Raises:
            BadFrameError: it has no id, sender or conversation.
        """
        action = activity.value.get("action") if isinstance(activity.value, dict) else None
        press = press_in(action.get("data") if isinstance(action, dict) else None)
        return None if press is None else self._message(activity, press, now)

    def _message(self, activity: Inbound, press: Press | None, now: datetime) -> IncomingMessage:
        place, sender = required(activity.conversation), required(activity.from_)
        channel_id = required(activity.channel_id)
        text, mentions = self._text_and_mentions(activity)
        return IncomingMessage(
            conversation_id=place.id,
            channel="bot",
            channel_id=channel_id,
            owner=owner_of(activity),
            sender=self._with_role(_sender(activity, sender, channel_id)),
            message_id=required(activity.id),
            text=label_of(press) if press is not None else text or words_in(activity.value),
            received_at=now,
            mentions=mentions,
            addressed_agent=self.addressed_agent,
            time_zone=activity.time_zone,
            language=language_of_tag(activity.locale or ""),
            press=press,
            is_group=is_group(activity),
            delivery=reference_of(activity, agent=self.addressed_agent),
        )

    def _with_role(self, sender: Sender) -> Sender:
        may = self.orderers is None or sender.principal_id in self.orderers
        return sender.model_copy(update={"may_order": may})

    def _text_and_mentions(self, activity: Inbound) -> tuple[str, tuple[str, ...]]:
        """Return the text without the bot's own mention, and the agents it mentions."""
        own = {self.own.casefold()} | set(_spellings_of(activity, activity.recipient))
        mentioned: list[str] = []

        def said(found: "re.Match[str]") -> str:
            name = html.unescape(found[1] or "").strip()
            if found[1] is None or name.casefold() in own:
                return ""
            agent = self._agents.get(name.casefold())
            mentioned.extend([agent] if agent is not None else [])
            return f"@{agent or name}"

        text = _AT.sub(said, activity.text or "")
        if activity.channel_id == TEAMS:
            # Teams sends "<" as "&lt;", and a space after a mention as "&nbsp;".
            text = html.unescape(text)
        return text.replace("\N{NO-BREAK SPACE}", " ").strip(), tuple(dict.fromkeys(mentioned))


def is_group(activity: Inbound) -> bool:
    """Tell whether others read along where `activity` comes from."""
    place = required(activity.conversation)
    return bool(place.is_group) or place.conversation_type in _GROUPS


def owner_of(activity: Inbound) -> str:
    """Return whose the conversation of `activity` is: the channel's, in the user's directory."""
    return f"bot:{activity.channel_id}:{activity.tenant or ''}"


def principal_of(activity: Inbound) -> str:
    """Return who sent `activity`.

    Raises:
        BadFrameError: nobody did.
    """
    sender = _sender(activity, required(activity.from_), required(activity.channel_id))
    return sender.principal_id


def required(value: V | None) -> V:
    """Return `value`, a part that a message cannot do without.

    Raises:
        BadFrameError: it is absent.
    """
    if value is None:
        raise BadFrameError("the activity is not whole")
    return value


def _spellings_of(activity: Inbound, account: Account | None) -> Iterator[str]:
    for entity in activity.entities or ():
        mentioned = entity.mentioned
        if account is not None and mentioned is not None and mentioned.id == account.id:
            spelt = _AT.fullmatch((entity.text or "").strip())
            yield ((spelt and spelt[1]) or mentioned.name or "").strip().casefold()


def _sender(activity: Inbound, account: Account, channel_id: str) -> Sender:
    """Return who wrote, as the channel verified it: never a name that users can choose."""
    name = account.name or ""
    if channel_id == TEAMS and account.aad_object_id and activity.tenant:
        principal = user_id(activity.tenant, account.aad_object_id)
        return Sender(principal_id=principal, display_name=name, tenant_id=activity.tenant)
    return Sender(principal_id=f"bot:{channel_id}:{account.id}", display_name=name)
