"""The table of concepts: what a name means, and what a code or a record's own name means."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, Literal, TypeAlias

from services.language.charts.chart_file import chart_file
from services.language.words.phrases import words_for
from services.language.words.vocabulary import LANGUAGES, concept_rows, drug_classes, drug_names
from services.records.concepts.words import words_of

ConceptKind: TypeAlias = Literal["result", "drug", "problem", "vaccine"]

_ICD = "icd-10"
_SYSTEMS = ("loinc.org", "snomed.info/sct", "hl7.org/fhir/sid/cvx", "/atc", _ICD)
_ICD_CHARS = 3
_LONG_CHARS = 5
# Genes whose names read like something else where capitals do not count.
_GENES = frozenset({"EGFR"})


@dataclass(frozen=True, slots=True)
class Concept:
    """One thing that people name.

    Attributes:
        name: Unique within its kind.
        codes: Codes without system (LOINC, SNOMED CT, CVX).
        words: Its names as compared words.
        members: Concepts that a group or class is made of, itself where it is none.
        atc: ATC levels of a class of drugs.
        icd10: Beginnings of ICD-10 codes.
        specimen: `urine`, `stool`, or "" for blood and the bedside.
        kind_of_row: `vital sign`, `social history` or "".
    """

    kind: ConceptKind
    name: str
    codes: frozenset[str] = frozenset()
    words: tuple[tuple[str, ...], ...] = ()
    members: tuple[str, ...] = ()
    atc: tuple[str, ...] = ()
    icd10: tuple[str, ...] = ()
    specimen: str = ""
    kind_of_row: str = ""


class ConceptTable:
    """All concepts, found by name and by code."""

    def __init__(self, *, concepts: Sequence[Concept]) -> None:
        self.concepts = tuple(concepts)
        self._leaves: dict[tuple[ConceptKind, str], tuple[Concept, ...]] = {}
        self._named: dict[tuple[ConceptKind, tuple[str, ...]], Concept] = {}
        self._own: dict[tuple[ConceptKind, str], Concept] = {}
        self._coded: dict[tuple[ConceptKind, str], Concept] = {}
        for concept in concepts:
            self._own[concept.kind, concept.name] = concept
            for words in concept.words:
                self._named.setdefault((concept.kind, words), concept)
            for code in (*concept.codes, *concept.icd10):
                self._coded.setdefault((concept.kind, code), concept)
        # A short name in any order of its words: "cholesterol in HDL".
        self._bags = {
            (kind, frozenset(words)): concept
            for (kind, words), concept in reversed(self._named.items())
        }

    def named(self, kind: ConceptKind, name: str) -> Concept | None:
        """Return what people call `name`, or None."""
        words = words_of(name)
        return self._named.get((kind, words)) or self._bags.get((kind, frozenset(words)))

    def own(self, kind: ConceptKind, name: str) -> Concept | None:
        """Return the concept of that very name, as another lists it among its members."""
        return self._own.get((kind, name))

    def coded(self, kind: ConceptKind, codes: Sequence[str]) -> Concept | None:
        """Return what a code of the record means, given as `system|code`."""
        for pair in codes:
            system, _, code = pair.rpartition("|")
            is_known = not system or any(key in system for key in _SYSTEMS)
            # A longer code of ICD-10 is a kind of what begins it.
            least = _ICD_CHARS if _ICD in system else len(code)
            each = (self._coded.get((kind, code[:n])) for n in range(len(code), least - 1, -1))
            if is_known and (found := next(filter(None, each), None)) is not None:
                return found
        return None

    def displayed(self, kind: ConceptKind, label: str) -> Concept | None:
        """Return what a record's own name means where it holds nothing else of meaning.

        `Hemoglobin [Mass/volume] in Blood` is hemoglobin; `Hemoglobin A1c`, `Fetal hemoglobin` and
        `Hemoglobin in Urine` are not.
        """
        if label.strip() in _GENES:
            return None
        head = label.partition("[")[0]
        for said in (label, head, head.partition("(")[0]):
            found = self.named(kind, said) if said.strip() else None
            if found is not None:
                return found if _fits_specimen(found, label) else None
        words = words_of(label)
        telling = frozenset(word for word in words if word not in words_listed("neutral"))
        for bag in (frozenset(words), telling, telling - words_listed("of_scores")):
            found = self._bags.get((kind, bag)) if bag else None
            if found is not None and _fits_specimen(found, label):
                return found
        # Of `Alanine aminotransferase (ALT)` both parts must mean the same.
        outer, _, rest = label.partition("(")
        if not (inner := rest.partition(")")[0]):
            return None
        found = self.named(kind, outer)
        return found if found is not None and found is self.named(kind, inner) else None

    def leaves(self, concept: Concept) -> tuple[Concept, ...]:
        """Return the concept without groups: its members, theirs, or itself; each once.

        A member that records hold by a code of its own is no mere group: lung cancer.
        """
        if not concept.members:
            return (concept,)
        key = (concept.kind, concept.name)
        if key not in self._leaves:
            self._leaves[key] = tuple(self._members_of(concept))
        return self._leaves[key]

    def _members_of(self, concept: Concept) -> Iterable[Concept]:
        found: dict[str, Concept] = {}
        for name in concept.members:
            member = self.own(concept.kind, name)
            if member is not None and member is not concept:
                itself = (member,) if member.codes or member.icd10 else ()
                found.update((leaf.name, leaf) for leaf in (*itself, *self.leaves(member)))
        return found.values()

    def also_called(self, name: str) -> frozenset[str]:
        """Return all words by which a text may speak of what `name` means, of whatever kind."""
        found: set[str] = set()
        for kind in ("result", "drug", "problem", "vaccine"):
            if (concept := self.named(kind, name)) is not None:
                parts = (concept, *self.leaves(concept)) if kind == "drug" else (concept,)
                found |= {one for part in parts for one in map(" ".join, part.words)}
        found |= {" ".join(words_of(other)) for other in names_of_procedure(name)[1:]}
        found |= {" ".join(words_of(part)) for part in parts_of_body(name)}
        return frozenset(found)


def _fits_specimen(concept: Concept, label: str) -> bool:
    words = frozenset(words_of(label))
    found = next((name for name, marks in rows_called("specimens").items() if words & {*marks}), "")
    return found == concept.specimen or (found == "" and concept.specimen != "")


@cache
def concept_table() -> ConceptTable:
    """Return the table; read once."""
    rows = concept_rows()
    concepts = [_result(name, row) for name, row in rows["results"].items()]
    concepts += [
        Concept("result", name, words=_words(name, row), members=tuple(row["members"]))
        for name, row in rows["groups"].items()
    ]
    concepts += _drugs(drug_names(), drug_classes())
    concepts += [
        _coded(kind, name, row)
        for kind, part in (("problem", "problems"), ("vaccine", "vaccines"))
        for name, row in rows[part].items()
    ]
    return ConceptTable(concepts=concepts)


@cache
def rows_called(part: str) -> Mapping[str, tuple[str, ...]]:
    """Return what people call rows of a part, or kinds of allergens, with how records do."""
    return {kind: tuple(members) for kind, members in concept_rows()[part].items()}


@lru_cache(maxsize=4_096)
def class_taken_for(complaint: str) -> str:
    """Return the class of drugs that people mean by what it is taken for; "" where unknown."""
    found = (name for name, said in concept_rows()["taken_for"].items()
             for one in said if words_of(one) == words_of(complaint))  # fmt: skip
    return next(found, "")


@lru_cache(maxsize=4_096)
def names_of_procedure(name: str) -> tuple[str, ...]:
    """Return `name` and what else is said for the same thing done."""
    wanted = words_of(name)
    same = (group for group in _groups("procedures") if wanted in map(words_of, group))
    called = (one for group in same for one in group if words_of(one) != wanted)
    kinds = (one for member in _of_kind(wanted) for one in names_of_procedure(member))
    foreign = _in_other_languages().get(wanted, ())
    every = (name, *called, *kinds, *_other_deeds(wanted), *foreign)
    return tuple(dict.fromkeys(every if len(every) > 1 else (*every, *_with_the_rest(wanted))))


def _with_the_rest(wanted: tuple[str, ...]) -> Iterator[str]:
    """Yield a longer name with what it begins with called otherwise: radiotherapy to the sacrum."""
    for end in range(len(wanted) - 1, 0, -1):
        called = names_of_procedure(" ".join(wanted[:end]))
        rest = " ".join(word for word in wanted[end:] if word not in words_for("idle_in_search"))
        if rest and len(called) > 1:
            yield from (f"{one} {rest}" for one in called)
            return


@cache
def _in_other_languages() -> Mapping[tuple[str, ...], tuple[str, ...]]:
    """Return what is said of a name, in a long word or several, in other languages than English."""
    found: dict[tuple[str, ...], tuple[str, ...]] = {}
    for language in LANGUAGES[1:]:
        for names in chart_file(language).names.values():
            for name, said in names.items():
                letters = ((one, one.replace("-", "").replace(" ", "")) for one in said)
                own = (one for one, bare in letters if bare.isalpha() and len(bare) >= _LONG_CHARS)
                found[words_of(name)] = (*found.get(words_of(name), ()), *own)
    return found


@lru_cache(maxsize=4_096)
def _of_kind(wanted: tuple[str, ...]) -> tuple[str, ...]:
    """Return what is done of a kind that is named so, and the other names of the kind."""
    rows = concept_rows()["procedures_of_a_kind"]
    named = (row for row in rows if wanted in map(words_of, row["names"]))
    return tuple(one for row in named for one in row["members"])


def _other_deeds(wanted: tuple[str, ...]) -> Iterator[str]:
    """Yield the words with what was done in other forms: `device removed`, `device removal`."""
    for group in _groups("deeds"):
        done = {word for one in group for word in words_of(one)}
        at = next((place for place, word in enumerate(wanted) if word in done), None)
        if at is not None:
            others = (one for one in group if words_of(one) != (wanted[at],))
            yield from (" ".join((*wanted[:at], one, *wanted[at + 1 :])) for one in others)


def parts_of_body(name: str) -> tuple[str, ...]:
    """Return what else the part of the body is called, in any language."""
    return _parts_of_body().get(words_of(name), ())


@cache
def _parts_of_body() -> dict[tuple[str, ...], tuple[str, ...]]:
    return {words_of(one): group for group in _groups("parts_of_body") for one in group}


@cache
def _groups(part: str) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(group) for group in concept_rows()[part])


@cache
def names_of_less() -> frozenset[str]:
    """Return names by which something is looked for that may be another: `type 2 diabetes`."""
    return frozenset(map(str, concept_rows()["not_the_same"]))


@cache
def words_listed(part: str) -> frozenset[str]:
    """Return the words of one list of the table, such as `not_operations` or `vague`."""
    said = concept_rows()[part]
    return frozenset(words_of(said if isinstance(said, str) else " ".join(map(str, said))))


@cache
def words_of_removal() -> frozenset[str]:
    """Return the words that say that something was taken out; the first group of deeds."""
    return frozenset(word for said in _groups("deeds")[0] for word in words_of(said))


def _result(name: str, row: Mapping[str, Any]) -> Concept:
    return Concept(
        "result",
        name,
        codes=frozenset(map(str, row.get("loinc", ()))),
        words=_words(name, row),
        specimen=row.get("system", ""),
        kind_of_row=row.get("kind", ""),
    )


def _coded(kind: Any, name: str, row: Mapping[str, Any]) -> Concept:
    found = [str(code) for key in ("snomed", "cvx", "atc") for code in row.get(key, ())]
    return Concept(
        kind,
        name,
        codes=frozenset(found),
        words=_words(name, row),
        members=tuple(row.get("members", ())),
        icd10=tuple(map(str, row.get("icd10", ()))),
    )


def _drugs(drugs: Mapping[str, Sequence[str]], classes: Mapping[str, Any]) -> list[Concept]:
    found = [
        Concept("drug", name, words=tuple(words_of(word) for word in (name, *brands)))
        for name, brands in drugs.items()
    ]
    known = {*drugs, *classes}
    members = dict.fromkeys(name for row in classes.values() for name in row["members"])
    found += [
        Concept("drug", name, words=(words_of(name),)) for name in members if name not in known
    ]
    # An ingredient's own name comes before a class of the same name: "insulin".
    return [
        Concept(
            "drug",
            name,
            words=_words(name, row),
            members=tuple(row["members"]),
            atc=tuple(row.get("atc", ())),
        )
        for name, row in classes.items()
    ] + found


def _words(name: str, row: Mapping[str, Any]) -> tuple[tuple[str, ...], ...]:
    return tuple(dict.fromkeys(words_of(str(word)) for word in (name, *row["words"])))
