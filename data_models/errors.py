"""Every error Rounds raises on purpose, grouped by who can fix it.

* BusyError: what answers perhaps if it is asked again, after a pause that it may have named
* UserInputError: the user can fix it; `user_message` is shown in the chat
* AccessError: the caller may not; the answer tells nothing about what exists
* ToolInputError: the model can fix it; its text goes back as the tool's result
* StoreError: the turn stops and nothing more is written
* InterruptedTurnError: the server stopped while it answered
* ModelError: the turn ends with one plain message
* RecordsError: the patient's records could not be read or written
* ChannelError: a reply could not be handed to its channel; it is kept for the next contact
* HubUnavailableError: retry; a record system's hub does not tell which patient is open
* ConfigurationError: the operator can fix it; stops the start

Each stands before those that are of its kind.

No error carries what a patient or a clinician wrote: messages name the kind of
document and the rule that failed, so they are safe to log. `code` is a constant of
the class; what users read of it, its status and whether to try again stand in `errors.yaml`.
"""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from data_models.plain_yaml import read_yaml

_TEXTS = Path(__file__).with_name("errors.yaml").read_bytes()
_TABLE: Mapping[str, Mapping[str, Any]] = read_yaml(_TEXTS)


class RoundsError(Exception):
    """Base class; caught only where a turn, a request or the process ends."""

    code: ClassVar[str] = "internal"
    """Stable name for clients, logs and dashboards; never renamed."""
    user_message: str = "Something went wrong on our side. Please try again."
    """What the user reads: what happened, and whether trying again helps."""
    retryable: ClassVar[bool] = False
    retry_after_seconds: int = 3
    """How long to wait before trying again helps, if it does."""
    http_status: ClassVar[int] = 500
    _told: ClassVar[str] = ""

    def __init_subclass__(cls, *, code: str = "") -> None:
        """Take from the table what it says of `code`; the rest is as in the class above."""
        super().__init_subclass__()
        if code:
            row = _TABLE.get(code, {})
            cls.code = code
            cls.user_message = row.get("text", cls.user_message)
            cls._told = row.get("told", cls._told)
            cls.http_status = row.get("status", cls.http_status)
            cls.retryable = row.get("retryable", cls.retryable)


class BusyError(RoundsError):
    """What answers perhaps if it is asked again.

    Attributes:
        wait_seconds: How long it asked us to wait; None if it did not say.
        is_maybe_taken: It had the whole request and did not answer in time: sent again, what was
            asked for may be done twice.
    """

    def __init__(
        self, message: str = "", *, wait_seconds: float | None = None, is_maybe_taken: bool = False
    ) -> None:
        super().__init__(message)
        self.wait_seconds = wait_seconds
        self.is_maybe_taken = is_maybe_taken


class UserInputError(RoundsError, code="bad_request"):
    """The user can fix it; `figures` stand in what they read, as the table has it."""

    def __init__(self, message: str = "", **figures: int) -> None:
        super().__init__(message)
        if figures:
            self.user_message = self._told.format(**figures)


class BadFrameError(UserInputError, code="bad_frame"):
    """A frame, body or parameter is not of the expected shape; `what` is wrong, in our words."""

    def __init__(self, what: str = "") -> None:
        super().__init__(what)
        if what and self._told:
            self.user_message = self._told.format(what=what)


class WrongAnswerError(BadFrameError, code="wrong_answer"):
    """The answer to an interrupt has a form that answers nothing."""


class ToldError(UserInputError):
    """The text says what cannot be done, and the remedy."""

    def __init__(self, text: str) -> None:
        super().__init__(self.code)
        self.user_message = text


class AttachmentError(ToldError, code="attachment"):
    """A paper cannot be kept with a patient."""


class AudioError(UserInputError, code="audio"):
    """A recording is empty, too large or of a kind that is not known."""


class EmptyMessageError(UserInputError, code="empty_message"):
    """The message has no text."""


class MessageTooLongError(UserInputError, code="message_too_long"):
    """The message has more characters than `limit_chars` (spec page 6.1)."""


class InvalidIdentifierError(UserInputError, ValueError, code="invalid_identifier"):
    """An identifier does not have the required form."""

    def __init__(self, *, kind: str, expected: str) -> None:
        super().__init__(f"{kind} must be {expected}")
        self.kind = kind


