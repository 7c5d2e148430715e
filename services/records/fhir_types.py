"""FHIR R4 data types: the elements Rounds reads; all others are kept unread.

Every element is optional here even where R4 demands it: real servers leave gaps, and a gap is
shown to the clinician rather than hiding the rest of the resource.
"""

from decimal import Decimal
from functools import cached_property

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


class Element(BaseModel):
    """Base of all FHIR elements; frozen, camelCase on the wire, unknown elements kept."""

    model_config = ConfigDict(
        frozen=True, extra="allow", alias_generator=to_camel, populate_by_name=True
    )


class Coding(Element):
    """A code of one code system."""

    system: str | None = None
    code: str | None = None
    display: str | None = None


class CodeableConcept(Element):
    """A concept as text, as codes, or both."""

    coding: tuple[Coding, ...] = ()
    text: str | None = None

    @property
    def label(self) -> str | None:
        """The text, else the first display, else the first code."""
        shown = (coding.display or coding.code for coding in self.coding)
        return self.text or next((text for text in shown if text), None)

    @cached_property
    def codes(self) -> frozenset[str]:
        """All codes, whatever their system."""
        return frozenset(coding.code for coding in self.coding if coding.code)


class Reference(Element):
    """A pointer to another resource."""

    reference: str | None = None
    display: str | None = None


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


class Period(Element):
    """A span of time, open at either end."""

    start: str | None = None
    end: str | None = None


class Quantity(Element):
    """A measured amount; `Decimal` keeps the digits that were recorded."""

    value: Decimal | None = None
    comparator: str | None = None
    unit: str | None = None
    code: str | None = None


class Extension(Element):
    """An extension with a coded value (the only kind Rounds reads)."""

    url: str | None = None
    value_codeable_concept: CodeableConcept | None = None


class Annotation(Element):
    """A comment on a resource."""

    text: str | None = None


class OperationOutcomeIssue(Element):
    """One problem that a server reports."""

    severity: str | None = None
    code: str | None = None


class OperationOutcome(Element):
    """What went wrong; Rounds reads its codes, never its text."""

    issue: tuple[OperationOutcomeIssue, ...] = ()


class ConditionStage(Element):
    """One staging of a condition."""

    summary: CodeableConcept | None = None
    type: CodeableConcept | None = None
