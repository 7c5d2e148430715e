"""What so many turns need on Azure, computed from what a turn was measured to cost.

    python -m bench.turn --place azurite --json > bench/scale_figures.json
    python -m bench.scale [FIGURES] [--json | --page]

Every number is a measured figure, a limit that Azure publishes, a price, or an assumption about
people; the last three are fields below, so change them there and look again. `docs/scale.md` shows
the result, put there by `--page`.
"""

import argparse
import heapq
import math
import random
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import orjson

FIGURES = Path(__file__).parent / "scale_figures.json"
PAGE = Path(__file__).parent.parent / "docs" / "scale.md"
_MARK = "<!-- made by python -m bench.scale --page -->\n"
_DAY_SECONDS = 86_400
_MONTH_DAYS = 30
_CHARS_PER_TOKEN = 4
# What each figure is called in the bench; the first place that has it counts.
_NAMES = {
    "cpu_ms": "8 at once: CPU of the server",
    "storage_operations": "100 earlier messages: storage operations p50",
    "bytes_written": "100 earlier messages: bytes written p50",
    "model_calls": "follow-up: model calls",
    "prompt_chars": "100 earlier messages: prompt characters",
    "idle_mb": "RSS idle",
}


class MissingFigureError(Exception):
    """The file lacks a figure; the message names it."""


@dataclass(frozen=True)
class Measured:
    """What one follow-up turn costs, of the bench."""

    cpu_ms: float
    storage_operations: float
    bytes_written: float
    model_calls: float
    prompt_chars: float
    idle_mb: float

    @classmethod
    def of(cls, report: Mapping[str, Sequence[Mapping[str, object]]], place: str) -> "Measured":
        """Take the figures of `place` out of what `bench.turn --json` prints.

        Raises:
            MissingFigureError: one is not there.
        """
        rows = {row["name"]: row["measured"] for row in report["figures"] if row["place"] == place}
        if missing := [name for name in _NAMES.values() if name not in rows]:
            raise MissingFigureError(f"{place}: no figure called {missing[0]!r}")
        return cls(**{field: float(str(rows[name])) for field, name in _NAMES.items()})


@dataclass(frozen=True)
class Demand:
    """What people do.

    Attributes:
        peak_factor: The busiest hour over the mean of the day.
        concurrent: Conversations that are open at the busiest hour.
        bot_share: Turns that come through the bot, each with a note in the queue.
        turn_seconds: How long a turn runs, the model's time included.
        answer_tokens: Tokens that models write in a turn.
        cached_share: Of the prompt's tokens, those of its stable beginning, which models cache.
    """

    name: str
    turns_per_day: float
    concurrent: float
    peak_factor: float = 4.0
    bot_share: float = 0.5
    turn_seconds: float = 8.0
    answer_tokens: float = 300.0
    cached_share: float = 0.3
    kept_kb_per_turn: float = 4.0

    @property
    def turns_per_second(self) -> float:
        """At the busiest hour."""
        return self.turns_per_day / _DAY_SECONDS * self.peak_factor


@dataclass(frozen=True)
class Limits:
    """What one of each can do; Azure's published figures, and our own replica."""

    storage_requests: float = 20_000.0
    storage_bytes: float = 1_250_000_000.0
    queue_messages: float = 2_000.0
    tokens_per_minute: float = 5_000_000.0
    sockets_per_replica: float = 2_000.0
    kb_per_socket: float = 60.0
    replica_gib: float = 2.0
    busy_share: float = 0.6
    bench_core_over_vcpu: float = 1.0


@dataclass(frozen=True)
class Prices:
    """US dollars, list prices of a region with three zones; assumptions, to be replaced."""

    write_10k: float = 0.0625
    gb_month: float = 0.023
    queue_10k: float = 0.004
    input_million: float = 2.20
    cached_million: float = 0.55
    output_million: float = 8.80
    vcpu_second: float = 0.000024
    gib_second: float = 0.000003
    log_gb: float = 2.76
    log_kb_per_turn: float = 1.0


@dataclass(frozen=True)
class Need:
    """One resource at the busiest hour, against what one unit of it can do."""

    name: str
    amount: float
    unit: str
    limit: float

    @property
    def units(self) -> int:
        """How many of them it takes."""
        return max(1, math.ceil(self.amount / self.limit))

    @property
    def share(self) -> float:
        """How full one of them would be."""
        return self.amount / self.limit


