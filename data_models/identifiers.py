"""Identifiers: the types that mean "already checked"; and the names of all that is stored.

Patient ids are checked against the operator's pattern (`services/patient_context`);
conversation ids come from channels and may be any text, so they are encoded.
"""

import hashlib
import re
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import NewType
from urllib.parse import quote

from data_models.errors import BadFrameError, InvalidIdentifierError

PatientId = NewType("PatientId", str)

PATIENT_ID_LIMIT_CHARS = 64
CONVERSATION_ID_LIMIT_CHARS = 4_000
FOLDER_LIMIT_CHARS = 200
_PREFIX_CHARS = 100
_STORABLE_PATIENT_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
_DEVICE_NAME = re.compile(r"(?i)(con|prn|aux|nul|com[0-9]|lpt[0-9])(\.|$)")


@lru_cache(maxsize=1_000)
def storage_folder(conversation_id: str) -> str:
    """Return the one folder name of `conversation_id`: percent-encoded, no separator, no dots only.

    Ids over 200 encoded characters become a readable prefix, `~` and their SHA-256; `~` is
    otherwise always encoded, so no short id can spell another's folder. Spec page 1.1.

    Raises:
        InvalidIdentifierError: the id is empty, over 4,000 characters or holds a lone surrogate.
    """
    if not 0 < len(conversation_id) <= CONVERSATION_ID_LIMIT_CHARS:
        raise InvalidIdentifierError(kind="conversation id", expected="1 to 4,000 characters")
    try:
        encoded = quote(conversation_id, safe="").replace("~", "%7E")
    except UnicodeEncodeError:
        raise InvalidIdentifierError(kind="conversation id", expected="valid Unicode") from None
    if encoded.strip(".") == "" or encoded.startswith(".") or encoded.endswith("."):
        encoded = encoded.replace(".", "%2E")
    if _DEVICE_NAME.match(encoded):
        encoded = f"%{ord(encoded[0]):02X}{encoded[1:]}"
    if len(encoded) <= FOLDER_LIMIT_CHARS:
        return encoded
    digest = hashlib.sha256(conversation_id.encode()).hexdigest()
    prefix = re.sub(r"%[0-9A-F]?$", "", encoded[:_PREFIX_CHARS])
    return f"{prefix}~{digest}"


def is_web_name(conversation_id: str) -> bool:
    """Whether a web client may claim a conversation of this name before it exists.

    Channels write a colon into their ids (`19:…@thread.tacv2`, `a:1…`) and keep that for
    themselves: who guessed one could otherwise have it before the channel's first message.
    """
    return ":" not in conversation_id


def storable_patient_id(raw: str) -> PatientId:
    """Return `raw` as a patient id that is safe inside a blob name (spec page 7, R4).

    Raises:
        InvalidIdentifierError: not 1 to 64 ASCII letters, digits, `_`, `.` or `-`, or holds `..`.
    """
    if len(raw) > PATIENT_ID_LIMIT_CHARS or ".." in raw or not _STORABLE_PATIENT_ID.fullmatch(raw):
        raise InvalidIdentifierError(kind="patient id", expected="1 to 64 safe ASCII characters")
    return PatientId(raw)


def hashed(*parts: str) -> str:
    """Return a one-way name for `parts`, for logs, indexes and message ids (32 hex digits)."""
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        encoded = part.encode(errors="surrogatepass")
        digest.update(len(encoded).to_bytes(8, "big") + encoded)
    return digest.hexdigest()


def number_in(raw: str) -> int:
    """Return a number of a path or query.

    Raises:
        BadFrameError: it is none of at most nine digits.
    """
    if not (raw.isascii() and raw.isdecimal() and len(raw) <= 9):
        raise BadFrameError("a number has one to nine digits")
    return int(raw)


CORRUPT_MARK = ".corrupt-"
BACKUP_MARK = ".v"
"""Followed by the version that was upgraded."""
_REGISTRY = "patient_context_registry"
_COMPARISONS = "comparisons/"
_FEEDBACK = "feedback/"
_ARCHIVED = re.compile(r"archive/[^/]+/[^/]+/(?:\d{8}T\d{6}(?:-\d+)?_)?(?P<inner>.+)")
# After the stem of the patient: the document, its copies, and the folders beside it.
_OF_ONE_PATIENT = re.compile(
    r"_context\.json|_archived\.json$|_context\.json_archived"
    r"|_(?:turns|runs|changes|artifacts|tool_memory)/"
)


# Names of all that is stored for a conversation; nothing else builds one (spec page 1.1).


def timestamp(now: datetime) -> str:
    """Return `now` (UTC) as archives and copies write it: `20250930T164500`."""
    return now.strftime("%Y%m%dT%H%M%S")


