"""What operators are told: refusals in full, for the words are authors', and hashed sessions."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from data_models.errors import ScenarioDefinitionError, ScenarioInputError
from data_models.identifiers import hashed
from routes.context import CONTEXT
from routes.problem import Problem, problem_response
from services.scenarios.migration.ports import SessionRow
from services.scenarios.operators.dry_run import DryRunPage

PREFIX = "/api/operator/"


def refusals() -> Middleware:
    """Return the middleware that says what is wrong with a scenario, not only that it is.

    The text of a `ScenarioInputError` holds steps, fields and conditions, nothing of a patient.
    """

    @web.middleware
    async def answer(request: web.Request, handler: Handler) -> web.StreamResponse:
        if not request.path.startswith(PREFIX):
            return await handler(request)
        try:
            return await handler(request)
        except ScenarioInputError as error:
            return _refusal(error, ref=request.app[CONTEXT].ids.new_id("ref"))

    return answer


def _refusal(error: ScenarioInputError, *, ref: str) -> web.Response:
    if isinstance(error, ScenarioDefinitionError):
        number = len(error.problems)
        text = f"{number} {'problem' if number == 1 else 'problems'} must be solved first."
        problem = Problem(error.http_status, error.code, text)
        return problem_response(problem, ref=ref, problems=error.problems)
    text = str(error)
    sentence = f"{text[:1].upper()}{text[1:]}{'' if text.endswith('.') else '.'}"
    return problem_response(
        Problem(error.http_status, error.code, sentence, error.retryable), ref=ref
    )


def dry_run_document(page: DryRunPage) -> dict[str, Any]:
    """Return a page of a dry run; sessions by their hashed ids, as logs name them."""
    rows = []
    for row in page.rows:
        shown = asdict(row)
        shown["session"] = hashed(shown.pop("session_id"))
        rows.append(shown)
    return {"rows": rows, "cursor": page.cursor}


def sessions_document(rows: Sequence[SessionRow], cursor: str) -> dict[str, Any]:
    """Return sessions of the index; where they are stored names patients and stays here."""
    return {"rows": [_session_row(row) for row in rows], "cursor": cursor}


def _session_row(row: SessionRow) -> dict[str, Any]:
    return {
        "session": hashed(row.session_id),
        "version": row.version,
        "step_hash": row.step_hash,
        "channel": row.channel,
        "created_at": row.created_at.isoformat(),
        "reason": row.review,
        "pinned": row.pinned,
    }
