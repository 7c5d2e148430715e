"""A dry run over documents as turns store them."""

import pytest

from data_models.chat_context import ChatContext
from data_models.clock import Clock
from data_models.identifiers import ConversationLayout, PatientId, hashed
from data_models.scenarios.scenario import FieldDefinition, Scenario, Step, Transition
from data_models.scenarios.scenario_session import ScenarioSession
from services.scenarios.definition.definition_reader import checked_graph
from services.scenarios.definition.graph import Graph
from services.scenarios.migration.deployment import Deployer
from services.scenarios.migration.plans.migration_plan import AnchorMigrationPolicy
from services.scenarios.migration.scenario_store import ScenarioStore
from services.scenarios.migration.session_index import SessionRow
from services.scenarios.operators.dry_run import DryRun
from services.scenarios.operators.journal import DryRunRow
from services.scenarios.scenario_settings import DeploymentConfig, MigrationConfig
from tests.fakes import CountingIds, FixedClock
from tests.fakes_store import MemoryBlobStore
from tests.services.scenarios.worlds import MemoryIndex, session_at

PATIENT = PatientId("patient_4")


def graph(version: int, *, asks: bool) -> Graph:
    """Begin, pay, confirm; the second version asks for the age and turns minors away."""
    age = Step(
        id="age",
        collects_profile_fields=("age",),
        transitions=(Transition(target="away", condition="age < 18"), Transition(target="pay")),
    )
    first = Step(id="begin", transitions=(Transition(target="age" if asks else "pay"),))
    pay = Step(id="pay", is_checkpoint=True, transitions=(Transition(target="confirm"),))
    steps = (first, *((age, Step(id="away")) if asks else ()), pay, Step(id="confirm"))
    fields = (FieldDefinition(name="age", value_type="integer"),)
    return checked_graph(
        Scenario(id="world", version=version, entry_step="begin", fields=fields, steps=steps)
    )


class Ward:
    """A shop with sessions, and a second version that is proposed."""

    def __init__(self) -> None:
        self.clock: Clock = FixedClock()
        self.store = ScenarioStore(blobs=MemoryBlobStore())
        self.index = MemoryIndex()
        self.documents = MemoryBlobStore()
        self.deployer = Deployer(
            store=self.store,
            index=self.index,
            clock=self.clock,
            ids=CountingIds(),
            config=DeploymentConfig(),
        )
        self.old, self.new = graph(1, asks=False), graph(2, asks=True)
        self.names: list[str] = []

    async def admit(self, name: str, path: list[str], passed: list[str], **facts: int) -> None:
        self.names.append(name)
        session = session_at(self.old, path, passed).model_copy(update={"session_id": name})
        document = ConversationLayout.of(name).context(PATIENT)
        session = session.model_copy(update={"variables": facts})
        context = ChatContext(conversation_id=name, patient_id=PATIENT, scenario=session)
        await self.documents.create(document, context.model_dump_json().encode())
        await self.index.put([row_of(session, document)])

    async def rows(self, **policies: AnchorMigrationPolicy) -> dict[str, DryRunRow]:
        await self.deployer.publish_first(self.old)
        plan = await self.deployer.propose(self.new, operator="ann", policies=policies)
        run = DryRun(
            store=self.store,
            index=self.index,
            documents=self.documents,
            clock=self.clock,
            config=MigrationConfig(),
        )
        page = await run.page(plan, limit=100)
        names = {hashed(name): name for name in self.names}
        return {names[row.session]: row for row in page.rows}


def row_of(session: ScenarioSession, document: str) -> SessionRow:
    created = session.created_at
    return SessionRow(session.session_id, "world", 1, "", "web", created, place=document)


@pytest.fixture
def ward() -> Ward:
    return Ward()


async def test_each_session_has_its_own_outcome_and_why(ward: Ward) -> None:
    await ward.admit("asked", ["begin", "pay"], [])
    await ward.admit("grown-up", ["begin", "pay"], [], age=40)
    await ward.admit("minor", ["begin", "pay"], [], age=12)
    await ward.admit("minor who paid", ["begin", "pay", "confirm"], ["pay"], age=12)
    await ward.admit("new", ["begin"], [])
    rows = await ward.rows()
    assert {name: row.effect for name, row in rows.items()} == {
        "asked": "re_route",
        "grown-up": "gap_fill",
        "minor": "re_route",
        "minor who paid": "blocked",
        "new": "clean_graft",
    }
    assert rows["asked"].collect == ("age",)
    assert rows["asked"].step_after == "pay"
    assert rows["grown-up"].sources == {"age": "session"}
    assert rows["minor"].step_after == "away"
    assert rows["minor who paid"].blocked_by == "pay"
    assert "prevents this" in rows["minor who paid"].why


async def test_policies_of_the_plan_count_before_it_is_approved(ward: Ward) -> None:
    await ward.admit("held", ["begin", "pay"], [])
    rows = await ward.rows(pay=AnchorMigrationPolicy(update_downstream=False))
    assert rows["held"].effect == "pinned"


async def test_nothing_is_written(ward: Ward) -> None:
    await ward.admit("asked", ["begin", "pay"], [])
    before = dict(ward.documents.contents)
    await ward.rows()
    assert ward.documents.contents == before
    (row,) = (await ward.index.page("world", limit=2)).rows
    assert row.mark == 0


async def test_what_has_gone_or_is_damaged_is_said_and_hides_nobody(ward: Ward) -> None:
    await ward.admit("a gone", ["begin"], [])
    await ward.admit("b damaged", ["begin"], [])
    await ward.admit("c here", ["begin"], [])
    names = list(ward.documents.contents)
    await ward.documents.delete(names[0])
    await ward.documents.delete(names[1])
    await ward.documents.create(names[1], b'{"conversation_id": "b", "scenario": 7}')
    rows = await ward.rows()
    assert [row.effect for row in rows.values()] == ["gone", "unreadable", "clean_graft"]
