"""The composition root: settings → stores → services → group chat → pipeline → web application.

Nothing but this and `foundation.py` builds objects, with the factories (`…_for`) that stand beside
the parts. `python app.py` serves; tests call `build` with stores of their own.
"""

import asyncio
import gc
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import get_args

import aiohttp
from prometheus_client import CollectorRegistry

import foundation
from bots.bot_factory import add_bots
from data_models.clock import Clock, IdSource, RandomIds, SystemClock
from data_models.errors import ConfigurationError
from data_models.storage.local_files import folder_held
from routes.requests.endpoint import Readiness
from routes.server import create_web_app
from routes.serving import Server, serve
from services.access.access_factory import outbound_policy_for
from services.access.limits import MessageRate, outbound_session
from services.basis import Basis
from services.channels.deliveries import Deliveries
from services.channels.ports import AddChannel, ChannelServices, Repeats
from services.conversations.earlier_turns import LegacyHistory, StoredAnswers
from services.hand_over.hand_over import HandOver, turn_queues_for
from services.identity.directory import DirectoryState
from services.rounds.round_service import RoundService
from services.runs.hub import RunHub, StopRequests
from services.scenarios.operators.operator_factory import Operators, operators_for
from services.stores import Stores, open_stores
from services.telemetry.logs import configure_logs
from services.telemetry.tracing import configure_traces
from services.tool_memory.personal import PersonalToolMemories
from services.turn.access import TurnAccess, TurnLooks, look_book_for
from services.turn.documents import TurnDocuments
from services.turn.memory import TurnMemory, memory_rules
from services.turn.reading import footer_of
from services.turn.tools import ScenarioParts, scenario_parts, tools_for
from services.turn_pipeline import TurnPipeline
from services.turn_scheduler.conversation_worker import ConversationWorker
from services.turn_scheduler.turn_scheduler import TurnScheduler
from services.turn_scheduler.turn_slots import TurnSlots
from services.views.conversation_reader import ConversationReader
from settings import Settings, load_settings
from web_services import lease_of, rounds_of, route_context_of, web_access_of

_YOUNG_OBJECTS = 10_000
"""As many as a turn makes. At Python's 700 each turn's own are looked through often, and the start,
which makes a million that stay, takes half a second longer."""


def build(
    settings: Settings,
    *,
    stores: Stores,
    clock: Clock,
    ids: IdSource,
    session: aiohttp.ClientSession,
    channels: Sequence[AddChannel] = (add_bots,),
) -> Server:
    """Return the server around `stores`; call inside a running loop.

    Args:
        channels: What is served beside the web's routes.

    Raises:
        ConfigurationError: a setting cannot work; the text names it.
    """
    basis = Basis(settings=settings, users=stores.users, session=session, clock=clock, ids=ids)
    base = foundation.foundation_of(basis, stores, CollectorRegistry())
    scheduler, reader = _scheduler(base), foundation.reader_of(base)
    operators = operators_for(
        base.scenarios,
        documents=base.documents,
        audit=base.audit,
        registry=base.metrics.registry,
        clock=clock,
        ids=ids,
        lease=lease_of(base),
    )
    readiness, rounds = _readiness(base, stores), rounds_of(base, scheduler, reader)
    context = route_context_of(base, scheduler, reader, readiness, operators, rounds)
    base.metrics.watch(sockets=lambda: context.slots.total, queued=lambda: scheduler.waiting)
    base.metrics.watch_directory(get_args(DirectoryState), lambda: base.directory.state)
    application = create_web_app(context=context, access=web_access_of(base))
    queues = turn_queues_for(settings)
    hand_over = HandOver(queues=queues, scheduler=scheduler, meter=base.metrics)
    services = _channel_services(base, scheduler, reader, hand_over, context.rate)
    for add in channels:
        add(application, settings, services)

    background = Background(
        base=base, operators=operators, rounds=rounds, hand_over=hand_over, scheduler=scheduler
    )
    return Server(
        web=application,
        readiness=readiness,
        start=background.start,
        drain=background.drain,
        close=background.close,
    )


def _readiness(base: foundation.Foundation, stores: Stores) -> Readiness:
    probes = {
        "storage": stores.check,
        "model": base.team.check,
        "directory": base.directory.check,
    }
    return Readiness(probes=probes, clock=base.clock)


@dataclass(frozen=True, slots=True, kw_only=True)
class Background:
    """What runs beside the web application, started and ended in good order."""

    base: foundation.Foundation
    operators: Operators
    rounds: RoundService
    hand_over: HandOver
    scheduler: TurnScheduler

    async def start(self) -> None:
        """Begin what works without being asked."""
        self.operators.runner.start()
        await self.base.team.start(lambda: foundation.started(self.base))
        self.hand_over.start()
        self.rounds.preparer.start()

    async def drain(self, seconds: float) -> None:
        """Let what is under way end within so many seconds."""
        await self.rounds.preparer.rest()
        await self.hand_over.rest()
        await self.scheduler.drain(seconds=seconds)

    async def close(self) -> None:
        """End all that was started."""
        await self.rounds.preparer.rest()
        await self.hand_over.close()
        await self.operators.runner.close()
        await self.base.close()


