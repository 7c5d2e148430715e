"""`/api/operator/…`: scenarios, their versions and their migrations, for operators only."""

from functools import wraps
from typing import Any

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from data_models.errors import ScenarioDefinitionError, ScenarioInputError
from routes.requests.context import CONTEXT, operator_of
from routes.requests.endpoint import STRING, Endpoint, in_query
from routes.requests.json_input import Problem, parse_json, problem_response
from services.access.limits import body_of
from services.scenarios.operators.acts import ACTS, Act, Answer
from services.scenarios.operators.asked import PAGE_LIMIT

PREFIX = "/api/operator/"
_LIMIT = {"type": "integer", "minimum": 1, "maximum": PAGE_LIMIT}
_PARAMETERS = {
    "after": in_query("after", "`cursor` of the page before.", STRING),
    "limit": in_query("limit", "Rows.", _LIMIT),
}


def operator_routes() -> list[Endpoint]:
    """Return the routes."""
    return [_endpoint(one) for one in ACTS]


def _endpoint(act: Act) -> Endpoint:
    """Return the route of an act; the operator's role comes first."""

    @wraps(act.work)
    async def handle(request: web.Request) -> Answer:
        who, body = operator_of(request), b""
        if act.sent is not None:
            body = await body_of(request)
        sent: Any = parse_json(body) if body else {}
        return await act.carry_out(
            request.app[CONTEXT].operators,
            who=who.id,
            place=request.match_info,
            query=request.query,
            body=sent,
        )

    return Endpoint(
        act.method,
        f"{PREFIX}{act.path}",
        handle,
        act.answer,
        status=act.status,
        sent=act.sent,
        may_be_empty=act.may_be_empty,
        parameters=tuple(
            _PARAMETERS.get(name) or in_query(name, "Only such sessions.", STRING)
            for name in act.query.model_fields
        )
        if act.query is not None
        else (),
    )


# What operators are told of refusals: all of it, for the words are authors'.


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
