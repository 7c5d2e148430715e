"""What cells of a table tell, by the heads of column and row, and a line by its label. Pure."""

from collections.abc import Sequence

from services.language.figures.quantities import unit_code
from services.language.sentences.clauses import Clause
from services.language.sentences.statements import Sentence, read_sentence
from services.language.words.statement_tables import saying
from services.statements.rows.known import KnownRows
from services.statements.rows.known_words import has_all
from services.statements.rows.rows import told_of

_RULE = frozenset("|-: ")
_EMPTY, _FEW_WORDS = frozenset({"", "-", "–", "—", "n/a"}), 2


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
    """Return a statement for each cell, if each column's head says what is in it."""
    if len(head) != len(cells):
        return []
    label, _, of_all = cells[0].rstrip(")").partition(" (")
    pairs = [one for one in zip(head[1:], cells[1:], strict=True) if one[1] not in _EMPTY]
    if not unit_code(of_all):  # "Hemoglobin (g/dL)", not "Polio (IPV)"
        label, of_all = cells[0], ""
    told = [_statement(label, name, f"{cell} {of_all}".strip(), rows) for name, cell in pairs]
    return [f"- {one}\n" for one in told] if all(told) else []


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


def label_of(sentence: Sentence, rows: KnownRows) -> frozenset[str]:
    """Return the words before what is told of a life alone, "Occupation: …", "Drinks …".

    And those of any other label whose value no row has a word of: "Substance: heroin".
    """
    head, is_label, rest = sentence.text.strip(" *-•\n").partition(":")
    words, value = rows.read(head if is_label else head.partition(" ")[0]).words, rows.read(rest)
    is_of_talk = len(words) > _FEW_WORDS or value.cues or value.asks or words & saying("of_a_talk")
    told = frozenset() if is_of_talk else told_of(value.words)
    is_strange = 0 < len(told) <= _FEW_WORDS and not any(has_all({one}, rows.words) for one in told)
    is_told = words & saying("of_a_life") and (is_label or "asserts" in sentence.cues)
    return words if is_told or is_strange else frozenset()
