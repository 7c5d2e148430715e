"""Every error Rounds raises on purpose, grouped by who can fix it.

* RoundsError
  * UserInputError: the user can fix it; `user_message` is shown in the chat
    * BadFrameError
      * WrongAnswerError
    * AttachmentError: a paper cannot be kept; the text says why
    * AudioError: a recording is empty, too large or of an unknown kind
    * EmptyMessageError
    * MessageTooLongError
    * InvalidIdentifierError
    * StaleQuestionError
    * RoundsListError: an entry of a round's list is not one patient's; the text says which
    * WorklistFullError: as many patients are pinned as a worklist takes
    * FeedbackError: what was sent is no opinion of an answer
    * BranchError: what was sent does not say where a conversation is to branch
    * NothingToUndoError: the caller cleared nothing in the last 24 hours
    * MemoryItemError: the item is gone, or not as it was
    * MemoryChangedError: the memory changed since it was read
    * TooManyMessagesError
    * RateLimitedError
      * TooManyReadsError
      * TooManyExportsError
    * TooManySocketsError
    * ScenarioInputError: a scenario, plan or answer of an operator or author
      * ScenarioDefinitionError: the version is refused; `problems` name step and field
      * ScenarioConditionError
      * ScenarioPlanError: the deployment is refused
        * ScenarioConflictError: another operator was faster; look again
      * ScenarioNotFoundError
  * AccessError: the caller may not; the answer tells nothing about what exists
    * UnauthenticatedError
    * ForbiddenError
    * NotFoundError
      * NoSuchListError: no list of a round, or not the caller's
      * NoSuchPatientError: the records know nobody by the id
    * ChartClosedError: the patient's chart is not open to the caller
      * ChartUncheckedError: retry; nobody can tell just now
        * ChartSignInError: the user has to sign in by the card that follows
    * SignInNeededError: the user has to sign in, or to agree, so that we can act for them
    * OnBehalfRefusedError: the operator has to let this server act for its users
    * SignInUnavailableError: retry
  * ToolInputError: the model can fix it; its text goes back as the tool's result
    * UnknownAgentError
    * EntityDeltaError: a delta of entities is malformed; nothing of it was stored
    * StaleEntitiesError: the entities changed since they were read; nothing was stored
    * AssistantError: the user's own calendar, mail, contacts, tasks or documents; nothing changed
      * AssistantItemGoneError: what was meant is no longer there
      * AssistantUnavailableError: retry; the service did not answer
        * AssistantBusyError: it said so, perhaps with a time to wait
      * AssistantUnsureError: the answer to a change was lost; it may have happened
      * AssistantRefusedError: the user has to sign in, or the operator has to permit it
        * AssistantSignInError: the user has to sign in by the card that follows
        * AssistantNotGrantedError: the operator has to let this server act for its users
  * StoreError: the turn stops and nothing more is written
    * StoreUnavailableError: retry; a write may or may not have happened
    * BlobExistsError: a create met an existing blob
    * BlobChangedError: a conditional write met another version
    * CorruptDocumentError: needs a person
      * CorruptRegistryError
    * DocumentTooNewError: needs a newer server
    * ClaimLostError: another replica took the turn over
    * ConversationBusyError: retry; a turn runs, and work that is no turn waits for its end
    * AuditUnavailableError: no access without its record
  * InterruptedTurnError: the server stopped while it answered
    * ServerStoppingError: it is about to, and takes no more messages
  * ModelError: the turn ends with one plain message
    * ModelUnavailableError: retry
    * ModelTimeoutError: retry
    * ModelOutputError
      * ModelSilentError: it said nothing at all
    * ModelRefusedError
    * ModelUnfitError: it answers, but its window is too small or it cuts prompts in silence
    * ModelRequestError: the server does not take requests of this form
      * ModelWindowError: longer than the model's window, whatever is left out
  * RecordsError: the patient's records could not be read or written
    * RecordsUnavailableError: retry
      * RecordsBusyError: the server said so, perhaps with a time to wait
    * RecordsRefusedError: the operator's token is missing, wrong or not enough
    * RecordsUnreadableError: the records break the FHIR standard or our limits
      * RecordNotAcceptedError: the server does not take a new resource; nothing was written
      * RecordMayBeDamagedError: nobody carries the id, but some files could not be read
    * RecordAmbiguousError: two patients carry the id; nobody guesses which
    * RecordReplacedError: the record was merged into another
    * RecordNotFoundError
    * RecordChangedError: somebody else wrote first; nothing was written
  * ChannelError: a reply could not be handed to its channel; it is kept for the next contact
    * ChannelUnavailableError: retry
    * ChannelClosedError: the conversation takes no messages; it is parked
    * ChannelRefusedError: the channel does not take this reply
      * ChannelTooLargeError: it may take it in parts
  * HubUnavailableError: retry; a record system's hub does not tell which patient is open
    * HubRefusedError: it lets this user not subscribe
  * SpeechUnavailableError: retry; dictated words could not be written down
  * BackupError: a backup or a restore cannot be made as asked; the text says why
  * ConfigurationError: the operator can fix it; stops the start

No error carries what a patient or a clinician wrote: messages name the kind of
document and the rule that failed, so they are safe to log. `code` is a constant of
the class, and so is `user_message` but where it names a limit that is a setting.
"""

