"""Keeps the index of sessions in step with what a turn has written."""

from data_models.layout import ConversationLayout
from services.scenarios.migration.ports import SessionIndex
from services.scenarios.session.scenario_runtime import ScenarioRuntime
from services.scenarios.session.session_row import row_of
from services.turn.draft import TurnDraft


async def update_index(turn: TurnDraft, runtime: ScenarioRuntime, *, index: SessionIndex) -> None:
    """Put the session of this turn where operators and deployments look for it, or take it out."""
    document = turn.document()
    now, before = document.scenario, runtime.before
    if now is None or now is before:
        return
    layout = ConversationLayout.of(turn.conversation_id)
    row = row_of(now, place=layout.context(document.patient_id))
    if row is not None:
        await index.put(row)
    elif before is not None:
        await index.drop(now.session_id)
