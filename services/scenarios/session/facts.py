"""What is known about a patient, from the surest source to the least sure."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime

from pydantic import JsonValue

from data_models.scenarios.scenario import FieldDefinition, ValueType
from data_models.scenarios.scenario_session import (
    Evidence,
    Extracted,
    PatientProfile,
    ProfileField,
    ScenarioSession,
)
from services.language.replies.field_answers import out_of_range
from services.scenarios.definition.graph import Graph
from services.scenarios.scenario_settings import GapFillConfig

RECORD = "record"
"""The source of what the patient's own record holds; it outweighs what is said."""


@dataclass(frozen=True, slots=True)
class Fact:
    """One value and where it comes from."""

    value: JsonValue
    source: str
    confidence: float
    quote: str = ""


@dataclass(frozen=True, slots=True)
class Facts:
    """What may be used, and what the user has to confirm first.

    Attributes:
        sure: Used without asking.
        likely: Confirmed with the user before it is used.
    """

    sure: Mapping[str, Fact]
    likely: Mapping[str, Fact]

    @property
    def values(self) -> dict[str, JsonValue]:
        """The sure values by field."""
        return {name: fact.value for name, fact in self.sure.items()}


def gather_facts(
    session: ScenarioSession,
    profile: PatientProfile,
    *,
    extracted: Mapping[str, Extracted],
    graph: Graph,
    config: GapFillConfig,
    now: datetime,
) -> Facts:
    """Return the best fact: the record, this run, what outlived a run, extraction.

    A value that does not fit the field's type, has expired, or was denied by the user is no fact.
    """
    denied = session.progress.denied if session.progress else []
    heard = extracted if config.extraction_enabled else {}
    sure: dict[str, Fact] = {}
    likely: dict[str, Fact] = {}
    for name, fact in _candidates(session, profile, heard, now):
        if name not in graph.fields or not fits(fact.value, graph.fields[name].value_type):
            continue
        if fact.confidence >= config.confirmation_threshold:
            sure.setdefault(name, fact)
        elif fact.confidence >= config.extraction_confidence_threshold and name not in denied:
            likely.setdefault(name, fact)
    return Facts(sure, {name: fact for name, fact in likely.items() if name not in sure})


def _candidates(
    session: ScenarioSession, profile: PatientProfile, heard: Mapping[str, Extracted], now: datetime
) -> Iterator[tuple[str, Fact]]:
    known = {n: f for n, f in profile.fields.items() if f.expires_at is None or f.expires_at > now}
    for name, one in known.items():
        if one.source == RECORD:
            yield name, Fact(one.value, "profile", one.confidence)
    for name, value in session.variables.items():
        yield name, Fact(value, "session", 1.0)
    for name, one in known.items():
        yield name, Fact(one.value, "profile", one.confidence)
    for name, found in heard.items():
        if found.quote.strip():
            yield name, Fact(found.value, "extraction", found.confidence, found.quote)


def fits(value: JsonValue, kind: ValueType) -> bool:
    """Whether `value` is one of the type; null is the absence of a value, never one."""
    if value is None:
        return False
    match kind:
        case "any":
            return True
        case "boolean":
            return isinstance(value, bool)
        case "integer":
            return isinstance(value, int) and not isinstance(value, bool)
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "text":
            return isinstance(value, str) and bool(value.strip())
        case "date":
            return isinstance(value, str) and _is_date(value)


def takes(field: FieldDefinition, value: JsonValue) -> bool:
    """Whether `value` is of the field's type and in its range."""
    return fits(value, field.value_type) and not out_of_range(field, value)


def _is_date(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


# Values that outlive a run, because the definition declares that they do. Pure.


def lasting(profile: PatientProfile, graph: Graph, now: datetime) -> dict[str, ProfileField]:
    """Return the values that `graph` declares as lasting and that still hold, by field."""
    return {
        name: one
        for name, one in profile.fields.items()
        if (field := graph.fields.get(name)) is not None
        and field.scope != "run"
        and one.expires_at is not None
        and now < one.expires_at
        and takes(field, one.value)
    }


def with_lasting(
    profile: PatientProfile,
    session: ScenarioSession,
    graph: Graph,
    names: Collection[str],
    now: datetime,
) -> PatientProfile:
    """Return the profile with what the run learnt of the lasting fields among `names`."""
    fields = dict(profile.fields)
    for name in names:
        field = graph.fields.get(name)
        if field is None or field.valid_for is None:
            continue
        fields.pop(name, None)
        if name in session.variables:
            fields[name] = ProfileField(
                value=session.variables[name],
                expires_at=now + field.valid_for,
                evidence=session.evidence.get(name),
            )
    return profile.model_copy(update={"fields": fields})


# What a session knows of what was said: taken, replaced, and forgotten. Pure.

SPENT_LIMIT = 40
"""How many quotes are kept of values that hold no more."""


def with_answers(
    session: ScenarioSession,
    answers: Mapping[str, JsonValue],
    graph: Graph,
    evidence: Mapping[str, Evidence] | None = None,
) -> ScenarioSession:
    """Return the session with what the user said, read before reconciliation resumes (M20).

    Null denies a value that was to be confirmed. A value that does not fit its type is none.
    """
    fitting = {
        name: value
        for name, value in answers.items()
        if value is not None and (name not in graph.fields or takes(graph.fields[name], value))
    }
    if (progress := session.progress) is not None:
        denied = [n for n in progress.confirming if n in answers and answers[n] is None]
        progress = progress.model_copy(update={"denied": [*progress.denied, *denied]})
    said = {name: (evidence or {}).get(name) or Evidence() for name in fitting}
    return session.model_copy(
        update={
            "variables": session.variables | fitting,
            "evidence": session.evidence | said,
            "spent": _spent(session, said),
            "refused": {n: c for n, c in session.refused.items() if n not in fitting},
            "to_confirm": {n: f for n, f in session.to_confirm.items() if n not in fitting},
            "progress": progress,
        }
    )


def without_values(session: ScenarioSession, names: Collection[str]) -> ScenarioSession:
    """Return the session without the values of fields that are asked again."""
    return session.model_copy(
        update={
            "variables": {n: v for n, v in session.variables.items() if n not in names},
            "evidence": {n: one for n, one in session.evidence.items() if n not in names},
            "spent": _spent(session, names),
        }
    )


def _spent(session: ScenarioSession, names: Collection[str]) -> list[Evidence]:
    """Return the words that give no value a second time: those for `names` too."""
    over = [one for name, one in session.evidence.items() if name in names and one.quote]
    return [*session.spent, *over][-SPENT_LIMIT:]
