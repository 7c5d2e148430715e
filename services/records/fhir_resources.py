"""FHIR R4 resources as Rounds reads them.

Dates stay text because FHIR dates may be partial (`2023`, `2023-05`); see `dates`.
"""

from collections.abc import Mapping
from typing import ClassVar, TypeAlias

from services.records.fhir_types import (
    Annotation,
    CodeableConcept,
    ConditionStage,
    Element,
    Extension,
    HumanName,
    Identifier,
    Period,
    Quantity,
    Reference,
)


class Resource(Element):
    """Base of all resources."""

    resource_type: str
    id: str | None = None


class Patient(Resource):
    """The person."""

    identifier: tuple[Identifier, ...] = ()
    name: tuple[HumanName, ...] = ()
    gender: str | None = None
    birth_date: str | None = None
    deceased_boolean: bool | None = None
    deceased_date_time: str | None = None


class PatientResource(Resource):
    """A resource that belongs to one patient and has a date."""

    status: str | None = None
    subject: Reference | None = None
    patient: Reference | None = None

    DATES: ClassVar[tuple[str, ...]] = ()
    """Names of the fields that may hold the clinical date, best first."""

    @property
    def clinical_date(self) -> str | None:
        """The clinical date as recorded, or None."""
        for name in self.DATES:
            found = _start(self.__dict__[name])
            if found:
                return found
        return None


class Condition(PatientResource):
    """A diagnosis or problem."""

    clinical_status: CodeableConcept | None = None
    verification_status: CodeableConcept | None = None
    category: tuple[CodeableConcept, ...] = ()
    code: CodeableConcept | None = None
    body_site: tuple[CodeableConcept, ...] = ()
    onset_date_time: str | None = None
    recorded_date: str | None = None
    abatement_date_time: str | None = None
    stage: tuple[ConditionStage, ...] = ()
    extension: tuple[Extension, ...] = ()
    note: tuple[Annotation, ...] = ()

    DATES = ("onset_date_time", "recorded_date")


class ObservationValue(Element):
    """The value part that observations and their components share."""

    value_quantity: Quantity | None = None
    value_codeable_concept: CodeableConcept | None = None
    value_string: str | None = None
    value_boolean: bool | None = None
    value_integer: int | None = None
    value_date_time: str | None = None
    data_absent_reason: CodeableConcept | None = None


class ObservationComponent(ObservationValue):
    """One part of an observation."""

    code: CodeableConcept | None = None


class Observation(PatientResource, ObservationValue):
    """A measurement or finding."""

    category: tuple[CodeableConcept, ...] = ()
    code: CodeableConcept | None = None
    effective_date_time: str | None = None
    effective_period: Period | None = None
    issued: str | None = None
    interpretation: tuple[CodeableConcept, ...] = ()
    component: tuple[ObservationComponent, ...] = ()
    note: tuple[Annotation, ...] = ()

    DATES = ("effective_date_time", "effective_period", "issued")


class AllergyIntolerance(PatientResource):
    """An allergy or intolerance."""

    clinical_status: CodeableConcept | None = None
    verification_status: CodeableConcept | None = None
    code: CodeableConcept | None = None
    recorded_date: str | None = None

    DATES = ("recorded_date",)


AnyResource: TypeAlias = Patient | PatientResource


MODELS: Mapping[str, type[AnyResource]] = {
    model.__name__: model for model in (Patient, Condition, Observation, AllergyIntolerance)
}
"""The resource types that are read as models; all others are read as rows."""


def _start(value: object) -> str | None:
    if isinstance(value, Period):
        return value.start or value.end
    return value if isinstance(value, str) else None
