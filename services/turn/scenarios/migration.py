"""Brings the session of a turn to the active version, asking and running what that needs."""

from collections.abc import Sequence
from itertools import takewhile
from typing import Literal

from data_models.errors import ScenarioPlanError
from data_models.scenarios import scenario_session
from data_models.scenarios.scenario import FieldDefinition
from services.language.replies.field_answers import (
    Reading,
    confirmation_in,
    is_plainly,
    readings_in,
)
from services.scenarios.definition.graph import Graph
from services.scenarios.migration.case import (
    ReconciliationResult,
    idempotency_key,
    with_action_done,
)
from services.scenarios.session.progress import Act, flagged, run_tool, with_results
from services.scenarios.session.scenario_runtime import ScenarioRuntime
from services.turn.phases import GroundedTurn, LoadedTurn
from services.turn.turn_step import TurnStep

ROUNDS_LIMIT = 50
"""Actions and questions that one turn may meet; each is done once, so it ends far earlier."""
KIND: Literal["scenario_value"] = "scenario_value"
BLOCKED_TEXT = (
    "This workflow has changed, and by its new rules would go another way. What is completed "
    "stays completed, so we go on as before."
)


class TurnMigration(TurnStep):
    """Reads the user's answer, reconciles, runs required actions, asks. Holds no turn."""

    async def is_needed(self, session: scenario_session.ScenarioSession) -> bool:
        """Whether there is anything to do: one comparison, seldom a read."""
        return session.progress is not None or not await self.scenarios.catalogue.is_current(
            session
        )

    async def run(self, turn: GroundedTurn, runtime: ScenarioRuntime, act: Act) -> bool:
        """Do it; True if the user was asked and the turn waits for the answer.

        Raises:
            ScenarioInputError: it cannot be done.
            StoreError: a version or plan cannot be read, or progress not be stored.
        """
        heard = await self._hear(turn, runtime)
        began = self.scenarios.clock.monotonic()
        for _ in range(ROUNDS_LIMIT):
            session = runtime.session
            if session is None or not await self.is_needed(session):
                return False
            outcome, heard = await self._outcome(turn, runtime, session, heard)
            if outcome.changed:
                runtime.keep(outcome.session)
                elapsed = (self.scenarios.clock.monotonic() - began) * 1_000
                self.scenarios.meter.count_outcome(outcome, milliseconds=elapsed)
            match outcome.action:
                case "execute_action":
                    if not await self._execute(turn, runtime, outcome, act):
                        return False
                case "collect":
                    await self._ask(turn, outcome)
                    return True
                case _:
                    if runtime.taken:
                        runtime.put_anew()
                    self._tell(turn, outcome)
                    return False
        raise ScenarioPlanError("the migration does not end")

    # -- what the user said -------------------------------------------------------------------

    async def _hear(
        self, turn: GroundedTurn, runtime: ScenarioRuntime
    ) -> dict[str, scenario_session.Extracted] | None:
        """Read the answer to what was asked (M20).

        Returns:
            What a model made of an answer that rules cannot read; None if nothing was asked.
        """
        session = runtime.session
        graph = None if session is None else await self._active(session)
        if session is None or session.progress is None or graph is None:
            return None
        fields, text = _asked(session.progress, graph), turn.answer
        if not (was_asked := _is_asked(turn, session)):
            fields = [one for one in fields if is_plainly(one, text)]
        answers = await self._answers(runtime, session.progress, graph, fields, text)
        if answers:
            values = {name: found.value for name, found in answers.items()}
            quotes = {name: found.quote for name, found in answers.items()}
            runtime.take(values, quotes, graph)
        unread = [one for one in fields if one.name not in answers]
        if not was_asked or not unread or not self.scenarios.config.gap_fill.extraction_enabled:
            return {}
        return await self.scenarios.extractor.extract(unread, [text])

    async def _answers(
        self,
        runtime: ScenarioRuntime,
        progress: scenario_session.MigrationProgress,
        graph: Graph,
        fields: Sequence[FieldDefinition],
        text: str,
    ) -> dict[str, Reading]:
        """Return what the user said; a value None denies one that was to be confirmed."""
        to_confirm = [one for one in fields if one.name in progress.confirming]
        answers = readings_in(text, [one for one in fields if one not in to_confirm])
        if to_confirm and (session := runtime.session) is not None:
            likely = runtime.facts(graph, session, await runtime.read_known(graph)).likely
            for field in to_confirm:
                fact = likely.get(field.name)
                said = confirmation_in(field, text, likely=None if fact is None else fact.value)
                answers |= {name: Reading(value, text) for name, value in said.items()}
        return answers

    # -- what is done about it ----------------------------------------------------------------

    async def _outcome(
        self,
        turn: GroundedTurn,
        runtime: ScenarioRuntime,
        session: scenario_session.ScenarioSession,
        heard: dict[str, scenario_session.Extracted] | None,
    ) -> tuple[ReconciliationResult, dict[str, scenario_session.Extracted]]:
        """Return what reconciliation says; extraction is asked once, where it wants to ask."""
        graph = await self._active(session)
        profile = (
            scenario_session.PatientProfile() if graph is None else await runtime.read_known(graph)
        )
        reconciler = self.scenarios.reconciler
        outcome = await reconciler.before_turn(session, profile, extracted=heard)
        gap_fill = self.scenarios.config.gap_fill
        is_new = heard is None and session.progress is None and gap_fill.extraction_enabled
        if outcome.action != "collect" or not is_new or graph is None:
            return outcome, heard or {}
        turns = [one.user_message for one in turn.document.chat_history]
        held = {*profile.fields, *session.variables}
        unknown = [one for name, one in graph.fields.items() if name not in held]
        wanted = sorted(unknown, key=lambda one: one.name not in outcome.collect_fields)
        turns = turns[-gap_fill.max_conversation_turns :]
        if found := await self.scenarios.extractor.extract(wanted, turns):
            outcome = await reconciler.before_turn(session, profile, extracted=found)
        return outcome, found

    async def _execute(
        self, turn: GroundedTurn, runtime: ScenarioRuntime, outcome: ReconciliationResult, act: Act
    ) -> bool:
        """Run the action that was handed out, also one that a dead process may have begun."""
        session, graph = outcome.session, await self._active(outcome.session)
        name = session.progress.running if session.progress is not None else None
        if graph is None or name is None:
            raise ScenarioPlanError("no action was handed out")
        if outcome.execute_actions:
            await self.documents.save(turn)  # what is begun is on record before it begins
        step, key = graph.steps[name], idempotency_key(session, graph.version, name)
        values = runtime.facts(graph, session, await runtime.read_known(graph)).values
        ran = await run_tool(step, values, key, act)
        if not ran.succeeded:
            self.flag(turn, runtime, "action_failed", target_version=graph.version)
            return False
        now = self.scenarios.clock.now()
        done = with_action_done(session, name, graph.version, now)
        done = with_results(done, graph, step, ran.data, turn=runtime.turn_id)
        runtime.keep(done)
        await self.documents.save(turn)
        return True

    def flag(
        self, turn: GroundedTurn, runtime: ScenarioRuntime, reason: str, *, target_version: int = 0
    ) -> None:
        """Put the session on the operator's list, once (M18)."""
        session = runtime.session
        if session is None or (session.review is not None and session.review.reason == reason):
            return
        now = self.scenarios.clock.now()
        turn.document.scenario = flagged(session, reason, now, target=target_version)

    async def _ask(self, turn: GroundedTurn, outcome: ReconciliationResult) -> None:
        graph = await self._active(outcome.session)
        names = (*outcome.confirm_fields, *outcome.collect_fields)
        fields = [graph.fields[name].model_dump(mode="json") for name in names] if graph else []
        text = outcome.user_message or ""
        self.replies.ask(
            turn,
            KIND,
            text,
            patient_id=turn.patient_id,
            payload={"session": outcome.session.session_id, "fields": fields},
        )

    def _tell(self, turn: GroundedTurn, result: ReconciliationResult) -> None:
        if result.user_message and result.notify:
            self.replies.say(turn, result.user_message)
        elif result.blocked_by_checkpoint and self.scenarios.config.checkpoints.notify_blocked:
            self.replies.say(turn, BLOCKED_TEXT)

    async def _active(self, session: scenario_session.ScenarioSession) -> Graph | None:
        chain = await self.scenarios.catalogue.chain(session.scenario_id)
        return None if chain is None else chain.active


def is_plain_answer(turn: LoadedTurn) -> bool:
    """Whether the message is a value that was asked for and nothing else: it names no patient."""
    question = turn.open_question()
    if question is None or question.kind != KIND:
        return False
    if question.patient_id != turn.active_patient_id:
        return False
    fields = [FieldDefinition.model_validate(one) for one in question.payload["fields"]]
    return any(is_plainly(field, turn.text) for field in fields)


def _asked(progress: scenario_session.MigrationProgress, graph: Graph) -> list[FieldDefinition]:
    items = takewhile(lambda item: item.kind == "field", progress.work)
    return [graph.fields[item.field] for item in items if item.field in graph.fields]


def _is_asked(turn: GroundedTurn, session: scenario_session.ScenarioSession) -> bool:
    """Whether this user's message follows our question about this session."""
    question = turn.open_question()
    if question is None or question.kind != KIND or turn.is_press_elsewhere:
        return False
    is_ours = question.payload.get("session") == session.session_id
    return is_ours and question.patient_id == turn.patient_id
