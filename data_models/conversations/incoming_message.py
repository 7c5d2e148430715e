"""What a transport hands to the pipeline: one message of one user."""

from typing import Annotated, Any, Self

from pydantic import AwareDatetime, Field

from data_models.conversations.plan import StepEdit
from data_models.identifiers import hashed
from data_models.values import Value

WEB = "web"
ROUNDS = "rounds"
"""`channel_id` of the messages that prepare a patient for a round."""
ChannelName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,31}$")]


class Sender(Value):
    """Who wrote it, as the channel verified it.

    Attributes:
        tenant_id: The directory of a user of one.
        may_order: Whether the sign-in gave the role `order`.
    """

    principal_id: str
    display_name: str = ""
    tenant_id: str = ""
    may_order: bool = False


class Press(Value):
    """A button: which question or plan it belongs to, and what it says.

    Attributes:
        target_id: Id of the open question or of the proposed plan.
        answer: For a question the answer's words, for a plan `confirm`, `change` or `cancel`.
        steps: For `confirm`: the numbers of the plan's steps to run, in order; None for all.
        edits: For `confirm`: steps whose words the user changed.
    """

    target_id: str
    answer: str
    steps: tuple[int, ...] | None = None
    edits: tuple[StepEdit, ...] = ()


class IncomingMessage(Value):
    """One message, already authenticated and within the limits of spec page 6.1.

    Attributes:
        channel: `web`, `bot` or another that is added.
        channel_id: The Bot Framework's (`msteams`, `emulator`), else the same.
        owner: Who owns the conversation if this message creates it (spec page 7, R2).
        message_id: The channel's id of this message; unique per channel and sender.
        mentions: Names of agents the user addressed, as the channel marked them.
        addressed_agent: The agent whose own bot received it, None for the facilitator's.
        time_zone: IANA name, if the channel knows the user's.
        language: Of the page or app that it was written in, ISO 639-1; "" where that is unknown.
        seen_patient_id: Who was active on the sender's screen while nothing ran there, if the
            channel says so. It decides nothing; where somebody else is active, the user is asked.
        is_group: Whether several people read and write in the conversation.
        delivery: What the channel needs to reply later, raw JSON (a conversation reference).
    """

    conversation_id: str
    channel: ChannelName
    channel_id: str
    owner: str
    sender: Sender
    message_id: str
    text: str
    received_at: AwareDatetime
    mentions: tuple[str, ...] = ()
    addressed_agent: str | None = None
    time_zone: str | None = None
    language: str = ""
    seen_patient_id: str | None = None
    is_group: bool = False
    press: Press | None = None
    delivery: dict[str, Any] | None = Field(default=None, repr=False)

    @property
    def is_delivered(self) -> bool:
        """Whether the channel sends the answer by itself; on the web, who asks watches."""
        return self.channel != WEB

    @property
    def is_of_rounds(self) -> bool:
        """Whether no person wrote it: it prepares a patient for a round."""
        return self.channel_id == ROUNDS

    @property
    def message_hash(self) -> str:
        """Name of this message among the answered ones: hash of channel, sender, message id."""
        return hashed(self.channel_id, self.sender.principal_id, self.message_id)

    def is_again(self, before: Self) -> bool:
        """Whether it is the same message, or the same button pressed once more by the same user."""
        is_pressed = self.press is not None and self.press == before.press
        is_same_press = is_pressed and self.sender.principal_id == before.sender.principal_id
        return is_same_press or self.message_hash == before.message_hash

    def is_seen_beside_another(self, patient_id: str) -> bool:
        """Whether the sender's screen is known to have shown another patient than this."""
        return self.seen_patient_id not in (None, patient_id)

    @property
    def words_hash(self) -> str:
        """The same for whatever this sender says in the same words."""
        return hashed(self.sender.principal_id, " ".join(self.text.casefold().split()))