import math
from typing import ClassVar


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


class UserInputError(RoundsError):
    """The user can fix it."""

    code = "bad_request"
    user_message = "That message could not be read. Please check it and send it again."
    http_status = 400


class BadFrameError(UserInputError):
    """A frame or body is not JSON or not of the expected shape."""

    code = "bad_frame"
    user_message = 'That frame could not be read. Send JSON such as {"content": "..."}.'


class WrongAnswerError(BadFrameError):
    """The answer to an interrupt has a form that answers nothing."""

    code = "wrong_answer"
    user_message = (
        "That answers nothing: send what the interrupt's responseSchema describes, such as "
        '{"answer": "yes"}. The question is still open.'
    )


class AttachmentError(UserInputError):
    """A paper cannot be kept with a patient; the text says why, and the remedy."""

    code = "attachment"
    user_message = "That file cannot be kept. Please try another one; nothing was stored."

    def __init__(self, text: str) -> None:
        super().__init__("a paper cannot be kept with a patient")
        self.user_message = text


class AudioError(UserInputError):
    """A recording is empty, too large or of a kind that is not known."""

    code = "audio"
    user_message = (
        "This recording cannot be written down: it is empty, larger than 5 MB or of an unknown "
        "kind. Please dictate again, in shorter parts."
    )


class EmptyMessageError(UserInputError):
    """The message has no text."""

    code = "empty_message"
    user_message = "The message is empty. Please write something and send it again."


class MessageTooLongError(UserInputError):
    """The message has more characters than the limit of page 6.1."""

    code = "message_too_long"
    user_message = "The message is too long. Please send it in parts."
    http_status = 413

    def __init__(self, *, limit_chars: int) -> None:
        super().__init__("a message over the limit")
        self.user_message = (
            f"The message is longer than {limit_chars:,} characters. Please send it in parts."
        )


class InvalidIdentifierError(UserInputError, ValueError):
    """An identifier does not have the required form."""

    code = "invalid_identifier"
    user_message = "That identifier is not in the expected form."

    def __init__(self, *, kind: str, expected: str) -> None:
        super().__init__(f"{kind} must be {expected}")
        self.kind = kind


class StaleQuestionError(UserInputError):
    """A button was pressed whose question or plan is no longer open."""

    code = "stale_question"
    user_message = "That button belongs to an earlier question. Nothing was changed."
    http_status = 409


class RoundsListError(UserInputError):
    """A list of a round cannot be made or changed as asked; the text names what and the remedy."""

    code = "rounds_list"
    user_message = "That list cannot be made. Please name the patients again; nothing was changed."

    def __init__(self, text: str) -> None:
        super().__init__("a list of a round cannot be made or changed as asked")
        self.user_message = text


