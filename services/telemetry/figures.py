"""The figures of one part for Prometheus, as `figures.yaml` describes them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from data_models.plain_yaml import read_yaml

_TABLE: Mapping[str, Mapping[str, Mapping[str, Any]]] = read_yaml(
    Path(__file__).with_name("figures.yaml").read_bytes()
)


class Figures:
    """Counts, observes and shows by a figure's name. No label may hold an id or a text."""

    def __init__(
        self,
        *,
        part: Literal["server", "entities", "plans", "migrations"],
        registry: CollectorRegistry,
    ) -> None:
        self._counters: dict[str, Counter] = {}
        self._gauges: dict[str, Gauge] = {}
        self._histograms: dict[str, Histogram] = {}
        for name, row in _TABLE[part].items():
            labels = row.get("labels", ())
            match row:
                case {"counter": text}:
                    self._counters[name] = Counter(name, text, labels, registry=registry)
                case {"gauge": text}:
                    self._gauges[name] = Gauge(name, text, labels, registry=registry)
                case _:
                    self._histograms[name] = Histogram(
                        name, row["histogram"], labels, buckets=row["buckets"], registry=registry
                    )

    def count(self, name: str, *labels: str, by: float = 1) -> None:
        """Add to a counter."""
        counter = self._counters[name]
        (counter.labels(*labels) if labels else counter).inc(by)

    def observe(self, name: str, value: float, *labels: str) -> None:
        """Add a value to a histogram."""
        histogram = self._histograms[name]
        (histogram.labels(*labels) if labels else histogram).observe(value)

    def gauge(self, name: str, *labels: str) -> Gauge:
        """Return a gauge, to be set or tracked."""
        gauge = self._gauges[name]
        return gauge.labels(*labels) if labels else gauge