@dataclass(frozen=True)
class Plan:
    """What a demand takes."""

    demand: Demand
    needs: tuple[Need, ...]
    replicas: int
    wait_p99_ms: float
    dollars: Mapping[str, float]

    @property
    def bottleneck(self) -> Need:
        """What is full first as demand grows; replicas only have to be added."""
        return max(self.needs, key=lambda need: need.share)

    @property
    def dollars_per_turn(self) -> float:
        """All costs over all turns of a month."""
        return sum(self.dollars.values()) / (self.demand.turns_per_day * _MONTH_DAYS)


def plan(measured: Measured, demand: Demand, limits: Limits, prices: Prices) -> Plan:
    """Return what `demand` takes if each turn costs what was measured."""
    replicas = replicas_for(measured, demand, limits)
    cpu_seconds = measured.cpu_ms / 1000 * limits.bench_core_over_vcpu
    wait = simulated_wait(
        rate=demand.turns_per_second, work_seconds=cpu_seconds, servers=replicas, seconds=30.0
    )
    needs = _needs(measured, demand, limits, replicas)
    dollars = _dollars(measured, demand, prices, limits, replicas)
    return Plan(demand, needs, replicas, wait * 1000, dollars)


def replicas_for(measured: Measured, demand: Demand, limits: Limits) -> int:
    """Return how many replicas of one core carry the busiest hour, and three at the least."""
    cpu = measured.cpu_ms / 1000 * limits.bench_core_over_vcpu
    by_cpu = demand.turns_per_second * cpu / limits.busy_share
    room_kb = limits.replica_gib * 1024**2 * limits.busy_share - measured.idle_mb * 1e3
    per_replica = min(limits.sockets_per_replica, room_kb / limits.kb_per_socket)
    return max(3, math.ceil(by_cpu), math.ceil(demand.concurrent / per_replica))


def _needs(measured: Measured, demand: Demand, limits: Limits, replicas: int) -> tuple[Need, ...]:
    rate = demand.turns_per_second
    # Put and delete of each bot turn's note, and each replica looks every two seconds.
    queue = rate * demand.bot_share * 2 + replicas / 2
    written = rate * measured.bytes_written
    tokens = rate * 60 * (_prompt_tokens(measured) + demand.answer_tokens)
    requests = rate * measured.storage_operations + queue
    return (
        Need("storage requests", requests, "/s", limits.storage_requests),
        Need("storage traffic", written, "B/s", limits.storage_bytes),
        Need("queue messages", queue, "/s", limits.queue_messages),
        Need("model tokens", tokens, "/min", limits.tokens_per_minute),
    )


def _prompt_tokens(measured: Measured) -> float:
    return measured.prompt_chars / _CHARS_PER_TOKEN


def _dollars(
    measured: Measured, demand: Demand, prices: Prices, limits: Limits, replicas: int
) -> dict[str, float]:
    turns = demand.turns_per_day * _MONTH_DAYS
    prompt = _prompt_tokens(measured) * turns / 1e6
    price = prices.cached_million * demand.cached_share
    price += prices.input_million * (1 - demand.cached_share)
    second = prices.vcpu_second + prices.gib_second * limits.replica_gib
    # A day's mean of replicas: as the demand's, but never under three.
    mean = max(3.0, replicas / demand.peak_factor)
    looks = mean / 2 * _DAY_SECONDS * _MONTH_DAYS
    return {
        "models": prompt * price + turns * demand.answer_tokens / 1e6 * prices.output_million,
        "storage requests": turns * measured.storage_operations / 1e4 * prices.write_10k,
        "stored, after a year": turns * 12 * demand.kept_kb_per_turn / 1e6 * prices.gb_month,
        "queue": (turns * demand.bot_share * 2 + looks) / 1e4 * prices.queue_10k,
        "replicas": mean * _DAY_SECONDS * _MONTH_DAYS * second,
        "logs": turns * prices.log_kb_per_turn / 1e6 * prices.log_gb,
    }


