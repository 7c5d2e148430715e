"""Rows by the words and numbers in them, so that few are compared with a sentence."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from datetime import date
from typing import Any

from data_models.chart_view import PUBLICATION, ChartView
from services.language.statement_words import is_clinical_name
from services.records.standing import ABSENCES
from services.statements.result_rows import rows_of_result
from services.statements.rows import EmptyResult, KnownRow, clause_of, rows_of_text, stems_of
from services.statements.view_rows import empty_of_view, rows_of_view

_PERSONAL = frozenset({"patient", "personal", "social history"})
_MISSING = ": not in the record"
"""How a view says that something was asked for by name and is not there."""


class KnownRows:
    """What tools of one turn, and earlier turns about the same patient, found.

    Args:
        today: When it is asked about, where that is known.
    """

    def __init__(self, *, today: date | None = None) -> None:
        self.today = today
        self._by_word = defaultdict[str, list[KnownRow]](list)
        self._sorted = 0
        self._by_number = defaultdict[float, list[KnownRow]](list)
        self._by_day = defaultdict[tuple[int | None, int | None], list[KnownRow]](list)
        self._by_source = defaultdict[str, list[KnownRow]](list)
        self._names: set[str] = set()
        self.rows: list[KnownRow] = []
        self.personal: list[KnownRow] = []
        self.empty: list[EmptyResult] = []
        self.whole: dict[str, str] = {}  # what a list of all of a kind says of what it lacks
        self.words: set[str] = set()
        self.counts: dict[str, set[float]] = {}
        self.sources: set[str] = set()
        self.published: set[str] = set()  # those that are research

    def add_view(self, view: ChartView) -> None:
        """Take in what a tool of this turn returned."""
        self.sources.update(source.ref for source in view.sources)
        research = [row.sources for row in view.rows if row.kind == PUBLICATION]
        self.published.update(*research)
        self._add(rows_of_view(view))
        self._count(view)
        empty = empty_of_view(view)
        if empty is not None:
            self.empty.append(empty)
        missing = [one for one in view.notes if one.endswith(_MISSING)]
        for note in missing:
            words = stems_of(note) | clause_of(note.removesuffix(_MISSING)).words
            self.empty.append(EmptyResult(words=words, says=note))
        if _is_whole(view):
            lacks = f"Not among the {len(view.rows)} listed {view.title.lower()}"
            self.whole[_kind_of_tool(view.tool)] = lacks

    def add_result(self, data: Mapping[str, Any]) -> None:
        """Take in a tool's result that is no view."""
        self._add(rows_of_result(data))
        missing = data.get("not_in_the_record")
        for one in missing if isinstance(missing, list) else ():
            text = f"{one}: not in the record"
            words = next(rows_of_text(str(one), date=None, sources=()), None)
            if words is not None:
                self.empty.append(EmptyResult(words=words.words, says=text))

    def add_text(self, text: str, *, date: str | None, sources: tuple[str, ...]) -> None:
        """Take in what an earlier answer said and the record supported."""
        self._add(rows_of_text(text, date=date, sources=sources, is_earlier=True))

    def is_name(self, stemmed: str) -> bool:
        """Whether a stem names something: of itself, or because a row is called so."""
        return stemmed in self._names or is_clinical_name(stemmed)

    def about(self, names: Iterable[str]) -> list[KnownRow]:
        """Return the rows that hold all `names`."""
        self._sort()
        lists = [self._by_word.get(name, []) for name in names]
        if not lists:
            return []
        shortest = min(lists, key=len)
        wanted = set(names)
        return [row for row in shortest if wanted <= row.words]

    def by_source(self, ref: str) -> list[KnownRow]:
        """Return the rows that stand on a source."""
        self._sort()
        return self._by_source.get(ref, [])

    def with_number(self, numbers: Iterable[float]) -> list[KnownRow]:
        """Return the rows that hold any of `numbers`, in whatever unit."""
        self._sort()
        return [row for one in numbers for row in self._by_number.get(round(one, 4), ())]

    def with_day(self, year: int | None, month: int | None) -> list[KnownRow]:
        """Return the rows of a month, or of a year."""
        self._sort()
        return self._by_day.get((year, month), [])

    def _add(self, rows: Iterable[KnownRow]) -> None:
        new = list(rows)
        self.rows += new
        self.personal += [row for row in new if row.kind in _PERSONAL]
        self.words.update(*[row.words for row in new])
        self.sources.update(*[row.sources for row in new])
        named = [row for row in new if not row.is_text and row.kind != "patient"]
        self._names.update(*[row.naming for row in named])

    def _sort(self) -> None:
        """Sort what came since: most sentences ask for no row."""
        for row in self.rows[self._sorted :]:
            for word in row.words:
                self._by_word[word].append(row)
            for ref in row.sources:
                self._by_source[ref].append(row)
            for one in row.quantities:
                for number in one.readings:
                    self._by_number[round(number, 4)].append(row)
            for day in row.dates:
                self._by_day[day.year, day.month].append(row)
                self._by_day[day.year, None].append(row)
        self._sorted = len(self.rows)

    def _count(self, view: ChartView) -> None:
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


def _is_whole(view: ChartView) -> bool:
    """Whether a list holds all of its kind: nothing was asked for by name, nothing left out."""
    title = view.title.lower().removesuffix(" now")
    return title == view.tool and bool(view.rows) and not view.left_out


def _kind_of_tool(tool: str) -> str:
    return {"allergies": "allergy"}.get(tool, tool.rstrip("s"))
