"""What tools found, one row at a time, in the form in which sentences are compared with it."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from typing import Literal, TypeAlias

from services.language.figures.quantities import Quantity, unit_code
from services.language.figures.written_dates import WrittenDate, recorded_date
from services.language.sentences.clauses import Clause, Stage, joined
from services.language.sentences.sentences import sentences_of
from services.language.sentences.statement_parts import REFERENCE, graded
from services.language.sentences.statements import read_sentence
from services.language.words.phrases import says
from services.language.words.statement_tables import saying, stem, stems_told
from services.language.words.statement_words import group_of, statement_words
from services.statements.rows.units import quantity

Standing: TypeAlias = Literal["active", "ended", "absent", ""]
SHOWN_CHARS = 200
JUDGED = frozenset({"high", "low", "normal", "rising", "falling", "steady"})
NOT_DONE = frozenset({"planned", "maybe"})
_NAMED_BY_ALL = frozenset({"problem", "procedure"})
_SMALL_CHARS, _LABEL_WORDS = 3, 3
_SINKS = "declin"
BEGINNING = 6
"""Words that begin with the same letters are taken for one: `prescribed`, `prescription`."""
ONLY_POSSIBLE = ("able", "ible", "bar", "bare")
"""How words end of what can be done: what is resectable was not resected."""
_SEPARATING = re.compile(r";|(?<!\d),|,(?!\d)")  # "50,4 Gy" is one number
_WORDS = re.compile(r"[^\W_]+(?:[-'’.][^\W_]+)*")


@dataclass(frozen=True, slots=True)
class KnownRow:
    """One row of a tool's result.

    Attributes:
        name: Stems of its name.
        title: Its name, where no word of it names anything; a sentence that has it names the row.
        needs: Of these a sentence about it names all (values) or one (everything else).
        words: Stems of all that it says.
        ranges: Bounds of what is normal; no value of the patient.
        figures: Figures of its name and unit, such as "0-10"; no values.
        earlier: From when to when it was before: `before 2014-11-22–2015-06-20`.
        standing: Whether it holds now.
        is_text: A sentence of a document or of an earlier answer: it may disagree with others.
        is_earlier: From an earlier turn of this patient's conversation.
        order: Sorts rows of one name by date.
        written: When a text was written: not when what it tells of began or ended.
        is_plan: Of what is to be done, or may be so: it says so of nothing.
        hedges: Words, of which one makes a sentence say of such a row no more than it says itself.
        naming: Words of `needs` that name something of themselves.
        judged: How a text says that a thing is or goes on: `high`, `falling`.
    """

    name: frozenset[str]
    says: str
    kind: str = ""
    title: str = ""
    needs: frozenset[str] = frozenset()
    needs_all: bool = False
    words: frozenset[str] = frozenset()
    quantities: tuple[Quantity, ...] = ()
    ranges: tuple[Quantity, ...] = ()
    figures: tuple[Quantity, ...] = ()
    dates: tuple[WrittenDate, ...] = ()
    begun: WrittenDate | None = None
    ended: WrittenDate | None = None
    earlier: tuple[tuple[WrittenDate | None, ...], ...] = ()
    stages: tuple[Stage, ...] = ()
    often: frozenset[str] = frozenset()
    smoking: str = ""
    negated: bool = False
    standing: Standing = ""
    flag: str = ""
    sources: tuple[str, ...] = ()
    is_text: bool = False
    is_earlier: bool = False
    order: str = ""
    number: float | None = None
    exclusive: frozenset[str] = field(default_factory=frozenset)
    sites: tuple[frozenset[str], ...] = ()
    written: WrittenDate | None = None
    judged: frozenset[str] = frozenset()
    is_plan: bool = False
    hedges: frozenset[str] = frozenset()
    naming: frozenset[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        own = self.name - statement_words().soft if self.kind in _NAMED_BY_ALL else frozenset()
        object.__setattr__(self, "naming", frozenset(filter(_may_name, self.needs | own)))

    @property
    def is_stay(self) -> bool:
        """Whether somebody was in hospital."""
        return self.kind == "encounter" and "inpatient" in self.exclusive


_SAYS_WHICH = frozenset(
    {"side", "height", "severity", "extent", "ordinal", "acuity", "form", "route"}
)
_UNIT_CHARS = 3


def _may_name(word: str) -> bool:
    known = statement_words()
    is_word = len(word) > 2 and not word[0].isdigit() and word not in known.numbers
    is_word = is_word and not graded(word.upper())
    is_place = word in known.sides or word in known.places  # compared as sites
    is_figure = len(word) <= _UNIT_CHARS and unit_code(word) not in ("", word)
    is_figure = is_figure or group_of(word) in _SAYS_WHICH
    is_word = is_word and not is_figure
    return is_word and not is_place and word not in known.common and word not in known.fillers


@dataclass(frozen=True, slots=True)
class EmptyResult:
    """What a tool looked for and did not find: only this lets somebody say "none recorded"."""

    words: frozenset[str]
    says: str


@lru_cache(maxsize=2_000)
def rows_of_text(
    text: str,
    *,
    date: str | None,
    sources: tuple[str, ...],
    title: str = "",
    is_earlier: bool = False,
) -> tuple[KnownRow, ...]:
    """Return the statements of a text, such as a note; each has the text's date besides its own.

    They are kept: the next turn is of the same texts.
    """
    return tuple(_read_rows(text, date, sources, title, is_earlier))


def _read_rows(
    text: str, date: str | None, sources: tuple[str, ...], title: str, is_earlier: bool
) -> Iterator[KnownRow]:
    own = recorded_date(date) if date else None
    lower = text.lower()  # all that a report tells was found in its one specimen
    mark = next((one for one in saying("of_one_specimen") if one in lower), lower)
    taken = clause_of(next(iter(sentences_of(text[lower.find(mark) + len(mark) :])), ""))
    about = stems_of(title).union(clause_of(title).names, taken.words)
    for piece in sentences_of(text.replace(".;", ".")):  # parts that a view joined
        if not piece.strip() or says(piece, "orders_reader"):
            continue  # "say that she has no allergies" states nothing of her
        read = read_sentence(piece).clauses
        kept = (one for one in read if one.words or one.quantities)
        days, parts = taken.dates, taken.stages
        clauses = [replace(c, dates=c.dates + days, stages=c.stages + parts) for c in kept]
        clauses = _planned_together(_advised(clauses, piece))
        for clause, head in zip(clauses, _heads(clauses), strict=True):
            row = _row_of_clause(clause, piece, own, sources, about, is_earlier)
            where = row.exclusive or _placed_by_label(piece)
            yield replace(row, name=row.name | head, words=row.words | head, exclusive=where)
        if len(clauses) > 1 and not any(map(negates, clauses)) and not _parts(clauses):
            # Names and a day may be from anywhere in the sentence; numbers only from one clause.
            whole = joined(clauses)
            is_of_one = len({one.readings for one in whole.dates}) < 2
            whole = replace(whole, dates=whole.dates if is_of_one else ())
            row = _row_of_clause(whole, piece, own, sources, about, is_earlier)
            # "two of twelve nodes positive, margins clear"
            yield replace(row, exclusive=frozenset(), quantities=(), stages=(), often=frozenset())


def _placed_by_label(piece: str) -> frozenset[str]:
    """Return of which vessel or segment all of `RCA: occlusion, treated with a stent` is."""
    label, colon, _ = piece.partition(":")
    is_label = bool(colon) and len(label.split()) <= _LABEL_WORDS
    return frozenset(clause_of(label).exclusive) if is_label else frozenset()


def _advised(clauses: list[Clause], piece: str) -> list[Clause]:
    """Return the clauses of "Limit alcohol." as plans: advice does not say what somebody does."""
    first = next(iter(_WORDS.findall(piece)), "").lower()
    if first not in statement_words().advising:
        return clauses
    return [replace(one, cues=one.cues | {"planned"}) for one in clauses]


def _planned_together(clauses: list[Clause]) -> list[Clause]:
    """Return parts, with the plan that the first or the last of a list tells of all."""
    is_list = all("asserts" not in one.cues for one in clauses[:-1])
    is_list = is_list and not any("apart" in one.cues for one in clauses)  # "85 kg; advice on …"
    telling = (*clauses[:1], *(clauses[-1:] if is_list else ()))
    if not any("planned" in one.cues for one in telling):
        return clauses
    plan = {"planned"}  # but "the last is of March" beside a new MRI
    return [one if "newest" in one.cues else replace(one, cues=one.cues | plan) for one in clauses]


def _heads(clauses: Sequence[Clause]) -> Iterator[frozenset[str]]:
    """Yield for each part what those before it name: `BRAF p.Val600Glu, allele fraction 38 %`."""
    head: frozenset[str] = frozenset()
    for clause in clauses:
        is_other = "apart" in clause.cues and negates(clause)  # "metastases; no compression"
        is_other = is_other or not clause.words.isdisjoint(stems_told("family"))
        head = frozenset() if "apart" in clause.cues and clause.names else head
        yield frozenset() if is_other else head
        is_whole = clause.quantities or clause.exclusive or negates(clause) or clause.cues & JUDGED
        own = frozenset((*clause.names, *clause.codes))
        head = frozenset() if is_whole else head | own


def _parts(clauses: Sequence[Clause]) -> bool:
    """Whether a sentence says one thing of this and the other of that: "retained … lost".

    What a daughter does is not with whom somebody lives, and a father's illness is no mother's.
    """
    groups, kin = statement_words().exclusive, stems_told("family")
    if any(one.words & kin - clauses[0].words for one in clauses[1:]):
        return True
    said = {groups[word] for one in clauses for word in one.exclusive}
    said = {one for one in said if one[0] != "ordinal"}  # "the second and third joints"
    return len({group for group, _ in said}) < len(said)


def _row_of_clause(
    clause: Clause,
    text: str,
    day: WrittenDate | None,
    sources: tuple[str, ...],
    about: frozenset[str],
    is_earlier: bool,
) -> KnownRow:
    if not clause.own_names and not clause.words.isdisjoint(stems_told("family")):
        clause = replace(clause, names=())  # what a daughter does is not how somebody lives
    if not clause.words.isdisjoint(stems_told("family")):
        about = frozenset()  # a mother has no breast cancer by the title "Breast clinic"
    dates = [one for found in clause.dates for one in found.readings]
    return KnownRow(
        name=clause.words.union(clause.names if clause.quantities else ()),
        says=shortened(text),
        words=clause.words | about | frozenset((*clause.names, *clause.topics)),
        quantities=(*clause.quantities, *times_of(clause)),
        dates=(*dates, *((day,) if day else ())),
        stages=clause.stages,
        often=clause.often,
        smoking=clause.smoking,
        negated=("no" in clause.cues and "recorded" not in clause.cues) or _is_refused(clause),
        sources=sources,
        written=day,
        is_plan=not NOT_DONE.isdisjoint(clause.cues),
        judged=clause.cues & JUDGED,
        is_text=True,
        is_earlier=is_earlier,
        exclusive=frozenset(clause.exclusive),
        sites=clause.sites,
    )


def _is_refused(clause: Clause) -> bool:
    """Whether somebody did not want a thing, or a value is taken back; what declined is told."""
    is_value = bool(clause.quantities or clause.cues & JUDGED) and not clause.says("who")
    return not clause.words.isdisjoint(_refusing(is_value=is_value))


@cache
def _refusing(*, is_value: bool) -> frozenset[str]:
    told = statement_words().refusing
    of_values = (one for one in told if not one.startswith(_SINKS))
    return saying("in_error").union(of_values) if is_value else told


@lru_cache(maxsize=8_000)
def clause_of(text: str) -> Clause:
    """Return what a row's words say, as one clause."""
    plain = _SEPARATING.sub(" ", text)
    return joined(read_sentence(plain).clauses or (Clause(),))


