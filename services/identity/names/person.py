"""A person of the records as the directory knows them: two identifiers and all names."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal

from data_models.errors import InvalidIdentifierError
from data_models.identifiers import PatientId, storable_patient_id
from services.language.words.letters import folded

Sex = Literal["male", "female", "other", "unknown"]
_BESIDE_LIMIT, _WHOLE_CHARS = 50, len("2000-12-31")
_MONTHS_TOLD, _DAYS_TOLD = 24, 2
_FORMER = frozenset({"old", "maiden"})
_SEXES: Mapping[str, Sex] = {"male": "male", "female": "female", "other": "other"}


@dataclass(frozen=True, slots=True)
class PersonName:
    """One name; `is_former` for a maiden name and one that has ended."""

    family: str
    given: tuple[str, ...]
    text: str
    is_former: bool = False

    @property
    def label(self) -> str:
        """The name as it is read aloud."""
        parts = " ".join(filter(None, (*self.given, self.family)))
        return parts or self.text


@dataclass(frozen=True, slots=True)
class PersonNumber:
    """One identifier; `is_retired` where its use is old or its period is over."""

    system: str
    value: str
    is_retired: bool = False


@dataclass(frozen=True, slots=True)
class Person:
    """One Patient.

    Attributes:
        patient_id: The id by which their chart opens; None where they have none of our form.
        key: Id of the Patient resource, which opens nothing.
        birth_date: As recorded: `1957-03-14`, `1951`, or empty.
        replaced_by: Key of the Patient that this one was merged into, or empty.
        beside: Names of relatives, contacts and family doctors, as the Patient itself has them.
    """

    patient_id: PatientId | None
    key: str
    names: tuple[PersonName, ...]
    numbers: tuple[PersonNumber, ...] = ()
    birth_date: str = ""
    sex: Sex = "unknown"
    is_active: bool = True
    replaced_by: str = ""
    beside: tuple[str, ...] = ()

    @property
    def is_in_use(self) -> bool:
        """Whether it is neither withdrawn nor merged into another."""
        return self.is_active and not self.replaced_by

    @property
    def name(self) -> str:
        """The name in use as it is read aloud; empty if none is recorded."""
        in_use = [one for one in self.names if not one.is_former] or self.names
        return in_use[0].label if in_use else ""

    @property
    def born_on(self) -> date | None:
        """The whole birth date, if it is recorded whole."""
        return self.born_about if len(self.birth_date) == _WHOLE_CHARS else None

    @property
    def born_about(self) -> date | None:
        """The birth date; of one recorded in part a day near it."""
        try:
            return date.fromisoformat(f"{self.birth_date}-07-01"[:_WHOLE_CHARS])
        except ValueError:
            return None

    def is_born_on(self, days: Iterable[date]) -> bool | None:
        """Whether one of `days` is the birth date as far as it is recorded; None if it is not."""
        if not self.birth_date:
            return None
        return any(each.isoformat().startswith(self.birth_date) for each in days)

    def is_nearly_born_on(self, days: Iterable[date]) -> bool:
        """Whether one of `days` is the birth date with another year, or day and month changed."""
        born = self.born_on
        return born is not None and any(
            (each.month, each.day) == (born.month, born.day)
            or (each.year, each.month, each.day) == (born.year, born.day, born.month)
            for each in days
        )

    def is_namesake_of(self, other: "Person") -> bool:
        """Whether both have the same whole name, whoever they are."""
        return bool(self.name) and folded(self.name) == folded(other.name)

    def same_as(self, other: "Person | None") -> bool:
        """Whether both are one chart; nobody is no chart."""
        if self.patient_id is not None:
            return other is not None and self.patient_id == other.patient_id
        return other is not None and self.key == other.key


def both_identifiers(person: Person) -> str:
    """Return name and birth date, as they are shown beside the id."""
    if not person.name and not person.birth_date:
        return "the patient"
    name = person.name or "no name recorded"
    return (
        f"{name}, born {person.birth_date}" if person.birth_date else f"{name}, birth date unknown"
    )


def age_of(person: Person, today: date) -> str:
    """Return the age in whole years, below two in months, below two months in days.

    It is empty if no day of birth is recorded.
    """
    if (born := person.born_on) is None:
        return ""
    months = (today.year - born.year) * 12 + today.month - born.month - (today.day < born.day)
    if months >= _MONTHS_TOLD:
        return f"{months // 12} years"
    if months >= _DAYS_TOLD:
        return f"{months} months"
    days = (today - born).days
    return "1 day" if days == 1 else f"{days} days"


def person_from(
    body: Mapping[str, Any], *, patient_id: PatientId | None, today: date
) -> Person | None:
    """Return the person in a Patient resource; None where it is none, or is withdrawn.

    What is malformed in it costs itself and not the person; a Patient without a name stays one.
    """
    if body.get("resourceType") != "Patient":
        return None
    names = [_name(each, today) for each in _rows(body.get("name"))]
    numbers = [
        PersonNumber(
            system=_text(row.get("system")),
            value=_text(row.get("value")).strip(),
            is_retired=_text(row.get("use")) == "old" or _has_ended(row.get("period"), today),
        )
        for row in _rows(body.get("identifier"))
    ]
    return Person(
        patient_id=patient_id,
        key=_text(body.get("id")),
        names=tuple(one for one in names if one.family or one.given or one.text),
        numbers=tuple(one for one in numbers if one.value),
        birth_date=_text(body.get("birthDate")),
        sex=_SEXES.get(_text(body.get("gender")), "unknown"),
        is_active=body.get("active") is not False,
        replaced_by=_replaced_by(_rows(body.get("link"))),
        beside=tuple(_beside(body, today))[:_BESIDE_LIMIT],
    )


def id_among(
    numbers: Iterable[PersonNumber], *, systems: Iterable[str], fits: Callable[[str], bool]
) -> PatientId | None:
    """Return the number by which a chart opens: in use, of `systems`, without any of our form."""
    wanted = frozenset(systems)
    for one in numbers:
        # What a configured system gives is an id whatever it looks like.
        if one.is_retired or not (one.system in wanted if wanted else fits(one.value)):
            continue
        try:
            return storable_patient_id(one.value)
        except InvalidIdentifierError:
            continue
    return None


def _name(row: Mapping[str, Any], today: date) -> PersonName:
    given = row.get("given")
    return PersonName(
        family=_text(row.get("family")),
        given=tuple(filter(None, map(_text, given if isinstance(given, list) else ()))),
        text=_text(row.get("text")),
        is_former=_text(row.get("use")) in _FORMER or _has_ended(row.get("period"), today),
    )


def _beside(body: Mapping[str, Any], today: date) -> Iterable[str]:
    """Yield the whole names of who stands beside a patient; a part of a name says too little."""
    for contact in _rows(body.get("contact")):
        name = contact.get("name")
        if isinstance(name, dict):
            yield _name(name, today).label
    for doctor in _rows(body.get("generalPractitioner")):
        yield _text(doctor.get("display"))


def _replaced_by(links: Iterable[Mapping[str, Any]]) -> str:
    for link in links:
        other = link.get("other")
        if link.get("type") == "replaced-by" and isinstance(other, dict):
            return _text(other.get("reference")).rpartition("/")[2]
    return ""


def _has_ended(period: object, today: date) -> bool:
    end = _text(period.get("end")) if isinstance(period, dict) else ""
    return bool(end) and end[:10] < today.isoformat()[: len(end[:10])]


def _rows(value: object) -> list[Mapping[str, Any]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def distinct(people: Iterable[Person]) -> tuple[Person, ...]:
    """Return each once, in the order in which they came."""
    found: list[Person] = []
    for one in people:
        if not any(one.same_as(each) for each in found):
            found.append(one)
    return tuple(found)
