"""Figures of this process for Prometheus; labels come from fixed sets (spec page 7, R46)."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Literal, TypeAlias

import structlog
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector
from pydantic import BaseModel

from data_models import errors
from data_models.errors import RoundsError
from data_models.identifiers import hashed
from data_models.statement_check import CheckedStatement
from data_models.storage.counting_blob_store import StorageOperation
from services.usage import TokenUsage

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

_PURPOSES = frozenset({"agent", "selection", "scenario_extractor", "reader", "entities"})
_ACCESS_KINDS = frozenset({"many_charts", "break_glass", "chart_refused"})
_TURN_SECONDS = (0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 20, 40, 60, 120, 300)
_CALL_SECONDS = (0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 20, 40, 60)
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
        counter = partial(Counter, registry=registry)
        gauge = partial(Gauge, registry=registry)
        histogram = partial(Histogram, registry=registry)
        self._turns = counter("rounds_turns", "Turns ended.", ["outcome"])
        self._turn_seconds = histogram(
            "rounds_turn_seconds", "Length of turns.", buckets=_TURN_SECONDS
        )
        self._first_text_seconds = histogram(
            "rounds_first_text_seconds",
            "From the message to the first text of an agent.",
            buckets=_TURN_SECONDS,
        )
        self._running = gauge("rounds_turns_running", "Turns that run now.")
        self._queued = gauge("rounds_messages_queued", "Messages that wait.")
        self._sockets = gauge("rounds_sockets_open", "Sockets open now.")
        self._directory = gauge(
            "rounds_directory_state",
            "Whether the directory of patients is in this state.",
            ["state"],
        )
        self._errors = counter("rounds_errors", "Errors by code.", ["code"])
        self._corrupt = counter("rounds_corrupt_documents", "Stored documents that cannot be read.")
        self._calls = histogram(
            "rounds_model_call_seconds",
            "Length of model calls.",
            ["purpose", "outcome"],
            buckets=_CALL_SECONDS,
        )
        self._prompt_chars = counter("rounds_model_prompt_chars", "Characters sent to models.")
        self._tokens = counter(
            "rounds_model_tokens",
            "Tokens as the models' servers counted them; those cached are among those of prompts.",
            ["kind"],
        )
        self._dollars = counter("rounds_model_dollars", "Cost of models by the operator's prices.")
        self._model = "none"
        self._count_the_rest(registry)

    def _count_the_rest(self, registry: CollectorRegistry) -> None:
        counter = partial(Counter, registry=registry)
        self._statements = counter(
            "rounds_statements",
            "Statements of agents by what the record says of them; those repaired once more.",
            ["agent", "model", "state"],
        )
        self._answers = counter(
            "rounds_answers",
            "Turns by what the user got: answered, asked back, or refused by the model.",
            ["agent", "model", "outcome"],
        )
        self._thumbs = counter(
            "rounds_thumbs",
            "Opinions of users on messages of agents.",
            ["agent", "model", "reaction"],
        )
        self._storage = counter("rounds_storage_operations", "Storage operations.", ["kind"])
        self._handed_over = counter(
            "rounds_turns_handed_over",
            "Notes of turns of dead replicas, by what became of them.",
            ["outcome"],
        )
        self._access = counter(
            "rounds_access_alerts",
            "Charts refused, opened in an emergency, or opened by one caller in great number.",
            ["kind"],
        )
        self._extractor_failures = counter(
            "rounds_tool_memory_extractor_failures",
            "Tool results of which nothing could be remembered.",
        )

    def turn_ended(
        self, outcome: TurnOutcome, *, seconds: float, first_text_seconds: float | None
    ) -> None:
        """Count a turn; `first_text_seconds` is None if no agent spoke."""
        self._turns.labels(outcome).inc()
        self._turn_seconds.observe(seconds)
        if first_text_seconds is not None:
            self._first_text_seconds.observe(first_text_seconds)

    def model_is(self, name: str) -> None:
        """Name the model whose statements are counted from now on, as the operator set it."""
        self._model = name

    def statements_checked(self, agent: str, statements: Iterable[CheckedStatement]) -> None:
        """Count what the record said of a message's statements."""
        for one in statements:
            self._statements.labels(agent, self._model, one.state).inc()
            if one.is_repair:
                self._statements.labels(agent, self._model, "repaired").inc()

    def user_got(self, outcome: AnswerOutcome, *, agent: str) -> None:
        """Count what a turn gave its user; `agent` spoke last, "" for nobody."""
        self._answers.labels(agent or "none", self._model, outcome).inc()

    def opinion_given(self, reaction: str, *, agent: str) -> None:
        """Count a thumb on a message; `agent` is "" where it is not remembered whose it was."""
        self._thumbs.labels(agent or "none", self._model, reaction).inc()

    @contextmanager
    def running_turn(self) -> Iterator[None]:
        """Count a turn as running meanwhile."""
        with self._running.track_inprogress():
            yield

    def watch(self, *, sockets: Callable[[], int], queued: Callable[[], int]) -> None:
        """Ask for these whenever the figures are collected, so that they cannot drift."""
        self._sockets.set_function(sockets)
        self._queued.set_function(queued)

    def watch_directory(self, states: Iterable[str], current: Callable[[], str]) -> None:
        """Ask for the state of the directory whenever the figures are collected."""
        for one in states:
            self._directory.labels(one).set_function(
                partial(lambda state: float(current() == state), one)
            )

    def count_failure(self, error: RoundsError) -> None:
        """Count an error that a user was told of, or that ended a turn."""
        self._errors.labels(error.code if error.code in _CODES else RoundsError.code).inc()

    def corrupt(self, conversation_id: str, kind: str) -> None:
        """Count and log a stored document of `kind` that cannot be read, for an operator."""
        self._corrupt.inc()
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
        self._calls.labels(label, "success" if succeeded else "failed").observe(seconds)
        self._prompt_chars.inc(prompt_chars)
        if tokens is not None:
            self._tokens.labels("prompt").inc(tokens.prompt)
            self._tokens.labels("cached").inc(tokens.cached)
            self._tokens.labels("answer").inc(tokens.answer)
            self._dollars.inc(tokens.dollars)

    def access_alerted(self, kind: str) -> None:
        """Count what operators are alerted of: `many_charts`, `break_glass`, `chart_refused`."""
        self._access.labels(kind if kind in _ACCESS_KINDS else "other").inc()

    def count_hand_over(self, outcome: str) -> None:
        """Count a note of the queue of turns: `taken`, `answered` or `poisoned`."""
        self._handed_over.labels(outcome).inc()

    def extractor_failed(self) -> None:
        """Count a tool's result that tool memory could not read; the tool's answer stands."""
        self._extractor_failures.inc()

    def count_storage(self, kind: StorageOperation) -> None:
        """Count a storage operation of `kind`."""
        self._storage.labels(kind).inc()
