"""How good the answers of this process are, from the figures that it reports anyway. Pure."""

from collections import defaultdict

from prometheus_client import CollectorRegistry
from pydantic import BaseModel

_FIELDS = {
    "rounds_statements_total": ("state", ("supported", "unsupported", "contradicted", "repaired")),
    "rounds_answers_total": ("outcome", ("answered", "asked", "refused")),
    "rounds_thumbs_total": ("reaction", ("like", "dislike")),
}


class QualityRow(BaseModel):
    """Counts of one agent and model since the process began.

    Attributes:
        agent: "none" where nobody spoke.
        repaired: Statements that stand for withheld ones; they are counted by state as well.
        asked: Turns that asked the user back.
        like: Thumbs up.
    """

    agent: str
    model: str
    supported: int = 0
    unsupported: int = 0
    contradicted: int = 0
    repaired: int = 0
    answered: int = 0
    asked: int = 0
    refused: int = 0
    like: int = 0
    dislike: int = 0


def quality_rows(registry: CollectorRegistry) -> list[QualityRow]:
    """Return a row for each agent and model of which something was counted, by name."""
    found: dict[tuple[str, str], dict[str, int]] = defaultdict(dict)
    samples = (one for family in registry.collect() for one in family.samples)
    for one in samples:
        label, names = _FIELDS.get(one.name, ("", ()))
        if one.labels.get(label) in names:
            key = (one.labels["agent"], one.labels["model"])
            found[key][one.labels[label]] = int(one.value)
    return [
        QualityRow(agent=agent, model=model, **counts)
        for (agent, model), counts in sorted(found.items())
    ]
