"""The patients of a conversation and what was decided about them (spec page 1.2)."""

from collections import OrderedDict
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Literal, NamedTuple, Self

from pydantic import AwareDatetime, BaseModel, Field, model_validator

from data_models.documents import Documents, Stored, is_left_over
from data_models.errors import CorruptDocumentError, CorruptRegistryError
from data_models.identifiers import ConversationLayout, PatientId
from data_models.values import Document, Part

_LIMIT_CHARS = 120
_MARKS = str.maketrans("`*_[]<>|#\\", " " * 10)


# Who a patient is to whoever looks at a screen, a card, a file or a prompt (spec page 10.3).


class PatientIdentity(NamedTuple):
    """Name and birth date as recorded, and the sex; every text is inert and one line."""

    name: str
    birth_date: str
    sex: str

    @property
    def label(self) -> str:
        """Both identifiers, as in `Margaret Anne Whitfield, born 1957-03-14`."""
        born = f"born {self.birth_date}" if self.birth_date else "birth date unknown"
        return f"{self.name or 'no name recorded'}, {born}"


def identity_noted(facts: Mapping[str, Any]) -> PatientIdentity | None:
    """Return who a roster's row says the patient is; None where nothing was noted."""
    name, birth_date = _line(facts.get("name")), _line(facts.get("birth_date"))
    if not name and not birth_date:
        return None
    return PatientIdentity(name, birth_date, _line(facts.get("sex")))


@lru_cache(maxsize=1_000)
def _line(value: object) -> str:
    text = value if isinstance(value, str) else ""
    return " ".join(text.translate(_MARKS).split())[:_LIMIT_CHARS]


AnalyzerAction = Literal["NONE", "ACTIVATE_NEW", "SWITCH_EXISTING", "UNCHANGED", "CLEAR"]
Decision = Literal[
    "NONE", "UNCHANGED", "NEW_BLANK", "SWITCH_EXISTING", "CLEAR", "RESTORED_FROM_STORAGE",
    "NEEDS_PATIENT_ID",
]  # fmt: skip


class PatientContext(Part):
    """One row of the roster.

    Attributes:
        facts: Who the patient was found to be when the chart was opened (`identity.noted`).
    """

    patient_id: PatientId
    facts: dict[str, Any] = Field(default_factory=dict)
    conversation_id: str
    created_at: AwareDatetime
    updated_at: AwareDatetime


class PatientContextDecision(BaseModel, extra="forbid"):
    """What the analyzer read in a message; only the activating actions name a patient."""

    action: AnalyzerAction
    patient_id: str | None = Field(default=None, max_length=64)
    reasoning: str = Field(max_length=400)

    @model_validator(mode="after")
    def _only_activation_names_a_patient(self) -> Self:
        if self.patient_id is not None and self.action not in ("ACTIVATE_NEW", "SWITCH_EXISTING"):
            raise ValueError("patient_id is only allowed with ACTIVATE_NEW or SWITCH_EXISTING")
        return self


class TimingInfo(BaseModel):
    """Milliseconds on the monotonic clock; None where the step did not happen."""

    analyzer_ms: float | None = None
    storage_fallback_ms: float | None = None
    service_total_ms: float | None = None


class Registry(Document):
    """`patient_context_registry.json`: the roster and the active pointer, the source of truth.

    Attributes:
        settled: Whom the user said that words mean, by those words in small letters.
        seen_by: Whose chart each principal last wrote beside, by one-way names.
        compared: Whose charts were laid side by side last, until somebody says whom they mean.
    """

    active_patient_id: PatientId | None = None
    patient_registry: dict[PatientId, PatientContext] = Field(default_factory=dict)
    settled: dict[str, PatientId] = Field(default_factory=dict)
    seen_by: dict[str, PatientId] = Field(default_factory=dict)
    compared: list[PatientId] = Field(default_factory=list)


KEPT_ROWS = 5_000


class PatientContextRegistryAccessor:
    """`patient_context_registry.json`."""

    def __init__(self, *, documents: Documents, kept_rows: int = KEPT_ROWS) -> None:
        self._documents = documents
        self._parsed = _ParsedRegistries(limit_rows=kept_rows)

    async def read(
        self, conversation_id: str, *, epoch: int, fresh: bool = False
    ) -> Stored[Registry]:
        """Return the registry, or an empty one with no ETag if there is none in this epoch.

        Raises:
            CorruptRegistryError: it exists but cannot be read; every turn is refused until
                somebody restores it.
        """
        name = ConversationLayout.of(conversation_id).registry
        stored = await self._read(name, conversation_id, fresh=fresh)
        empty = Registry(conversation_id=conversation_id, epoch=epoch)
        if stored is None:
            return Stored(empty, None)
        return Stored(empty, stored.etag) if is_left_over(stored.document, epoch) else stored

    async def etag_of(self, conversation_id: str) -> str | None:
        """Return the version of the registry that is stored now; None if there is none."""
        return await self._documents.etag_of(ConversationLayout.of(conversation_id).registry)

    async def write(self, registry: Registry, *, etag: str | None) -> str:
        """Create or replace the registry; see `Documents.write` for errors."""
        name = ConversationLayout.of(registry.conversation_id).registry
        return await self._documents.write(name, registry, etag=etag)

    async def _read(
        self, name: str, conversation_id: str, *, fresh: bool
    ) -> Stored[Registry] | None:
        """Read the registry; each version is parsed once, because a turn reads it twice."""
        if not fresh:
            kept = self._parsed.get(name, await self._documents.recall_etag(name))
            if kept is not None:
                return kept
        try:
            stored = await self._documents.read(
                name, Registry, conversation_id=conversation_id, fresh=fresh
            )
        except CorruptDocumentError as error:
            raise CorruptRegistryError(str(error)) from error
        if stored is not None:
            self._parsed.keep(name, stored)
        return stored


class _ParsedRegistries:
    """The registries read last, bounded in rows; what is given out is a copy to change.

    Rows are shared between copies: whoever changes one replaces it (`roster.with_active`).
    """

    def __init__(self, *, limit_rows: int) -> None:
        self._limit_rows = limit_rows
        self._kept: OrderedDict[str, Stored[Registry]] = OrderedDict()
        self._rows = 0

    def get(self, name: str, etag: str | None) -> Stored[Registry] | None:
        """Return the registry if that very version is kept."""
        found = self._kept.get(name)
        if found is None or found.etag != etag:
            return None
        self._kept.move_to_end(name)
        return _copied(found)

    def keep(self, name: str, stored: Stored[Registry]) -> None:
        """Keep a copy, in the place of another version."""
        self._drop(name)
        self._kept[name] = _copied(stored)
        self._rows += _rows(stored)
        while self._rows > self._limit_rows:
            self._drop(next(iter(self._kept)))

    def _drop(self, name: str) -> None:
        dropped = self._kept.pop(name, None)
        self._rows -= 0 if dropped is None else _rows(dropped)


def _copied(stored: Stored[Registry]) -> Stored[Registry]:
    registry = stored.document
    roster = dict(registry.patient_registry)
    return Stored(registry.model_copy(update={"patient_registry": roster}), stored.etag)


def _rows(stored: Stored[Registry]) -> int:
    return 1 + len(stored.document.patient_registry)
