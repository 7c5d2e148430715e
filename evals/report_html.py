# ruff: noqa: E501 - markup
"""The report of a run: one file that opens anywhere, without scripts from elsewhere. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

from evals.baseline import Difference
from evals.results import Result
from evals.table import HEADS, TableRow, cells, facts_line, table
from evals.talk import Turn

MOST_FAILURES = 400
TOOL_RESULT_CHARS = 1_500
PROMPT_CHARS = 8_000
_STYLE = """
:root { color-scheme: light dark; --line: #8884; --good: #1a7f4b; --bad: #b3261e; --soft: #8882; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 78rem; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2.2rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; white-space: nowrap; }
th, td { border-bottom: 1px solid var(--line); padding: .3rem .7rem; text-align: left; }
tr:last-child td { font-weight: 600; }
.bad { color: var(--bad); font-weight: 600; } .good { color: var(--good); }
details { border-bottom: 1px solid var(--line); padding: .35rem 0; }
summary { cursor: pointer; } summary small { opacity: .75; }
.turn { border-left: 3px solid var(--line); margin: .6rem 0 .6rem .4rem; padding-left: .8rem; }
.who { font-weight: 600; } pre { background: var(--soft); overflow-x: auto; padding: .6rem; white-space: pre-wrap; overflow-wrap: anywhere; }
svg text { fill: currentColor; font: 13px system-ui, sans-serif; }
@media (prefers-color-scheme: dark) { :root { --good: #6fcf97; --bad: #ff8a80; } }
"""


def page(*, head: Mapping[str, Any], results: Sequence[Result], changed: Difference) -> str:
    """Return the report as HTML."""
    rows = table(results)
    failed = [one for one in results if not one.passed]
    failed.sort(key=lambda one: (not one.safety, one.suite, one.case))
    title = f"Rounds with {head['model']} at {head['commit'] or 'no commit'}"
    parts = [
        f"<h1>{escape(title)}</h1>",
        f"<p>{len(results)} tries, {len(failed)} with something wrong. Suites:"
        f" {escape(' '.join(head['suites']))}. {escape(_whose(head))}</p>",
        _verdict(changed),
        "<h2>Share of right answers, with 95 % intervals</h2>",
        bars(rows),
        "<h2>Figures</h2>",
        _table(rows),
        f"<p>{escape(facts_line(results))}</p>",
        f"<h2>What went wrong ({len(failed)})</h2>",
        *(_failure(one) for one in failed[:MOST_FAILURES]),
    ]
    if len(failed) > MOST_FAILURES:
        parts.append(f"<p>{len(failed) - MOST_FAILURES} more stand in progress.jsonl.</p>")
    body = "\n".join(parts)
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(title)}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style>{body}</html>\n'
    )


def _whose(head: Mapping[str, Any]) -> str:
    folder = head.get("samples")
    if folder is None:
        return "All patients are synthetic."
    return f"Charts of {folder}: this report holds what they hold."


def _verdict(changed: Difference) -> str:
    parts: list[str] = []
    if changed.new:
        items = "".join(f"<li>{escape(one)}</li>" for one in changed.new)
        parts.append(f'<h2 class="bad">New safety rows ({len(changed.new)})</h2><ul>{items}</ul>')
    else:
        parts.append('<p class="good">No new safety row.</p>')
    if changed.gone:
        items = "".join(f"<li>{escape(one)}</li>" for one in changed.gone)
        parts.append(
            f"<details><summary>Right now ({len(changed.gone)})</summary><ul>{items}</ul></details>"
        )
    moved = [f"{suite} {change:+.1%}" for suite, change in changed.shares.items() if change]
    if moved:
        parts.append(f"<p>Since the baseline: {escape(', '.join(moved))}.</p>")
    return "\n".join(parts)


def bars(rows: Sequence[TableRow]) -> str:
    """Return the shares as a chart: a bar for each suite, its interval as a line."""
    left, width, step = 150, 520, 30
    pieces: list[str] = []
    for index, row in enumerate(rows):
        y = index * step + 8
        middle = y + 9
        low, high = left + row.low * width, left + row.high * width
        pieces += [
            f'<text x="{left - 10}" y="{y + 14}" text-anchor="end">{escape(row.suite)}</text>',
            f'<rect x="{left}" y="{y}" width="{width}" height="18" fill="#8882"/>',
            f'<rect x="{left}" y="{y}" width="{row.share * width:.1f}" height="18" fill="#3b82c4"/>',
            f'<path d="M{low:.1f} {middle}H{high:.1f}M{low:.1f} {middle - 5}v10M{high:.1f} {middle - 5}v10"'
            ' stroke="currentColor" stroke-width="1.5" fill="none"/>',
            f'<text x="{left + width + 12}" y="{y + 14}">{row.share:.1%} of {row.n}'
            f"{f', {row.safety} unsafe' if row.safety else ''}</text>",
        ]
    height = len(rows) * step + 10
    return (
        f'<svg viewBox="0 0 860 {height}" width="860" style="max-width:100%" role="img"'
        f' aria-label="Share of right answers by suite">{"".join(pieces)}</svg>'
    )


def _table(rows: Sequence[TableRow]) -> str:
    heads = "".join(f"<th>{escape(one)}</th>" for one in HEADS)
    lines = "".join(
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in cells(row))}</tr>" for row in rows
    )
    return f'<div class="scroll"><table><tr>{heads}</tr>{lines}</table></div>'


def _failure(result: Result) -> str:
    said = result.turns[-1].user if result.turns else ""
    wrong = "; ".join(f"{one.row}: {one.why}" for one in result.wrong)
    mark = ' class="bad"' if result.safety else ""
    about = f"<p>{escape(result.about)}</p>" if result.about else ""
    inside = "".join([about, *_turns(result.turns), *_prompts(result)])
    return (
        f"<details><summary><span{mark}>{escape(result.case)}</span> <q>{escape(said)}</q><br>"
        f"<small>{escape(wrong[:600])}</small></summary>{inside}</details>"
    )


def _turns(turns: Sequence[Turn]) -> Iterator[str]:
    for turn in turns:
        lines = [f'<div class="who">User: {escape(turn.user)}</div>']
        for used in turn.tools:
            call = f"{used.agent} → {used.tool}({used.arguments})"
            told = escape(used.result[:TOOL_RESULT_CHARS])
            lines.append(f"<details><summary>{escape(call)}</summary><pre>{told}</pre></details>")
        lines += [
            f'<div class="who">{escape(message.agent)}</div><pre>{escape(message.text)}</pre>'
            for message in turn.messages
        ]
        if turn.rows:
            lines.append(
                f"<details><summary>Rows</summary><pre>{escape(turn.rows)}</pre></details>"
            )
        end = f"{turn.outcome} {turn.error}".strip()
        lines.append(f"<small>{escape(str(turn.patient))} is open; {escape(end)}</small>")
        yield f'<div class="turn">{"".join(lines)}</div>'


def _prompts(result: Result) -> Iterator[str]:
    for index, one in enumerate(result.prompts, 1):
        yield (
            f"<details><summary>Request {index} to the model ({one.status})</summary>"
            f"<pre>{escape(one.body[:PROMPT_CHARS])}</pre><pre>{escape(one.answer[:PROMPT_CHARS])}</pre></details>"
        )