def _pipeline(base: foundation.Foundation) -> TurnPipeline:
    documents = TurnDocuments(
        contexts=base.contexts,
        registries=base.registries,
        legacy=LegacyHistory(store=base.documents.store, contexts=base.contexts),
        comparisons=base.comparisons,
        personal=PersonalToolMemories(store=base.users),
        access=TurnAccess(guard=base.access.guard, model=base.settings.model_name),
        clock=base.clock,
        memory=TurnMemory(
            clock=base.clock,
            model=base.team.reader,
            intents=base.spec.intents,
            agents={*base.spec.names, *base.spec.legacy_names},
            cards=base.team.agents,
            rules=memory_rules(base.settings),
            seconds=base.settings.memory_extraction_seconds,
            window_chars=base.settings.window_chars,
        ),
        looks=TurnLooks(book=look_book_for(base.settings, users=base.users), records=base.records),
    )
    return TurnPipeline(
        documents=documents,
        patients=foundation.patients_of(base),
        clearing=foundation.clearing_of(base),
        group_chat=base.team,
        metrics=base.metrics,
        clock=base.clock,
        ids=base.ids,
        turn_seconds=base.settings.turn_seconds,
        safety=base.safety,
        tools=tools_for(
            base,
            team=base.spec,
            assistant=base.assistant,
            clinic=base.clinic,
            orders=base.orders,
            metrics=base.metrics,
            scenarios=_scenarios(base),
        ),
    )


def _scenarios(base: foundation.Foundation) -> ScenarioParts:
    return scenario_parts(
        base.scenarios,
        records=base.records,
        model=base.team.reader,
        audit=base.audit,
        trail=base.stores.audit,
        metrics=base.metrics,
        clock=base.clock,
        ids=base.ids,
    )


def _scheduler(base: foundation.Foundation) -> TurnScheduler:
    stops = StopRequests(
        conversations=base.conversations,
        store=base.users,
        replica=base.replica.name,
    )
    driver = ConversationWorker(
        pipeline=_pipeline(base),
        claimant=foundation.claimant_of(base),
        answers=StoredAnswers(
            contexts=base.contexts,
            conversations=base.conversations,
            registries=base.registries,
            clock=base.clock,
            ids=base.ids,
            facilitator=base.team.facilitator,
        ),
        hub=RunHub(clock=base.clock),
        slots=TurnSlots(limit=base.settings.turns_at_once),
        stops=stops,
    )
    return TurnScheduler(
        driver=driver,
        ids=base.ids,
        message_limit_chars=base.settings.message_limit_chars,
    )


def _channel_services(
    base: foundation.Foundation,
    scheduler: TurnScheduler,
    reader: ConversationReader,
    hand_over: HandOver,
    rate: MessageRate,
) -> ChannelServices:
    clock = base.clock
    deliveries = Deliveries(store=base.users, replica=base.replica, clock=clock)
    return ChannelServices(
        scheduler=scheduler,
        team=base.team,
        footer=footer_of,
        rate=rate,
        clock=clock,
        deliveries=deliveries,
        answers=Repeats(
            claimant=scheduler.claimant, answers=scheduler.driver.answers, ids=base.ids
        ),
        feedback=foundation.feedback_of(base),
        reader=reader,
        hand_over=hand_over,
        on_behalf=base.on_behalf,
        patient_id_example=base.pattern.example(),
    )


async def run(settings: Settings) -> None:
    """Build the server and serve until it is stopped."""
    ids, clock = RandomIds(), SystemClock()
    async with outbound_session(outbound_policy_for(settings)) as session:
        stores = open_stores(settings, ids=ids)
        server = build(settings, stores=stores, clock=clock, ids=ids, session=session)
        await serve(
            server,
            host=settings.host,
            port=settings.port,
            handshake_seconds=settings.handshake_seconds,
            per_address=settings.connections_bound,
        )


def main() -> int:
    """Run the server; a bad setting ends it with one line for each and exit code 2."""
    gc.set_threshold(_YOUNG_OBJECTS, 10, 10)
    try:
        settings = load_settings()
        configure_logs(log_format=settings.log_format, level=settings.log_level)
        traces = configure_traces(
            endpoint=settings.otel_exporter_otlp_endpoint, service_name=settings.otel_service_name
        )
        held = folder_held(settings.data_dir, is_shared=settings.data_dir_shared)
        with held if settings.azure_account is None else nullcontext():
            asyncio.run(run(settings))
    except ConfigurationError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    if traces is not None:
        traces.shutdown()
    return 0


if __name__ == "__main__":
    sys.exit(main())