class FeedbackError(UserInputError):
    """What was sent is no opinion of an answer."""

    code = "bad_feedback"
    user_message = (
        'That is no opinion of an answer. Send {"verdict": "up"}, or {"verdict": "down"} with a '
        "reason (wrong, wrong_patient, not_supported, incomplete or other) and a text of at most "
        "4,000 characters, both as you like."
    )


class BranchError(UserInputError):
    """What was sent does not say where a conversation is to branch."""

    code = "bad_branch"
    user_message = (
        'Send {"patient_id": "…", "before_turn": n}: whose talk, and the number of the turn before '
        "which the new conversation ends."
    )


class WorklistFullError(UserInputError):
    """A user has pinned as many patients as a worklist takes."""

    code = "worklist_full"
    http_status = 409

    def __init__(self, *, limit: int) -> None:
        super().__init__("a worklist is full")
        self.user_message = (
            f"Your worklist holds {limit} pinned patients, and no more. Please unpin one first."
        )


class NothingToUndoError(UserInputError):
    """No clear of the caller's can be undone any more."""

    code = "nothing_to_undo"
    user_message = "You have cleared nothing here in the last 24 hours that could be undone."
    http_status = 409


class MemoryItemError(UserInputError):
    """An item of a patient's memory is not there, or is not as it was when it was changed."""

    code = "memory_item"
    user_message = "That entry is not as it was, or there is no room for it. Nothing was changed."
    http_status = 409


class MemoryChangedError(UserInputError):
    """The memory changed since the person read it; nothing was stored."""

    code = "memory_changed"
    user_message = "The memory changed meanwhile. Please look at it again; nothing was changed."
    retryable = True
    http_status = 412


class TooManyMessagesError(UserInputError):
    """The conversation's queue is full."""

    code = "too_many_messages"
    user_message = "Too many messages are waiting here. Please try again when they are answered."
    retryable = True
    http_status = 429

    def __init__(self, *, waiting: int) -> None:
        super().__init__("the queue of the conversation is full")
        self.user_message = (
            f"{waiting} messages are already waiting here. Please try again when they are answered."
        )


class RateLimitedError(UserInputError):
    """The caller sent more messages, or changed more, in a minute than the limit."""

    code = "rate_limited"
    user_message = "Too many messages or changes in a minute. Please wait a little and try again."
    retryable = True
    http_status = 429

    _counted: ClassVar[str] = "messages or changes"
    _setting: ClassVar[str] = "MESSAGES_PER_MINUTE"

    def __init__(self, *, per_minute: int) -> None:
        super().__init__("more messages or changes in a minute than the limit")
        self.retry_after_seconds = math.ceil(60 / per_minute)
        self.user_message = (
            f"That is more than {per_minute} {self._counted} in a minute (the server's "
            f"{self._setting}). Please wait a little and try again."
        )


class TooManyReadsError(RateLimitedError):
    """The caller read more in a minute than the limit."""

    code = "too_many_reads"
    _counted = "reads"
    _setting = "READS_PER_MINUTE"


class TooManyExportsError(RateLimitedError):
    """The caller asked for more exports in a minute than the limit."""

    code = "too_many_exports"
    _counted = "exports"
    _setting = "EXPORTS_PER_MINUTE"


class TooManySocketsError(UserInputError):
    """The caller holds as many sockets open as the limit allows."""

    code = "too_many_sockets"
    user_message = "Too many windows are connected. Please close one and try again."
    retryable = True
    http_status = 429

    def __init__(self, *, limit: int) -> None:
        super().__init__("more sockets of one caller than the limit")
        self.user_message = (
            f"{limit} windows are connected already. Please close one and try again."
        )


class ScenarioInputError(UserInputError):
    """A scenario, a plan or a session cannot be used as it is."""

    code = "scenario"
    user_message = "That scenario cannot be used as it is. Please see the list of problems."


class ScenarioDefinitionError(ScenarioInputError):
    """A version of a scenario is refused.

    Attributes:
        problems: What is wrong, one sentence each, with step and field; the author's own words
            about the graph, nothing of a patient.
    """

    code = "scenario_definition"

    def __init__(self, problems: tuple[str, ...]) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems


