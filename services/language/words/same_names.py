"""Names of one thing, of which any may stand for any other in what is stated of a patient."""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple, TypeVar

from services.language.words.statement_tables import read_names, stem
from services.language.words.vocabulary import concept_rows, drug_classes

_Group = TypeVar("_Group")
_SHORT_CHARS = 3
_BROAD = ("cancer", "carcinoma", "malignant neoplasm")
"""Tumors are compared by their parts: what it is, and of what."""
_MALIGNANT = ("malignant neoplasm", "malignant tumor", "bösartige Neubildung")
_OTHER_THAN_BLOOD = frozenset({"kind", "system"})


class SameName(NamedTuple):
    """What a name names: its group, and the groups of which that is one; `COPD` a lung disease.

    Attributes:
        is_short: Whether it is that only in capitals, such as `ALS`.
    """

    group: str
    wider: frozenset[str] = frozenset()
    is_short: bool = False


def group_of(name: str) -> str:
    """Return the group that a name is of; "" where it has no other names."""
    by_hand = _by_hand().get(_stems(name))
    return by_hand or concept_names().get(_stems(name), SameName("")).group


@lru_cache(maxsize=1)
def concept_names() -> Mapping[tuple[str, ...], SameName]:
    """Return the names of the table of concepts, by their stems, less those written by hand."""
    found: dict[tuple[str, ...], SameName] = {}
    wider = _wider()
    for _, group, said in _groups():
        for phrase in said:
            stems = _stems(phrase)
            is_short = len(stems) == 1 and len(stems[0]) <= _SHORT_CHARS
            short = all(len(one) <= _SHORT_CHARS for one in stems)
            for written in (stems, *((("".join(stems),),) if short and len(stems) > 1 else ())):
                if written not in _by_hand():
                    one = SameName(group, wider.get(group, frozenset()), is_short)
                    found.setdefault(written, one)
    groups = {**_by_hand(), **{stems: one.group for stems, one in found.items()}}
    return {
        stems: one._replace(wider=one.wider | _inner(stems, groups) - {one.group})
        for stems, one in found.items()
    }


def wider_of(phrase: str) -> frozenset[str]:
    """Return the groups of which a name written by hand is one: type 2 diabetes is diabetes."""
    own = _by_hand().get(_stems(phrase), "")
    wider = _wider().get(own, frozenset())
    inner = {one.group for one in _inner(_stems(phrase), concept_names())}
    return (wider | inner) - {own}


def _inner(stems: tuple[str, ...], groups: Mapping[tuple[str, ...], _Group]) -> set[_Group]:
    """Return what parts of a name name: `knee arthritis` is arthritis."""
    size = len(stems)
    parts = (stems[at:end] for at in range(size) for end in range(at + 1, size + 1))
    return {groups[part] for part in parts if part in groups}


@lru_cache(maxsize=1)
def kinds_of_groups() -> Mapping[str, str]:
    """Return in which list of a chart each group of the table stands."""
    return {group: kind for kind, group, _ in _groups()}


def names_of_cancers() -> Iterator[tuple[str, str]]:
    """Yield names for cancer, and those of one word for one: `Mammakarzinom`, its plain name."""
    yield from ((one, _BROAD[0]) for one in _MALIGNANT)
    for name, row in concept_rows()["problems"].items():
        if str(name).lower().endswith(_BROAD[0]):
            yield from ((str(one), str(name)) for one in row["words"] if " " not in str(one))


def _groups() -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Yield the kind of each group of the table of concepts, the group and its names."""
    rows = concept_rows()
    loose = {_stems(one) for one in rows["not_the_same"]}
    said = [
        ("problem", (str(name), *map(str, row["words"]))) for name, row in rows["problems"].items()
    ]
    said += [
        ("", (str(name), *map(str, row["words"])))
        for name, row in rows["results"].items()
        if row.keys().isdisjoint(_OTHER_THAN_BLOOD) and _stems(str(name)) not in loose
    ]
    said += [("procedure", tuple(map(str, names))) for names in rows["procedures"]]
    said += [
        ("medication", (name, *map(str, row["words"]))) for name, row in drug_classes().items()
    ]
    for kind, names in said:
        if not names[0].lower().endswith(_BROAD):
            kept = tuple(one.lower() for one in names if _stems(one) not in loose)
            if kept:
                yield kind, _name_of(names[0]), kept


@lru_cache(maxsize=1)
def _wider() -> dict[str, frozenset[str]]:
    """Return for each group those of which it is one, and those of these."""
    problems = concept_rows()["problems"]
    above: dict[str, set[str]] = {}
    for name, row in problems.items():
        for member in row.get("members", ()):
            above.setdefault(str(member), set()).add(str(name))

    def all_above(name: str) -> set[str]:
        own = above.get(name, set())
        return own.union(*(all_above(one) for one in own))

    return {_name_of(one): frozenset(map(_name_of, all_above(one))) for one in above}


def _name_of(concept: str) -> str:
    return _by_hand().get(_stems(concept), f"={concept.lower()}")


@lru_cache(maxsize=1)
def _by_hand() -> Mapping[tuple[str, ...], str]:
    """Return the groups that are written by hand, of each of their names."""
    groups: Sequence[Sequence[str]] = read_names()["same"]
    return {_stems(phrase): f"={group[0].lower()}" for group in groups for phrase in group}


def _stems(phrase: str) -> tuple[str, ...]:
    return tuple(map(stem, phrase.split()))
