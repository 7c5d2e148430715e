"""The live figures of quality are those that were counted, by agent and model."""

from prometheus_client import CollectorRegistry

from data_models.chat_context import CheckedStatement
from services.telemetry.metrics import Metrics, QualityRow, quality_rows


def test_counts_of_one_agent_and_model_stand_in_one_row() -> None:
    registry = CollectorRegistry()
    metrics = Metrics(registry=registry)
    assert quality_rows(registry) == []
    metrics.model_is("small-model")
    metrics.statements_checked(
        "Radiology",
        [
            CheckedStatement(start=0, end=5, state="supported"),
            CheckedStatement(start=6, end=9, state="supported", is_repair=True),
            CheckedStatement(start=9, end=9, state="contradicted"),
        ],
    )
    metrics.user_got("answered", agent="Radiology")
    metrics.opinion_given("like", agent="Radiology")
    metrics.opinion_given("dislike", agent="Radiology")
    metrics.user_got("asked", agent="")
    assert quality_rows(registry) == [
        QualityRow(
            agent="Radiology", model="small-model", supported=2, contradicted=1, repaired=1,
            answered=1, like=1, dislike=1,
        ),
        QualityRow(agent="none", model="small-model", asked=1),
    ]  # fmt: skip
