"""Short ways to write what-if cases, and to play one."""

import asyncio
from itertools import pairwise
from typing import Any

from evals.parts.scenarios import simulate

Row = dict[str, Any]


def version(v: int, *edges: str, **steps: Row) -> Row:
    """A graph of the steps that `edges` name; it is entered where the first edge starts."""
    named: dict[str, Row] = {}
    for edge in edges:
        start, _, rest = edge.partition(">")
        for step in (start.strip(), rest.partition("?")[0].strip()):
            named.setdefault(step, {})
    named |= {step: {**named.get(step, {}), **attributes} for step, attributes in steps.items()}
    return {"v": v, "entry": next(iter(named)), "steps": named, "edges": [*edges]}


def line(v: int, path: str, **steps: Row) -> Row:
    """A graph without forks, such as `line(1, "A B C")`."""
    names = path.split()
    edges = [f"{a}>{b}" for a, b in pairwise(names)]
    return version(v, *edges, **steps)


def at(path: str, v: int = 1, **more: Any) -> Row:
    """A session that came along `path`."""
    names = path.split()
    return {"v": v, "at": names[-1], "path": names, **more}


TURN: Row = {"turn": True}


def answer(**values: Any) -> Row:
    return {"answer": values}


def result_of(graphs: list[Row], session: Row, *events: Row, **more: Any) -> Row:
    case = {"id": "it", "graphs": graphs, "session": session, "events": [*events], **more}
    found: Any = asyncio.run(simulate({"cases": [case]}))
    row: Row = found["results"]["it"]
    return row


def played(graphs: list[Row], session: Row, *events: Row, **more: Any) -> list[Row]:
    """The rows of the events."""
    row = result_of(graphs, session, *events, **more)
    assert "error" not in row, row
    rows: list[Row] = row["events"]
    return rows


def anchors(old: Row, new: Row) -> Row:
    """The anchor map of the plan."""
    row = result_of([old, new], {"v": old["v"], "at": old["entry"]})
    assert "error" not in row, row
    found: Row = row["plan"]["anchors"]
    return found
