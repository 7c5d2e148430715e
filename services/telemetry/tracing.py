"""Traces to an OpenTelemetry collector, scrubbed of text on the way out."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SpanExporter


def configure_traces(*, endpoint: str | None, service_name: str) -> "TracerProvider | None":
    """Send spans of this process, Semantic Kernel's too, to `endpoint`; None: no traces.

    The caller calls `shutdown` on the result when the process ends.
    """
    if endpoint is None:
        return None
    # The SDK and its exporter take half a second to import.
    from opentelemetry import trace
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    exporter = OTLPSpanExporter(endpoint=f"{endpoint}/v1/traces", timeout=5)
    provider = tracer_provider(exporter, service_name=service_name)
    trace.set_tracer_provider(provider)
    return provider


def tracer_provider(exporter: "SpanExporter", *, service_name: str) -> "TracerProvider":
    """Return a provider whose spans reach `exporter` without text."""
    from opentelemetry.sdk.resources import SERVICE_NAME, Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    from services.telemetry.scrubbing_exporter import ScrubbingExporter

    provider = TracerProvider(resource=Resource.create({SERVICE_NAME: service_name}))
    provider.add_span_processor(BatchSpanProcessor(ScrubbingExporter(inner=exporter)))
    return provider