class ScenarioConditionError(ScenarioInputError):
    """A condition is not CEL, does not fit the fields, or cannot be decided from their values."""

    code = "scenario_condition"


class ScenarioPlanError(ScenarioInputError):
    """A migration plan is missing, not approved, or made for other versions."""

    code = "scenario_plan"
    user_message = "That plan does not fit the versions as they are now. Please make a new one."
    http_status = 409


class ScenarioConflictError(ScenarioPlanError):
    """Two operators, or two servers, wrote at the same moment; the other one's write stands."""

    code = "scenario_conflict"
    user_message = "Somebody else changed this scenario at the same moment. Please look again."
    retryable = True


class ScenarioNotFoundError(ScenarioInputError):
    """There is no such scenario or version."""

    code = "scenario_not_found"
    user_message = "There is no such scenario or version."
    http_status = 404


class AccessError(RoundsError):
    """The caller may not do this."""


class UnauthenticatedError(AccessError):
    """No verified principal."""

    code = "unauthenticated"
    user_message = "Please sign in and try again."
    http_status = 401


class ForbiddenError(AccessError):
    """A verified principal, or an origin, that is not allowed."""

    code = "forbidden"
    user_message = "You do not have access to this."
    http_status = 403


class NotFoundError(AccessError):
    """Absent, malformed or not yours: one answer for all three."""

    code = "not_found"
    user_message = "There is no such conversation."
    http_status = 404


class NoSuchListError(NotFoundError):
    """Absent, malformed or somebody else's: one answer for all three."""

    code = "no_such_list"
    user_message = "There is no such list of patients."


class NoSuchPatientError(NotFoundError):
    """The records know nobody by this id."""

    code = "no_such_patient"
    user_message = (
        "The records know no patient by this id. Please find the patient by name or birth date, "
        "and pin them from there."
    )


class ChartClosedError(AccessError):
    """The patient's chart is not open to the caller (spec page 10.6)."""

    code = "chart_closed"
    user_message = "This patient's chart is not open to you. Nothing of it was shown."
    http_status = 403


class ChartUncheckedError(ChartClosedError):
    """Whether the chart is open to the caller cannot be told just now, so it stays closed."""

    code = "chart_unchecked"
    user_message = (
        "Whether this patient's chart is open to you cannot be checked just now, so nothing of it "
        "was shown. Please try again in a moment."
    )
    retryable = True
    http_status = 503


class SignInNeededError(AccessError):
    """What was asked for needs the user's own rights elsewhere, and they have not signed in for it.

    Attributes:
        needs_consent: They, or their administrator, have to agree as well.
    """

    code = "sign_in_needed"
    user_message = (
        "That is read with your own rights, and you have not signed in for it. Sign in by the card "
        "in your chat with me alone in Teams, then ask again."
    )
    http_status = 403

    def __init__(self, *, needs_consent: bool) -> None:
        super().__init__("the user has not signed in")
        self.needs_consent = needs_consent


class ChartSignInError(ChartUncheckedError):
    """The chart is open to whom the records server lets in, and the caller has not signed in."""

    code = "chart_sign_in"
    user_message = SignInNeededError.user_message
    retryable = False


class OnBehalfRefusedError(AccessError):
    """The directory does not let this server act on behalf of its users."""

    code = "on_behalf_refused"
    user_message = (
        "Your directory does not let me act on your behalf. Please ask your operator; signing in "
        "again does not help."
    )
    http_status = 502


class SignInUnavailableError(AccessError):
    """The keys that verify tokens could not be fetched, so nobody can be told from anybody."""

    code = "sign_in_unavailable"
    user_message = "Sign-in cannot be checked right now. Please try again in a moment."
    retryable = True
    http_status = 503


class ToolInputError(RoundsError):
    """The model can fix it; `str(error)` is the tool's result, so it holds no patient text."""

    code = "tool_input"


class UnknownAgentError(ToolInputError):
    """The named agent is not in the team, or none is named."""

    code = "unknown_agent"


