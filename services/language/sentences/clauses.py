"""What one part of a sentence states."""

from collections.abc import Sequence
from dataclasses import dataclass

from services.language.figures.quantities import Quantity
from services.language.figures.written_dates import FoundDate
from services.language.words.statement_tables import saying

SETTINGS = frozenset({"=check up", "admission", "hospitalization", "visit"})


@dataclass(frozen=True, slots=True)
class Stage:
    """A stage, grade or score: `stage IVB` is `("stage", "4B")`, `pT2a` is `("T", "2a", "p")`."""

    scale: str
    value: str
    prefix: str = ""

    def fits(self, known: "Stage") -> bool:
        """Whether `known` says at least as much, and the same."""
        if self.prefix and known.prefix and self.prefix not in known.prefix:
            return False
        is_of_scale = self.scale in ("", known.scale) or (self.scale, known.scale) == ("stage", "")
        return is_of_scale and known.value.lower().startswith(self.value.lower())


@dataclass(frozen=True, slots=True)
class Clause:
    """What one part of a sentence states.

    Attributes:
        words: Stems of all its words.
        names: Stems of clinical names and of names that rows have, from the left; where a thing
            has several names, `=` and the first of them.
        runs: Those names that stand side by side, as one name: `adrenal metastasis`.
        called: Stems of the words of those names: `high`, `blood`, `pressure` of hypertension.
        topics: Kinds of things that it speaks of, such as `=allergy`.
        own_names: Whether it names what it speaks of; else it goes on with the clause before.
        objects: Stems of what somebody takes, has or is allergic to, whatever it is.
        cues: What its words say besides, such as `no`, `newest`, `deed:booked`.
        often: How often, such as `2/d`.
        sites: Sides with what stands beside them: `left lower lobe`, words of the record.
        counted: How many of what kind, or how many `times`.
        limits: The ends of the range of reference: `ref. up to 0.5`, no values of it.
        differences: By how much something changed, no value of it: `by 22 %`, `gained 3 kg`.
    """

    words: frozenset[str] = frozenset()
    names: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    own_names: bool = True
    objects: tuple[str, ...] = ()
    quantities: tuple[Quantity, ...] = ()
    dates: tuple[FoundDate, ...] = ()
    codes: tuple[str, ...] = ()
    stages: tuple[Stage, ...] = ()
    often: frozenset[str] = frozenset()
    smoking: str = ""
    cues: frozenset[str] = frozenset()
    exclusive: tuple[str, ...] = ()
    sites: tuple[frozenset[str], ...] = ()
    counted: tuple[tuple[float, str], ...] = ()
    differences: tuple[Quantity, ...] = ()
    limits: tuple[Quantity, ...] = ()
    runs: tuple[frozenset[str], ...] = ()
    called: frozenset[str] = frozenset()

    def says(self, *names: str) -> bool:
        """Whether it has a word of one of these lists; see `en/word_lists.yaml`."""
        return bool(self.words & saying(*names))

    @property
    def has_values(self) -> bool:
        """Whether it states more than names."""
        return bool(
            self.quantities
            or self.dates
            or self.stages
            or self.codes
            or self.often
            or self.counted
            or self.differences
        )


def joined(
    clauses: Sequence[Clause], *, own_names: bool = True, cues: frozenset[str] = frozenset()
) -> Clause:
    """Return clauses as one, whatever they are; several say `cues` besides."""
    if len(clauses) == 1:
        return clauses[0]
    return Clause(
        words=frozenset[str]().union(*[one.words for one in clauses]),
        names=tuple(dict.fromkeys(each for one in clauses for each in one.names)),
        topics=tuple(each for one in clauses for each in one.topics),
        own_names=own_names,
        objects=tuple(each for one in clauses for each in one.objects),
        quantities=tuple(each for one in clauses for each in one.quantities),
        dates=tuple(each for one in clauses for each in one.dates),
        codes=tuple(each for one in clauses for each in one.codes),
        stages=tuple(each for one in clauses for each in one.stages),
        often=frozenset(each for one in clauses for each in one.often),
        smoking=next((one.smoking for one in clauses if one.smoking), ""),
        cues=cues.union(*[one.cues for one in clauses]),
        exclusive=tuple(each for one in clauses for each in one.exclusive),
        sites=tuple(each for one in clauses for each in one.sites),
        counted=tuple(each for one in clauses for each in one.counted),
        differences=tuple(each for one in clauses for each in one.differences),
        limits=tuple(each for one in clauses for each in one.limits),
        runs=tuple(each for one in clauses for each in one.runs),
        called=frozenset(each for one in clauses for each in one.called),
    )
