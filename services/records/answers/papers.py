"""What papers say that users gave: told after the record's answer, never as part of it. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from data_models.chart_view import ATTACHED, ChartView, ViewRow
from services.language.answer_words import AnswerWords
from services.language.utterance import ChartQuestion
from services.records.answers.asked_rows import asked_rows
from services.records.answers.sentences import answer_of


def parted(view: ChartView) -> tuple[ChartView, ChartView | None]:
    """Return what of a view is the record's and what the papers'; None where nothing is."""
    own = [row for row in view.rows if row.kind == ATTACHED]
    if not own:
        return view, None
    return _with_rows(view, [row for row in view.rows if row.kind != ATTACHED]), _with_rows(
        view, own
    )


def told_papers(question: ChartQuestion, papers: ChartView | None, words: AnswerWords) -> str:
    """Return where papers speak of what a search is for, under words that say whose they are."""
    if papers is None:
        return ""
    search = replace(question, aspect="all")
    if not asked_rows(search, papers).rows:
        return ""
    return f"{words.in_papers}\n{answer_of(search, papers, words)}"


def _with_rows(view: ChartView, rows: Sequence[ViewRow]) -> ChartView:
    refs = {ref for row in rows for ref in row.sources}
    sources = tuple(one for one in view.sources if one.ref in refs)
    return view.model_copy(update={"rows": tuple(rows), "sources": sources})


def written_later(question: ChartQuestion, view: ChartView, words: AnswerWords) -> Iterator[str]:
    """Yield what documents newer than the newest value say of it."""
    later = [one for one in view.sources if one.quote] if question.tool == "results" else []
    if later:
        yield words.written_later
    for one in later:
        yield f"- **{one.title}**, {one.date}: “{one.quote}” [{one.ref}]"