class EntityDeltaError(ToolInputError):
    """A delta of entities is malformed; the text says where, and nothing of it was stored."""

    code = "entity_delta"


class StaleEntitiesError(ToolInputError):
    """The entities changed since the writer read them; nothing was stored."""

    code = "stale_entities"


class AssistantError(ToolInputError):
    """The user's own calendar, mail, contacts, tasks or documents cannot do this."""

    code = "assistant"
    user_message = "That could not be done. Nothing was changed."


class AssistantItemGoneError(AssistantError):
    """What was meant is no longer there."""

    code = "assistant_item_gone"
    user_message = "That is no longer there. Nothing was changed."


class AssistantUnavailableError(AssistantError):
    """The service that holds it did not answer, or is too busy."""

    code = "assistant_unavailable"
    user_message = "The service that holds it cannot be reached right now. Please try again."
    retryable = True


class AssistantBusyError(AssistantUnavailableError):
    """The service, or the way to it, may answer if asked again.

    Attributes:
        wait_seconds: How long the service asked us to wait; None if it did not say.
    """

    code = "assistant_busy"

    def __init__(self, message: str, *, wait_seconds: float | None = None) -> None:
        super().__init__(message)
        self.wait_seconds = wait_seconds


class AssistantUnsureError(AssistantError):
    """The service was asked to change something, and its answer was lost."""

    code = "assistant_unsure"
    user_message = (
        "The connection broke off, so it is not known whether that was done. "
        "Please look before you ask for it again."
    )


class AssistantRefusedError(AssistantError):
    """The service refuses: no sign-in, one that ended, or no permission."""

    code = "assistant_refused"
    user_message = (
        "The service that holds it refuses access. Please sign in again or ask your operator."
    )


class AssistantSignInError(AssistantRefusedError):
    """It is reached with the user's own rights, and they have not signed in for that."""

    code = "assistant_sign_in"
    user_message = SignInNeededError.user_message


class AssistantNotGrantedError(AssistantRefusedError):
    """The user's directory does not let this server act on their behalf."""

    code = "assistant_not_granted"
    user_message = OnBehalfRefusedError.user_message


class StoreError(RoundsError):
    """A document could not be read or written."""

    code = "store"
    http_status = 503


class StoreUnavailableError(StoreError):
    """The store did not answer; a write may or may not have happened."""

    code = "store_unavailable"
    user_message = "The storage cannot be reached right now. Please try again in a moment."
    retryable = True


class BlobExistsError(StoreError):
    """A create met a blob of that name."""

    code = "blob_exists"
    retryable = True
    http_status = 409


class BlobChangedError(StoreError):
    """A conditional write met another version, or none."""

    code = "blob_changed"
    retryable = True
    http_status = 409


class CorruptDocumentError(StoreError):
    """A stored document exists but cannot be read; it was copied aside and left in place."""

    code = "corrupt_document"
    user_message = (
        "This patient's stored history cannot be read, so nothing was changed. "
        "An operator can restore it, or you can start a new history for this patient."
    )
    http_status = 409


class CorruptRegistryError(CorruptDocumentError):
    """The list of a conversation's patients cannot be read; no turn can know whose it is."""

    code = "corrupt_registry"
    user_message = (
        "The list of this conversation's patients cannot be read, so nothing was changed. "
        "Ask your operator to restore it, or begin a new conversation."
    )


class DocumentTooNewError(StoreError):
    """A stored document needs a newer server."""

    code = "document_too_new"
    user_message = "A newer version of Rounds wrote this conversation. Please ask your operator."
    http_status = 409


class ClaimLostError(StoreError):
    """Another replica took this turn over; this one must write nothing more."""

    code = "claim_lost"
    user_message = "This turn was taken over after a pause. Please look at the conversation again."
    retryable = True
    http_status = 409


class ConversationBusyError(StoreError):
    """A turn runs in the conversation, and this work could not wait for its end."""

    code = "conversation_busy"
    user_message = "A message is being answered in this conversation. Please try again after it."
    retryable = True
    http_status = 409


