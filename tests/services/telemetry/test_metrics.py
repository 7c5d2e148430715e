"""Metrics and traces: fixed labels, right figures, figures of quality as counted, nothing said."""

import pytest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode, Tracer
from prometheus_client import CollectorRegistry, generate_latest
from structlog.testing import capture_logs

from data_models.chat_context import CheckedStatement
from data_models.errors import ModelTimeoutError, RoundsError
from data_models.identifiers import hashed
from services.telemetry.logs import redacted
from services.telemetry.metrics import Metrics, QualityRow, quality_rows
from services.telemetry.tracing import configure_traces, tracer_provider


@pytest.fixture
def registry() -> CollectorRegistry:
    return CollectorRegistry()


@pytest.fixture
def metrics(registry: CollectorRegistry) -> Metrics:
    return Metrics(registry=registry)


def test_turns_are_counted_by_outcome(registry: CollectorRegistry, metrics: Metrics) -> None:
    metrics.turn_ended("success", seconds=0.3, first_text_seconds=0.1)
    metrics.turn_ended("failed", seconds=2.0, first_text_seconds=None)
    assert registry.get_sample_value("rounds_turns_total", {"outcome": "success"}) == 1
    assert registry.get_sample_value("rounds_turn_seconds_count") == 2
    assert registry.get_sample_value("rounds_first_text_seconds_count") == 1


def test_running_turns_fall_again(registry: CollectorRegistry, metrics: Metrics) -> None:
    with metrics.running_turn():
        assert registry.get_sample_value("rounds_turns_running") == 1
    with pytest.raises(ValueError, match="x"), metrics.running_turn():
        int("x")
    assert registry.get_sample_value("rounds_turns_running") == 0


def test_sockets_and_waiting_messages_are_asked_for_when_collected(
    registry: CollectorRegistry, metrics: Metrics
) -> None:
    waiting = [1]
    metrics.watch(sockets=lambda: 3, queued=lambda: len(waiting))
    assert registry.get_sample_value("rounds_sockets_open") == 3
    assert registry.get_sample_value("rounds_messages_queued") == 1
    waiting.clear()
    assert registry.get_sample_value("rounds_messages_queued") == 0


def test_errors_are_counted_by_code(registry: CollectorRegistry, metrics: Metrics) -> None:
    metrics.count_failure(ModelTimeoutError("secret"))
    assert registry.get_sample_value("rounds_errors_total", {"code": "model_timeout"}) == 1
    assert b"secret" not in generate_latest(registry)


def test_a_damaged_document_is_counted_and_logged_where_it_is_found(
    registry: CollectorRegistry, metrics: Metrics
) -> None:
    with capture_logs() as logs:
        metrics.corrupt("19:secret@thread", "Registry")
    assert registry.get_sample_value("rounds_corrupt_documents_total") == 1
    (line,) = logs
    assert (line["event"], line["log_level"]) == ("document_corrupt", "error")
    assert (line["kind"], line["conversation"]) == ("Registry", hashed("19:secret@thread"))
    assert redacted(line)["kind"] == "Registry"


def test_a_code_of_elsewhere_makes_no_new_series(
    registry: CollectorRegistry, metrics: Metrics
) -> None:
    class StrayError(RoundsError):
        code = "made up"

    metrics.count_failure(StrayError())
    assert registry.get_sample_value("rounds_errors_total", {"code": "internal"}) == 1
    assert b"made up" not in generate_latest(registry)


def test_calls_and_storage_are_counted(registry: CollectorRegistry, metrics: Metrics) -> None:
    metrics.model_called("agent", succeeded=False, seconds=1.0, prompt_chars=500)
    metrics.count_storage("append")
    metrics.count_storage("read")
    metrics.count_storage("read")
    labels = {"purpose": "agent", "outcome": "failed"}
    assert registry.get_sample_value("rounds_model_call_seconds_count", labels) == 1
    assert registry.get_sample_value("rounds_model_prompt_chars_total") == 500
    assert registry.get_sample_value("rounds_storage_operations_total", {"kind": "read"}) == 2