@dataclass(frozen=True, slots=True)
class ConversationLayout:
    """The blob names of one conversation, all below its one folder."""

    folder: str

    @classmethod
    def of(cls, conversation_id: str) -> "ConversationLayout":
        """Return the layout of `conversation_id`.

        Raises:
            InvalidIdentifierError: no folder can be made of the id.
        """
        return cls(folder=storage_folder(conversation_id))

    @property
    def prefix(self) -> str:
        """What all its blobs begin with; ends with a slash, so `conv1` is not `conv10`."""
        return f"{self.folder}/"

    @property
    def conversation(self) -> str:
        """The conversation document."""
        return f"{self.folder}/conversation.json"

    @property
    def registry(self) -> str:
        """The roster and the active pointer."""
        return f"{self.folder}/{_REGISTRY}.json"

    @property
    def legacy(self) -> str:
        """The single history of the reference implementation before it knew patients."""
        return f"{self.folder}/chat_context.json"

    @property
    def archive_prefix(self) -> str:
        """What all archives of this conversation begin with."""
        return f"{self.folder}/archive/"

    def context(self, patient_id: PatientId | None) -> str:
        """The context document of a patient, or of the session."""
        return f"{self.folder}/{stem_of(patient_id)}_context.json"

    def turns_prefix(self, patient_id: PatientId | None) -> str:
        """Folder of the older turns."""
        return f"{self.folder}/{stem_of(patient_id)}_turns/"

    def turns(self, patient_id: PatientId | None, first: int, last: int) -> str:
        """Older turns `first` to `last`, both included."""
        return f"{self.turns_prefix(patient_id)}{first}-{last}.json"

    def runs(self, patient_id: PatientId | None, turn_id: int) -> str:
        """Whole outputs of the tools of one turn, what it showed, and its receipt."""
        return f"{self.folder}/{stem_of(patient_id)}_runs/{turn_id}.json"

    def runs_together(self, patient_id: PatientId | None, first: int, last: int) -> str:
        """The same of the turns `first` to `last`, both included."""
        return f"{self.folder}/{stem_of(patient_id)}_runs/{first}-{last}.json"

    def changes(self, patient_id: PatientId | None, first: int, last: int) -> str:
        """Older changes of people, `first` to `last`, both included."""
        return f"{self.folder}/{stem_of(patient_id)}_changes/{first}-{last}.json"

    def artifact(self, patient_id: PatientId | None, artifact_id: str) -> str:
        """A file an agent made."""
        return f"{self.folder}/{stem_of(patient_id)}_artifacts/{artifact_id}"

    def comparison(self, run_id: str) -> str:
        """Two charts side by side, as a run laid them."""
        return f"{self.folder}/{_COMPARISONS}{run_id}.json"

    def is_comparison(self, name: str) -> bool:
        """Whether the blob `name` holds two charts side by side, archives included."""
        return self._inner(name).startswith(_COMPARISONS)

    @property
    def feedback_prefix(self) -> str:
        """Folder of what people think of answers."""
        return f"{self.folder}/{_FEEDBACK}"

    def feedback(self, name: str) -> str:
        """What somebody thinks of an answer."""
        return f"{self.feedback_prefix}{name}.json"

    def is_feedback(self, name: str) -> bool:
        """Whether the blob `name` holds what somebody thinks of an answer, archives included."""
        return self._inner(name).startswith(_FEEDBACK)

    @property
    def inbox_prefix(self) -> str:
        """Folder of the queued messages."""
        return f"{self.folder}/inbox/"

    def inbox(self, number: int) -> str:
        """A queued message."""
        return f"{self.inbox_prefix}{number}.json"

    def inbox_number(self, name: str) -> int:
        """The number of the queued message that the blob `name` holds; -1 for another blob."""
        number = name.removeprefix(self.inbox_prefix).removesuffix(".json")
        return int(number) if number.isdecimal() else -1

    def answered(self, number: int) -> str:
        """A page of answered messages that left the conversation document."""
        return f"{self.folder}/answered/{number}.json"

    @property
    def watched_prefix(self) -> str:
        """Folder in which releases up to 0.2 wrote down runs for watchers at other replicas."""
        return f"{self.folder}/watched/"

    def is_journal(self, name: str) -> bool:
        """Whether `name` is a run written down so: never copied, deleted with the rest."""
        return name.startswith(self.watched_prefix)

    def survives_clear(self, name: str) -> bool:
        """Whether a clear archives no copy: commit record, queue, ids, archives, journals."""
        kept = (self.inbox_prefix, f"{self.folder}/answered/", self.archive_prefix)
        return name == self.conversation or name.startswith(kept) or self.is_journal(name)

    def belongs_to(self, patient_id: PatientId, name: str) -> bool:
        """Whether the blob `name` holds one patient's data and nobody else's, archives included."""
        inner = self._inner(name)
        rest = inner.removeprefix(stem_of(patient_id))
        return rest != inner and _OF_ONE_PATIENT.match(rest) is not None

    def lists_patients(self, name: str) -> bool:
        """Whether the blob `name` names patients beside each other: a roster, or a list of blobs.

        The conversation document does too, but only the holder of the claim changes that.
        """
        inner = self._inner(name)
        return inner == "manifest.json" or inner.startswith((_REGISTRY, "answered/"))

    def _inner(self, name: str) -> str:
        """Return a name without the folder, of an archived blob as it was before."""
        inner = name.removeprefix(self.prefix)
        found = _ARCHIVED.fullmatch(inner)
        return inner if found is None else found["inner"]

    def archived(self, name: str, ts: str) -> str:
        """Where a clear at `ts` copies the blob `name` to."""
        inner = name.removeprefix(self.prefix)
        stem, dot, suffix = inner.rpartition(".")
        if not dot or "/" in suffix:
            stem, dot, suffix = inner, "", ""
        if suffix == "json" and stem != f"{_REGISTRY}_context":
            stem = stem.removesuffix("_context")
        return f"{self._archive(ts)}/{ts}_{stem}_archived{dot}{suffix}"

    def manifest(self, ts: str) -> str:
        """The list of what a clear at `ts` archived."""
        return f"{self._archive(ts)}/manifest.json"

    def _archive(self, ts: str) -> str:
        return f"{self.archive_prefix}{ts}/{self.folder}"


def stem_of(patient_id: PatientId | None) -> str:
    """Return how names of blobs begin that are of a patient, or of none."""
    return "session" if patient_id is None else f"patient_{storable_patient_id(patient_id)}"
