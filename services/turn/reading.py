"""Reads the message of a turn, once; and what is told of the conversation, made from a turn."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, time, timedelta
from functools import lru_cache
from operator import attrgetter
from typing import NamedTuple

from data_models.chat_context import ChatContext
from data_models.conversations.conversation import UNDO_HOURS
from data_models.conversations.turn_events import SharedState
from data_models.identifiers import PatientId
from data_models.patient_context_models import PatientIdentity, identity_noted
from services.group_chat_port import GroupChat
from services.identity.names.index import PersonIndex
from services.identity.noted import facts_of, person_of
from services.identity.others_named import OthersNamed
from services.language.people.without_names import without_names
from services.language.reading import reading_of
from services.language.replies.yes_no import behind_answer
from services.language.told.held_statements import asks_to_hold
from services.language.told.pasted_letters import is_letter
from services.language.utterance import Situation, TeamMember, Utterance
from services.language.words.detection import language_of
from services.language.words.own_texts import in_own_language
from services.patient_context.reading.snapshot import ShownRoster, build_snapshot, footer
from services.patient_context.who import noted_people
from services.turn.phases import ClaimedTurn, GroundedTurn, LoadedTurn, UnderstoodTurn


def identity_of(turn: UnderstoodTurn, patient_id: PatientId | None) -> PatientIdentity | None:
    """Return who a patient is, as the directory just said, else as noted when they were opened."""
    if patient_id is None:
        return None
    if turn.verdict.person is not None and turn.verdict.person.patient_id == patient_id:
        return identity_noted(facts_of(turn.verdict.person))
    row = turn.registry.patient_registry.get(patient_id)
    return None if row is None else identity_noted(row.facts)


def others_of(turn: GroundedTurn) -> OthersNamed:
    """Return by which names an answer of this turn would speak of another patient."""
    roster, person = turn.registry.patient_registry, turn.verdict.person
    row = None if turn.patient_id is None else roster.get(turn.patient_id)
    own = person or (None if row is None else person_of(row.patient_id, row.facts))
    index = turn.verdict.people or PersonIndex(
        people=filter(None, noted_people(turn.registry).values())
    )
    return OthersNamed(index=index, own=own, roster=roster)


def snapshot_of(turn: GroundedTurn) -> str:
    """Return the system message that grounds the agents for this turn."""
    # When the roster or the active patient last changed; now where nobody is in it.
    rows = turn.registry.patient_registry.values()
    changed_at = max(map(attrgetter("updated_at"), rows), default=turn.now)
    return build_snapshot(
        conversation_id=turn.conversation_id,
        patient_id=turn.patient_id,
        roster=turn.roster,
        now=changed_at,
        today=turn.now.date(),
        patient=identity_of(turn, turn.patient_id),
    )


def shared_state(turn: UnderstoodTurn, group_chat: GroupChat, *, language: str) -> SharedState:
    """Return what clients may show now, the open question in the user's language."""
    roster, question = turn.roster, turn.record.question
    context = turn.document if isinstance(turn, GroundedTurn) else None
    session = context.scenario if context is not None else None
    active = turn.active_patient_id
    shows_patient = context is not None and active is not None and context.patient_id == active
    return SharedState(
        conversation_id=turn.conversation_id,
        patient_id=active,
        all_patient_ids=roster.patient_ids,
        patient_count=roster.count,
        patient=identity_of(turn, active),
        decision=turn.verdict.decision,
        plan=context.plan if context is not None and shows_patient else None,
        question=None
        if question is None
        else {
            "id": question.question_id,
            "kind": question.kind,
            "text": in_own_language(question.text, language),
        },
        undo=_undo(turn),
        artifacts=tuple(context.artifacts) if context is not None and shows_patient else (),
        scenario=session.shown_place if session is not None and shows_patient else None,
        model_kind="language_model" if group_chat.is_language_model else "offline",
        facilitator=group_chat.facilitator,
        timing=turn.timing,
    )


def _undo(turn: UnderstoodTurn) -> dict[str, str] | None:
    """Return what brings back what was just cleared; only who cleared is offered it."""
    last = turn.claim.conversation.last_clear
    if turn.verdict.decision != "CLEAR" or last is None:
        return None
    until = last.at + timedelta(hours=UNDO_HOURS)
    return {"say": "undo", "until": until.isoformat()}


def footer_of(state: SharedState) -> str:
    """Return the footer that plain surfaces add to an agent's message (spec page 1.9)."""
    shown = ShownRoster(
        patient_ids=tuple(PatientId(each) for each in state.all_patient_ids),
        count=state.patient_count,
    )
    return footer(
        conversation_id=state.conversation_id,
        patient_id=None if state.patient_id is None else PatientId(state.patient_id),
        roster=shown,
        patient=state.patient,
    )