def test_a_purpose_of_elsewhere_makes_no_new_series(
    registry: CollectorRegistry, metrics: Metrics
) -> None:
    metrics.model_called("made up", succeeded=True, seconds=1.0, prompt_chars=5)
    labels = {"purpose": "other", "outcome": "success"}
    assert registry.get_sample_value("rounds_model_call_seconds_count", labels) == 1
    assert b"made up" not in generate_latest(registry)


def test_the_state_of_the_directory_is_a_figure() -> None:
    registry = CollectorRegistry()
    state = "ok"
    Metrics(registry=registry).watch_directory(("ok", "slow", "down"), lambda: state)

    def figures() -> list[float | None]:
        name = "rounds_directory_state"
        return [registry.get_sample_value(name, {"state": each}) for each in ("ok", "slow", "down")]

    assert figures() == [1, 0, 0]
    state = "down"
    assert figures() == [0, 0, 1]


def test_statements_are_counted_by_agent_model_and_what_the_record_says(
    registry: CollectorRegistry, metrics: Metrics
) -> None:
    metrics.model_is("small-model")
    metrics.statements_checked(
        "Radiology",
        [
            CheckedStatement(start=0, end=5, state="supported"),
            CheckedStatement(start=6, end=9, state="supported", is_repair=True),
            CheckedStatement(start=9, end=9, state="contradicted"),
        ],
    )
    labels = {"agent": "Radiology", "model": "small-model"}
    counted = {
        state: registry.get_sample_value("rounds_statements_total", {**labels, "state": state})
        for state in ("supported", "unsupported", "contradicted", "repaired")
    }
    assert counted == {"supported": 2, "unsupported": None, "contradicted": 1, "repaired": 1}


def test_what_users_got_is_counted_by_model(registry: CollectorRegistry, metrics: Metrics) -> None:
    metrics.model_is("small-model")
    metrics.user_got("answered", agent="Radiology")
    metrics.user_got("asked", agent="")
    metrics.user_got("refused", agent="Radiology")
    metrics.opinion_given("like", agent="Radiology")
    labels = {"agent": "Radiology", "model": "small-model"}
    for outcome, count in (("answered", 1), ("asked", None), ("refused", 1)):
        found = registry.get_sample_value("rounds_answers_total", {**labels, "outcome": outcome})
        assert found == count
    nobody = {"agent": "none", "model": "small-model", "outcome": "asked"}
    assert registry.get_sample_value("rounds_answers_total", nobody) == 1
    assert registry.get_sample_value("rounds_thumbs_total", {**labels, "reaction": "like"}) == 1


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


CANARY = "Zebra Müller"


def fail_within(tracer: Tracer) -> None:
    with tracer.start_as_current_span("chat gpt-4.1") as span:
        span.set_attributes({"gen_ai.usage.input_tokens": 12, "gen_ai.request.model": "gpt-4.1"})
        span.set_attributes({"gen_ai.prompt": CANARY, "gen_ai.tool.name": CANARY, "a": [CANARY]})
        span.add_event("gen_ai.content.prompt", {"gen_ai.prompt": CANARY})
        raise ValueError(CANARY)


def test_spans_leave_without_text() -> None:
    exporter = InMemorySpanExporter()
    provider = tracer_provider(exporter, service_name="rounds")
    tracer = provider.get_tracer("test")
    with pytest.raises(ValueError, match=CANARY):
        fail_within(tracer)
    with tracer.start_as_current_span(CANARY):
        pass
    provider.shutdown()
    first, second = exporter.get_finished_spans()
    assert "Zebra" not in first.to_json() + second.to_json()
    assert (first.name, second.name) == ("chat gpt-4.1", "span")
    assert first.attributes == {"gen_ai.usage.input_tokens": 12, "gen_ai.request.model": "gpt-4.1"}
    assert first.status.status_code is StatusCode.ERROR
    assert [dict(event.attributes or {}) for event in first.events] == [
        {},
        {"exception.type": "ValueError"},
    ]


def test_without_a_collector_there_are_no_traces() -> None:
    assert configure_traces(endpoint=None, service_name="rounds") is None
