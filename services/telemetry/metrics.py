"""Figures of this process for Prometheus; labels come from fixed sets (spec page 7, R46)."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeAlias

import structlog
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector
from pydantic import BaseModel

from data_models import errors
from data_models.chat_context import CheckedStatement
from data_models.errors import RoundsError
from data_models.identifiers import hashed
from data_models.plain_yaml import read_yaml
from data_models.storage.counting_blob_store import StorageOperation
from services.model_port import TokenUsage

# The figures of one part for Prometheus, as `figures.yaml` describes them.

_TABLE: Mapping[str, Mapping[str, Mapping[str, Any]]] = read_yaml(
    Path(__file__).with_name("figures.yaml").read_bytes()
)

_KINDS: Mapping[str, Any] = {"counter": Counter, "gauge": Gauge, "histogram": Histogram}


class Figures:
    """Counts, observes and shows by a figure's name. No label may hold an id or a text."""

    def __init__(
        self,
        *,
        part: Literal["server", "entities", "plans", "migrations"],
        registry: CollectorRegistry,
    ) -> None:
        self._known: dict[tuple[str, ...], Any] = {}
        for name, row in _TABLE[part].items():
            more = {"buckets": row["buckets"]} if "buckets" in row else {}
            more |= {"labelnames": row.get("labels", ()), "registry": registry}
            kind = next(one for one in _KINDS if one in row)
            self._known[name,] = _KINDS[kind](name, row[kind], **more)

    def count(self, name: str, *labels: str, by: float = 1) -> None:
        """Add to a counter."""
        self._labelled(name, *labels).inc(by)

    def observe(self, name: str, value: float, *labels: str) -> None:
        """Add a value to a histogram."""
        self._labelled(name, *labels).observe(value)

    def gauge(self, name: str, *labels: str) -> Gauge:
        """Return a gauge, to be set or tracked."""
        gauge: Gauge = self._labelled(name, *labels)
        return gauge

    def _labelled(self, *key: str) -> Any:
        """Return a figure of these labels, of which there are few: it is looked for once."""
        if key not in self._known:
            self._known[key] = self._known[key[:1]].labels(*key[1:])
        return self._known[key]


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


TurnOutcome: TypeAlias = Literal["success", "interrupt", "cancelled", "failed"]

_PURPOSES = frozenset({"agent", "scenario_extractor", "reader", "entities"})
_ACCESS_KINDS = frozenset({"many_charts", "break_glass", "chart_refused"})
_CODES = frozenset(
    kind.code
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, RoundsError)
)

logger = structlog.get_logger()


AnswerOutcome: TypeAlias = Literal["answered", "asked", "refused"]


class Metrics:
    """What the parts report. No label holds an id or a text.

    Args:
        registry: Where the figures are collected; one for each process, and for each test.
    """

    def __init__(self, *, registry: CollectorRegistry) -> None:
        self.registry = registry
        ProcessCollector(registry=registry)
        self._figures = Figures(part="server", registry=registry)
        self._model = "none"

    def turn_ended(
        self, outcome: TurnOutcome, *, seconds: float, first_text_seconds: float | None
    ) -> None:
        """Count a turn; `first_text_seconds` is None if no agent spoke."""
        self._figures.count("rounds_turns", outcome)
        self._figures.observe("rounds_turn_seconds", seconds)
        if first_text_seconds is not None:
            self._figures.observe("rounds_first_text_seconds", first_text_seconds)

    def model_is(self, name: str) -> None:
        """Name the model whose statements are counted from now on, as the operator set it."""
        self._model = name

    def statements_checked(self, agent: str, statements: Iterable[CheckedStatement]) -> None:
        """Count what the record said of a message's statements."""
        for one in statements:
            for state in (one.state, *(["repaired"] if one.is_repair else [])):
                self._figures.count("rounds_statements", agent, self._model, state)

    def user_got(self, outcome: AnswerOutcome, *, agent: str) -> None:
        """Count what a turn gave its user; `agent` spoke last, "" for nobody."""
        self._figures.count("rounds_answers", agent or "none", self._model, outcome)

    def opinion_given(self, reaction: str, *, agent: str) -> None:
        """Count a thumb on a message; `agent` is "" where it is not remembered whose it was."""
        self._figures.count("rounds_thumbs", agent or "none", self._model, reaction)

    @contextmanager
    def running_turn(self) -> Iterator[None]:
        """Count a turn as running meanwhile."""
        with self._figures.gauge("rounds_turns_running").track_inprogress():
            yield

    def watch(self, *, sockets: Callable[[], int], queued: Callable[[], int]) -> None:
        """Ask for these whenever the figures are collected, so that they cannot drift."""
        self._figures.gauge("rounds_sockets_open").set_function(sockets)
        self._figures.gauge("rounds_messages_queued").set_function(queued)

    def watch_directory(self, states: Iterable[str], current: Callable[[], str]) -> None:
        """Ask for the state of the directory whenever the figures are collected."""
        for one in states:
            self._figures.gauge("rounds_directory_state", one).set_function(
                partial(lambda state: float(current() == state), one)
            )

    def count_failure(self, error: RoundsError) -> None:
        """Count an error that a user was told of, or that ended a turn."""
        code = error.code if error.code in _CODES else RoundsError.code
        self._figures.count("rounds_errors", code)

    def corrupt(self, conversation_id: str, kind: str) -> None:
        """Count and log a stored document of `kind` that cannot be read, for an operator."""
        self._figures.count("rounds_corrupt_documents")
        logger.error("document_corrupt", conversation=hashed(conversation_id), kind=kind)

    def model_called(
        self,
        purpose: str,
        *,
        succeeded: bool,
        seconds: float,
        prompt_chars: int,
        tokens: TokenUsage | None = None,
    ) -> None:
        """Count a call to a language model, its retries included."""
        label = purpose if purpose in _PURPOSES else "other"
        outcome = "success" if succeeded else "failed"
        self._figures.observe("rounds_model_call_seconds", seconds, label, outcome)
        self._figures.count("rounds_model_prompt_chars", by=prompt_chars)
        if tokens is not None:
            self._figures.count("rounds_model_tokens", "prompt", by=tokens.prompt)
            self._figures.count("rounds_model_tokens", "cached", by=tokens.cached)
            self._figures.count("rounds_model_tokens", "answer", by=tokens.answer)
            self._figures.count("rounds_model_dollars", by=tokens.dollars)

    def access_alerted(self, kind: str) -> None:
        """Count what operators are alerted of: `many_charts`, `break_glass`, `chart_refused`."""
        self._figures.count("rounds_access_alerts", kind if kind in _ACCESS_KINDS else "other")

    def count_hand_over(self, outcome: str) -> None:
        """Count a note of the queue of turns: `taken`, `answered` or `poisoned`."""
        self._figures.count("rounds_turns_handed_over", outcome)

    def extractor_failed(self) -> None:
        """Count a tool's result that tool memory could not read; the tool's answer stands."""
        self._figures.count("rounds_tool_memory_extractor_failures")

    def count_storage(self, kind: StorageOperation) -> None:
        """Count a storage operation of `kind`."""
        self._figures.count("rounds_storage_operations", kind)
