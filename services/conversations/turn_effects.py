"""Lets a turn's tools change each thing outside once, however often the turn is attempted.

A run that changes something is on record in the claim before it begins, with its arguments and a
key that is the same at every attempt. Whoever takes the turn over finds it there. That write is
conditional, so a process that slept through its claim changes nothing when it wakes.
"""

from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any

import orjson

from data_models.conversations.claim import Claim
from data_models.conversations.conversation import (
    Begun,
    Conversation,
    Effect,
    Interruption,
    OutsideChange,
)
from data_models.errors import InterruptedTurnError, ToolInputError
from data_models.identifiers import PatientId, hashed

ARGUMENTS_LIMIT_CHARS = 4_000
_UNKNOWN = (
    "an attempt that was interrupted had begun such a change, and nobody knows whether it was "
    "done; ask the user to check before you call this again"
)
_UNMET = (
    "I was interrupted while I answered this, and had begun: {changes}. I do not know whether that "
    "was done. Please check."
)
_PERHAPS = " It may have done this, so please check first: {changes}."


class TurnEffects:
    """Where one attempt at a turn puts on record what it is about to change outside.

    A user who says the same again after an interruption means what was begun then: its changes
    keep their keys. What was begun in the turn of another patient, as where another attempt took
    the message to be about somebody else, is only owned up to.

    Args:
        answered: How many messages of the turn are stored; what was begun for them is done.
    """

    def __init__(self, *, claim: Claim, patient_id: PatientId | None, answered: int) -> None:
        before = claim.conversation.begun_before(claim.message, patient_id)
        earlier = [*_inherited(before, answered), *_changes(claim.conversation)]
        self._claim = claim
        self._patient_id = patient_id
        self._run_id = claim.run_id if before is None else before.effects_of
        self._elsewhere = {one.key: one for one in earlier if one.patient_id != patient_id}
        self._earlier = {one.key: one for one in earlier if one.patient_id == patient_id}
        self._open = {key: one for key, one in self._earlier.items() if one.message >= answered}
        self._taken = set(self._earlier) - set(self._open)
        self._recorded = {change.key for change in _changes(claim.conversation)}

    async def begin(
        self, tool: str, arguments: Mapping[str, Any], *, message: int, key: str = ""
    ) -> Begun:
        """Return under which key the run may go on, and with which arguments.

        Args:
            message: How many messages of the turn are finished.
            key: Of a run that has one of its own.

        Raises:
            ToolInputError: an earlier attempt had begun such a change, and it is not known which.
            ClaimLostError: another replica answers the message now: nothing may be changed.
            StoreUnavailableError: it could not be put on record: nothing may be changed.
        """
        given = dict(arguments)
        wanted = key or self._next_key(tool, given)
        other = None if key or wanted in self._open else self._unmet(tool)
        if other is None or wanted in self._recorded:
            self._taken.add(wanted)
            is_short = len(orjson.dumps(given)) <= ARGUMENTS_LIMIT_CHARS
            change = OutsideChange(
                key=wanted,
                tool=tool,
                arguments=given if is_short else None,
                message=message,
                patient_id=self._patient_id,
            )
            # A key of its own outlives its turn: an earlier one may have used it.
            return Begun(await self._record(change, is_repeated=bool(key)), given)
        if other.arguments is None:
            del self._open[other.key]
            raise ToolInputError(_UNKNOWN)
        other = other.model_copy(update={"message": message})
        return Begun(await self._record(other), other.arguments or {}, is_other=True)

    def note_failure(self, begun: Begun) -> None:
        """Have the same call, tried again, go on under the same key."""
        self._taken.discard(begun.effect.key)

    @property
    def unmet(self) -> str:
        """What the user is told of changes that an earlier attempt began and this one did not."""
        earlier = [*self._open.values(), *self._elsewhere.values()]
        changes = [change for change in earlier if change.message >= 0]
        return _UNMET.format(changes=_names(changes)) if changes else ""

    def _next_key(self, tool: str, arguments: Mapping[str, Any]) -> str:
        """Return the key of this call: of equal ones in a turn, each has its own."""
        said = orjson.dumps(arguments, option=orjson.OPT_SORT_KEYS).decode()
        keys = (hashed(self._run_id, tool, said, str(number)) for number in count())
        return next(key for key in keys if key not in self._taken)

    def _unmet(self, tool: str) -> OutsideChange | None:
        """Return what an earlier attempt began with this tool, perhaps in other words."""
        changes = (one for one in self._open.values() if one.tool == tool and one.message >= 0)
        return next(changes, None)

    async def _record(self, change: OutsideChange, *, is_repeated: bool = False) -> Effect:
        """Return the effect of `change` once its claim says that it is begun."""
        self._open.pop(change.key, None)
        met = self._elsewhere.pop(change.key, None)  # the same call: of its arguments none are new
        is_repeated = is_repeated or met is not None
        is_repeated = is_repeated or change.key in self._earlier or change.key in self._recorded
        if change.key in self._recorded:
            await self._claim.hold()
        else:
            await self._claim.update(lambda draft: _record(draft, change))
            self._recorded.add(change.key)
        return Effect(change.key, is_repeated)


def _changes(conversation: Conversation) -> Sequence[OutsideChange]:
    return () if conversation.running_turn is None else conversation.running_turn.deeds


def _inherited(before: Interruption | None, answered: int) -> list[OutsideChange]:
    """Return what was begun for the same words before: no stored message of this turn met it."""
    changes = () if before is None else before.deeds
    return [
        change if change.message < 0 else change.model_copy(update={"message": answered})
        for change in changes
    ]


def _record(draft: Conversation, change: OutsideChange) -> None:
    if draft.running_turn is not None:
        draft.running_turn.deeds = [*draft.running_turn.deeds, change]


def _names(changes: Sequence[OutsideChange]) -> str:
    """Return what tools do as people say it: "add task, create event"."""
    return ", ".join(dict.fromkeys(change.tool.replace("_", " ") for change in changes))


def interrupted_text(interruption: Interruption) -> str:
    """Return what the user is told of a turn that died: what it may have done, too."""
    changes = [f"“{interruption.asked}”"] if interruption.asked else []
    changes += [_names(interruption.deeds)] if interruption.deeds else []
    perhaps = _PERHAPS.format(changes=", ".join(changes)) if changes else ""
    return InterruptedTurnError.user_message + perhaps
