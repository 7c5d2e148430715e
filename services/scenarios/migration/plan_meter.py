"""Figures of plans and deployments."""

from prometheus_client import CollectorRegistry, Counter, Histogram

_MS = (1, 5, 10, 25, 50, 100, 150, 250, 500, 1_000, 2_000, 5_000)


class PlanMeter:
    """Counts what operators do; one for each process."""

    def __init__(self, *, registry: CollectorRegistry) -> None:
        self._generated = Counter(
            "migration_plans_generated_total", "Plans made.", registry=registry
        )
        self._approved = Counter(
            "migration_plans_approved_total", "Plans approved.", registry=registry
        )
        self._marked = Counter(
            "migration_sessions_marked_total",
            "Sessions marked at deployments of this process.",
            registry=registry,
        )
        self._duration = Histogram(
            "migration_plan_generation_duration_ms",
            "Milliseconds to make and store a plan.",
            buckets=_MS,
            registry=registry,
        )

    def planned(self, seconds: float) -> None:
        """Count a plan."""
        self._generated.inc()
        self._duration.observe(seconds * 1e3)

    def approved(self) -> None:
        """Count an approval."""
        self._approved.inc()

    def marked(self, number: int) -> None:
        """Count marked sessions."""
        self._marked.inc(number)
