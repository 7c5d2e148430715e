"""Two hundred sessions in mixed states: what the dry run foretells is what each is then asked."""

from collections import Counter
from typing import Any

import pytest

from data_models.chat_context import ChatContext
from data_models.identifiers import ConversationLayout, hashed
from data_models.scenarios.scenario_session import ScenarioSession
from services.scenarios.migration.plans.migration_plan import AnchorMigrationPolicy
from services.scenarios.operators.asked import Paging
from services.scenarios.operators.journal import DryRunRow
from tests.services.scenario_world import PATIENT, ScenarioWorld, questions, step, version
from tests.services.scenarios.worlds import deploy_now
from tests.services.turn.test_scenario_operators import operators

pytestmark = pytest.mark.slow
SESSIONS = 60
"""More than a page of the dry run, and every place of the scenario several times."""
PAY: dict[str, Any] = {
    "is_checkpoint": True,
    "checkpoint_type": "payment",
    "checkpoint_description": "Paid",
}


FIRST = version(
    1,
    step("size", "weight", collects_profile_fields=("size",)),
    step("weight", ("weight < 1", "size"), "pay", collects_profile_fields=("weight",)),
    step("pay", "height", collects_profile_fields=("paid",), **PAY),
    step("height", "done", collects_profile_fields=("height",)),
    step("done", instructions="Say goodbye."),
)
SECOND = version(
    2,
    step("size", "age", collects_profile_fields=("size",)),
    step("age", ("age < 18", "guardian"), "weight", collects_profile_fields=("age",)),
    step("guardian", "weight", collects_profile_fields=("guardian",)),
    step("weight", ("weight < 1", "size"), "pay", collects_profile_fields=("weight",)),
    step("pay", "height", collects_profile_fields=("paid",), **PAY),
    step("height", "done", collects_profile_fields=("height",)),
    step("done", instructions="Say goodbye.", uses=("age", "size")),
)
ANSWERS: tuple[tuple[str, dict[str, int]], ...] = (
    ("100", {"size": 100}),
    ("0", {"weight": 0}),
    ("101", {"size": 101}),
    ("50", {"weight": 50}),
    ("1", {"paid": 1}),
    ("7", {"height": 7}),
)
"""With a round of the loop; a session stands behind some of them."""


async def say(world: ScenarioWorld, chat: str, text: str, **fields: int) -> list[str]:
    world._fields = fields
    heard = await world.world.say(text, chat=chat)
    await world.world.scheduler.idle()
    return list(questions(heard))


async def session(world: ScenarioWorld, chat: str) -> ScenarioSession:
    blob = await world.sessions.read(ConversationLayout.of(chat).context(PATIENT))
    assert blob is not None
    found = ChatContext.model_validate_json(blob.data).scenario
    assert found is not None
    return found


async def admitted(world: ScenarioWorld) -> dict[str, ScenarioSession]:
    """The sessions by chat: at every step, after a round of the loop, paid, and some left."""
    chats = [f"chat_{number:03}" for number in range(SESSIONS)]
    for number, chat in enumerate(chats):
        await say(world, chat, "hello patient_4")
        await say(world, chat, "start visit")
        for text, fields in ANSWERS[: number % len(ANSWERS)]:
            await say(world, chat, text, **fields)
        if number % 7 == 6:
            await say(world, chat, "stop the visit")
    return {chat: await session(world, chat) for chat in chats}


async def foretold(world: ScenarioWorld) -> dict[str, DryRunRow]:
    """The rows of the dry run by session, page after page."""
    service, rows, after = operators(world).service.of("ann"), dict[str, DryRunRow](), ""
    while not rows or after:
        page = await service.dry_run("visit", Paging(after=after, limit=50))
        rows |= {row.session: row for row in page.rows}
        after = page.cursor
    return rows


async def test_the_dry_run_of_mixed_sessions_is_what_each_is_then_asked() -> None:
    world = ScenarioWorld()
    await world.publish(FIRST)
    stood = await admitted(world)
    held = {"height": AnchorMigrationPolicy(update_downstream=False)}
    await world.deployer.propose(SECOND, operator="ann", policies=held)
    rows = await foretold(world)
    await deploy_now(world.deployer, "visit")
    world.clock.advance(6.0)
    met: Counter[str] = Counter()
    for chat, before in stood.items():
        row = rows[hashed(before.session_id)]
        await say(world, chat, "resume" if before.is_left else "hello")
        now = await session(world, chat)
        asked = frozenset() if now.progress is None else frozenset(now.progress.attempts)
        assert asked == {*row.collect, *row.confirm}, (chat, row)
        assert asked or now.step == row.step_after, (chat, row)
        met[row.effect] += bool(asked)
        met["all"] += 1
    effects = Counter(row.effect for row in rows.values())
    assert met["all"] == len(rows) == SESSIONS
    assert len(effects) >= 3, effects
    assert sum(met.values()) > SESSIONS, "somebody is asked"
    assert len({one.step for one in stood.values()}) == 4