_TURNS_BEFORE = 12
# A question of another day is not what "and in 2015?" goes on from.
_NEAR = timedelta(minutes=30)


def utterance_of(turn: GroundedTurn, text: str, agents: Sequence[TeamMember]) -> Utterance:
    """Return what `text` says; read anew only where the turn's words have changed since."""
    if turn.sessions.utterance is None or turn.sessions.utterance.text != text:
        spoken_in(turn)
        asked = _nameless(text, _subject_of(turn))
        turn.sessions.utterance = replace(reading_of(asked, situation_of(turn, agents)), text=text)
    return turn.sessions.utterance


class _Subject(NamedTuple):
    """What says whose chart is open, and asks for nothing of it; empty where none is."""

    names: tuple[str, ...] = ()
    born: str = ""
    numbers: tuple[str, ...] = ()


def _subject_of(turn: GroundedTurn) -> _Subject:
    if (known := identity_of(turn, turn.patient_id)) is None:
        return _Subject()
    names: tuple[str, ...] = (known.name,)
    numbers: tuple[str, ...] = () if turn.patient_id is None else (turn.patient_id,)
    if turn.verdict.person is not None and turn.verdict.person.patient_id == turn.patient_id:
        names += tuple(one.label for one in turn.verdict.person.names)
        numbers += tuple(one.value for one in turn.verdict.person.numbers)
    return _Subject(names, known.birth_date, numbers)


def names_of(turn: GroundedTurn) -> tuple[str, ...]:
    """Return the names of the patient whose chart is open; none where nobody's is."""
    return _subject_of(turn).names


def nameless(turn: GroundedTurn, text: str) -> str:
    """Return `text` with `patient` for the name of the open patient, and without their dates."""
    return _nameless(text, _subject_of(turn))


@lru_cache(maxsize=1_000)
def _nameless(text: str, subject: _Subject) -> str:
    """Return `text` without its subject; a message is read again in the turns that follow."""
    return without_names(text, subject.names, born=subject.born, numbers=subject.numbers)


def question_before(turn: LoadedTurn, document: ChatContext) -> str:
    """Return what was asked last in the document that the message leaves; "" if nothing was."""
    if not document.chat_history or document.patient_id is None:
        return ""
    last = document.chat_history[-1]
    person = noted_people(turn.registry).get(document.patient_id)
    names = () if person is None else tuple(one.label for one in person.names)
    asked = without_names(behind_answer(last.user_message), names, numbers=(document.patient_id,))
    read = (
        reading_of(asked, Situation(now=turn.now)) if turn.now - last.timestamp <= _NEAR else None
    )
    # "note: fall risk" is of the one of whom it was said.
    return asked if read is not None and read.about and not asks_to_hold(asked) else ""


def situation_of(turn: GroundedTurn, agents: Sequence[TeamMember]) -> Situation:
    """Return what the message of `turn` is read in."""
    plan = turn.document.plan
    before = tuple(_asked_before(turn))
    return Situation(
        now=datetime.combine(turn.now, time.min, turn.now.tzinfo),  # days alone count from it
        team=tuple(agents),
        plan_is_open=plan is not None and plan.is_open,
        language=_language_of(reversed(before), turn),
        asked_before=before,
    )


def spoken_in(turn: ClaimedTurn) -> str:
    """Return the language in which the user is answered, ISO 639-1: what was pressed tells none."""
    language = _language_of(_spoken_last(turn), turn)
    turn.record.answer_in(language)
    return language


def _spoken_last(turn: ClaimedTurn) -> Iterator[str]:
    if turn.message.press is None:
        yield turn.message.text
    yield from reversed(tuple(_asked_before(turn)))  # not read where the message tells


def _language_of(texts: Iterable[str], turn: ClaimedTurn) -> str:
    """Return the language of the first of `texts` that tells one, else that of the talk so far.

    A bare name tells none, and nobody has said anything beside a chart that it opens.
    """
    so_far = turn.claim.conversation.language or turn.message.language
    telling = (one for one in texts if language_of(one, default=""))
    # Small words of several languages, such as "in", tell of them the one of the talk.
    return next((language_of(one, default=so_far) for one in telling), so_far or "en")


def _asked_before(turn: ClaimedTurn) -> Iterator[str]:
    """Yield what was asked about this patient just before, the newest last."""
    if not isinstance(turn, GroundedTurn):
        return
    subject = _subject_of(turn)
    for earlier in turn.document.chat_history[-_TURNS_BEFORE - 1 :]:
        is_near = turn.now - earlier.timestamp <= _NEAR
        if earlier.run_id != turn.run.run_id and is_near:
            said = behind_answer(earlier.user_message)  # what had waited stands a line each
            lines = [said] if is_letter(said) else said.splitlines()[-_TURNS_BEFORE:]
            yield from (_nameless(one, subject) for one in lines)
    yield from (_nameless(one, subject) for one in turn.went_before)
