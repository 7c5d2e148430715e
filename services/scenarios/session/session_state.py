"""What a turn knows of a patient's scenario, and how it is kept in the document."""

from collections.abc import Collection, Mapping

from pydantic import JsonValue

from data_models.chat_context import ChatContext
from data_models.clock import Clock
from data_models.errors import ToolInputError
from data_models.incoming_message import IncomingMessage
from data_models.scenario_session import (
    Evidence,
    PatientProfile,
    ProfileField,
    ScenarioSession,
)
from services.scenarios.definition.graph import Graph
from services.scenarios.migration.waiting import with_answers, without_values
from services.scenarios.session.corrections import gone_back
from services.scenarios.session.evidence import QUOTE_LIMIT_CHARS
from services.scenarios.session.facts import lasting, with_lasting
from services.scenarios.session.guide import ScenarioGuide
from services.scenarios.session.progress import put_anew, spoken
from services.scenarios.session.record_facts import RecordFacts
from services.scenarios.session.step_text import held_text, joined, needed_at, question_for

# Keeps a session's part of its document small; what it completed always stays.

VISITS_LIMIT = 48
EXECUTED_LIMIT = 100


def bounded(session: ScenarioSession) -> ScenarioSession:
    """Return the session with its newest visits; loops over weeks would fill the document.

    The first visit stays, so that the way still begins at the entry; migrations take the route
    between what is left as they take it over steps that a version lost.
    """
    history = session.step_history
    if len(history) <= VISITS_LIMIT and len(session.executed) <= EXECUTED_LIMIT:
        return session
    over = max(0, len(history) - VISITS_LIMIT)
    return session.model_copy(
        update={
            "step_history": [*history[:1], *history[1 + over :]],
            "left_out_visits": session.left_out_visits + over,
            "executed": session.executed[-EXECUTED_LIMIT:],
        }
    )


LEFT_LIMIT = 4


def set_aside(document: ChatContext) -> None:
    """Make way for another session; one that has ended keeps only what it completed.

    Raises:
        ToolInputError: too many are left unfinished.
    """
    session = document.scenario
    if session is None:
        return
    unfinished = [one for one in document.left_scenarios if one.step is not None]
    if session.step is None:
        session = session.model_copy(
            update={"step_history": [], "variables": {}, "evidence": {}, "spent": []}
        )
    elif len(unfinished) >= LEFT_LIMIT:
        raise ToolInputError("too many scenarios are unfinished; resume or finish one first")
    else:
        session = session.model_copy(update={"is_left": True})
    others = [one for one in document.left_scenarios if one.step is None]
    finished = [one for one in others if one.scenario_id != session.scenario_id]
    document.left_scenarios = [*finished[-LEFT_LIMIT:], *unfinished, session]
    document.scenario = None


def taken_up(document: ChatContext, scenario_id: str | None) -> bool:
    """Open a session that was left, the newest if none is named; False if there is none."""
    current = document.scenario
    meant = [one for one in _left(document) if scenario_id in (None, one.scenario_id)]
    if not meant:
        return False
    chosen = meant[-1]
    if chosen is not current:
        document.left_scenarios.remove(chosen)
        set_aside(document)
    # What the step asks or says is said again: much may have been spoken of since.
    document.scenario = put_anew(chosen.model_copy(update={"is_left": False}))
    return True


def describe_left(document: ChatContext) -> str:
    """Return the answer to "where are we?" while no scenario is open."""
    names = [one.place.scenario for one in _left(document) if one.place is not None]
    if not names:
        return "No scenario is open here."
    return f'No scenario is open; left for later: {", ".join(names)}. Say "resume" to go on.'


def _left(document: ChatContext) -> list[ScenarioSession]:
    current = document.scenario
    everything = [*document.left_scenarios, *([] if current is None else [current])]
    return [one for one in everything if one.is_left and one.step is not None]


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
        guide: ScenarioGuide,
        records: RecordFacts,
        clock: Clock,
        message: IncomingMessage,
        facilitator: str,
    ) -> None:
        self._document = document
        self._guide, self._records, self._clock = guide, records, clock
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
        return self._document.scenario is not None or bool(self._document.left_scenarios)

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
        wanted = set(names) - self._looked_up
        if wanted:
            self._looked_up |= wanted
            found = await self._records.read(self._document.patient_id, wanted)
            self._from_record |= found
        return PatientProfile(fields=dict(self._from_record))

    async def read_known(self, graph: Graph) -> PatientProfile:
        """Return the record's facts, and what lasts of earlier runs, for a migration to `graph`."""
        record = (await self.profile(graph.fields)).fields
        offered = self.session.to_confirm if self.session is not None else {}
        lasts = lasting(self._document.profile, graph, self._clock.now())
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
        self._document.profile = with_lasting(
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
        session = self.session
        if session is None:
            return
        said = {
            n: Evidence(turn=self.turn_id, quote=q[:QUOTE_LIMIT_CHARS]) for n, q in quotes.items()
        }
        updated = put_anew(with_answers(session, answers, graph, said))
        denied = [said[n] for n, value in answers.items() if value is None and n in said]
        self.keep(updated.model_copy(update={"spent": [*updated.spent, *denied]}), graph)
        self.taken |= set(answers)

    async def back(self) -> str:
        """Ask the last step that asked something again; return what the user is told.

        Raises:
            ToolInputError: no scenario is open, nothing was asked before, or something that cannot
                be undone was completed since.
        """
        session = self.session
        if session is None:
            raise ToolInputError("no scenario is open")
        graph = await self._guide.graph(session)
        moved = gone_back(session, graph, self._clock.now())
        asked = graph.steps[moved.step or ""].collects_profile_fields
        self._document.scenario = without_values(moved, asked)
        return f"Back to “{graph.steps[moved.step or ''].title}”."

    async def skip(self) -> str:
        """Return why the current step cannot be left out."""
        session = self.session
        if session is None:
            raise ToolInputError("no scenario is open")
        graph = await self._guide.graph(session)
        step = graph.steps[session.step or ""]
        known = self._guide.values(graph, session, await self.profile(graph.fields))
        needed = [graph.fields[name].label for name in needed_at(graph, step, known)]
        if not needed:
            return f"“{step.title}” asks for nothing; any word goes on."
        return (
            f"“{step.title}” cannot be skipped: it needs {joined(needed)}. "
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
        graph = await self._guide.graph(session)
        step = graph.steps[session.step or ""]
        known = self._guide.values(graph, session, await self.profile(graph.fields))
        needed = needed_at(graph, step, known)
        if not needed:
            return ""
        self._document.scenario = spoken(session)
        return f"{graph.scenario.title}, {step.title}: {question_for(graph, needed, known)}"

    async def read_noted(self) -> str:
        """Return what the open run holds of what was said, read out field by field."""
        session = self.session
        if session is None:
            return ""
        graph = await self._guide.graph(session)
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
