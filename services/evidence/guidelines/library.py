"""The folder of guidelines: read again when a file changes, searched by section (BM25).

The rows of a chart that a passage speaks of are laid beside it.
"""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

import structlog

from data_models.chart_view import ChartView, ViewRow, ViewSource
from data_models.clock import Clock
from data_models.errors import RecordsUnreadableError
from services.evidence.guidelines.document import Guideline, Section, guideline_of
from services.evidence.trials.facts import PatientFacts
from services.language.charts.evidence_questions import GUIDELINES, is_for_person, topics_in
from services.language.words.vocabulary import concept_rows
from services.records.concepts import table
from services.records.concepts.words import roots_of, words_of
from services.records.ranking import ranking_of
from services.records.rows.finding import means

_LONGEST_NAME_WORDS = 4


def _rows_named(text: str, facts: PatientFacts) -> list[ViewRow]:
    """Return the patient's problems, drugs, procedures, markers and newest results in `text`."""
    words = words_of(text)
    found = [row for name in _names("result", words) for row in facts.values(name)]
    for name in _names("problem", words):
        found += [row for row in _of_name("problem", name, facts.problems) if _is_there(row, words)]
    for name in _names("drug", words):
        found += _of_name("drug", name, facts.drugs)
    done = ((one, map(words_of, table.names_of_procedure(one.name))) for one in facts.procedures)
    found += [one for one, names in done if any(map(frozenset(words).issuperset, names))]
    found += [row for row in facts.markers if words_of(row.name)[0] in words]
    return list({row.sources: row for row in found}.values())


def _is_for(title: str, facts: PatientFacts) -> bool:
    """Whether the patient has now all that a title names; what is in range or over is not had."""
    words = words_of(title)
    rows = [row for row in _rows_named(title, facts) if _is_of_now(row)]
    problems = [_of_name("problem", name, rows) for name in _names("problem", words)]
    return bool(rows) and all(problems)


def _names(kind: table.ConceptKind, words: Sequence[str]) -> Iterator[str]:
    """Yield what a text names of a kind: "lung cancer", of which "cancer" is no name of its own."""
    at = 0
    while at < len(words):
        lengths = range(min(_LONGEST_NAME_WORDS, len(words) - at), 0, -1)
        names = ((one, " ".join(words[at : at + one])) for one in lengths)
        known = ((one, name) for one, name in names if table.concept_table().named(kind, name))
        length, name = next(known, (1, ""))
        if name:
            yield name
        at += length


def _of_name(kind: table.ConceptKind, name: str, rows: Iterable[ViewRow]) -> list[ViewRow]:
    return [row for row in rows if means(kind, name, label=row.name, codes=row.code)]


def _is_there(row: ViewRow, words: Sequence[str]) -> bool:
    """Whether a problem is not of another part of the body than the text speaks of."""
    own, told = _parts(words_of(row.name)), _parts(words)
    return not (own and told) or not own.isdisjoint(told)


def _parts(words: Iterable[str]) -> set[str]:
    return {group[0] for word in words if (group := table.parts_of_body(word))}


def _is_of_now(row: ViewRow) -> bool:
    if row.kind in ("problem", "medication"):
        return row.status == "active"
    return row.kind == "procedure" or bool(row.flag)


KIND = "guideline"
NO_ANSWER = "The guidelines here do not answer that."
LISTED = "Name a topic, or ask what they say for the patient. Guidelines here: "
NONE_FOR = "No guideline here is for what this chart holds now. There are: "
LOOK_AGAIN_SECONDS = 5.0
FORMATS = (".md", ".markdown", ".html", ".htm", ".docx", ".pdf", ".txt")
_PASSAGES = 4
_MAY_LACK_FROM = 4
"""Of so many telling words one may be missing, if it stands elsewhere in the guidelines."""
_log = structlog.get_logger()
_State = tuple[tuple[str, int, int], ...]


