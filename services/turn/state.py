"""What clients and agents are told of the conversation, made from a turn. Pure."""

from datetime import timedelta
from operator import attrgetter

from data_models.conversations.conversation import UNDO_HOURS
from data_models.conversations.turn_events import SharedState
from data_models.identifiers import PatientId
from data_models.patient_context_models import PatientIdentity, identity_noted
from services.group_chat_port import GroupChat
from services.identity.names.index import PersonIndex
from services.identity.noted import facts_of, person_of
from services.identity.others_named import OthersNamed
from services.language.words.own_texts import in_own_language
from services.patient_context.reading.snapshot import ShownRoster, build_snapshot, footer
from services.patient_context.who import noted_people
from services.turn.phases import GroundedTurn, UnderstoodTurn


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
    active = None if turn.verdict.hides_active else turn.active_patient_id
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
