"""The tools of documents over the papers that users gave, beside the record's own."""

from collections.abc import Awaitable, Callable, Mapping
from functools import wraps
from typing import Any, TypeAlias

from data_models.chart_view import ChartView
from data_models.errors import ToolInputError
from group_chat.turn_context import TurnContext
from services.attachments.papers import beside, is_paper, of_papers
from services.records.record import PatientRecord
from services.records.views.papers import documents, read_document
from services.records.views.search import search_record

PAPERS_FOUND = 5
ATTACHED_KIND = "attached"
"""The kind by which `documents` lists what users gave, and nothing of the record."""
Run: TypeAlias = Callable[..., Awaitable[ChartView]]


def with_papers(run: Run) -> Run:
    """Return the tool `run` that looks through the papers too, if it reads documents."""
    look = _BESIDE.get(run.__name__)
    if run.__name__ == "read_document":
        return _reading(run)
    if look is None:
        return run

    @wraps(run)
    async def run_beside(turn: TurnContext, **asked: Any) -> ChartView:
        view, papers = await run(turn, **asked), await _papers(turn)
        return view if papers is None else beside(view, look(papers, asked))

    return run_beside


def _reading(run: Run) -> Run:
    @wraps(run)
    async def read(turn: TurnContext, **asked: Any) -> ChartView:
        if not is_paper(asked["id"]):
            return await run(turn, **asked)
        papers = await _papers(turn)
        found = None if papers is None else read_document(papers, asked["id"], page=asked["page"])
        if found is None:
            raise ToolInputError("no such paper was given here; call documents for the ids")
        return of_papers(found)

    return read


async def _papers(turn: TurnContext) -> PatientRecord | None:
    papers = turn.request.papers
    return None if papers is None else await papers.record()


def _listed(papers: PatientRecord, kind: str | None) -> ChartView:
    """List the papers; where a kind is asked for, those that are called so, or all attached."""
    return documents(papers, kind=None if kind == ATTACHED_KIND else kind)


_BESIDE: Mapping[str, Callable[[PatientRecord, Mapping[str, Any]], ChartView]] = {
    "documents": lambda papers, asked: _listed(papers, asked["kind"]),
    "search_record": lambda papers, asked: search_record(
        papers, asked["query"], limit=PAPERS_FOUND
    ),
}
