"""Words of which one holds at a time, such as left and right, and which of them a row has. Pure."""

from collections.abc import Iterable
from dataclasses import replace

from services.language.figures.quantities import Quantity
from services.language.sentences.clauses import Clause, Stage
from services.language.words.statement_tables import saying, stems_told
from services.language.words.statement_words import group_of, statement_words
from services.statements.rows.rows import JUDGED, KnownRow, stems_of, told_of

_ONE_OF = frozenset(
    {"extent", "acuity", "stay", "colon", "malignancy", "aim", "margin", "rhythm", "immunity"}
    | {"payer", "hours", "flow", "infarction", "reach"}
)
PARTS = frozenset({"coronary", "artery", "vein", "bowel", "lobe", "segment"})
_DIED, _DIED_AT, _SAME_LETTERS = "died", "died at age ", 7
PLACED = PARTS | {"side", "height", "facing"}
_NOT_THERE, _KEPT = ("polarity", 1), ("expression", 0)
DONE_ONCE = frozenset({"encounter", "procedure", "immunization"})
_CLEAR = ("margin", 0)
_OBSERVED = frozenset({"observation", "laboratory"})


def placed(clause: Clause, *others: str) -> Clause:
    """Return a clause with no more of such words than tell where in the body a thing is."""
    groups = PLACED.union(others)
    kept = tuple(word for word in clause.exclusive if group_of(word) in groups)
    return clause if kept == clause.exclusive else replace(clause, exclusive=kept)


def meant_by(words: Iterable[str]) -> set[tuple[str, int]]:
    """Return what words say of their groups, in whatever language: `morgens` is `morning`."""
    return set(map(statement_words().exclusive.__getitem__, words))


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
    if row.kind == "medication":  # the drug for a stent does not say where that is
        asked |= PARTS if is_beside else {"daytime"}
    told = [word for word in clause.exclusive if word not in clause.called]  # acute kidney injury
    found = meant_by(row.exclusive)
    if not clause.says("margins"):  # "3 of 24 nodes involved", "liver and bone were clear"
        judged = set() if _is_without(row) else {_CLEAR}
        told = [word for word in told if groups[word][0] != "margin" or groups[word] in judged]
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


def _is_without(row: KnownRow) -> bool:
    """Whether a row denies something: a lung without nodules is clear."""
    denying = stems_told("denying") | saying("without")
    return row.negated or not row.words.isdisjoint(denying)


def is_dose_of(clause: Clause, row: KnownRow) -> bool:
    """Whether of a drug of two the dose is of the one: `Donepezil 10 MG / Memantine 28 MG`."""
    parts = [stems_of(one) for one in row.says.partition(",")[0].split(" / ")]
    own = [one for one in parts if not one.isdisjoint(told_of(clause.words))]
    doses = {f"{one.number:g}" for one in clause.quantities if one.unit in ("mg", "ug", "g")}
    return len(parts) == 1 or len(own) != 1 or doses <= own[0]


def is_score(one: Quantity, row: KnownRow) -> bool:
    """Whether a plain number is the row's score, the 2 of "ECOG: 2 versus 1"."""
    told = "" if one.unit else f"{one.number:g}"
    numbers = statement_words().numbers
    if told and row.is_text and any(numbers.get(word) == one.number for word in row.words):
        return True  # "cycles 3 and 4", written "cycles three and four"
    return any(len(stage.scale) > 1 and stage.value == told for stage in row.stages)


def is_plain(told: Stage, row: KnownRow) -> bool:
    """Whether a score stands in the row as a plain number: `ECOG 1` with the value 1."""
    return (
        told.value.isdigit()
        and len(told.scale) > 1
        and not row.is_text  # "two new metastases" is no stage II
        and any(not one.unit and one.number == float(told.value) for one in row.quantities)
    )


def is_age_then(clause: Clause, row: KnownRow) -> bool:
    """Whether one age that is told of kin is that of their death, or of their illness, as told."""
    died = row.says.partition(_DIED_AT)[2]
    if row.kind != "family history" or not died or len(clause.quantities) != 1:
        return True
    is_of_death = any(_DIED in statement_words().happening.get(one, ()) for one in clause.words)
    return is_of_death == died.startswith(f"{clause.quantities[0].number:g} ")


def has_reactions(said: frozenset[str], row: KnownRow) -> bool:
    """Whether the row has each grave reaction that is said, in whatever language: anaphylaxi…."""
    begun = {word[:_SAME_LETTERS] for word in row.words}
    return all(word[:_SAME_LETTERS] in begun for word in said)


def is_compared(clause: Clause, row: KnownRow) -> bool:
    """Whether a report compares what shrank from 17 to 4 mm, or to 4 mm: `nodule 4 mm (17 mm)`."""
    told, known = ([one.number for one in each.quantities] for each in (clause, row))
    told = told[::-1] if "turned" in clause.cues else told
    told = told if clause.says("from") else [*known[1:], *told]
    is_course = len(told) == len(("from", "to")) and clause.cues & JUDGED <= {"falling", "rising"}
    is_falling = ("falling" in clause.cues or clause.says("lowers")) == (told[:1] > told[1:])
    is_alike = "(" in row.says and len({one.unit for one in row.quantities}) == 1
    return is_course and is_alike and is_falling and known == told[::-1]


def is_mixture(told: Quantity, row: KnownRow) -> bool:
    """Whether a row has both parts of a mixture: "Humulin 70/30"."""
    numbers = {one.number for one in row.quantities}
    units = {one.unit for one in row.quantities}
    return (not told.unit or told.unit in units) and {told.number, told.pair} <= numbers