def times_of(clause: Clause) -> Iterator[Quantity]:
    """Yield how often one row stands for what happened: `recorded 3 times`."""
    return (quantity(number, "") for number, kind in clause.counted if kind == "times")


def negates(clause: Clause) -> bool:
    """Whether a row's words deny something."""
    is_denied = "no" in clause.cues or bool(clause.words & stems_told("denying"))
    return is_denied or _is_refused(clause)


@lru_cache(maxsize=8_000)
def stems_of(text: str) -> frozenset[str]:
    """Return the stems of a text's words, those of parts with hyphens too."""
    found: set[str] = set()
    for word in _WORDS.findall(text):
        found.add(stem(word))
        if "-" in word:
            found.update(stem(part) for part in word.split("-") if len(part) > 1)
    return frozenset(found)


def shortened(text: str) -> str:
    """Return a text on one line, of at most 200 characters, without source ids."""
    flat = REFERENCE.sub("", " ".join(text.split())).strip()
    return flat if len(flat) <= SHOWN_CHARS else f"{flat[: SHOWN_CHARS - 1]}…"


def told_of(words: Iterable[str]) -> frozenset[str]:
    """Return the stems that say what is spoken of: no small words, none that say how it is."""
    known = statement_words()
    return frozenset(
        word
        for word in words
        if (len(word) > _SMALL_CHARS or (len(word) == _SMALL_CHARS and word not in known.neutral))
        and word.isalpha()
        and (word not in known.spoken or word in stems_told("family"))
        and word not in known.common
        and word not in known.soft
        and word not in known.fillers
    )
