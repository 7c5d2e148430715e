"""What the cells of a table tell, each by the head of its column and of its row. Pure."""

from collections.abc import Sequence

from services.language.figures.quantities import unit_code
from services.language.sentences.clauses import Clause
from services.language.sentences.statements import read_sentence
from services.statements.rows.known import KnownRows

_RULE = frozenset("|-: ")
_EMPTY = frozenset({"", "-", "–", "—", "n/a"})
_SILENT = frozenset({"no", "recorded"})


def cells_of(text: str) -> tuple[str, ...]:
    """Return the cells of a row of a table; none of another line, or of the rule below a head."""
    line = text.strip()
    cells = tuple(one.strip(" *_`") for one in line.strip("|").split("|"))
    return cells if line[:1] == "|" and not _RULE.issuperset(line) else ()


def is_head(cells: Sequence[str], rows: KnownRows) -> bool:
    """Whether cells say what stands in their columns, and state nothing."""
    one, *others = (_read(cell, rows) for cell in cells)
    return one.says("of_days", "of_a_count", "of_columns") or all(
        each.dates and not each.names for each in others
    )


def told_in_cells(head: Sequence[str], cells: Sequence[str], rows: KnownRows) -> list[str]:
    """Return a statement for each cell, if each column's head says what is in it.

    Else the whole row without what is "not documented", and that it is not.
    """
    if len(head) != len(cells):
        return []
    (label, _, of_all), pairs = (
        cells[0].rstrip(")").partition(" ("),
        list(zip(head[1:], cells[1:], strict=True)),
    )
    pairs = [(name, cell) for name, cell in pairs if cell not in _EMPTY]
    if not unit_code(of_all):  # "Hemoglobin (g/dL)", not "Polio (IPV)"
        label, of_all = cells[0], ""
    told = [_statement(label, name, f"{cell} {of_all}".strip(), rows) for name, cell in pairs]
    if not all(told):
        silent = [(name, cell) for name, cell in pairs if _read(cell, rows).cues >= _SILENT]
        rest = " | ".join([label, *(cell for name, cell in pairs if (name, cell) not in silent)])
        told = [rest, *(f"{label}: {name} {cell}" for name, cell in silent)] if silent else []
    return [f"- {one}\n" for one in told]


def _statement(label: str, name: str, cell: str, rows: KnownRows) -> str:
    """Return "Mar 2014: Weight 72.5 kg" for a cell; "" where its head says nothing of it."""
    what, _, unit = name.rstrip(")").partition(" (")
    one = _read(what, rows)
    if one.names:
        return f"{label}: {what} {cell} {unit}"
    if one.says("of_a_count") and cell.isdigit():
        return f"{label}: {cell} times"
    if one.dates:
        return f"{label}: {cell} ({what})"
    return f"{label}: {what} {cell}" if one.says("of_days") else ""


def _read(text: str, rows: KnownRows) -> Clause:
    clauses = read_sentence(f"in {text}", is_name=rows.is_name).clauses  # "2014" is a number
    return clauses[0] if clauses else Clause()
