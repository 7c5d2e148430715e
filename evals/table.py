"""A run as a table: a row for each suite, and one for all. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from data_models.errors import ConfigurationError
from evals.figures import pass_hat, quantile, wilson
from evals.results import Result, by_case
from evals.scoring.boards import FactCount


@dataclass(frozen=True, slots=True)
class TableRow:
    """Figures of one suite.

    Attributes:
        n: Tries.
        share: Of tries with nothing wrong.
        low: Lower end of the 95 % interval of `share`.
        high: Its upper end.
        all_right: pass^k over the cases; k is the number of repeats.
        decided: Tries by who decided whom the message is about.
        first_text_ms: Median; None where the server told none.
        cost: US dollars; None where no price is known.
    """

    suite: str
    n: int
    cases: int
    share: float
    low: float
    high: float
    k: int
    all_right: float | None
    safety: int
    decided: Mapping[str, int]
    calls: int
    prompt_tokens: int
    cached_tokens: int
    answer_tokens: int
    is_estimated: bool
    first_text_ms: float | None
    total_ms_p95: float | None
    cost: float | None

    @property
    def cached_share(self) -> float | None:
        """Of the prompt tokens; None without any."""
        return self.cached_tokens / self.prompt_tokens if self.prompt_tokens else None


def table(results: Sequence[Result]) -> list[TableRow]:
    """Return the rows, by suite, and `all` last."""
    suites = list(dict.fromkeys(one.suite for one in results))
    rows = [_row(suite, [one for one in results if one.suite == suite]) for suite in suites]
    return [*rows, _row("all", list(results))] if results else []


def _row(suite: str, results: list[Result]) -> TableRow:
    cases = by_case(results)
    good = sum(one.passed for one in results)
    low, high = wilson(good, len(results))
    k = max(len(tries) for tries in cases.values())
    decided: dict[str, int] = {}
    for one in results:
        decided[one.decided or "-"] = decided.get(one.decided or "-", 0) + 1
    costs = [one.cost for one in results]
    firsts = [one.first_text_ms for one in results if one.first_text_ms is not None]
    return TableRow(
        suite=suite,
        n=len(results),
        cases=len(cases),
        share=good / len(results),
        low=low,
        high=high,
        k=k,
        all_right=pass_hat([[one.passed for one in tries] for tries in cases.values()], k),
        safety=sum(bool(one.safety) for one in results),
        decided=decided,
        calls=sum(one.calls for one in results),
        prompt_tokens=sum(one.prompt_tokens for one in results),
        cached_tokens=sum(one.cached_tokens for one in results),
        answer_tokens=sum(one.answer_tokens for one in results),
        is_estimated=any(one.is_estimated for one in results),
        first_text_ms=quantile(firsts, 0.5),
        total_ms_p95=quantile([one.total_ms for one in results], 0.95),
        cost=None if None in costs else sum(one for one in costs if one is not None),
    )


HEADS = (
    "suite", "n", "right", "share", "95 % interval", "pass^k", "safety", "decided by", "calls",
    "tokens in", "cached", "tokens out", "first text", "cost",
)  # fmt: skip


def cells(row: TableRow) -> list[str]:
    """Return a row as people read it, under `HEADS`."""
    sign = "≈" if row.is_estimated else ""
    cached = row.cached_share
    decided = ", ".join(f"{name} {count}" for name, count in sorted(row.decided.items()))
    return [
        row.suite,
        str(row.n),
        str(round(row.share * row.n)),
        f"{row.share:.1%}",
        f"{row.low:.1%} - {row.high:.1%}",
        "" if row.all_right is None else f"{row.all_right:.1%} (k={row.k})",
        str(row.safety),
        decided,
        str(row.calls),
        f"{sign}{row.prompt_tokens:,}",
        "" if cached is None else f"{cached:.0%}",
        f"{sign}{row.answer_tokens:,}",
        "" if row.first_text_ms is None else f"{row.first_text_ms:.0f} ms",
        "" if row.cost is None else f"${row.cost:.4f}",
    ]


def as_text(rows: Sequence[TableRow]) -> str:
    """Return the table for a terminal."""
    lines = [list(HEADS), *(cells(row) for row in rows)]
    widths = [max(len(line[index]) for line in lines) for index in range(len(HEADS))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def facts_line(results: Sequence[Result]) -> str:
    """Return how the facts of reports fared, for people; "" where none was written."""
    counts = [one.facts for one in results if one.facts is not None]
    if not counts:
        return ""
    count = sum(counts, FactCount())
    shares = (
        f"included {count.included / count.wanted:.1%}, missing {count.missing / count.wanted:.1%}"
    )
    return (
        f"facts of {len(counts)} reports: {count.wanted}, {shares},"
        f" distorted {count.distorted}, sentences without support {count.unsupported}"
    )


def as_json(rows: Sequence[TableRow]) -> list[dict[str, Any]]:
    """Return the rows as JSON values."""
    return [asdict(row) for row in rows]


BEGIN, END = "<!-- evals: begin -->", "<!-- evals: end -->"


def summary(rows: Sequence[TableRow], model: str, commit: str) -> str:
    """Return the table as Markdown."""
    lines = [
        f"`python -m evals run --suite all --model {model}` at {commit}:",
        "",
        "| suite | cases | right | 95 % interval | safety rows |",
        "|---|---:|---:|---|---:|",
    ]
    for row in rows:
        interval = f"{row.low:.0%} - {row.high:.0%}"
        lines.append(f"| {row.suite} | {row.n} | {row.share:.1%} | {interval} | {row.safety} |")
    return "\n".join(lines)


def write_summary(file: Path, rows: Sequence[TableRow], model: str, commit: str) -> None:
    """Replace what stands between the marks.

    Raises:
        ConfigurationError: the marks are not there.
    """
    text = file.read_text("utf-8")
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ConfigurationError(f"{file}: put {BEGIN} and {END} where the table shall stand")
    table = summary(rows, model, commit)
    file.write_text(f"{before}{BEGIN}\n{table}\n{END}{after}", "utf-8")
