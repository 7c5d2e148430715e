"""What operators did to scenarios since the last turn, whose waits, and what a user corrects."""

from contextlib import suppress

from data_models.conversations.turn_events import Notice
from data_models.errors import ScenarioInputError, ScenarioNotFoundError, StoreError
from data_models.identifiers import PatientId
from data_models.scenarios.scenario import FieldDefinition
from data_models.scenarios.scenario_session import (
    Evidence,
    PatientProfile,
    ScenarioPlace,
    ScenarioSession,
)
from services.language.replies.corrections import correction_in, names_consent, revokes_consent
from services.language.replies.field_answers import day_ahead_in, taken_by
from services.language.replies.yes_no import consent_in
from services.language.words.own_texts import in_own_language
from services.scenarios.definition.graph import Graph
from services.scenarios.operators.asked import withdrawn
from services.scenarios.session.commands import answer_meant
from services.scenarios.session.facts import with_answers
from services.scenarios.session.recording import QUOTE_LIMIT_CHARS, shaped, unfit
from services.scenarios.session.scenario_runtime import ScenarioRuntime
from services.scenarios.session.step_text import confirmed_text, joined
from services.turn.documents import TurnDocuments
from services.turn.phases import GroundedTurn
from services.turn.reading import spoken_in
from services.turn.tools import ScenarioParts
from services.turn.turn_step import TurnStep


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


STILL = "still"
REVOKED = "The consent is revoked: {}. It is not used any more."