@dataclass(frozen=True, slots=True)
class Passage:
    """A section that answers.

    Attributes:
        place: Number of the section within its guideline, from 1.
        newer: The version of the same title that replaces this one.
    """

    guideline: Guideline
    place: int
    section: Section
    newer: Guideline | None

    @property
    def ref(self) -> str:
        """Source id."""
        return f"Guideline/{self.guideline.key}.{self.place}"


@dataclass(frozen=True)
class Library:
    """All guidelines of a folder.

    Attributes:
        problems: Files that could not be read, and why.
    """

    passages: tuple[Passage, ...] = ()
    problems: tuple[str, ...] = ()
    ranking: Any = None
    words: tuple[frozenset[str], ...] = field(default=(), repr=False)

    def search(self, question: str) -> list[Passage]:
        """Return the sections that hold what is asked, the best first; none if none does.

        A word that no guideline has, by none of its names, is what is asked about: then nothing
        answers.
        """
        called, values = table.concept_table().also_called, concept_rows()["out_of_range"]
        asked = [
            frozenset(
                roots_of(name)
                for one in topic
                for name in (one, *called(one), values.get(" ".join(words_of(one)), one))
            )
            for topic in topics_in(question)
        ]
        is_known = all(any(_names_one(each, words) for words in self.words) for each in asked)
        if not asked or not is_known or self.ranking is None:
            return []
        scores = self.ranking.get_scores([word for each in asked for one in each for word in one])
        may_lack = 1 if len(asked) >= _MAY_LACK_FROM else 0
        fitting = [
            at
            for at, words in enumerate(self.words)
            if sum(not _names_one(each, words) for each in asked) <= may_lack
        ]
        fitting.sort(key=lambda at: (self.passages[at].newer is not None, -float(scores[at])))
        return [self.passages[at] for at in fitting]

    def for_patient(self, facts: PatientFacts) -> list[Passage]:
        """Return sections of guidelines for what the patient has, by their titles.

        First those that speak of most of the patient's rows.
        """
        titles = {one.guideline.title for one in self.passages}
        meant = {each for each in titles if _is_for(each, facts)}
        own = [one for one in self.passages if one.guideline.title in meant and one.newer is None]
        own.sort(key=lambda one: -len(_rows_named(one.section.text, facts)))
        return own


def _names_one(thing: frozenset[tuple[str, ...]], words: frozenset[str]) -> bool:
    return any(words.issuperset(one) for one in thing)


class GuidelineFolder:
    """Gives the library of a folder, as its files are now."""

    def __init__(self, *, folder: Path | None, clock: Clock) -> None:
        self._folder = folder
        self._clock = clock
        self._library, self._state = Library(), ()  # type: tuple[Library, _State]
        self._looked_at: float | None = None

    async def library(self) -> Library:
        """Return all guidelines; at most every five seconds the folder is looked at again."""
        now = self._clock.monotonic()
        is_fresh = self._looked_at is not None and now - self._looked_at < LOOK_AGAIN_SECONDS
        if self._folder is not None and not is_fresh:
            self._library, self._state = await asyncio.to_thread(
                _read_again, self._folder, self._library, self._state
            )
            self._looked_at = now  # not before: who asks meanwhile would find none
        return self._library


def _read_again(folder: Path, library: Library, state: _State) -> tuple[Library, _State]:
    files = sorted(one for one in folder.rglob("*") if one.suffix.casefold() in FORMATS)
    found = tuple((str(one), one.stat().st_mtime_ns, one.stat().st_size) for one in files)
    if found == state:
        return library, state
    read = library_of([(str(one.relative_to(folder)), one.read_bytes()) for one in files])
    _log.info("guidelines_read", files=len(files), skipped=len(read.problems))
    return read, found


