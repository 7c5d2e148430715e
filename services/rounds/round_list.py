"""Lists of rounds: what is kept of them and of what people wrote, and who may enter."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from pydantic import AwareDatetime, Field

from data_models.conversations.claim_decision import Lease
from data_models.errors import CorruptDocumentError, NoSuchListError
from data_models.identifiers import PatientId, hashed
from data_models.storage.blob_store import BlobStore, change_blob, is_blob_name, put_blob
from data_models.values import Value, read_if_whole, read_value
from services.audit.trail import Visitor
from services.chart_access.chart_guard import ChartGuard

PATIENTS_LIMIT = 60
TEXT_LIMIT_CHARS = 2_000
NOTES_LIMIT = 50
State: TypeAlias = Literal["waiting", "ready", "failed", "closed"]
Severity: TypeAlias = Literal["unstable", "watcher", "stable"]


class RoundPatient(Value):
    """One patient of a list.

    Attributes:
        conversation_id: The patient's own conversation of this round.
        problem: Code of the error if the preparation failed.
        run_id: The turn that prepared the patient.
        attempt: Counts preparations that were asked for; each is a message of its own.
        handed_to: Principal who has the patient now, "" while the owner has.
        accepted_at: When that colleague took the patient over.
    """

    patient_id: PatientId
    conversation_id: str
    state: State = "waiting"
    problem: str = ""
    run_id: str = ""
    attempt: int = 1
    ticked_at: AwareDatetime | None = None
    handed_to: str = ""
    handed_at: AwareDatetime | None = None
    accepted_at: AwareDatetime | None = None


class RoundList(Value):
    """`rounds/{round_id}.json`.

    Attributes:
        day: The day whose visits it was made from, if it was: `2026-12-02`.
        language: In which the preparation asks, ISO 639-1.
        hold: None while nobody prepares it.
    """

    round_id: str
    owner: str
    created_at: AwareDatetime
    language: str = "en"
    day: str = ""
    patients: tuple[RoundPatient, ...]
    hold: Lease | None = None

    def patient(self, patient_id: str) -> RoundPatient | None:
        """Return the patient of that id."""
        return next((one for one in self.patients if one.patient_id == patient_id), None)

    def with_patient(self, patient: RoundPatient) -> "RoundList":
        """Return the list with `patient` in the place of the one of the same id."""
        rows = tuple(
            patient if one.patient_id == patient.patient_id else one for one in self.patients
        )
        return self.model_copy(update={"patients": rows})

    def without(self, patient_id: str) -> "RoundList":
        """Return the list without a patient."""
        rows = tuple(one for one in self.patients if one.patient_id != patient_id)
        return self.model_copy(update={"patients": rows})

    def seen_by(self, principal: str) -> tuple[RoundPatient, ...]:
        """Return whom of the list `principal` may look at: all as the owner, else those handed."""
        if principal == self.owner:
            return self.patients
        return tuple(one for one in self.patients if one.handed_to == principal)

    @property
    def waiting(self) -> tuple[RoundPatient, ...]:
        """Those who are to be prepared yet."""
        return tuple(one for one in self.patients if one.state == "waiting")


class Note(Value):
    """What somebody wrote about a patient on the round."""

    by: str
    at: AwareDatetime
    text: str = Field(min_length=1, max_length=TEXT_LIMIT_CHARS)


class SignOut(Value):
    """A hand-over after I-PASS; who receives it adds the synthesis.

    Attributes:
        to: Principal of the colleague.
    """

    by: str
    to: str
    at: AwareDatetime
    illness_severity: Severity
    patient_summary: str = Field(min_length=1, max_length=TEXT_LIMIT_CHARS)
    action_list: str = Field(default="", max_length=TEXT_LIMIT_CHARS)
    situation_awareness: str = Field(default="", max_length=TEXT_LIMIT_CHARS)
    synthesis: str = Field(default="", max_length=TEXT_LIMIT_CHARS)


class RoundNotes(Value):
    """`rounds/{round_id}/{patient_id}.json`: words of people about one patient of a round."""

    notes: tuple[Note, ...] = ()
    sign_outs: tuple[SignOut, ...] = ()


def prepared(patient: RoundPatient, state: State, problem: str = "") -> RoundPatient:
    """Return the patient after a preparation."""
    return patient.model_copy(update={"state": state, "problem": problem})


def again(patient: RoundPatient) -> RoundPatient:
    """Return the patient to be prepared once more."""
    changed = {"state": "waiting", "problem": "", "attempt": patient.attempt + 1}
    return patient.model_copy(update=changed)


FOLDER = "rounds"
_LISTED = 20
_OPEN = "rounds-open"
_OWNED = "rounds-of"
_MARK = b"{}"
_ID_LIMIT_CHARS = 100


# `rounds/{id}.json` is a list, `rounds/{id}/{patient}.json` what people wrote on it. Which lists
# are whose, and which are not prepared yet, stand in two folders of empty blobs: nobody reads all.


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundBook:
    """Every method raises `StoreUnavailableError` when the store does not answer."""

    store: BlobStore

    async def create(self, found: RoundList) -> None:
        """Keep a new list; durable, and to be prepared by any replica, when this returns."""
        await self.store.create(_name(found.round_id), found.model_dump_json().encode())
        await self.share(found.round_id, found.owner)
        await self.reopen(found.round_id)

    async def share(self, round_id: str, principal: str) -> None:
        """List it among the lists of `principal`; repeating it is no error."""
        await put_blob(self.store, f"{_OWNED}/{hashed(principal)}/{round_id}", _MARK)

    async def reopen(self, round_id: str) -> None:
        """Note that somebody of it is to be prepared; repeating it is no error."""
        await put_blob(self.store, f"{_OPEN}/{round_id}", _MARK)

    async def note_done(self, round_id: str) -> None:
        """Note that all of it is prepared, or that there is no such list."""
        await self.store.delete(f"{_OPEN}/{round_id}")

    async def list_unprepared(self) -> list[str]:
        """Return the ids of lists that are not prepared yet."""
        return [row.name.rpartition("/")[2] async for row in self.store.list(f"{_OPEN}/")]

    async def list_lists(self, principal: str) -> list[RoundList]:
        """Return the newest 20 lists that `principal` made or was handed patients of."""
        rows = [row async for row in self.store.list(f"{_OWNED}/{hashed(principal)}/")]
        rows.sort(key=lambda row: row.modified_at, reverse=True)
        found = [await self._read_list(row.name.rpartition("/")[2]) for row in rows[:_LISTED]]
        return [one for one in found if one is not None]

    async def read(self, round_id: str) -> RoundList:
        """Return a list.

        Raises:
            NoSuchListError: malformed or absent.
            CorruptDocumentError: it cannot be read.
        """
        if (blob := await self.store.read(_name(_checked(round_id)))) is None:
            raise NoSuchListError
        return read_value(blob.data, RoundList)

    async def change(
        self, round_id: str, change: Callable[[RoundList], RoundList | None]
    ) -> RoundList | None:
        """Change a list as it stands now, however many others change it; return it as stored.

        Args:
            change: Pure, called again when somebody else was faster; None: leave it as it is.

        Raises:
            NoSuchListError: malformed or absent.
            CorruptDocumentError: it cannot be read.
        """

        def changed(data: bytes | None) -> bytes | None:
            if data is None:
                raise NoSuchListError
            after = change(read_value(data, RoundList))
            return None if after is None else after.model_dump_json().encode()

        name = _name(_checked(round_id))
        kept = await change_blob(self.store, name, changed, what="a list of a round")
        return None if kept is None else read_value(kept, RoundList)

    async def notes(self, round_id: str, patient_id: PatientId) -> RoundNotes:
        """Return what people wrote about a patient of the list."""
        blob = await self.store.read(_notes_name(round_id, patient_id))
        return RoundNotes() if blob is None else read_value(blob.data, RoundNotes)

    async def change_notes(
        self, round_id: str, patient_id: PatientId, change: Callable[[RoundNotes], RoundNotes]
    ) -> RoundNotes:
        """Change what is written about a patient; return it as stored."""

        def changed(data: bytes | None) -> bytes:
            before = RoundNotes() if data is None else read_value(data, RoundNotes)
            return change(before).model_dump_json().encode()

        name = _notes_name(round_id, patient_id)
        kept = await change_blob(self.store, name, changed, what="the notes of a round")
        return read_value(kept, RoundNotes)

    async def _read_list(self, round_id: str) -> RoundList | None:
        """A list that cannot be read is told to who opens it, and hides no other."""
        try:
            return await self.read(round_id)
        except (NoSuchListError, CorruptDocumentError):
            return None


def without_patient(name: str, data: bytes, patient_id: PatientId) -> bytes | None:
    """Return a blob below `rounds/` without the patient; `b""`: it is the patient's whole.

    None if it holds nothing of the patient. A list that cannot be read and names the patient goes.
    """
    if name.endswith(f"/{patient_id}.json") and name.count("/") > 1:
        return b""
    if patient_id.encode() not in data:
        return None
    if (found := read_if_whole(data, RoundList)) is None:
        return b""
    rest = found.without(patient_id)
    return None if rest == found else rest.model_dump_json().encode()


def _checked(round_id: str) -> str:
    """Return the id of a list; what is none is looked for nowhere."""
    if len(round_id) > _ID_LIMIT_CHARS or "/" in round_id or not is_blob_name(round_id):
        raise NoSuchListError
    return round_id


def _name(round_id: str) -> str:
    return f"{FOLDER}/{round_id}.json"


def _notes_name(round_id: str, patient_id: PatientId) -> str:
    return f"{FOLDER}/{round_id}/{patient_id}.json"


class RoundPlace(NamedTuple):
    """A patient of a list, as a verified caller asks for them."""

    round_id: str
    patient_id: str
    principal: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundEntry:
    """Every method raises `NoSuchListError` for a list that is absent or not the caller's."""

    book: RoundBook
    guard: ChartGuard

    async def find(
        self, round_id: str, principal: str
    ) -> tuple[RoundList, tuple[RoundPatient, ...]]:
        """Return a list, and whom of it the caller may look at."""
        found = await self.book.read(round_id)
        if not (patients := found.seen_by(principal)):
            raise NoSuchListError
        return found, patients

    async def enter_patient(self, place: RoundPlace, action: str) -> RoundPatient:
        """Return a patient of a list whose chart is open; that somebody comes is on record.

        Raises:
            ChartClosedError: the chart is not open to the caller now.
        """
        _, patients = await self.find(place.round_id, place.principal)
        patient = among(patients, place.patient_id)
        await self.enter(patient, place.principal, action)
        return patient

    async def enter(self, patient: RoundPatient, principal: str, action: str) -> None:
        """Return if the chart is open to the caller now; that is on record.

        Raises:
            ChartClosedError: it is not.
        """
        visitor = Visitor(principal, patient.conversation_id)
        await self.guard.open_chart(visitor, patient.patient_id, action)


def among(patients: tuple[RoundPatient, ...], patient_id: str) -> RoundPatient:
    """Return the patient of that id.

    Raises:
        NoSuchListError: there is none.
    """
    found = next((one for one in patients if one.patient_id == patient_id), None)
    if found is None:
        raise NoSuchListError
    return found
