"""The summary of a run in README.md, between two marks."""

from collections.abc import Sequence
from pathlib import Path

from data_models.errors import ConfigurationError
from evals.table import TableRow

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