class TurnCorrections(TurnStep):
    """Reads corrections, revoked consents and the confirmation of lasting values."""

    async def answer(self, turn: GroundedTurn, runtime: ScenarioRuntime) -> bool:
        """Do what the message says of earlier answers; True if that answers it wholly.

        Raises:
            ScenarioInputError: it cannot be done.
            StoreError: a version cannot be read.
        """
        if turn.message.press is not None and turn.question_press() is None:
            return False
        if revokes_consent(turn.answer):
            return await self._revoke(turn, runtime)
        if (session := runtime.session) is None:
            return False
        graph = await self.scenarios.catalogue.graph(session)
        if session.to_confirm and is_asked_still(turn, session):
            await self._confirm(turn, runtime, session, graph)
            return False
        if session.progress is not None:
            return False  # what a migration asked is read there
        return await self._correct(turn, runtime, session, graph)

    def ask_still(self, turn: GroundedTurn, runtime: ScenarioRuntime, graph: Graph) -> bool:
        """Ask in one question whether what lasts still holds; False if nothing does."""
        session = runtime.session
        if session is None or not session.to_confirm or turn.record.question is not None:
            return False
        held = [confirmed_text(graph.fields[n], f.value) for n, f in session.to_confirm.items()]
        pseudo = FieldDefinition(name=STILL, value_type="boolean")
        turn.ask(
            "scenario_value",
            f"From last time: {joined(held)}. Is that still right? (yes or no)",
            patient_id=turn.patient_id,
            payload={
                "session": session.session_id,
                STILL: True,
                "fields": [pseudo.model_dump(mode="json")],
            },
        )
        return True

    async def _confirm(
        self, turn: GroundedTurn, runtime: ScenarioRuntime, session: ScenarioSession, graph: Graph
    ) -> None:
        """Take up what still holds; all else is asked for when its step comes."""
        said = consent_in(turn.answer)
        offered = session.to_confirm if said == "yes" else {}
        names = {name: one.value for name, one in offered.items()}
        answered = names if said == "yes" else dict.fromkeys(session.to_confirm)
        quotes = dict.fromkeys(answered, turn.answer) if said is not None else {}
        runtime.take(answered if said is not None else {}, quotes, graph)
        if (now := runtime.session) is not None:
            runtime.keep(now.model_copy(update={"to_confirm": {}}))

    async def _correct(
        self, turn: GroundedTurn, runtime: ScenarioRuntime, session: ScenarioSession, graph: Graph
    ) -> bool:
        """Change the answer that the message takes back; True if that could not be done."""
        if (correction := correction_in(turn.answer)) is None:
            return False
        if not (meant := answer_meant(correction, session, graph)):
            return correction.is_sure and self._asked_which(turn, session, graph)
        if len(meant) > 1:
            labels = [field.label for field in meant]
            return self._tell(
                turn, f"Which answer do you mean: {joined(labels)}? {_such_as(meant[0])}"
            )
        field = meant[0]
        if not correction.new:
            return self._tell(turn, f"What is right for {field.label}? {_such_as(field)}")
        day = day_ahead_in(field, correction.new, turn.now)
        value = shaped(field, correction.new) if day is None else day.value
        if value == session.variables[field.name]:
            return False
        if unfit(field, value) is not None:
            text = f"I did not change it: {field.label} takes {taken_by(field)}. {_such_as(field)}"
            return self._tell(turn, text)
        note = await self._change(turn, runtime, {field.name: value}, graph)
        self.replies.say(turn, note)
        return False

    def _asked_which(self, turn: GroundedTurn, session: ScenarioSession, graph: Graph) -> bool:
        """Ask which answer is meant where the "no" of a correction would be taken for an answer."""
        waits = [graph.fields[n] for n in graph.steps[session.step or ""].collects_profile_fields]
        given = [field for name, field in graph.fields.items() if name in session.variables]
        if not given or all(field.value_type != "boolean" for field in waits):
            return False
        return self._tell(turn, f"Which answer do you mean? {_such_as(given[-1])}")

    async def _change(
        self, turn: GroundedTurn, runtime: ScenarioRuntime, values: dict[str, object], graph: Graph
    ) -> str:
        evidence = Evidence(turn=runtime.turn_id, quote=turn.answer[:QUOTE_LIMIT_CHARS])
        note = await runtime.change(values, dict.fromkeys(values, evidence), graph)  # type: ignore[arg-type]
        runtime.taken |= set(values)
        runtime.put_anew()
        return note

    async def _revoke(self, turn: GroundedTurn, runtime: ScenarioRuntime) -> bool:
        """Store the revocation wherever the consent was given, in runs of before too."""
        labels: list[str] = []
        notes: list[str] = []
        document = turn.document
        if (session := runtime.session) is not None:
            graph = await self.scenarios.catalogue.graph(session)
            if given := _consents(session, graph):
                labels += [graph.fields[name].label for name in given]
                notes.append(await self._change(turn, runtime, dict.fromkeys(given, False), graph))
        document.left_scenarios = [
            await self._without(runtime, run, turn.answer, labels)
            for run in document.left_scenarios
        ]
        if runtime.session is None and document.scenario is not None:
            document.scenario = await self._without(runtime, document.scenario, turn.answer, labels)
        document.profile = _without_consents(document.profile, labels)
        if not labels:
            return False
        notice = REVOKED.format(joined([*dict.fromkeys(labels)]))
        moved = " ".join(note for note in notes if "go to" in note or "way" in note)
        self.replies.say(turn, f"{notice} {moved}".strip())
        return runtime.session is None

    async def _without(
        self, runtime: ScenarioRuntime, run: ScenarioSession, words: str, labels: list[str]
    ) -> ScenarioSession:
        """Return a run that is not open with its consents revoked."""
        graph = await self.scenarios.catalogue.graph(run)
        given = _consents(run, graph)
        labels += [graph.fields[name].label for name in given]
        evidence = Evidence(turn=runtime.turn_id, quote=words[:QUOTE_LIMIT_CHARS])
        if not given:
            return run
        return with_answers(run, dict.fromkeys(given, False), graph, dict.fromkeys(given, evidence))

    def _tell(self, turn: GroundedTurn, text: str) -> bool:
        self.replies.say(turn, text)
        return True


def is_asked_still(turn: GroundedTurn, session: ScenarioSession) -> bool:
    """Whether the open question is whether what lasts still holds."""
    question = turn.open_question()
    if question is None or question.kind != "scenario_value" or STILL not in question.payload:
        return False
    return question.payload.get("session") == session.session_id


def _such_as(field: FieldDefinition) -> str:
    return f"Say for example: “{field.label} is …”."


def _consents(session: ScenarioSession, graph: Graph) -> list[str]:
    held = {*session.variables, *session.to_confirm}
    return [
        name
        for name, field in graph.fields.items()
        if name in held
        and field.value_type == "boolean"
        and (session.variables.get(name) is True or name in session.to_confirm)
        and names_consent(f"{field.label} {name.replace('_', ' ')}")
    ]


def _without_consents(profile: PatientProfile, labels: list[str]) -> PatientProfile:
    over = [
        name
        for name, one in profile.fields.items()
        if one.value is True and names_consent(name.replace("_", " "))
    ]
    labels += [name.replace("_", " ") for name in over if not labels]
    kept = {name: one for name, one in profile.fields.items() if name not in over}
    return profile.model_copy(update={"fields": kept})
