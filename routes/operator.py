"""`/api/operator/…`: scenarios, their versions and their migrations, for operators only."""

from aiohttp import web

from data_models.errors import BadFrameError, ScenarioNotFoundError
from data_models.scenario import is_scenario_id
from routes.auth import operator_of
from routes.context import CONTEXT
from routes.operator_answers import PREFIX, dry_run_document, review_document
from routes.operator_input import Definition, Policies, Proposal, Rollback, Share, decision
from routes.replies import json_reply
from services.scenarios.operators.desk import OperatorDesk
from services.scenarios.operators.plan_view import view_of_graph

PAGE_LIMIT = 500


async def list_scenarios(request: web.Request) -> web.Response:
    """`GET scenarios`: every stored scenario, and who asks."""
    desk, who = _desk(request)
    found = [card.model_dump(mode="json") for card in await desk.scenarios()]
    needs_second = desk.require_approval
    return json_reply({"scenarios": found, "operator": who, "require_approval": needs_second})


async def validate(request: web.Request) -> web.Response:
    """`POST validate`: check a version without storing it."""
    desk, _ = _desk(request)
    sent = await decision(request, Definition)
    return json_reply((await desk.checked(sent.definition)).model_dump(mode="json"))


async def publish(request: web.Request) -> web.Response:
    """`POST scenarios`: make a scenario's first version active."""
    desk, who = _desk(request)
    sent = await decision(request, Definition)
    graph = await desk.publish(sent.definition, operator=who)
    return json_reply(view_of_graph(graph, ()).model_dump(mode="json"), status=201)


async def propose(request: web.Request) -> web.Response:
    """`POST plans`: store a new version and the plan that leads to it."""
    desk, who = _desk(request)
    sent = await decision(request, Proposal)
    view = await desk.propose(
        sent.definition, operator=who, policies=sent.policies, mapping=sent.mapping
    )
    return json_reply(view.model_dump(mode="json"), status=201)


async def show_scenario(request: web.Request) -> web.Response:
    """`GET scenarios/{scenario_id}`: versions, plan, deployment and live counts."""
    desk, _ = _desk(request)
    return json_reply((await desk.overview(_scenario(request))).model_dump(mode="json"))


async def show_version(request: web.Request) -> web.Response:
    """`GET scenarios/{scenario_id}/versions/{version}`: one version, to be drawn."""
    desk, _ = _desk(request)
    version = _number(request.match_info["version"])
    return json_reply((await desk.graph(_scenario(request), version)).model_dump(mode="json"))


async def show_plan(request: web.Request) -> web.Response:
    """`GET scenarios/{scenario_id}/plan`: the plan and both versions side by side."""
    desk, _ = _desk(request)
    return json_reply((await desk.plan(_scenario(request))).model_dump(mode="json"))


async def put_policies(request: web.Request) -> web.Response:
    """`PUT scenarios/{scenario_id}/plan/policies`: plan again with other policies."""
    desk, who = _desk(request)
    sent = await decision(request, Policies)
    view = await desk.set_policies(_scenario(request), sent.policies, operator=who)
    return json_reply(view.model_dump(mode="json"))


async def dry_run(request: web.Request) -> web.Response:
    """`GET scenarios/{scenario_id}/dry-run`: what the plan would do to a page of sessions."""
    desk, who = _desk(request)
    page = await desk.dry_run(
        _scenario(request), after=_after(request), limit=_limit(request), operator=who
    )
    return json_reply(dry_run_document(page))


async def approve(request: web.Request) -> web.Response:
    """`POST scenarios/{scenario_id}/approve`: a second person says yes."""
    desk, who = _desk(request)
    plan = await desk.approve(_scenario(request), operator=who)
    return json_reply(plan.model_dump(mode="json"))


async def cancel(request: web.Request) -> web.Response:
    """`POST scenarios/{scenario_id}/cancel`: give the plan up."""
    desk, who = _desk(request)
    plan = await desk.cancel(_scenario(request), operator=who)
    return json_reply(plan.model_dump(mode="json"))


