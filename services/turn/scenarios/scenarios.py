"""A turn's scenario: commands, migration, the agents' runtime, and what follows the write."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

import structlog

from data_models import errors
from data_models.chat_context import AgentMessage, Continuation
from data_models.identifiers import hashed
from services.scenarios.session.commands import Command, command_in, is_any, named
from services.scenarios.session.progress import Act
from services.scenarios.session.scenario_runtime import ScenarioRuntime
from services.turn.phases import GroundedTurn, QuestionOutcome
from services.turn.scenarios.migration import TurnMigration
from services.turn.scenarios.scenario_news import TurnCorrections, listed, news_of_operators
from services.turn.turn_step import TurnStep

NO_PATIENT = "A scenario belongs to a patient. Name one first, for example: start with patient_4."
_UNEXPECTED = (errors.ScenarioInputError, errors.StoreError, LookupError, TypeError, ValueError)
_log = structlog.get_logger()


@contextmanager
def _going_on(event: str, flag: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Log and flag what goes wrong, and go on (M18); a lost claim ends the turn."""
    try:
        yield
    except errors.ClaimLostError:
        raise
    except _UNEXPECTED as error:
        _log.warning(event, error=type(error).__name__)
        flag()


@dataclass(kw_only=True, eq=False, repr=False)
class TurnScenarios(TurnStep):
    """The pipeline's way to scenarios. Holds no state of any turn."""

    def __post_init__(self) -> None:
        self._migration = TurnMigration.beside(self)
        self._corrections = TurnCorrections.beside(self)

    async def run_scenario(self, turn: GroundedTurn, act: Act) -> bool:
        """Seat the scenario of this patient; True if the turn is answered with that.

        Whatever cannot be done leaves the session on its version, where its turn goes on; an
        operator finds it on the list (M18).
        """
        runtime = turn.sessions.scenario = self._runtime(turn)
        before = runtime.session
        if news := await news_of_operators(turn, self.scenarios):
            self.replies.say(turn, news)
        # Where a dead replica had stored answers, it had done what the message says of scenarios.
        is_answered = (
            not turn.kept
            and (
                await self._obey(turn, runtime, act) or await self._hear_corrections(turn, runtime)
            )
        ) or await self._migrate(turn, runtime, act)
        if not is_answered and runtime.session is not None:
            flag = partial(self._migration.flag, turn, runtime, "step_failed")
            with _going_on("scenario_step_failed", flag):
                await runtime.settle(act)
            if before is None or before.session_id != runtime.session.session_id:
                turn.document.continuation = None  # who waits beside it waits no more
            if runtime.is_waiting and runtime.grounding and not _waits_beside(turn, runtime):
                turn.document.continuation = Continuation(agent=runtime.lead, asked_at=turn.now)
            self.show(turn)
        runtime.answers_before = 0 if turn.kept else len(turn.row.agent_responses)
        return is_answered

    async def go_on(self, outcome: QuestionOutcome, act: Act) -> bool:
        """Go on with the answer to what a step's tool asked; True if there is a next step to say.

        Whatever cannot be done is told at the next turn, by the step itself.
        """
        turn, result = outcome.turn, outcome.result
        if result is None:
            return False
        runtime = turn.sessions.scenario = self._runtime(turn)
        with _going_on("scenario_step_failed"):
            if await runtime.hear_answer(result, turn.answer, act=act):
                runtime.answers_before = len(turn.row.agent_responses)
                self.show(turn)
                return True
        return False

    async def note_heard(self, turn: GroundedTurn) -> None:
        """Note what the user has heard of the step from the agent that guides them."""
        runtime = turn.sessions.scenario
        if runtime is None or runtime.session is None:
            self.show(turn)
            return
        said = turn.row.agent_responses[runtime.answers_before :]
        if any(answer.agent == runtime.lead for answer in said):
            with _going_on("scenario_step_failed"):
                await runtime.close()
                await self._ask_still(turn, runtime, is_said=False)
                await self._ask_again_after(turn, runtime, said)
        self.show(turn)

    async def _ask_again_after(
        self, turn: GroundedTurn, runtime: ScenarioRuntime, said: Sequence[AgentMessage]
    ) -> None:
        """Put the step's question again where somebody else answered something beside it."""
        is_beside = runtime.is_beside and said[-1].agent != runtime.lead
        is_asked = turn.record.question is not None or _waits_beside(turn, runtime)
        if not is_beside or is_asked or turn.document.plan:
            return
        if question := await runtime.ask_again():
            self.replies.say(turn, question)

    def show(self, turn: GroundedTurn) -> None:
        """Show where the user is, if that has changed; cheap enough for every event."""
        runtime = turn.sessions.scenario
        session = turn.document.scenario if runtime is not None else None
        state = None if session is None else (session.place, session.is_left)
        if runtime is not None and state != runtime.shown:
            runtime.shown = state
            self.replies.show_state(turn)

    async def deliver_events(self, turn: GroundedTurn | None) -> None:
        """Bring the audit trail up to date with what was just written.

        It may be late: the next turn delivers what is still in the outbox.
        """
        runtime = None if turn is None else turn.sessions.scenario
        session = None if turn is None else turn.document.scenario
        if turn is None or runtime is None or session is None or not session.outbox:
            return
        try:
            for event in session.outbox:
                await self.scenarios.events.deliver(
                    event,
                    principal=turn.message.sender.principal_id,
                    conversation=turn.conversation_id,
                    patient=turn.patient_id,
                    run_id=turn.run.run_id,
                    is_retry=runtime.was_in_outbox(event.event_id),
                )
            turn.document.scenario = session.model_copy(update={"outbox": []})
            await self.documents.save(turn)
        except errors.RoundsError as error:
            conversation = hashed(turn.conversation_id)
            _log.warning("scenario_follow_up_late", conversation=conversation, code=error.code)

    # -- before the team speaks ---------------------------------------------------------------

    def _runtime(self, turn: GroundedTurn) -> ScenarioRuntime:
        parts = self.scenarios
        return ScenarioRuntime(
            document=turn.document,
            catalogue=parts.catalogue,
            records=parts.records,
            clock=parts.clock,
            ids=parts.ids,
            config=parts.config.gap_fill,
            message=turn.message,
            facilitator=self.group_chat.facilitator,
        )

    async def _obey(self, turn: GroundedTurn, runtime: ScenarioRuntime, act: Act) -> bool:
        """Do what the user says about scenarios themselves; True if that answers the message."""
        if turn.message.press is not None:
            return False
        refuses = False
        with _going_on("scenario_command_failed"):
            refuses = await _refuses(turn, runtime)
        command = Command("leave") if refuses else command_in(turn.text)
        if command is None:
            return False
        try:
            reply = await self._carry_out(turn, runtime, command, act)
        except (errors.ScenarioInputError, errors.ToolInputError) as error:
            reply = str(error) if isinstance(error, errors.ToolInputError) else error.user_message
        except errors.ClaimLostError:
            raise
        except errors.StoreError as error:
            _log.warning("scenario_command_failed", code=error.code)
            return False
        if reply is None:
            return False
        self.show(turn)
        self.replies.say(turn, reply)
        return True

    async def _carry_out(
        self, turn: GroundedTurn, runtime: ScenarioRuntime, command: Command, act: Act
    ) -> str | None:
        """Carry the command out; None where the team answers, or it was none after all."""
        if command.kind == "where":
            return await runtime.where() if runtime.has_any else None
        if command.kind in ("back", "skip", "question", "noted"):
            return await self._within(runtime, command, act)
        # What can be begun; a message that may be only a name is held against old news.
        titles = await self.scenarios.catalogue.titles(is_fresh=not command.is_bare)
        if command.kind == "list":
            return listed(titles)
        scenario_id = named(command.name, titles)
        match command.kind:
            case "leave" if runtime.session is not None:
                is_meant = is_any(command.name) or scenario_id == runtime.session.scenario_id
                return f'Left {await runtime.leave()}. Say "resume" to go on.' if is_meant else None
            case "resume" if scenario_id is not None or is_any(command.name):
                session = runtime.session
                if session is not None and scenario_id in (None, session.scenario_id):
                    turn.document.continuation = None
                    return await runtime.ask_again() or None
                is_found = await runtime.resume(scenario_id)
                return None if is_found or scenario_id is None else "That scenario was not left."
            case "start" if scenario_id is not None:
                return await self._begin(turn, runtime, scenario_id, act)
        return None

    async def _within(self, runtime: ScenarioRuntime, command: Command, act: Act) -> str | None:
        """Do what is asked of the open run; without a scenario, or a question, it is no command."""
        if runtime.session is None or runtime.session.progress is not None:
            return None
        if command.kind == "skip":
            return await runtime.skip()
        if command.kind == "question":
            return await runtime.ask_again() or None
        if command.kind == "noted":
            return await runtime.read_noted()
        reply = await runtime.back()
        await runtime.settle(act)
        return " ".join(part for part in (reply, await runtime.ask_again()) if part)

    async def _begin(
        self, turn: GroundedTurn, runtime: ScenarioRuntime, scenario_id: str, act: Act
    ) -> str | None:
        if turn.patient_id is None:
            return NO_PATIENT
        session = runtime.session
        if session is not None and session.scenario_id == scenario_id:
            return await runtime.where()
        if not await runtime.resume(scenario_id):
            await runtime.begin(scenario_id, agent=self.group_chat.facilitator, act=act)
        return None

    async def _migrate(self, turn: GroundedTurn, runtime: ScenarioRuntime, act: Act) -> bool:
        session, migration = runtime.session, self._migration
        if session is None:
            return False
        with _going_on(
            "migration_failed", partial(migration.flag, turn, runtime, "migration_failed")
        ):
            if await migration.is_needed(session):
                return await migration.run(turn, runtime, act)
        return False

    async def _hear_corrections(self, turn: GroundedTurn, runtime: ScenarioRuntime) -> bool:
        """Hear corrections and confirmations; True if the message is answered with that."""
        with _going_on("scenario_correction_failed"):
            if await self._corrections.answer(turn, runtime):
                self.show(turn)
                return True
            if await self._ask_still(turn, runtime, is_said=True):
                return True
        return False

    async def _ask_still(
        self, turn: GroundedTurn, runtime: ScenarioRuntime, *, is_said: bool
    ) -> bool:
        """Ask whether what lasts still holds, once for a run."""
        if (session := runtime.session) is None:
            return False
        graph = await self.scenarios.catalogue.graph(session)
        if not self._corrections.ask_still(turn, runtime, graph):
            return False
        if is_said and turn.record.question is not None:
            self.show(turn)
            self.replies.say(turn, turn.record.question.text)
        return True


def _waits_beside(turn: GroundedTurn, runtime: ScenarioRuntime) -> bool:
    """Whether another agent waits for an answer beside the scenario: "which time suits?"."""
    waits = turn.document.continuation
    return waits is not None and waits.agent != runtime.lead


async def _refuses(turn: GroundedTurn, runtime: ScenarioRuntime) -> bool:
    """Whether the message stops the scenario; of a plan or an agent beside it, it stops those."""
    plan = turn.document.plan
    if _waits_beside(turn, runtime) or (plan is not None and plan.is_open):
        return False
    return await runtime.is_refused(turn.text)
