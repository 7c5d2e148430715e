"""Which entries a name means: the table first, then the record's own names, then a misspelling."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rapidfuzz.distance import OSA

from services.records.concepts.table import Concept, ConceptKind, ConceptTable, concept_table
from services.records.concepts.words import spelt_out, words_of
from services.records.rows.measurements import Series

_ONE_SLIP_CHARS = 5
_TWO_SLIPS_CHARS = 9
_BEGINNING_CHARS = 4
_SHORTENED = frozenset({"drug", "vaccine"})
_DRUG_SLIP_CHARS = 9
"""Shorter names of drugs that differ by one letter are different drugs."""
# These turn a finding into its opposite or into another thing.
_PRESSURE = "Blood pressure"
_JOINING = frozenset(words_of("a an the of to for in on at by from with"))
_OPPOSITES = ("hypo", "hyper")


@dataclass(frozen=True, slots=True)
class Found:
    """What a name means in one record.

    Attributes:
        name: What was looked for, in the table's words where it has some.
        read_as: What a misspelt word was read as, or "".
        asked: As it was asked.
    """

    name: str
    series: tuple[Series, ...] = ()
    read_as: str = ""
    asked: str = ""


def find_series(series: Sequence[Series], name: str) -> Found:
    """Return the series that `name` means, in the table's order; none if there is none."""
    table = concept_table()
    if (concept := table.named("result", name)) is not None:
        own = tuple(one for one in series if one.concept is None and one.words == {*words_of(name)})
        # EGFR is the gene, eGFR is not, and egfr may be either.
        if any(name == one.name for one in own):
            return Found(name, own)
        found = _of_concept(series, table, concept)
        return Found(concept.name, found if name == concept.name else (*found, *own))
    if own := _by_words(series, name):
        return Found(name, own)
    if (corrected := _corrected(table, series, name)) is None:
        return Found(name)
    again = find_series(series, corrected)
    return Found(again.name, again.series, read_as=corrected, asked=name)


def means(kind: ConceptKind, name: str, *, label: str, codes: Iterable[str]) -> bool:
    """Return whether `name` means an entry with this label and these `system|code`s."""
    table = concept_table()
    wanted = words_of(name)
    have = words_of(label)
    if (concept := table.named(kind, name)) is None:
        # "Brain metastases" is "Metastasis to brain".
        is_same = holds(have, wanted) or (len(wanted) > 1 and {*wanted} <= {*have})
        is_begun = kind in _SHORTENED and len(wanted) == 1 and len(wanted[0]) >= _BEGINNING_CHARS
        is_same |= is_begun and any(one.startswith(wanted[0]) for one in have)  # "pembro"
        return bool(wanted) and is_same
    pairs = tuple(codes)
    if any(_is_coded(part, pairs) for part in (concept, *table.leaves(concept))):
        return True
    is_exact = bool(concept.members) or kind == "result"  # hemoglobin A1c is no hemoglobin
    if is_exact and _is_of_another(table, kind, concept, label=label, codes=pairs):
        return False
    said = [*concept.words, *(words for leaf in table.leaves(concept) for words in leaf.words)]
    if any(holds(have, words) for words in said):
        return True
    # "Amoxicillin 250 MG / Clavulanate 125 MG" is Augmentin: doses stand between the names.
    return kind == "drug" and (
        any(len(words) > 1 and {*words} <= {*have} for words in said) or _is_misspelt(have, said)
    )


def _is_of_another(
    table: ConceptTable, kind: ConceptKind, group: Concept, *, label: str, codes: tuple[str, ...]
) -> bool:
    """Whether an entry is known as what is not of the group: chronic bronchitis is no infection."""
    own = table.coded(kind, codes) or table.displayed(kind, label)
    return own is not None and own is not group and own not in table.leaves(group)


