"""Reads the message of a turn, once."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import lru_cache

from services.group_chat_port import AgentCard
from services.language.detection import language_of
from services.language.reader import ReaderTeam
from services.language.reading import read
from services.language.utterance import Situation, TeamMember, Utterance
from services.language.without_names import without_names
from services.turn.draft import TurnDraft
from services.turn.state import identity_of

_TURNS_BEFORE = 12
# A question of another day is not what "and in 2015?" goes on from.
_NEAR = timedelta(minutes=30)


def utterance_of(turn: TurnDraft, text: str, agents: Sequence[AgentCard]) -> Utterance:
    """Return what `text` says; read anew only where the turn's words have changed since."""
    spoken_in(turn)
    if turn.utterance is None or turn.utterance.text != text:
        asked = _nameless(text, _subject_of(turn))
        turn.utterance = replace(read(asked, situation_of(turn, agents)), text=text)
    return turn.utterance


@dataclass(frozen=True, slots=True)
class _Subject:
    """What says whose chart is open, and asks for nothing of it; empty where none is."""

    names: tuple[str, ...] = ()
    born: str = ""
    numbers: tuple[str, ...] = ()


def _subject_of(turn: TurnDraft) -> _Subject:
    known = identity_of(turn, turn.patient_id)
    if known is None:
        return _Subject()
    names: tuple[str, ...] = (known.name,)
    numbers: tuple[str, ...] = () if turn.patient_id is None else (turn.patient_id,)
    if turn.person is not None and turn.person.patient_id == turn.patient_id:
        names += tuple(one.label for one in turn.person.names)
        numbers += tuple(one.value for one in turn.person.numbers)
    return _Subject(names, known.birth_date, numbers)


@lru_cache(maxsize=1_000)
def _nameless(text: str, subject: _Subject) -> str:
    """Return `text` without its subject; a message is read again in the turns that follow."""
    return without_names(text, subject.names, born=subject.born, numbers=subject.numbers)


def member_of(card: AgentCard) -> TeamMember:
    """Return an agent, as far as a message may be for it."""
    return TeamMember(card.name, card.tools, card.answers, card.is_facilitator)


def reader_team(cards: Sequence[AgentCard]) -> ReaderTeam:
    """Return the team as the reader is told of it."""
    return ReaderTeam(tuple((member_of(card), card.description) for card in cards))


def situation_of(turn: TurnDraft, agents: Sequence[AgentCard]) -> Situation:
    """Return what the message of `turn` is read in."""
    document = turn.context.document if turn.context is not None else None
    plan = document.plan if document is not None else None
    before = tuple(_asked_before(turn))
    return Situation(
        now=turn.now,
        team=tuple(map(member_of, agents)),
        plan_is_open=plan is not None and plan.is_open,
        language=_language_of(reversed(before), turn),
        asked_before=before,
    )


def spoken_in(turn: TurnDraft) -> str:
    """Return the language in which the user is answered, ISO 639-1: what was pressed tells none."""
    message = turn.claim.message
    said = () if message.press is not None else (message.text,)
    turn.language = _language_of((*said, *reversed(tuple(_asked_before(turn)))), turn)
    return turn.language


def _language_of(texts: Iterable[str], turn: TurnDraft) -> str:
    """Return the language of the first of `texts` that tells one, else that of the talk so far.

    A bare name tells none, and nobody has said anything beside a chart that it opens.
    """
    so_far = turn.claim.conversation.language
    telling = (one for one in texts if language_of(one, default=""))
    # Small words of several languages, such as "in", tell of them the one of the talk.
    return next((language_of(one, default=so_far) for one in telling), so_far or "en")


def _asked_before(turn: TurnDraft) -> Iterator[str]:
    """Yield what was asked about this patient just before, the newest last."""
    document = turn.context.document if turn.context is not None else None
    subject = _subject_of(turn)
    for earlier in document.chat_history[-_TURNS_BEFORE - 1 :] if document is not None else ():
        is_near = turn.now - earlier.timestamp <= _NEAR
        if earlier.run_id != turn.run.run_id and is_near:
            yield _nameless(earlier.user_message, subject)
