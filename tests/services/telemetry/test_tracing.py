"""Traces carry figures and names, and nothing that was said."""

import pytest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode, Tracer

from services.telemetry.tracing import configure_traces, tracer_provider

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