class AuditUnavailableError(StoreError):
    """The audit record could not be written, so the access did not happen."""

    code = "audit_unavailable"
    user_message = (
        "The access log cannot be written right now, so nothing was opened. Please try again."
    )
    retryable = True


class InterruptedTurnError(RoundsError):
    """The server stopped, or was stopped, while it answered."""

    code = "interrupted"
    user_message = (
        "The server stopped while it answered this message. The message is kept; "
        "please send it again if you still need an answer."
    )
    retryable = True
    http_status = 503


class ServerStoppingError(InterruptedTurnError):
    """The server is about to stop and takes no more messages."""

    code = "stopping"
    user_message = "The server is restarting. Please send that again in a moment."


class ModelError(RoundsError):
    """The language model could not answer."""

    code = "model"
    user_message = "The language model could not answer. Your message is kept; please try again."
    http_status = 502


class ModelUnavailableError(ModelError):
    """The model's server refused, failed or could not be reached."""

    code = "model_unavailable"
    user_message = (
        "The language model cannot be reached right now. Your message is kept; please try again."
    )
    retryable = True


class ModelTimeoutError(ModelError):
    """The model's answer took longer than its budget."""

    code = "model_timeout"
    user_message = "The language model took too long. Your message is kept; please try again."
    retryable = True


class ModelOutputError(ModelError):
    """The model's answer was empty, cut off or not of the required shape."""

    code = "model_output"
    user_message = (
        "The language model gave no usable answer. Your message is kept; please try again."
    )
    retryable = True


class ModelSilentError(ModelOutputError):
    """The model's answer was whole, and empty."""

    code = "model_silent"


class ModelRefusedError(ModelError):
    """The model, or its content filter, declined."""

    code = "model_refused"
    user_message = (
        "The language model declined to answer this. Your message is kept; please reword it."
    )


class ModelRequestError(ModelError):
    """The model's server does not take this request: a parameter it does not know, or too long.

    Attributes:
        param: The parameter the server named, or nothing.
    """

    code = "model_request"
    user_message = (
        "The language model could not take this request. Your message is kept; please try again "
        "or tell your operator."
    )

    def __init__(self, *, status: int, param: str = "") -> None:
        super().__init__(f"the model's server answered {status}")
        self.status = status
        self.param = param


class ModelUnfitError(ModelError):
    """The model answers, but not as this needs it; the text tells an operator what to set."""

    code = "model_unfit"
    user_message = (
        "The language model is not set up for this. Your message is kept; please tell your "
        "operator."
    )


class ModelWindowError(ModelRequestError):
    """The request is longer than the model's window, however much of it was left out.

    Attributes:
        window_tokens: The window, if the server named it.
    """

    code = "model_window"
    user_message = (
        "The language model's window is too small for this. Your message is kept; please tell your "
        "operator."
    )

    def __init__(self, *, status: int, window_tokens: int | None = None) -> None:
        super().__init__(status=status, param="messages")
        self.window_tokens = window_tokens


class RecordsError(RoundsError):
    """The patient's records could not be read."""

    code = "records"
    http_status = 502


class RecordsUnavailableError(RecordsError):
    """The records server did not answer or refused."""

    code = "records_unavailable"
    user_message = "The patient records cannot be reached right now. Please try again."
    retryable = True


class RecordsBusyError(RecordsUnavailableError):
    """The records server, or the way to it, may answer if asked again.

    Attributes:
        wait_seconds: How long the server asked us to wait; None if it did not say.
    """

    code = "records_busy"

    def __init__(self, message: str, *, wait_seconds: float | None = None) -> None:
        super().__init__(message)
        self.wait_seconds = wait_seconds