class StaleQuestionError(UserInputError, code="stale_question"):
    """A button was pressed whose question or plan is no longer open."""


class RoundsListError(ToldError, code="rounds_list"):
    """A list of a round cannot be made or changed as asked."""


class FeedbackError(UserInputError, code="bad_feedback"):
    """What was sent is no opinion of an answer."""


class BranchError(UserInputError, code="bad_branch"):
    """What was sent does not say where a conversation is to branch."""


class WorklistFullError(UserInputError, code="worklist_full"):
    """A user has pinned as many patients as a worklist takes: `limit`."""


class NothingToUndoError(UserInputError, code="nothing_to_undo"):
    """No clear of the caller's can be undone any more."""


class MemoryItemError(UserInputError, code="memory_item"):
    """An item of a patient's memory is not there, or is not as it was when it was changed."""


class MemoryChangedError(UserInputError, code="memory_changed"):
    """The memory changed since the person read it; nothing was stored."""


class TooManyMessagesError(UserInputError, code="too_many_messages"):
    """The conversation's queue is full: so many messages are `waiting`."""


class RateLimitedError(UserInputError, code="rate_limited"):
    """The caller sent more messages, or changed more, in a minute than the limit."""

    def __init__(self, *, per_minute: int) -> None:
        super().__init__(per_minute=per_minute)
        self.retry_after_seconds = math.ceil(60 / per_minute)


class TooManyReadsError(RateLimitedError, code="too_many_reads"):
    """The caller read more in a minute than the limit."""


class TooManyExportsError(RateLimitedError, code="too_many_exports"):
    """The caller asked for more exports in a minute than the limit."""


class TooManySocketsError(UserInputError, code="too_many_sockets"):
    """The caller holds as many sockets open as the `limit` allows."""


class ScenarioInputError(UserInputError, code="scenario"):
    """A scenario, a plan or a session cannot be used as it is."""


class ScenarioDefinitionError(ScenarioInputError, code="scenario_definition"):
    """A version of a scenario is refused.

    Attributes:
        problems: What is wrong, one sentence each, with step and field; the author's own words
            about the graph, nothing of a patient.
    """

    def __init__(self, problems: tuple[str, ...]) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems


class ScenarioConditionError(ScenarioInputError, code="scenario_condition"):
    """A condition is not CEL, does not fit the fields, or cannot be decided from their values."""


class ScenarioPlanError(ScenarioInputError, code="scenario_plan"):
    """A migration plan is missing, not approved, or made for other versions."""


class ScenarioConflictError(ScenarioPlanError, code="scenario_conflict"):
    """Two operators, or two servers, wrote at the same moment; the other one's write stands."""


class ScenarioNotFoundError(ScenarioInputError, code="scenario_not_found"):
    """There is no such scenario or version."""


class AccessError(RoundsError):
    """The caller may not do this."""


class UnauthenticatedError(AccessError, code="unauthenticated"):
    """No verified principal."""


class ForbiddenError(AccessError, code="forbidden"):
    """A verified principal, or an origin, that is not allowed."""


class NotFoundError(AccessError, code="not_found"):
    """Absent, malformed or not yours: one answer for all three."""


class NoSuchListError(NotFoundError, code="no_such_list"):
    """Absent, malformed or somebody else's: one answer for all three."""


class NoSuchPatientError(NotFoundError, code="no_such_patient"):
    """The records know nobody by this id."""


class ChartClosedError(AccessError, code="chart_closed"):
    """The patient's chart is not open to the caller (spec page 10.6)."""


class ChartUncheckedError(ChartClosedError, code="chart_unchecked"):
    """Whether the chart is open to the caller cannot be told just now, so it stays closed."""


class SignInNeededError(AccessError, code="sign_in_needed"):
    """What was asked for needs the user's own rights elsewhere, and they have not signed in for it.

    Attributes:
        needs_consent: They, or their administrator, have to agree as well.
    """

    def __init__(self, *, needs_consent: bool) -> None:
        super().__init__("the user has not signed in")
        self.needs_consent = needs_consent


class ChartSignInError(ChartUncheckedError, code="chart_sign_in"):
    """The chart is open to whom the records server lets in, and the caller has not signed in."""


class OnBehalfRefusedError(AccessError, code="on_behalf_refused"):
    """The directory does not let this server act on behalf of its users."""


