"""Lets spans out with names of ours and numbers, and without text."""

import re
from collections.abc import Mapping, Sequence

from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
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
