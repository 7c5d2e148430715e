"""What a message answers that stops what runs: "stop", "wrong patient"."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from data_models.identifiers import PatientId
from services.identity.names.person import Person, both_identifiers
from services.language.replies.commands import command_in, is_said_of, takes_back
from services.language.replies.references import number_alone_in
from services.language.replies.yes_no import names_a_deed, says_no, says_yes
from services.language.words.folding import words_of
from services.language.words.phrases import says
from services.patient_context.answers import OPTIONS
from services.patient_context.verdict import PatientVerdict
from services.patient_context.who import noted_people
from services.patient_context.wording import code
from services.records.answers.as_said import told_in_passing
from services.turn.answers.remembering import TurnRemembering
from services.turn.end import has_ended_question
from services.turn.phases import GroundedTurn, LoadedTurn, UnderstoodTurn
from services.turn.turn_step import TurnStep

_OTHERS_OFFERED = 5
_ROUND = (
    "*Ward rounds* on the web page prepare the charts of all whom you name there, each by itself. "
    "Here one chart is read at a time; nothing was opened."
)
_HELD = "What was said of this patient is still held; say “forget” and what of it."
_NAME = "Name what you would like to review."
_OF_ANOTHER = (
    "Somebody else here was asked that, and it waits for their yes or no. Nothing was done."
)
_IS_OVER = "What you were asked before is over: the chart was changed since. Nothing was done."


@dataclass(kw_only=True, eq=False, repr=False)
class TurnStops(TurnStep):
    """Answers what stopped the turn before: the scheduler stops it, so that nobody waits for it.

    Holds no state of any turn.
    """

    remembering: TurnRemembering

    async def answer_wrong_patient(self, turn: LoadedTurn) -> bool:
        """Ask which patient is meant, if this message says that the chart is the wrong one.

        What the user stated just before was not about this patient then, and is held no more.
        """
        if turn.command != "wrong_patient" or _says_which_item(turn):
            return False
        return await self._ask_which(turn)

    async def answer_said_of_another(self, turn: UnderstoodTurn) -> bool:
        """Ask so, if this message says that the one before was about whom it names.

        Somebody whom nobody knows is not the open patient either.
        """
        verdict = turn.verdict
        asked = verdict.question.payload.get(OPTIONS, ()) if verdict.question is not None else ()
        active = turn.active_patient_id
        meant = [
            one
            for one in (verdict.patient_id, *asked)
            if one not in (None, active) and is_said_of(turn.text, _names_of(one, verdict))
        ]
        is_of_stranger = verdict.decision == "NEEDS_PATIENT_ID" and takes_back(turn.text)
        is_said = turn.message.press is None
        is_of_stranger &= not (
            is_said and command_in(turn.message.text) == "retract"
        )  # "no, that is his brother"
        people = (
            {} if verdict.people is None else {one: verdict.people.with_id(one) for one in meant}
        )
        return bool(meant or is_of_stranger) and await self._ask_which(turn, people)

    async def _ask_which(
        self, turn: LoadedTurn, named: Mapping[PatientId, Person | None] = MappingProxyType({})
    ) -> bool:
        if (active := turn.active_patient_id) is None:
            return False
        grounded = await self.documents.open(turn.stay(), active)
        roster = turn.registry.patient_registry
        others = list(named) or [one for one in roster if one != active][:_OTHERS_OFFERED]
        people = {} if turn.message.is_group else {**noted_people(turn.registry), **named}
        known = {one: f"{both_identifiers(who)} ({one})" for one, who in people.items() if who}
        called = [known.get(one) or code(one) for one in (active, *others)]  # in a group by id
        text = f"This is the chart of {called[0]}. {_which(called[1:])}"
        grounded.row.is_taken_back = True  # nor does this message tell anything of this patient
        taken = self.remembering.taken_back(grounded) or self.remembering.still_held(grounded)
        self.replies.ask(
            grounded,
            "which_patient",
            text,
            patient_id=active,
            payload={OPTIONS: others},
            done=" ".join(filter(None, (taken, "Stopped."))),
        )
        return True

    async def answer_order(self, turn: LoadedTurn) -> bool:
        """Say what became of it, if this message stops something, or begins what the page does.

        So of an answer to what is over: it is no message about the chart that is open by now.
        """
        if _answers_what_is_over(turn):
            return await self.answer_here(turn, _IS_OVER)
        if turn.message.press is None and says(turn.text, "starts_round"):
            return await self.answer_here(turn, _ROUND)
        if turn.command != "stop":
            return False
        grounded = await self.documents.open(turn.stay(), turn.active_patient_id)
        document = grounded.document
        before = document.chat_history[-2:-1]
        if not before or before[0].turn_status != "STOPPED":
            if _waits(grounded):
                return False
            self.replies.answer(grounded, "Nothing is running.")
            return True
        runs = document.plan is not None and document.plan.status == "running"
        rest = " The plan is paused: say “continue” to go on with it." if runs else ""
        self.replies.answer(grounded, f"Stopped. What was shown so far is kept.{rest}")
        return True

    def answer_nothing_waits(self, turn: GroundedTurn) -> bool:
        """Say so where the message is a bare yes or no and nobody asked anything.

        The turn's document is open.
        """
        text = turn.message.text
        is_bare = turn.message.press is None and (says_yes(text) or says_no(text))
        is_bare &= not (names_a_deed(text) or says(text, "reason", "thanks"))  # "why not"
        if not is_bare or turn.open_question() is not None:
            return False
        if _asks_another(turn):
            self.replies.say(turn, _OF_ANOTHER)
            return True
        if _waits_for_answer(turn):
            return False
        document = turn.document
        is_held = any(one.status == "active" for one in document.memory.key_points)
        is_held = is_held or bool(told_in_passing(document, document.heard))
        hint = _HELD if is_held and says_no(text) else _NAME
        self.replies.say(turn, f"Nothing waits for a yes or a no. {hint}")
        return True


def _answers_what_is_over(turn: LoadedTurn) -> bool:
    """Whether it is a bare yes, no or number, and what this user was asked is over."""
    text = turn.message.text
    is_bare = says_yes(text) or says_no(text) or number_alone_in(text) is not None
    is_bare = is_bare and turn.message.press is None and not names_a_deed(text)
    return is_bare and has_ended_question(turn.claim.conversation, turn.message.sender.principal_id)


def _asks_another(turn: GroundedTurn) -> bool:
    """Whether somebody else of the group is asked about a deed for the open patient."""
    sender, now, epoch = turn.message.sender.principal_id, turn.now, turn.claim.epoch
    return any(
        one.kind == "destructive_tool"
        and one.user != sender
        and one.patient_id == turn.patient_id
        and one.is_alive(epoch=epoch, now=now)
        for one in turn.claim.conversation.questions
    )


def _waits(turn: GroundedTurn) -> bool:
    """Whether a plan, an agent or a scenario waits for the user."""
    plan, scenario = turn.document.plan, turn.document.scenario
    if (plan is not None and plan.is_open) or turn.continuation is not None:
        return True
    return scenario is not None and scenario.step is not None


def _waits_for_answer(turn: GroundedTurn) -> bool:
    """Whether somebody waits, or the last words may be answered."""
    before = turn.document.chat_history[:-1]
    if _waits(turn):
        return True
    last = before[-1].agent_responses[-1:] if before else []
    return any("?" in message.text for message in last)


def _names_of(meant: PatientId, verdict: PatientVerdict) -> Sequence[str]:
    found = None if verdict.people is None else verdict.people.with_id(meant)
    person = verdict.person if found is None else found
    if person is None or person.patient_id != meant:
        return (meant,)
    return (meant, person.name, *(one.value for one in person.numbers))


def _says_which_item(turn: LoadedTurn) -> bool:
    """Whether "not this one" answers an open question about something else than patients."""
    question = turn.open_question()
    is_of_patients = question is None or question.kind in ("which_patient", "clear")
    return not is_of_patients and "one" in words_of(turn.message.text)


def _which(others: Sequence[str]) -> str:
    if not others:
        return "Which patient do you mean?"
    return f"Which patient do you mean: {', '.join(others)}, or another one?"