def _is_misspelt(have: Sequence[str], said: Sequence[Sequence[str]]) -> bool:
    """Whether a record misspells a drug by one letter, and means no other that is known."""
    strange = [word for word in have if len(word) >= _DRUG_SLIP_CHARS and word.isalpha()]
    single = {words[0] for words in said if len(words) == 1 and len(words[0]) >= _DRUG_SLIP_CHARS}
    return any(
        OSA.distance(word, name, score_cutoff=1) == 1 and word[0] == name[0]
        for word in strange
        if concept_table().named("drug", word) is None
        for name in single
    )


def _is_coded(concept: Concept, pairs: tuple[str, ...]) -> bool:
    for pair in pairs:
        system, _, code = pair.rpartition("|")
        if code in concept.codes:
            return True
        if concept.atc and "atc" in system.casefold() and code.startswith(concept.atc):
            return True
        if concept.icd10 and "icd-10" in system.casefold() and code.startswith(concept.icd10):
            return True
    return False


def holds(have: Sequence[str], wanted: Sequence[str]) -> bool:
    """Whether the words `wanted` stand in `have` side by side."""
    size = len(wanted)
    if size == 1:
        return wanted[0] in have
    return any(tuple(have[at : at + size]) == tuple(wanted) for at in range(len(have) - size + 1))


def _of_concept(
    series: Sequence[Series], table: ConceptTable, concept: Concept
) -> tuple[Series, ...]:
    names = [leaf.name for leaf in table.leaves(concept)]
    if concept.name == _PRESSURE:
        names += ["Systolic blood pressure", "Diastolic blood pressure"]
    leaves = {name: number for number, name in enumerate(names)}
    found = [one for one in series if one.concept is not None and one.concept.name in leaves]
    ordered = sorted(found, key=lambda one: leaves[one.concept.name] if one.concept else 0)
    return _without_halves(ordered) if _PRESSURE in leaves else tuple(ordered)


def _without_halves(found: list[Series]) -> tuple[Series, ...]:
    """Leave out systolic and diastolic where the whole blood pressure stands already."""
    whole = {part.entry.ref for one in found for part in one.parts if part.component is None}
    return tuple(
        one
        for one in found
        if not all(part.component is not None and part.entry.ref in whole for part in one.parts)
    )


def _by_words(series: Sequence[Series], name: str) -> tuple[Series, ...]:
    if not (wanted := frozenset(words_of(name)) - _JOINING):
        return ()
    exact = [one for one in series if one.words == wanted]
    within = exact or [one for one in series if wanted <= one.words]
    letters = name.casefold()
    return tuple(within or [one for one in series if spelt_out(letters, words_of(one.name))])


def _corrected(table: ConceptTable, series: Sequence[Series], name: str) -> str | None:
    """Return the one known name that `name` may be misspelt from, or None if none or several."""
    wanted = " ".join(words_of(name))
    allowed = 2 if len(wanted) >= _TWO_SLIPS_CHARS else 1 if len(wanted) >= _ONE_SLIP_CHARS else 0
    if not allowed:
        return None
    single = [one for one in table.concepts if one.kind == "result" and not one.members]
    known = {" ".join(words): concept.name for concept in single for words in concept.words}
    known |= {" ".join(words_of(one.name)): one.name for one in series}
    near: dict[str, int] = {}
    for said, meant in known.items():
        distance = OSA.distance(wanted, said, score_cutoff=allowed)
        is_alike = all(wanted.startswith(one) == said.startswith(one) for one in _OPPOSITES)
        if distance <= allowed and said[:1] == wanted[:1] and is_alike:
            near[meant] = min(distance, near.get(meant, allowed))
    best = min(near.values(), default=0)
    closest = [meant for meant, distance in near.items() if distance == best]
    return closest[0] if len(closest) == 1 else None


def classes_of_drug(label: str, codes: Sequence[str]) -> frozenset[str]:
    """Return the words by which people call the classes of a drug that a record names so."""
    classes = (one for one in concept_table().concepts if one.kind == "drug" and one.members)
    return frozenset(
        " ".join(words)
        for one in classes
        if means("drug", one.name, label=label, codes=codes)
        for words in one.words
    )