def library_of(files: Sequence[tuple[str, bytes]]) -> Library:
    """Return the library of files by name; one that cannot be read is named and costs itself."""
    # Loads the libraries of Word and PDF.
    from services.evidence.guidelines.formats import blocks_of

    guidelines, problems = list[Guideline](), list[str]()
    for name, data in files:
        try:
            guidelines.append(guideline_of(name, blocks_of(name, data)))
        except RecordsUnreadableError as error:
            problems.append(f"{name}: {error}")
    passages = tuple(
        Passage(one, place, section, _newer_than(one, guidelines))
        for one in guidelines
        for place, section in enumerate(one.sections, start=1)
    )
    texts = [
        roots_of(f"{one.guideline.title} {one.section.heading} {one.section.text}")
        for one in passages
    ]
    ranking = ranking_of(texts) if passages else None
    return Library(passages, tuple(problems), ranking, tuple(map(frozenset, texts)))


def _newer_than(one: Guideline, every: Sequence[Guideline]) -> Guideline | None:
    same = [each for each in every if words_of(each.title) == words_of(one.title)]
    newest = max(same, key=lambda each: each.order)
    return newest if newest.order > one.order else None


def passages_view(
    library: Library, question: str, *, facts: PatientFacts | None, today: date
) -> ChartView:
    """Return the passages that answer, each with document, section and version.

    Beneath each stand the rows of the chart that it speaks of.

    Args:
        facts: Of the open chart.
    """
    every, nothing = _found(library, question, facts)
    found, more = every[:_PASSAGES], len(every) - _PASSAGES
    rows = list[ViewRow]()
    for one in found:
        told = _rows_named(f"{one.section.heading} {one.section.text}", facts) if facts else []
        told += _rows_named(one.guideline.title, facts) if facts else []
        rows += [row_of_passage(one, today), *(row for row in told if row not in rows)]
    passages = {one.ref: one.guideline for one in found}
    return ChartView(
        tool=GUIDELINES,
        patient_id=facts.record.patient_id if facts else "",
        kind="table",
        title="Guidelines",
        columns=("name", "status", "date", "detail"),
        labels=("Document and section", "Version", "Date", "Passage"),
        rows=tuple(rows),
        sources=tuple(
            ViewSource(ref=ref, date=passages[ref].issued or None, title=passages[ref].title)
            if ref in passages
            else ViewSource(ref=ref, date=row.date or None, title=row.name)
            for row in rows
            for ref in row.sources
        ),
        nothing="" if found else nothing,
        notes=(
            *([f"further passages, not shown: {more}; name a topic"] if more > 0 else []),
            *(f"could not be read: {problem}" for problem in library.problems),
        ),
    )


def _found(
    library: Library, question: str, facts: PatientFacts | None
) -> tuple[list[Passage], str]:
    """Return the passages that answer, and what to say where there are none."""
    titles = "; ".join(dict.fromkeys(one.guideline.title for one in library.passages))
    if topics_in(question) or not titles:
        return library.search(question), NO_ANSWER
    if facts is not None and is_for_person(question):
        return library.for_patient(facts), f"{NONE_FOR}{titles}"
    return [], f"{LISTED}{titles}"


def row_of_passage(one: Passage, today: date) -> ViewRow:
    """Return a passage as it is quoted; what is out of date says so."""
    page = f", page {one.section.page}" if one.section.page else ""
    return ViewRow(
        kind=KIND,
        name=f"{one.guideline.title}, {one.section.heading}{page}",
        status=standing_of(one, today),
        date=one.guideline.issued,
        detail=one.section.text,
        sources=(one.ref,),
    )


def standing_of(one: Passage, today: date) -> str:
    """Return the version of a passage, and why it may no longer hold."""
    version = f"version {one.guideline.version}" if one.guideline.version else "no version given"
    if one.newer is not None:
        return f"{version}, OUTDATED: version {one.newer.version or 'newer'} is here too"
    review = one.guideline.review_by
    if review is not None and review < today:
        return f"{version}, OUTDATED: to be reviewed by {review}"
    return version if review is not None else f"{version}, no review date"