class SignInUnavailableError(AccessError, code="sign_in_unavailable"):
    """The keys that verify tokens could not be fetched, so nobody can be told from anybody."""


class ToolInputError(RoundsError, code="tool_input"):
    """The model can fix it; `str(error)` is the tool's result, so it holds no patient text."""


class UnknownAgentError(ToolInputError, code="unknown_agent"):
    """The named agent is not in the team, or none is named."""


class EntityDeltaError(ToolInputError, code="entity_delta"):
    """A delta of entities is malformed; the text says where, and nothing of it was stored."""


class StaleEntitiesError(ToolInputError, code="stale_entities"):
    """The entities changed since the writer read them; nothing was stored."""


class AssistantError(ToolInputError, code="assistant"):
    """The user's own calendar, mail, contacts, tasks or documents cannot do this."""


class AssistantItemGoneError(AssistantError, code="assistant_item_gone"):
    """What was meant is no longer there."""


class AssistantUnavailableError(AssistantError, code="assistant_unavailable"):
    """The service that holds it did not answer, or is too busy."""


class AssistantBusyError(BusyError, AssistantUnavailableError, code="assistant_busy"):
    """The service, or the way to it, may answer if asked again."""


class AssistantUnsureError(AssistantError, code="assistant_unsure"):
    """The service was asked to change something, and its answer was lost."""


class AssistantRefusedError(AssistantError, code="assistant_refused"):
    """The service refuses: no sign-in, one that ended, or no permission."""


class AssistantSignInError(AssistantRefusedError, code="assistant_sign_in"):
    """It is reached with the user's own rights, and they have not signed in for that."""


class AssistantNotGrantedError(AssistantRefusedError, code="assistant_not_granted"):
    """The user's directory does not let this server act on their behalf."""


class StoreError(RoundsError, code="store"):
    """A document could not be read or written."""


class StoreUnavailableError(StoreError, code="store_unavailable"):
    """The store did not answer; a write may or may not have happened."""


class StoreUnwritableError(StoreUnavailableError, code="store_unwritable"):
    """The store has no room left, or may not be written to."""


class BlobExistsError(StoreError, code="blob_exists"):
    """A create met a blob of that name."""


class BlobChangedError(StoreError, code="blob_changed"):
    """A conditional write met another version, or none."""


class CorruptDocumentError(StoreError, code="corrupt_document"):
    """A stored document cannot be read: copied aside and left in place; it needs a person."""


class CorruptRegistryError(CorruptDocumentError, code="corrupt_registry"):
    """The list of a conversation's patients cannot be read; no turn can know whose it is."""


class CorruptConversationError(CorruptDocumentError, code="corrupt_conversation"):
    """What belongs to a conversation and to none of its patients cannot be read."""


class DocumentTooNewError(StoreError, code="document_too_new"):
    """A stored document needs a newer server."""


class ClaimLostError(StoreError, code="claim_lost"):
    """Another replica took this turn over; this one must write nothing more."""


class ConversationBusyError(StoreError, code="conversation_busy"):
    """A turn runs in the conversation, and this work could not wait for its end."""


class AuditUnavailableError(StoreError, code="audit_unavailable"):
    """The audit record could not be written, so the access did not happen."""


class InterruptedTurnError(RoundsError, code="interrupted"):
    """The server stopped, or was stopped, while it answered."""


class ServerStoppingError(InterruptedTurnError, code="stopping"):
    """The server is about to stop and takes no more messages."""


class ModelError(RoundsError, code="model"):
    """The language model could not answer."""


class ModelUnavailableError(BusyError, ModelError, code="model_unavailable"):
    """The model's server refused, failed or could not be reached."""


class ModelTimeoutError(ModelError, code="model_timeout"):
    """The model's answer took longer than its budget."""


class ModelOutputError(ModelError, code="model_output"):
    """The model's answer was empty, cut off or not of the required shape."""


class ModelSilentError(ModelOutputError, code="model_silent"):
    """The model's answer was whole, and empty."""


class ModelRefusedError(ModelError, code="model_refused"):
    """The model, or its content filter, declined."""


class ModelRequestError(ModelError, code="model_request"):
    """The model's server does not take this request: a parameter it does not know, or too long.

    Attributes:
        param: The parameter the server named, or nothing.
    """

    def __init__(self, *, status: int, param: str = "") -> None:
        super().__init__(f"the model's server answered {status}")
        self.status = status
        self.param = param


