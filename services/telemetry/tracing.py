"""Traces to an OpenTelemetry collector, scrubbed of text on the way out."""

import re
from collections.abc import Mapping, Sequence

from opentelemetry import trace
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import Event, ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.trace import Status
from opentelemetry.util.types import AttributeValue

_NAME = re.compile(r"[A-Za-z0-9_./ :-]{1,100}")
_WORDS = frozenset(
    (
        "error.type",
        "exception.type",
        "gen_ai.agent.name",
        "gen_ai.operation.name",
        "gen_ai.request.model",
        "gen_ai.response.model",
        "gen_ai.system",
        "gen_ai.tool.name",
        "http.request.method",
        "server.address",
    )
)


def configure_traces(*, endpoint: str | None, service_name: str) -> TracerProvider | None:
    """Send spans of this process, Semantic Kernel's too, to `endpoint`; None: no traces.

    The caller calls `shutdown` on the result when the process ends.
    """
    if endpoint is None:
        return None
    # The exporter takes a third of a second to import.
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    exporter = OTLPSpanExporter(endpoint=f"{endpoint}/v1/traces", timeout=5)
    provider = tracer_provider(exporter, service_name=service_name)
    trace.set_tracer_provider(provider)
    return provider


def tracer_provider(exporter: SpanExporter, *, service_name: str) -> TracerProvider:
    """Return a provider whose spans reach `exporter` without text."""
    provider = TracerProvider(resource=Resource.create({SERVICE_NAME: service_name}))
    provider.add_span_processor(BatchSpanProcessor(ScrubbingExporter(inner=exporter)))
    return provider


class ScrubbingExporter(SpanExporter):
    """Passes on names of ours and numbers; messages of exceptions and all other text stay here."""

    def __init__(self, *, inner: SpanExporter) -> None:
        self._inner = inner

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """See `SpanExporter.export`."""
        return self._inner.export([_scrubbed(span) for span in spans])

    def shutdown(self) -> None:
        """See `SpanExporter.shutdown`."""
        self._inner.shutdown()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """See `SpanExporter.force_flush`."""
        return self._inner.force_flush(timeout_millis)


def _scrubbed(span: ReadableSpan) -> ReadableSpan:
    return ReadableSpan(
        name=_name(span.name),
        context=span.get_span_context(),
        parent=span.parent,
        resource=span.resource,
        attributes=_attributes(span.attributes),
        events=[
            Event(_name(event.name), _attributes(event.attributes), event.timestamp)
            for event in span.events
        ],
        kind=span.kind,
        status=Status(span.status.status_code),
        start_time=span.start_time,
        end_time=span.end_time,
        instrumentation_scope=span.instrumentation_scope,
    )


def _name(name: str) -> str:
    return name if _NAME.fullmatch(name) else "span"


def _attributes(attributes: Mapping[str, AttributeValue] | None) -> dict[str, AttributeValue]:
    return {key: value for key, value in (attributes or {}).items() if _may_leave(key, value)}


def _may_leave(key: str, value: AttributeValue) -> bool:
    if isinstance(value, bool | int | float):
        return True
    return key in _WORDS and isinstance(value, str) and _NAME.fullmatch(value) is not None