def simulated_wait(
    *, rate: float, work_seconds: float, servers: int, seconds: float, seed: int = 7
) -> float:
    """Play turns that come at random; return the wait for a core that 99 % do not exceed.

    Args:
        rate: Turns a second.
        work_seconds: Processor time of one, spread exponentially around this mean.
        servers: Replicas of one core; each turn goes to the one that is free first.
        seconds: How long turns come.
        seed: Of the random numbers, so that the same question has the same answer.
    """
    dice = random.Random(seed)
    free = [0.0] * servers
    now, waits = 0.0, []
    while (now := now + dice.expovariate(rate)) < seconds:
        begins = max(now, free[0])
        waits.append(begins - now)
        heapq.heapreplace(free, begins + dice.expovariate(1 / work_seconds))
    return sorted(waits)[int(len(waits) * 0.99)] if waits else 0.0


DEMANDS = (
    Demand("1 M turns a day", 1e6, 10_000),
    Demand("1 M conversations a day", 1e7, 100_000),
    # Each of them says something every five minutes, for eight busy hours.
    Demand("100,000 at once", 9.6e6, 100_000, peak_factor=3.0),
)


def table(plans: Sequence[Plan]) -> str:
    """Return the plans side by side."""
    lines = [_row("", [one.demand.name for one in plans])]
    lines.append(
        _row("turns a second, busiest hour", [_n(p.demand.turns_per_second) for p in plans])
    )
    under_way = [p.demand.turns_per_second * p.demand.turn_seconds for p in plans]
    lines.append(_row("turns under way", [_n(each) for each in under_way]))
    lines.append(_row("replicas of one core", [_n(p.replicas) for p in plans]))
    lines.append(_row("wait for a core, p99", [f"{p.wait_p99_ms:,.1f} ms" for p in plans]))
    for index, need in enumerate(plans[0].needs):
        shown = [p.needs[index] for p in plans]
        name = f"{need.name} ({need.unit})"
        lines.append(_row(name, [f"{_n(one.amount)}, {one.share:.0%}" for one in shown]))
    lines.append(_row("full first", [p.bottleneck.name for p in plans]))
    lines += [
        _row(f"$ a month: {name}", [_n(p.dollars[name]) for p in plans])
        for name in plans[0].dollars
    ]
    lines.append(_row("$ a month", [_n(sum(p.dollars.values())) for p in plans]))
    lines.append(_row("$ for 1,000 turns", [f"{p.dollars_per_turn * 1000:,.2f}" for p in plans]))
    return "\n".join(lines)


def shown(measured: Measured, plans: Sequence[Plan]) -> str:
    """Return what was measured, and what follows from it."""
    lines = [
        f"{name.replace('_', ' '):34}{_n(value):>26}" for name, value in asdict(measured).items()
    ]
    return "\n".join(["measured, a turn", *lines, "", table(plans)])


def on_page(page: str, text: str) -> str:
    """Return `page` with `text` between its two marks."""
    before, _, after = page.split(_MARK)
    return f"{before}{_MARK}```text\n{text}\n```\n{_MARK}{after}"


def _row(name: str, cells: Sequence[str]) -> str:
    return f"{name:34}" + "".join(f"{cell:>26}" for cell in cells)


def _n(value: float) -> str:
    return f"{value:,.1f}" if value < 100 else f"{value:,.0f}"


def main() -> int:
    """Print what each demand takes."""
    parser = argparse.ArgumentParser(prog="python -m bench.scale", description=__doc__)
    parser.add_argument(
        "figures", nargs="?", type=Path, default=FIGURES, help="what `bench.turn --json` printed"
    )
    parser.add_argument("--place", default="azurite")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--page", action="store_true", help="renew docs/scale.md")
    options = parser.parse_args()
    measured = Measured.of(orjson.loads(options.figures.read_bytes()), options.place)
    plans = [plan(measured, demand, Limits(), Prices()) for demand in DEMANDS]
    if options.json:
        print(orjson.dumps([asdict(one) for one in plans]).decode())
    elif options.page:
        PAGE.write_text(on_page(PAGE.read_text("utf-8"), shown(measured, plans)), "utf-8")
    else:
        print(shown(measured, plans))
    return 0


if __name__ == "__main__":
    sys.exit(main())