class RecordsRefusedError(RecordsError):
    """The records server refused our credentials.

    Attributes:
        status: What it answered, 401 or 403; None where no answer of it is meant.
    """

    code = "records_refused"
    user_message = "The records server refused access. Please ask your operator."

    def __init__(self, message: str = "", *, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class RecordsUnreadableError(RecordsError):
    """The records answered with something that is not FHIR R4, or that is over a limit."""

    code = "records_unreadable"
    user_message = "The patient records cannot be read as they are. Please ask your operator."


class RecordMayBeDamagedError(RecordsUnreadableError):
    """Nobody that could be read carries this id, but not every file could be read."""

    code = "record_may_be_damaged"
    user_message = (
        "No patient with this id is among the records that could be read, but some files could "
        "not be read: the record may be one of them. Please ask your operator; the log names them."
    )


class RecordAmbiguousError(RecordsError):
    """More than one patient of the records carries this id."""

    code = "record_ambiguous"
    user_message = (
        "More than one patient in the records carries this id, so none was opened. "
        "Please ask your operator."
    )
    http_status = 409


class RecordReplacedError(RecordsError):
    """The patient's record was merged into another one, which is the one to open."""

    code = "record_replaced"
    user_message = (
        "This record was merged into another one and is no longer kept. "
        "Please open the patient under the id that is valid now."
    )
    http_status = 409


class RecordNotFoundError(RecordsError):
    """There are no records for this patient id."""

    code = "record_not_found"
    user_message = "There are no records for this patient."
    http_status = 404


class RecordChangedError(RecordsError):
    """A conditional write met another version of the resource; nothing was written."""

    code = "record_changed"
    user_message = "Somebody else changed this in the records just now. Please try again."
    http_status = 409
    retryable = True


class RecordNotAcceptedError(RecordsUnreadableError):
    """The records server did not accept a new resource; nothing was written.

    Attributes:
        status: What it answered, 400 to 499.
    """

    code = "record_not_accepted"
    user_message = "The records server did not accept this. Nothing was written."

    def __init__(self, message: str, *, status: int) -> None:
        super().__init__(message)
        self.status = status


class ChannelError(RoundsError):
    """A reply could not be handed to the channel of its conversation."""

    code = "channel"
    http_status = 502


class ChannelUnavailableError(ChannelError):
    """The channel did not answer, or was busy.

    Attributes:
        wait_seconds: How long the channel asked to wait, if it said.
        is_maybe_taken: It had the whole reply and did not answer in time: sent again, it may come
            twice.
    """

    code = "channel_unavailable"
    retryable = True

    def __init__(
        self, reason: str, *, wait_seconds: float | None = None, is_maybe_taken: bool = False
    ) -> None:
        super().__init__(reason)
        self.wait_seconds = wait_seconds
        self.is_maybe_taken = is_maybe_taken


class ChannelClosedError(ChannelError):
    """The conversation takes no messages of the bot: it is gone, or the bot was removed from it."""

    code = "channel_closed"


class ChannelRefusedError(ChannelError):
    """The channel refuses this reply, or the place it would go to is not allowed.

    Attributes:
        is_user_stop: The user ended the message that was being streamed.
    """

    code = "channel_refused"

    def __init__(self, reason: str, *, is_user_stop: bool = False) -> None:
        super().__init__(reason)
        self.is_user_stop = is_user_stop


class ChannelTooLargeError(ChannelRefusedError):
    """The reply is larger than the channel takes; in parts it may be taken."""

    code = "channel_too_large"


class HubUnavailableError(RoundsError):
    """The hub of a record system does not answer, or not as FHIRcast has it."""

    code = "hub_unavailable"
    user_message = "The record system does not tell which patient is open."
    retryable = True
    http_status = 502


class HubRefusedError(HubUnavailableError):
    """It does not let this user subscribe, or took that back."""

    code = "hub_refused"
    retryable = False


class SpeechUnavailableError(RoundsError):
    """The server of transcriptions did not answer, or not as expected."""

    code = "speech_unavailable"
    user_message = (
        "What you dictated could not be written down just now. Your draft is as it was; "
        "please try again, or type it."
    )
    retryable = True
    http_status = 502


class BackupError(RoundsError):
    """A backup or a restore cannot be made as asked. Only commands raise it."""

    code = "backup"
    user_message = "The backup cannot be made or restored as asked."


class ConfigurationError(RoundsError):
    """A setting is missing or unusable; the message names it, the problem and an example."""

    code = "configuration"


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
