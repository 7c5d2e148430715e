"""Values that outlive a run, because the definition declares that they do. Pure."""

from collections.abc import Collection
from datetime import datetime

from data_models.scenario_session import PatientProfile, ProfileField, ScenarioSession
from services.language.field_answers import out_of_range
from services.scenarios.definition.graph import Graph
from services.scenarios.session.facts import fits


def lasting(profile: PatientProfile, graph: Graph, now: datetime) -> dict[str, ProfileField]:
    """Return the values that `graph` declares as lasting and that still hold, by field."""
    return {
        name: one
        for name, one in profile.fields.items()
        if (field := graph.fields.get(name)) is not None
        and field.scope != "run"
        and one.expires_at is not None
        and now < one.expires_at
        and fits(one.value, field.value_type)
        and not out_of_range(field, one.value)
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
