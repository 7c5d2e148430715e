"""What operators are told of refusals: all of it, for the words are authors'."""

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from data_models.errors import ScenarioDefinitionError, ScenarioInputError
from routes.context import CONTEXT
from routes.problem import Problem, problem_response

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
