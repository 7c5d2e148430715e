"""The patients of a conversation and what was decided about them (spec page 1.2)."""

from typing import Any, Literal, Self

from pydantic import AwareDatetime, BaseModel, Field, model_validator

from data_models.document import Document, Part
from data_models.identifiers import PatientId

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
