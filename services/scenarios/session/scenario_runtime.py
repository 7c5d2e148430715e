"""The scenario of one patient during one turn: what agents are told, and what they change."""

from collections.abc import Mapping
from typing import Any

from pydantic import JsonValue

from data_models.errors import ScenarioPlanError, ToolInputError
from data_models.identifiers import hashed
from data_models.scenarios.scenario import Step
from data_models.scenarios.scenario_session import Evidence, ScenarioSession
from services.language.replies.commands import command_in
from services.language.replies.yes_no import says_no
from services.scenarios.definition.graph import Graph
from services.scenarios.session import progress, recording, step_text
from services.scenarios.session.commands import decided_again, named
from services.scenarios.session.facts import lasting, with_answers, without_values
from services.scenarios.session.progress import Act, run_tool, with_results, with_run
from services.scenarios.session.session_state import Here, SessionState

STEPS_LIMIT = 60
"""Steps that one turn may pass; a loop that asks nothing ends here."""


class ScenarioRuntime(SessionState):
    """Works on the document of the turn; whoever holds the turn stores it."""

    async def start(self, name: str, *, agent: str, act: Act) -> None:
        """Begin the scenario of that name, or go on with it if it was left.

        Raises:
            ToolInputError: there is none of that name; the text lists those that there are.
        """
        titles = await self._catalogue.titles(is_fresh=True)
        if (scenario_id := named(name, titles)) is None:
            there_are = ", ".join(titles.values()) or "none; operators publish them on /operator"
            raise ToolInputError(f"no such scenario; there are: {there_are}")
        session = self.session
        if session is not None and session.scenario_id == scenario_id:
            return
        if await self.resume(scenario_id):
            await self.settle(act)
        else:
            await self.begin(scenario_id, agent=agent, act=act)

    async def begin(self, scenario_id: str, *, agent: str, act: Act) -> None:
        """Begin a scenario; one that is open is left and can be resumed.

        Raises:
            ToolInputError: too many are left unfinished.
            ScenarioPlanError: no version of it is deployed.
        """
        session_id, now = self._ids.new_id("scenario"), self._clock.now()
        if (graph := await self._catalogue.entry(scenario_id, session_id)) is None:
            raise ScenarioPlanError("the scenario has no active version")
        progress.set_aside(self._document)
        channel = self._message.channel_id or self._message.channel
        session = progress.begun(graph, session_id=session_id, channel=channel, now=now)
        where = {
            "agent_id": agent,
            "tenant_id": self._message.sender.tenant_id,
            "begun_in": self.turn_id,
            "to_confirm": lasting(self._document.profile, graph, now),
        }
        self._document.scenario = session.model_copy(update=where)
        await self.settle(act)

    async def is_refused(self, text: str) -> bool:
        """Whether the message stops the scenario: "stop", or a no to "Shall we go on?"."""
        if self.session is None or self.session.progress is not None:
            return False
        if command_in(text) == "stop":
            return True
        if not says_no(text):
            return False
        here = await self.here()
        return step_text.speaks(here.step) and here.session.step_history[-1].spoken

    async def leave(self) -> str:
        """Leave the open scenario; return its name.

        Raises:
            ToolInputError: none is open.
        """
        if (session := self.session) is None:
            raise ToolInputError("no scenario is open")
        title = (await self._catalogue.graph(session)).scenario.title
        self._document.scenario = session.model_copy(update={"is_left": True})
        self.grounding = ""
        return title

    async def resume(self, scenario_id: str | None = None) -> bool:
        """Go on with a scenario that was left, the newest if none is named; False without any."""
        return progress.taken_up(self._document, scenario_id)

    async def record(
        self, values: Mapping[str, JsonValue], *, act: Act, quotes: Mapping[str, str] | None = None
    ) -> dict[str, Any]:
        """Take what the user said, go on as far as that leads, and tell what comes next.

        A value that changes an earlier one is a correction. What the user did not say in words of
        their own is not taken.

        Args:
            quotes: The user's words for a value, by field; looked for where they are missing.

        Raises:
            ToolInputError: no scenario is open, a field is unknown, or no value was taken; the
                text says of each why.
        """
        if (session := self.session) is None:
            raise ToolInputError("no scenario is open; start_scenario begins one")
        graph = await self._catalogue.graph(session)
        turns = reversed(self._document.chat_history)
        said = [turn for turn in turns if turn.turn_id >= session.begun_in]
        checked = recording.checked_values(graph, session, values, quotes or {}, said)
        if checked.unfit:
            # After the third time a person is asked to look.
            counted, is_due = recording.with_refusals(session, checked.unfit)
            if is_due and counted.review is None:
                counted = progress.flagged(counted, "answer_not_read", self._clock.now())
            self._document.scenario = counted
            self.offer = recording.OFFER if is_due else ""
        if checked.problems and not checked.taken:
            raise ToolInputError(self.offer or "; ".join(checked.problems.values()))
        note = await self.change(checked.taken, checked.evidence, graph)
        await self.settle(act)
        reply: dict[str, Any] = {"recorded": [*checked.taken], **self.as_shown_to_agents}
        if note:
            reply["corrected"] = note
        return reply | ({"not_recorded": checked.problems} if checked.problems else {})

    async def change(
        self, values: Mapping[str, JsonValue], evidence: Mapping[str, Evidence], graph: Graph
    ) -> str:
        """Store values; where one corrects another, decide again what it decided.

        Returns:
            What the user is told of corrections: "" where there was none.
        """
        if (session := self.session) is None:
            return ""
        corrected = [n for n in values if n in session.variables]
        updated = with_answers(session, values, graph, evidence)
        self.keep(updated, graph)
        if not corrected:
            return ""
        known = self.facts(graph, updated, await self.profile(graph.fields)).values
        decided = decided_again(updated, graph, corrected, known, self._clock.now())
        self._document.scenario = decided.session
        return step_text.corrected_text(graph, updated, corrected, decided)

    async def settle(self, act: Act) -> None:
        """Go on until the user is needed: for a field, or to hear what a step says."""
        if self.session is None:
            return
        self._failed_tool = ""
        for _ in range(STEPS_LIMIT):
            if not await self._go_on(act):
                break
        await self._look()

    async def close(self) -> None:
        """Note that the user has heard the current step; the last one ends the scenario."""
        if self.session is None:
            return
        here = await self.here()
        said = progress.spoken(here.session)
        if step_text.speaks(here.step) and not here.graph.branches(here.step.id):
            said = progress.ended(said, here.graph, self._clock.now())
        self._document.scenario = progress.bounded(said)
        await self._look()

    async def where(self) -> str:
        """Return the answer to "where are we?"."""
        if self.session is None:
            return progress.describe_left(self._document)
        here = await self.here()
        return step_text.where_text(here.graph, here.session, await self._all_values(here))

    @property
    def as_shown_to_agents(self) -> dict[str, Any]:
        """What a tool tells its agent of the step that the scenario is at now."""
        return {"scenario_now": self.grounding} if self.grounding else {"scenario_is": "finished"}

    async def _go_on(self, act: Act) -> bool:
        """Leave the current step if nothing keeps us there."""
        if self.session is None:
            return False
        here = await self.here()
        if here.step.acts and not await self._ran(here, act):
            return False
        if step_text.speaks(here.step) and not here.session.step_history[-1].spoken:
            return False
        found = self._document.scenario or here.session  # with what its tool has found
        here = Here(found, here.graph, here.step)
        after = progress.gone_on(
            here.session, here.graph, await self._values(here), self._clock.now()
        )
        if after is None:
            return False
        if after.step is None:
            self._finished = here.graph.scenario.title
        elif after.step in here.session.path:  # entered again, it asks again
            collected = here.graph.steps[after.step].collects_profile_fields
            after = without_values(after, collected)
        self._document.scenario = after
        return after.step is not None

    async def _ran(self, here: Here, act: Act) -> bool:
        """Run the tool of a step, once for each time that the session comes to it."""
        step, key = here.step, run_key(here.session, here.step)
        if any(done.idempotency_key == key for done in here.session.executed):
            return True
        known = await self.profile((*step.slots, *step.collects_profile_fields))
        values = self.facts(here.graph, here.session, known).values
        if progress.missing_of(step, values):
            return False
        ran = await run_tool(step, values, key, act)
        session = self._document.scenario or here.session
        if not ran.succeeded:
            self._failed_tool = step.runs
            return False
        if ran.has_asked:
            self.is_asking = True
            self._document.scenario = session.model_copy(update={"awaiting": key})
            return False
        self._ran_with(session, here, ran.data)
        return True

    def _ran_with(self, session: ScenarioSession, here: Here, data: Mapping[str, Any]) -> None:
        after = with_results(session, here.graph, here.step, data, turn=self.turn_id)
        self._document.scenario = with_run(after, run_key(session, here.step), here.step.id)

    async def hear_answer(self, data: Mapping[str, Any], words: str, *, act: Act) -> bool:
        """Go on with the answer to what the step's tool asked; False where none was asked.

        Args:
            data: What came of it, for the step's results: `agreed`, and what was done.
            words: The user's own, which answer nothing else.
        """
        if self.session is None or not self.session.awaiting:
            return False
        here = await self.here()
        if here.session.awaiting != run_key(here.session, here.step):
            return False
        used = Evidence(turn=self.turn_id, quote=words[: recording.QUOTE_LIMIT_CHARS])
        session = here.session.model_copy(update={"spent": [*here.session.spent, used]})
        self._ran_with(session, here, data)
        self.taken |= set(here.step.results)
        await self.settle(act)
        return True

    async def _look(self) -> None:
        """Tell anew what the agents are told and what is shown."""
        session = self._document.scenario
        if session is None or not session.is_open:
            self.grounding = step_text.finished_text(self._finished) if self._finished else ""
            if session is not None and session.place is not None and session.step is None:
                place = session.place.model_copy(update={"needs": [], "done": session.place.total})
                self._document.scenario = session.model_copy(update={"place": place})
            return
        here = await self.here()
        values = await self._values(here)
        place = step_text.place_of(here.graph, session, values)
        self._document.scenario = session.model_copy(update={"place": place})
        self.grounding = step_text.grounding_of(
            here.graph,
            session,
            values,
            failed_tool=self._failed_tool,
            taken=self.taken,
            is_asking=self.is_asking,
        )


def run_key(session: ScenarioSession, step: Step) -> str:
    """Return the key of this visit's run of the step's tool."""
    visit = sum(one.step_id == step.id for one in session.step_history)
    return hashed(session.session_id, step.id, f"visit {visit}")
