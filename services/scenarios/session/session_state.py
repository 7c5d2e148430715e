"""What a turn knows of a patient's scenario, and how it is kept in the document."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC

import structlog
from pydantic import JsonValue

from data_models.chat_context import ChatContext
from data_models.clock import Clock, IdSource
from data_models.conversations.incoming_message import IncomingMessage
from data_models.errors import RecordsError, ScenarioPlanError, ToolInputError
from data_models.identifiers import PatientId
from data_models.scenarios.scenario import Step
from data_models.scenarios.scenario_session import (
    Evidence,
    PatientProfile,
    ProfileField,
    ScenarioSession,
)
from services.records.resources.ports import PERSON, PatientRecords
from services.records.views.demographics import demographics
from services.scenarios.definition.definition_reader import AGE, BIRTH_DATE, IN_RECORDS, NAME, SEX
from services.scenarios.definition.graph import Graph
from services.scenarios.migration.scenario_store import Catalogue
from services.scenarios.scenario_settings import GapFillConfig
from services.scenarios.session import facts
from services.scenarios.session.commands import gone_back
from services.scenarios.session.progress import needed_at, put_anew, spoken
from services.scenarios.session.recording import QUOTE_LIMIT_CHARS
from services.scenarios.session.step_text import held_text, joined, question_for

# What a patient's record says about fields that scenarios ask for; read-only (page 5.2).

_log = structlog.get_logger()


class RecordFacts:
    """Reads the record only where a field is asked about that records hold."""

    def __init__(self, *, records: PatientRecords, clock: Clock) -> None:
        self._records = records
        self._clock = clock

    async def read(
        self, patient_id: PatientId | None, names: Collection[str]
    ) -> dict[str, ProfileField]:
        """Return what the record holds of the fields `names`; nothing if it cannot be read.

        A field that the record does not answer is asked for, like any other.
        """
        wanted = IN_RECORDS.intersection(names)
        if patient_id is None or not wanted:
            return {}
        try:
            record = await self._records.load(patient_id, PERSON)
        except RecordsError as error:
            _log.info("scenario_record_not_read", code=error.code)
            return {}
        today = self._clock.now().astimezone(UTC).date()
        person = demographics(record, today=today)
        known: dict[str, str | int] = {}
        if len(person.birth_date) == len("2030-01-01"):
            known |= dict.fromkeys(BIRTH_DATE, person.birth_date)
        if person.age.isdecimal():
            known |= dict.fromkeys(AGE, int(person.age))
        if person.sex:
            known |= dict.fromkeys(SEX, person.sex)
        if person.name:
            known |= dict.fromkeys(NAME, person.name)
        return {
            name: ProfileField(value=known[name], source=facts.RECORD)
            for name in wanted & known.keys()
        }


@dataclass(frozen=True, slots=True)
class Here:
    """The open session in its version."""

    session: ScenarioSession
    graph: Graph
    step: Step


class SessionState:
    """The session, what is known and what the turn changed; whoever holds the turn stores it.

    Attributes:
        lead: The agent that guides the user through the steps.
        grounding: What `lead` is told now; "" while no scenario is open.
        before: The session as the turn found it.
        shown: What clients were shown of it last.
        taken: Fields that this turn's message answered before the team was asked.
        offer: What the user is told where a person is due; "" while none is.
        is_asking: Whether the step's tool has just asked the user.
        answers_before: How many messages this turn had before the team spoke.
    """

    def __init__(
        self,
        *,
        document: ChatContext,
        catalogue: Catalogue,
        records: RecordFacts,
        clock: Clock,
        ids: IdSource,
        config: GapFillConfig,
        message: IncomingMessage,
        facilitator: str,
    ) -> None:
        self._document = document
        self._catalogue, self._records, self._config = catalogue, records, config
        self._clock, self._ids = clock, ids
        self._message, self._facilitator = message, facilitator
        self._from_record: dict[str, ProfileField] = {}
        self._looked_up: set[str] = set()
        self._failed_tool = ""
        self._finished = ""
        self.taken: set[str] = set()
        self.offer = ""
        self.is_asking = False
        self.grounding = ""
        self.before = document.scenario
        self.shown = None if self.before is None else (self.before.place, self.before.is_left)
        self.answers_before = 0

    @property
    def has_any(self) -> bool:
        """Whether this patient has a scenario, open, left or finished."""
        return bool(self._document.sessions)

    def was_in_outbox(self, event_id: str) -> bool:
        """Whether an event waited for delivery when the turn began."""
        return self.before is not None and any(
            event.event_id == event_id for event in self.before.outbox
        )

    @property
    def session(self) -> ScenarioSession | None:
        """The session that guides the conversation now; None if none does."""
        session = self._document.scenario
        return session if session is not None and session.is_open else None

    @property
    def lead(self) -> str:
        """The agent that began the scenario, else the one that leads the team."""
        session = self._document.scenario
        return (session.agent_id if session is not None else "") or self._facilitator

    @property
    def is_waiting(self) -> bool:
        """Whether the current step was put to the user, who may be answering it."""
        session = self.session
        return session is not None and session.step_history[-1].spoken

    @property
    def is_beside(self) -> bool:
        """Whether the turn found a question of the same step open, and has answered nothing."""
        now, before = self.session, self.before
        if now is None or before is None or self.taken or not before.is_open:
            return False
        was_asked = bool(before.step_history) and before.step_history[-1].spoken
        return was_asked and now.path == before.path and now.variables == before.variables

    async def profile(self, names: Collection[str] = ()) -> PatientProfile:
        """Return what the record holds of `names`; it outweighs what is said."""
        if wanted := set(names) - self._looked_up:
            self._looked_up |= wanted
            found = await self._records.read(self._document.patient_id, wanted)
            self._from_record |= found
        return PatientProfile(fields=dict(self._from_record))

    def facts(self, graph: Graph, session: ScenarioSession, profile: PatientProfile) -> facts.Facts:
        """Return what is known of a session's fields in the version `graph`."""
        return facts.gather_facts(
            session,
            profile,
            extracted=session.progress.extracted if session.progress else {},
            graph=graph,
            config=self._config,
            now=self._clock.now(),
        )

    async def _values(self, here: Here) -> dict[str, JsonValue]:
        """Return what is known of the fields that the step asks for, uses or decides by."""
        step = here.step
        names = {*step.collects_profile_fields, *step.needs, *here.graph.fields_read_at(step.id)}
        return self.facts(here.graph, here.session, await self.profile(names)).values

    async def _all_values(self, here: Here) -> dict[str, JsonValue]:
        return self.facts(here.graph, here.session, await self.profile(here.graph.fields)).values

    async def here(self) -> Here:
        """Return where the open session is.

        Raises:
            ToolInputError: none is open.
            ScenarioNotFoundError: its version is not stored any more.
        """
        if (session := self.session) is None:
            raise ToolInputError("no scenario is open")
        graph = await self._catalogue.graph(session)
        if session.step not in graph.steps:
            raise ScenarioPlanError(f"version {graph.version} has no step like its own")
        return Here(session, graph, graph.steps[session.step])

    async def read_known(self, graph: Graph) -> PatientProfile:
        """Return the record's facts, and what lasts of earlier runs, for a migration to `graph`."""
        record = (await self.profile(graph.fields)).fields
        offered = self.session.to_confirm if self.session is not None else {}
        lasts = facts.lasting(self._document.profile, graph, self._clock.now())
        kept = {name: one for name, one in lasts.items() if name not in offered}
        return PatientProfile(fields=kept | record)

    def keep(self, session: ScenarioSession, graph: Graph | None = None) -> None:
        """Put the session into the document, and with `graph` what outlives it."""
        before = self._document.scenario
        self._document.scenario = session
        if graph is None:
            return
        held = before.variables if before is not None else {}
        changed = {
            n for n in {*held, *session.variables} if held.get(n) != session.variables.get(n)
        }
        again = {n for n in session.variables if before and n in before.to_confirm}
        self._document.profile = facts.with_lasting(
            self._document.profile, session, graph, changed | again, self._clock.now()
        )

    def take(
        self, answers: Mapping[str, JsonValue], quotes: Mapping[str, str], graph: Graph
    ) -> None:
        """Store what this message answers; it answers nothing else, and the step is put anew.

        Args:
            answers: Null denies a value that was to be confirmed.
            quotes: The words of this message that say it, by field.
        """
        if (session := self.session) is None:
            return
        said = {
            n: Evidence(turn=self.turn_id, quote=q[:QUOTE_LIMIT_CHARS]) for n, q in quotes.items()
        }
        updated = put_anew(facts.with_answers(session, answers, graph, said))
        denied = [said[n] for n, value in answers.items() if value is None and n in said]
        self.keep(updated.model_copy(update={"spent": [*updated.spent, *denied]}), graph)
        self.taken |= set(answers)

    async def back(self) -> str:
        """Ask the last step that asked something again; return what the user is told.

        Raises:
            ToolInputError: no scenario is open, nothing was asked before, or something that cannot
                be undone was completed since.
        """
        here = await self.here()
        moved = gone_back(here.session, here.graph, self._clock.now())
        step = here.graph.steps[moved.step or ""]
        self._document.scenario = facts.without_values(moved, step.collects_profile_fields)
        return f"Back to “{step.title}”."

    async def skip(self) -> str:
        """Return why the current step cannot be left out."""
        here = await self.here()
        names = needed_at(here.graph, here.step, await self._all_values(here))
        needed = [here.graph.fields[name].label for name in names]
        if not needed:
            return f"“{here.step.title}” asks for nothing; any word goes on."
        return (
            f"“{here.step.title}” cannot be skipped: it needs {joined(needed)}. "
            "Say “leave” to stop here, “resume” to go on later."
        )

    async def ask_again(self) -> str:
        """Put what the current step asks for once more: the next message may answer it.

        Returns:
            The question; "" where the step asks for nothing, or where its tool has asked.
        """
        session = self.session
        if session is None or session.awaiting or session.progress is not None:
            return ""
        here = await self.here()
        known = await self._all_values(here)
        if not (needed := needed_at(here.graph, here.step, known)):
            return ""
        self._document.scenario = spoken(session)
        question = question_for(here.graph, needed, known)
        return f"{here.graph.scenario.title}, {here.step.title}: {question}"

    async def read_noted(self) -> str:
        """Return what the open run holds of what was said, read out field by field."""
        here = await self.here()
        graph, session = here.graph, here.session
        rows = [
            f"- {held_text(field, session.variables[name])}"
            for name, field in graph.fields.items()
            if name in session.variables
        ]
        if not rows:
            return f"{graph.scenario.title}: nothing is noted yet."
        return "\n".join([f"Noted so far in {graph.scenario.title}:", *rows])

    def put_anew(self) -> None:
        """Have the current step said again: what the user just said answered something else."""
        if self.session is not None:
            self._document.scenario = put_anew(self.session)

    @property
    def turn_id(self) -> int:
        """The turn that runs; 0 before the first one."""
        history = self._document.chat_history
        return history[-1].turn_id if history else 0