async def deploy(request: web.Request) -> web.Response:
    """`POST scenarios/{scenario_id}/deploy`: begin; the work goes on behind the answer."""
    desk, who = _desk(request)
    sent = await decision(request, Share)
    record = await desk.deploy(_scenario(request), operator=who, share_percent=sent.share_percent)
    return json_reply(record.model_dump(mode="json"), status=202)


async def pause(request: web.Request) -> web.Response:
    """`POST scenarios/{scenario_id}/pause`: stop after the page under way."""
    desk, who = _desk(request)
    record = await desk.pause(_scenario(request), operator=who)
    return json_reply(record.model_dump(mode="json"))


async def resume(request: web.Request) -> web.Response:
    """`POST scenarios/{scenario_id}/resume`: go on."""
    desk, who = _desk(request)
    record = await desk.resume(_scenario(request), operator=who)
    return json_reply(record.model_dump(mode="json"), status=202)


async def set_share(request: web.Request) -> web.Response:
    """`POST scenarios/{scenario_id}/share`: change how many sessions a canary reaches."""
    desk, who = _desk(request)
    sent = await decision(request, Share)
    record = await desk.set_share(
        _scenario(request), share_percent=sent.share_percent, operator=who
    )
    return json_reply(record.model_dump(mode="json"), status=202)


async def rollback(request: web.Request) -> web.Response:
    """`POST scenarios/{scenario_id}/rollback`: propose an earlier version's content again."""
    desk, who = _desk(request)
    sent = await decision(request, Rollback)
    view = await desk.rollback(_scenario(request), to=sent.to, operator=who)
    return json_reply(view.model_dump(mode="json"), status=201)


async def show_review(request: web.Request) -> web.Response:
    """`GET scenarios/{scenario_id}/review`: sessions that a person must look at."""
    desk, _ = _desk(request)
    page = await desk.flagged(_scenario(request), after=_after(request), limit=_limit(request))
    return json_reply(review_document(page))


async def show_history(request: web.Request) -> web.Response:
    """`GET scenarios/{scenario_id}/history`: what operators did, newest first."""
    desk, _ = _desk(request)
    entries = await desk.history(_scenario(request))
    return json_reply({"entries": [entry.model_dump(mode="json") for entry in entries]})


def operator_routes() -> list[web.RouteDef]:
    """Return the routes of this file."""
    one = f"{PREFIX}scenarios/{{scenario_id}}"
    return [
        web.get(f"{PREFIX}scenarios", list_scenarios),
        web.post(f"{PREFIX}scenarios", publish),
        web.post(f"{PREFIX}validate", validate),
        web.post(f"{PREFIX}plans", propose),
        web.get(one, show_scenario),
        web.get(f"{one}/versions/{{version}}", show_version),
        web.get(f"{one}/plan", show_plan),
        web.put(f"{one}/plan/policies", put_policies),
        web.get(f"{one}/dry-run", dry_run),
        web.post(f"{one}/approve", approve),
        web.post(f"{one}/cancel", cancel),
        web.post(f"{one}/deploy", deploy),
        web.post(f"{one}/pause", pause),
        web.post(f"{one}/resume", resume),
        web.post(f"{one}/share", set_share),
        web.post(f"{one}/rollback", rollback),
        web.get(f"{one}/review", show_review),
        web.get(f"{one}/history", show_history),
    ]


def _desk(request: web.Request) -> tuple[OperatorDesk, str]:
    """Return the desk and the operator's id; the role comes first."""
    who = operator_of(request)
    desk = request.app[CONTEXT].operators
    if desk is None:
        raise web.HTTPNotFound
    return desk, who.id


def _scenario(request: web.Request) -> str:
    """Return the scenario's id; what is none has no name in the store and is not looked up."""
    scenario_id = request.match_info["scenario_id"]
    if not is_scenario_id(scenario_id):
        raise ScenarioNotFoundError("there is no such scenario")
    return scenario_id


def _after(request: web.Request) -> str:
    return request.query.get("after", "")


def _limit(request: web.Request) -> int:
    return max(1, min(_number(request.query.get("limit", "200")), PAGE_LIMIT))


def _number(raw: str) -> int:
    if not (raw.isascii() and raw.isdecimal() and len(raw) <= 9):
        raise BadFrameError("not a number")
    return int(raw)
