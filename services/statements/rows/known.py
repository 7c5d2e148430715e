"""Rows by the words and numbers in them, so that few are compared with a sentence."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Generic, TypeVar

from data_models.chart_view import PUBLICATION, ChartView
from services.language.sentences.statements import Sentence, read_sentence
from services.language.words.statement_words import is_clinical_name
from services.records.resources.standing import ABSENCES
from services.statements.rows.rows import EmptyResult, KnownRow, clause_of, rows_of_text, stems_of
from services.statements.rows.view_rows import empty_of_view, rows_of_view

_Key = TypeVar("_Key")
_PERSONAL = frozenset({"patient", "personal", "social history"})
_MISSING = ": not in the record"
"""How a view says that something was asked for by name and is not there."""


@dataclass(slots=True)
class _Sorted(Generic[_Key]):
    """Rows by what they have, sorted once that is asked for: most sentences ask for little."""

    rows: Sequence[KnownRow]
    keys_of: Callable[[KnownRow], Iterable[_Key]]
    found: dict[_Key, list[KnownRow]] = field(default_factory=lambda: defaultdict(list))
    taken: int = 0

    def of(self, key: _Key) -> list[KnownRow]:
        for row in self.rows[self.taken :]:
            for one in self.keys_of(row):
                self.found[one].append(row)
        self.taken = len(self.rows)
        return self.found.get(key, [])


class KnownRows:
    """What tools of one turn, and earlier turns about the same patient, found.

    Args:
        today: When it is asked about, where that is known.
    """

    def __init__(self, *, today: date | None = None) -> None:
        self.today = today
        self.rows: list[KnownRow] = []
        self._by_word = _Sorted(self.rows, lambda row: row.words)
        self._by_number = _Sorted(
            self.rows,
            lambda row: [round(each, 4) for one in row.quantities for each in one.readings],
        )
        self._by_day = _Sorted(
            self.rows, lambda row: [(day.year, m) for day in row.dates for m in (day.month, None)]
        )
        self.by_source = _Sorted(self.rows, lambda row: row.sources).of
        self._names: set[str] = set()
        self._read: dict[str, Sentence] = {}  # until there are more names
        self.personal: list[KnownRow] = []
        self.empty: list[EmptyResult] = []
        self.whole: dict[str, str] = {}  # what a list of all of a kind says of what it lacks
        self.named: set[str] = set()  # of which all that were asked for by name are listed
        self.words: set[str] = set()
        self.titles: set[str] = set()
        self.counts: dict[str, set[float]] = {}
        self.sources: set[str] = set()
        self.published: set[str] = set()  # those that are research

    def add_view(self, view: ChartView) -> None:
        """Take in what a tool of this turn returned."""
        self.sources.update(source.ref for source in view.sources)
        research = [row.sources for row in view.rows if row.kind == PUBLICATION]
        self.published.update(*research)
        self._add(rows_of_view(view))
        left_out = sum(one.count for one in view.left_out)
        total = float(len(view.rows))
        kinds = Counter(row.kind.split()[0].rstrip("s") if row.kind else "" for row in view.rows)
        for kind in {*kinds, _kind_of_tool(view.tool)}:
            told = [row for row in view.rows if row.kind not in ABSENCES]
            of_kind = [row for row in told if not row.kind or row.kind.startswith(kind)]
            active = [row for row in of_kind if row.status.lower() == "active"]
            found = {float(len(of_kind)), float(len(active)), total, total + left_out}
            self.counts.setdefault(kind, set()).update(found - {0.0} if view.rows else found)
            self.counts.setdefault(f"active {kind}", set()).add(float(len(active)))
            ended = float(len(of_kind) - len(active))
            self.counts.setdefault(f"ended {kind}", set()).add(ended)
        self.empty += filter(None, [empty_of_view(view)])
        for note in (one for one in view.notes if one.endswith(_MISSING)):
            words = stems_of(note) | clause_of(note.removesuffix(_MISSING)).words
            self.empty.append(EmptyResult(words=words, says=note))
        if not view.left_out and view.title.lower().startswith(f"{view.tool}: "):
            self.named.add(_kind_of_tool(view.tool))
        if _is_whole(view):
            lacks = f"Not among the {len(view.rows)} listed {view.title.lower()}"
            self.whole[_kind_of_tool(view.tool)] = lacks

    def add_text(self, text: str, *, date: str | None, sources: tuple[str, ...]) -> None:
        """Take in what an earlier answer said and the record supported."""
        self._add(rows_of_text(text, date=date, sources=sources, is_earlier=True))

    def without(self, left_out: Iterable[KnownRow]) -> "KnownRows":
        """Return these but for some rows; a list that has no others has none."""
        rest, others = KnownRows(today=self.today), {id(row) for row in left_out}
        rest._add(row for row in self.rows if id(row) not in others)
        rest.whole, rest.counts, rest.sources = self.whole, self.counts, self.sources
        none = {kind: f"={kind}" for kind in self.whole if not rest.about([f"={kind}"])}
        lacking = (EmptyResult(frozenset({none[kind]}), self.whole[kind]) for kind in none)
        rest.empty = [*self.empty, *lacking]
        return rest

    def of_kin(self) -> "KnownRows":
        """Return what is known of the patient's family alone: no list of their own problems."""
        rest = KnownRows(today=self.today)
        rest._add(row for row in self.rows if row.kind.startswith("family"))
        rest.empty = self.empty
        return rest

    @property
    def is_name(self) -> Callable[[str], bool]:
        """Tells whether a stem names something: of itself, or because a row is called so."""
        names = self._names  # not these rows: they keep the sentences that keep this
        return lambda stemmed: stemmed in names or is_clinical_name(stemmed)

    def read(self, text: str) -> Sentence:
        """Return what a sentence states, by the names that these rows have besides."""
        if (found := self._read.get(text)) is None:
            found = self._read[text] = read_sentence(text, is_name=self.is_name)
        return found

    def about(self, names: Iterable[str]) -> list[KnownRow]:
        """Return the rows that hold all `names`."""
        lists = [self._by_word.of(name) for name in names]
        if not lists:
            return []
        shortest = min(lists, key=len)
        wanted = set(names)
        return [row for row in shortest if wanted <= row.words]

    def with_number(self, numbers: Iterable[float]) -> list[KnownRow]:
        """Return the rows that hold any of `numbers`, in whatever unit."""
        return [row for one in numbers for row in self._by_number.of(round(one, 4))]

    def with_day(self, year: int | None, month: int | None) -> list[KnownRow]:
        """Return the rows of a month, or of a year."""
        return self._by_day.of((year, month))

    def _add(self, rows: Iterable[KnownRow]) -> None:
        new = list(rows)
        self.rows += new
        self.personal += [row for row in new if row.kind in _PERSONAL]
        self.words.update(*[row.words for row in new])
        self.sources.update(*[row.sources for row in new])
        named = [row for row in new if not row.is_text and row.kind != "patient"]
        self._names.update(*[row.naming for row in named])
        self._read.clear()
        self.titles.update(row.title for row in named if row.title)


def _is_whole(view: ChartView) -> bool:
    """Whether a list holds all of its kind: nothing was asked for by name, nothing left out."""
    title = view.title.lower().removesuffix(" now")
    return title == view.tool and bool(view.rows) and not view.left_out


def _kind_of_tool(tool: str) -> str:
    return {"allergies": "allergy"}.get(tool, tool.rstrip("s"))
