"""What operators did to scenarios since the last turn, and whose scenario waits."""

from contextlib import suppress

from data_models.conversations.turn_events import Notice
from data_models.errors import ScenarioInputError, ScenarioNotFoundError, StoreError
from data_models.identifiers import PatientId
from data_models.scenarios.scenario_session import ScenarioPlace, ScenarioSession
from services.language.words.own_texts import in_own_language
from services.scenarios.operators.asked import withdrawn
from services.turn.documents import TurnDocuments
from services.turn.phases import GroundedTurn
from services.turn.reading import spoken_in
from services.turn.scenario_parts import ScenarioParts


async def news_of_operators(turn: GroundedTurn, parts: ScenarioParts) -> str:
    """End what was withdrawn; return what the user is told, "" for nothing."""
    document = turn.document
    held = [document.scenario, *document.left_scenarios]
    seen = [None if one is None else await _close_if_withdrawn(one, parts) for one in held]
    notices = [text for one in seen if one is not None for text in one.notices]
    ends = [None if one is None else one.model_copy(update={"notices": []}) for one in seen]
    if notices:
        document.scenario = ends[0]
        document.left_scenarios = [one for one in ends[1:] if one is not None]
    return " ".join(notices)


async def _close_if_withdrawn(session: ScenarioSession, parts: ScenarioParts) -> ScenarioSession:
    """Return the session as it is, or over where its scenario was withdrawn."""
    if session.step is None:
        return session
    with suppress(StoreError, ScenarioInputError):
        if await parts.catalogue.is_withdrawn(session.scenario_id):
            return withdrawn(session, await _title(session, parts), parts.clock.now())
    return session


async def _title(session: ScenarioSession, parts: ScenarioParts) -> str:
    """Return what people call the scenario; its id where the session's version is lost."""
    try:
        return (await parts.catalogue.graph(session)).scenario.title
    except ScenarioNotFoundError:
        return session.scenario_id


async def tell_switch(
    turn: GroundedTurn, before: PatientId | None, documents: TurnDocuments
) -> None:
    """Say whose scenario waits since `before` was the open chart, and whose goes on in this one."""
    now = turn.patient_id
    if before is None or now is None or before == now:
        return
    left = waits_elsewhere(await documents.scenario_of(turn, before), before)
    for notice in filter(None, (left, goes_on(turn.document.scenario, now))):
        # Progress vanishes on a surface that streams; this one has to stay.
        turn.run.emit(Notice("restored", in_own_language(notice, spoken_in(turn))))


def waits_elsewhere(place: ScenarioPlace | None, patient_id: PatientId) -> str:
    """Return what is said of a scenario that another chart is left in; "" for none."""
    if place is None:
        return ""
    return (
        f"“{place.scenario}” of {patient_id} waits at “{place.step}” and goes on when that chart "
        "is open again. What you say now is not its answer."
    )


def goes_on(session: ScenarioSession | None, patient_id: PatientId) -> str:
    """Return what is said of a scenario to whoever comes back to its chart; "" for none."""
    if session is None or not session.is_open or session.place is None:
        return ""
    return f"“{session.place.scenario}” of {patient_id} goes on at “{session.place.step}”."


def listed(titles: dict[str, str]) -> str:
    """Return the scenarios that can be started, by id, as the user is told of them."""
    if not titles:
        return "No scenario is published here yet; operators publish them on the page /operator."
    first, lines = next(iter(titles.values())), [f"- {title}" for title in titles.values()]
    return "\n".join([f'These scenarios can be started, as with "start {first}":', *lines])