class ModelUnfitError(ModelError, code="model_unfit"):
    """The model answers, but not as this needs it; the text tells an operator what to set."""


class ModelWindowError(ModelRequestError, code="model_window"):
    """The request is longer than the model's window, however much of it was left out.

    Attributes:
        window_tokens: The window, if the server named it.
    """

    def __init__(self, *, status: int, window_tokens: int | None = None) -> None:
        super().__init__(status=status, param="messages")
        self.window_tokens = window_tokens


class RecordsError(RoundsError, code="records"):
    """The patient's records could not be read."""


class RecordsUnavailableError(RecordsError, code="records_unavailable"):
    """The records server did not answer or refused."""


class RecordsBusyError(BusyError, RecordsUnavailableError, code="records_busy"):
    """The records server, or the way to it, may answer if asked again."""


class RecordsRefusedError(RecordsError, code="records_refused"):
    """The records server refused our credentials.

    Attributes:
        status: What it answered, 401 or 403; None where no answer of it is meant.
    """

    def __init__(self, message: str = "", *, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class RecordsUnreadableError(RecordsError, code="records_unreadable"):
    """The records answered with something that is not FHIR R4, or that is over a limit."""


class RecordMayBeDamagedError(RecordsUnreadableError, code="record_may_be_damaged"):
    """Nobody that could be read carries this id, but not every file could be read."""


class RecordAmbiguousError(RecordsError, code="record_ambiguous"):
    """More than one patient of the records carries this id."""


class RecordReplacedError(RecordsError, code="record_replaced"):
    """The patient's record was merged into another one, which is the one to open."""


class RecordNotFoundError(RecordsError, code="record_not_found"):
    """There are no records for this patient id."""


class RecordChangedError(RecordsError, code="record_changed"):
    """A conditional write met another version of the resource; nothing was written."""


class RecordNotAcceptedError(RecordsUnreadableError, code="record_not_accepted"):
    """The records server did not accept a new resource; nothing was written.

    Attributes:
        status: What it answered, 400 to 499.
    """

    def __init__(self, message: str, *, status: int) -> None:
        super().__init__(message)
        self.status = status


class ChannelError(RoundsError, code="channel"):
    """A reply could not be handed to the channel of its conversation."""


class ChannelUnavailableError(BusyError, ChannelError, code="channel_unavailable"):
    """The channel did not answer, or was busy."""


class ChannelClosedError(ChannelError, code="channel_closed"):
    """The conversation takes no messages of the bot: it is gone, or the bot was removed from it."""


class ChannelRefusedError(ChannelError, code="channel_refused"):
    """The channel refuses this reply, or the place it would go to is not allowed.

    Attributes:
        is_user_stop: The user ended the message that was being streamed.
    """

    def __init__(self, reason: str, *, is_user_stop: bool = False) -> None:
        super().__init__(reason)
        self.is_user_stop = is_user_stop


class ChannelTooLargeError(ChannelRefusedError, code="channel_too_large"):
    """The reply is larger than the channel takes; in parts it may be taken."""


class HubUnavailableError(RoundsError, code="hub_unavailable"):
    """The hub of a record system does not answer, or not as FHIRcast has it."""


class HubRefusedError(HubUnavailableError, code="hub_refused"):
    """It does not let this user subscribe, or took that back."""


class SpeechUnavailableError(RoundsError, code="speech_unavailable"):
    """The server of transcriptions did not answer, or not as expected."""


class BackupError(RoundsError, code="backup"):
    """A backup or a restore cannot be made as asked. Only commands raise it."""


class ConfigurationError(RoundsError, code="configuration"):
    """A setting is missing or unusable; the message names it, the problem and an example."""


def user_message_of(code: str) -> str:
    """Return what the user is told about the error of that code; the base class's if unknown."""
    return _kind_of(code).user_message


def is_retryable(code: str) -> bool:
    """Tell whether trying again helps against the error of that code; not if it is unknown."""
    return _kind_of(code).retryable


def is_users_own(code: str) -> bool:
    """Tell whether the error of that code is about what the user sent: nobody else can mend it."""
    return issubclass(_kind_of(code), UserInputError)


def _kind_of(code: str) -> type[RoundsError]:
    kinds = [RoundsError]
    for kind in kinds:
        if kind.code == code:
            return kind
        kinds.extend(kind.__subclasses__())
    return RoundsError
