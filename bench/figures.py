"""What was measured, beside what it may be."""

import os
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Literal, TypeAlias

import orjson

Kind: TypeAlias = Literal["time", "count", "info"]


@dataclass(frozen=True)
class Figure:
    """One line of the table.

    Attributes:
        bar: The most it may be, or the least if `at_least`; None where no bar is set.
        kind: A `time` depends on the machine and what else runs there, so a missed one is shown
            and fails nothing; a missed `count` (also a ratio, bytes, memory) fails the run.
    """

    place: str
    name: str
    measured: float
    unit: str
    bar: float | None = None
    at_least: bool = False
    kind: Kind = "time"

    @property
    def is_missed(self) -> bool:
        """Whether it is beyond its bar."""
        if self.bar is None:
            return False
        return self.measured < self.bar if self.at_least else self.measured > self.bar

    @property
    def verdict(self) -> str:
        """`ok`, `MISSED`, or nothing where there is no bar."""
        if self.bar is None:
            return ""
        return "MISSED" if self.is_missed else "ok"

    def as_json(self) -> dict[str, object]:
        """Return it for `--json`."""
        return {**asdict(self), "ok": not self.is_missed}


def info(place: str, name: str, measured: float, unit: str) -> Figure:
    """Return a figure without a bar."""
    return Figure(place, name, measured, unit, kind="info")


def table(figures: Iterable[Figure]) -> str:
    """Return the figures as a table for people."""
    lines = [f"{'':8}{'':58}{'bar':>14}{'measured':>16}"]
    for figure in figures:
        sign = ">=" if figure.at_least else "<="
        bar = "" if figure.bar is None else f"{sign} {figure.bar:g}"
        measured = f"{figure.measured:,.2f}" if figure.measured < 10 else f"{figure.measured:,.1f}"
        lines.append(
            f"{figure.place:8}{figure.name:58}{bar:>14}{measured:>16} {figure.unit:10}"
            f"{figure.verdict}"
        )
    return "\n".join(lines)


def print_figures(figures: Sequence[Figure], *, as_json: bool) -> None:
    """Print the figures with the load of the machine, for people or for programs."""
    load = os.getloadavg()
    if as_json:
        rows = [figure.as_json() for figure in figures]
        print(orjson.dumps({"load": load, "figures": rows}).decode())
    else:
        print(f"load {load[0]:.1f} on {os.cpu_count()} cores\n\n{table(figures)}")


def exit_code(figures: Iterable[Figure]) -> int:
    """Return 1 if a bar is missed that no slow or busy machine excuses."""
    return int(any(figure.is_missed and figure.kind == "count" for figure in figures))


def p50(values: Sequence[float]) -> float:
    """Return the median."""
    return statistics.median(values)


def p95(values: Sequence[float]) -> float:
    """Return what 95 % of the values do not exceed."""
    return sorted(values)[max(0, -(-len(values) * 95 // 100) - 1)]
