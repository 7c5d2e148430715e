"""What letters, papers that users gave, guidelines and studies say, in their words. Pure.

Papers are told after the record's answer, never as part of it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from data_models.chart_view import ATTACHED, NOT_OF_THE_PATIENT, ChartView, ViewRow
from services.language.charts.answer_words import AnswerWords
from services.language.utterance import ChartQuestion
from services.records.answers.choosing.asked_rows import asked_rows
from services.records.answers.choosing.row_line import row_line
from services.records.answers.choosing.row_parts import moment_of, sources_of
from services.records.answers.sentences import answer_of

_SHOWN_CHARS = 2_400
"""A letter of a page and a half; the source beside the answer has the rest."""


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
    return f"{words.say('in_papers')}\n{answer_of(search, papers, words)}"


def _with_rows(view: ChartView, rows: Sequence[ViewRow]) -> ChartView:
    refs = {ref for row in rows for ref in row.sources}
    sources = tuple(one for one in view.sources if one.ref in refs)
    return view.model_copy(update={"rows": tuple(rows), "sources": sources})


def written_later(question: ChartQuestion, view: ChartView, words: AnswerWords) -> Iterator[str]:
    """Yield what is newer than the newest value: what documents say, and what was cancelled."""
    later = [one for one in view.sources if one.quote] if question.tool == "results" else []
    yield from [words.say("written_later")] * bool(later)
    yield from (f"- **{one.title}**, {one.date}: “{one.quote}” [{one.ref}]" for one in later)


def letter_asked(question: ChartQuestion, rows: Sequence[ViewRow]) -> ChartQuestion | None:
    """Return the call that reads the document of `rows` that is asked for; None for several."""
    # "The last clinic letter" asks for no clinic.
    is_of_text = question.part in (None, "place") and not (question.back or question.most)
    if (
        question.tool != "documents"
        or not is_of_text
        or question.aspect not in ("all", "latest", "first")
    ):
        return None
    dated = sorted((row for row in rows if row.date), key=moment_of) or list(rows)
    if not dated or (question.aspect == "all" and len(dated) > 1):
        return None
    asked = dated[0 if question.aspect == "first" else -1]
    return ChartQuestion("read_document", {"id": asked.sources[0]}) if asked.sources else None


def told_letter(view: ChartView | str, words: AnswerWords) -> str:
    """Return the text of a document, quoted, with who wrote it; "" where it could not be read."""
    if isinstance(view, str):
        return ""
    passage = next((row for row in view.rows if row.detail), None)
    if passage is None:
        return ""
    shown = passage.detail[:_SHOWN_CHARS]
    cut = " …" if len(shown) < len(passage.detail) or view.left_out else ""
    quoted = "\n".join(f"> {line}".rstrip() for line in f"{shown}{cut}".splitlines())
    author = words.in_words(passage.value)
    head = ", ".join(filter(None, [f"**{passage.name}**", passage.date[:10], author]))
    return f"{head} {sources_of(passage)}\n{quoted}"


def told_evidence(view: ChartView, words: AnswerWords) -> str:
    """Return guidelines or studies whole; "" for a view of the chart."""
    if not view.rows or view.rows[0].kind not in NOT_OF_THE_PATIENT:
        return ""
    told = "\n".join(_lines(view, words)).strip().replace("\n\n\n", "\n\n")
    return "\n\n".join([told, *map(words.in_words, view.notes)])


def _lines(view: ChartView, words: AnswerWords) -> Iterator[str]:
    for row in view.rows:
        date = f", {row.date}" if row.date else ""
        status = words.in_words(row.status)
        match row.kind:
            case "guideline" | "publication":
                yield f"\n**{row.name}** ({status}{date}) {sources_of(row)}"
                yield from (f"> {line}" for line in row.detail.splitlines())
                yield ""
            case "study":
                yield f"**{row.name}**: {status} {sources_of(row)}"
            case _ if row.kind in NOT_OF_THE_PATIENT:
                detail, kind = words.in_words(row.detail), words.in_words(row.value)
                yield f"- *{status}* ({kind}) “{row.name}”: {detail} {sources_of(row)}"
            case _:
                yield f"- {row_line(row, words)}"
