"""The few FHIR R4 shapes that are checked as models; all other resources are read as entries.

Every element is optional here even where R4 demands it: real servers leave gaps, and a gap is
shown to the clinician rather than hiding the rest of the resource. Dates stay text because FHIR
dates may be partial (`2023`, `2023-05`); see `dates`.
"""

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


class Element(BaseModel):
    """Base of all FHIR elements; frozen, camelCase on the wire, unknown elements kept."""

    model_config = ConfigDict(
        frozen=True, extra="allow", alias_generator=to_camel, populate_by_name=True
    )


class Identifier(Element):
    """A business identifier such as a record number."""

    system: str | None = None
    value: str | None = None


class HumanName(Element):
    """A person's name."""

    use: str | None = None
    text: str | None = None
    family: str | None = None
    given: tuple[str, ...] = ()

    @property
    def label(self) -> str | None:
        """The name as it is read aloud, or None if it has no part."""
        parts = [*self.given, self.family or ""]
        return self.text or " ".join(part for part in parts if part) or None


class Patient(Element):
    """The person."""

    resource_type: str
    id: str | None = None
    identifier: tuple[Identifier, ...] = ()
    name: tuple[HumanName, ...] = ()
    gender: str | None = None
    birth_date: str | None = None
    deceased_boolean: bool | None = None
    deceased_date_time: str | None = None


class OperationOutcomeIssue(Element):
    """One problem that a server reports."""

    severity: str | None = None
    code: str | None = None


class OperationOutcome(Element):
    """What went wrong; Rounds reads its codes, never its text."""

    issue: tuple[OperationOutcomeIssue, ...] = ()
