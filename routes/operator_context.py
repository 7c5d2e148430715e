"""What the operators' handlers read of a request: who asks, and of what."""

from aiohttp import web

from data_models.errors import BadFrameError, ScenarioNotFoundError
from data_models.scenario import is_scenario_id
from routes.auth import operator_of
from routes.context import CONTEXT
from services.scenarios.operators.operator_service import OperatorService

PAGE_LIMIT = 500


def service_of(request: web.Request) -> tuple[OperatorService, str]:
    """Return the service and the operator's id; the role comes first."""
    who = operator_of(request)
    service = request.app[CONTEXT].operators
    if service is None:
        raise web.HTTPNotFound
    return service, who.id


def scenario_of(request: web.Request) -> str:
    """Return the scenario's id; what is none has no name in the store and is not looked up."""
    scenario_id = request.match_info["scenario_id"]
    if not is_scenario_id(scenario_id):
        raise ScenarioNotFoundError("there is no such scenario")
    return scenario_id


def after_of(request: web.Request) -> str:
    """Return the cursor of the page before; "" for the first one."""
    return request.query.get("after", "")


def limit_of(request: web.Request) -> int:
    """Return how many rows are wanted, at most 500."""
    return max(1, min(number_of(request.query.get("limit", "200")), PAGE_LIMIT))


def number_of(raw: str) -> int:
    """Return a number of a path or query.

    Raises:
        BadFrameError: it is none.
    """
    if not (raw.isascii() and raw.isdecimal() and len(raw) <= 9):
        raise BadFrameError("not a number")
    return int(raw)
