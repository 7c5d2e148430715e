"""Words of which one holds at a time, such as left and right, and which of them a row has. Pure."""

from dataclasses import replace

from services.language.figures.quantities import Quantity
from services.language.sentences.clauses import Clause, Stage
from services.language.words.statement_tables import saying, stems_told
from services.language.words.statement_words import group_of, statement_words
from services.statements.rows.rows import KnownRow, stems_of, told_of

_ONE_OF = frozenset({"extent", "acuity", "stay", "colon", "malignancy", "aim", "margin", "rhythm"})
PARTS = frozenset({"coronary", "artery", "vein", "bowel", "lobe", "segment"})
PLACED = PARTS | {"side", "height", "facing"}
_NOT_THERE, _KEPT = ("polarity", 1), ("expression", 0)
DONE_ONCE = frozenset({"encounter", "procedure", "immunization"})
_OBSERVED = frozenset({"observation", "laboratory"})


def placed(clause: Clause, *others: str) -> Clause:
    """Return a clause with no more of such words than tell where in the body a thing is."""
    groups = PLACED.union(others)
    return replace(clause, exclusive=tuple(w for w in clause.exclusive if group_of(w) in groups))


def excludes(clause: Clause, row: KnownRow) -> bool:
    """Whether the row has another word of a group of which one holds, such as left and right."""
    if not clause.exclusive or not row.exclusive:
        return False
    groups = statement_words().exclusive
    for word in clause.exclusive:
        if word in row.exclusive or (row.negated and groups[word] == _NOT_THERE):
            continue  # what is not detected is wild-type
        there = {meant for other in row.exclusive for meant in _with_form(groups[other])}
        for one in _with_form(groups[word]):
            here = {meant for meant in there if meant[0] == one[0]}
            if here and one not in here:
                return True
    return False


def _with_form(one: tuple[str, int]) -> set[tuple[str, int]]:
    """Return a way by which a drug is given with the form that it has for that: a tablet."""
    return {one, ("form", min(one[1], 1))} if one[0] == "route" and one[1] <= 3 else {one}


def says_which(clause: Clause, row: KnownRow) -> bool:
    """Whether the row has the word that a clause says of a group of which one holds."""
    groups = statement_words().exclusive
    # Of a test that is only said to have been done, no row says what it found.
    is_of_words = row.kind in DONE_ONCE or (row.kind in _OBSERVED and row.number is None)
    is_of_words |= row.is_text and not row.words.isdisjoint(saying("without"))
    asked = _ONE_OF | {"polarity"} if is_of_words else _ONE_OF
    if not clause.quantities:
        asked |= {"severity"}  # beside a score everybody can judge
    if row.kind.endswith("report"):
        asked |= {"novelty"}
    is_beside = row.kind == "medication" and row.needs.isdisjoint(clause.names)
    if is_beside or row.kind in ("problem", *DONE_ONCE) or (row.is_text and not clause.sites):
        asked |= {"side"}
    if is_beside:
        asked |= PARTS  # the drug for a stent does not say where that is
    told = [word for word in clause.exclusive if word not in clause.called]  # acute kidney injury
    if not clause.says("margins"):  # "3 of 24 nodes involved", "liver and bone were clear"
        told = [word for word in told if groups[word][0] != "margin"]
    found = {groups[word] for word in row.exclusive}
    if clause.says("unmutated") and not row.words.isdisjoint(saying("without")):
        found.add(_NOT_THERE)  # "KRAS and NRAS without mutation"
    is_absent = any(groups[word] == _NOT_THERE for word in told)
    if is_absent and not (
        row.negated or row.number == 0 or _NOT_THERE in found or row.words & stems_told("denying")
    ):
        return False  # 5 % is not called negative by its number
    found |= {meant for one in found for meant in _with_form(one)}
    # A drug is swallowed, where nothing else is told.
    ways = [one for one in map(groups.__getitem__, told) if one[0] in ("route", "form")]
    ways = [one for one in ways if one[1] or row.kind != "medication"]
    return {
        *ways,
        *(one for one in map(groups.__getitem__, told) if one[0] in asked or one == _KEPT),
    } <= found


def is_dose_of(clause: Clause, row: KnownRow) -> bool:
    """Whether of a drug of two the dose is of the one: `Donepezil 10 MG / Memantine 28 MG`."""
    parts = [stems_of(one) for one in row.says.partition(",")[0].split(" / ")]
    own = [one for one in parts if not one.isdisjoint(told_of(clause.words))]
    doses = {f"{one.number:g}" for one in clause.quantities if one.unit in ("mg", "ug", "g")}
    return len(parts) == 1 or len(own) != 1 or doses <= own[0]


def is_score(one: Quantity, row: KnownRow) -> bool:
    """Whether a plain number is the row's score: the 2 of "ECOG: 2 versus 1"."""
    told = "" if one.unit else f"{one.number:g}"
    return any(len(stage.scale) > 1 and stage.value == told for stage in row.stages)


def is_plain(told: Stage, row: KnownRow) -> bool:
    """Whether a score stands in the row as a plain number: `ECOG 1` with the value 1."""
    return (
        told.value.isdigit()
        and len(told.scale) > 1
        and not row.is_text  # "two new metastases" is no stage II
        and any(not one.unit and one.number == float(told.value) for one in row.quantities)
    )
