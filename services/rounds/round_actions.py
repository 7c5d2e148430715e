"""What people do on a round: tick off, write notes, hand over, take over, prepare again."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from data_models.errors import RoundsListError
from services.rounds import round_list
from services.rounds.preparing import RoundPreparer


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundActions:
    """Every method raises `NoSuchListError` for a list that is absent or not the caller's.

    Each is refused with `ChartClosedError` while the patient's chart is not open to the caller.
    """

    entry: round_list.RoundEntry
    preparer: RoundPreparer

    async def tick(self, place: round_list.RoundPlace, *, is_done: bool) -> None:
        """Tick a patient off, or take the tick back.

        Raises:
            ChartClosedError: the chart is not open to the caller now.
        """
        await self.entry.enter_patient(place, "tick_round")
        await self._set(place, {"ticked_at": self._now if is_done else None})

    async def prepare_again(self, place: round_list.RoundPlace) -> None:
        """Prepare a patient once more, whatever came of it before."""
        await self.entry.enter_patient(place, "prepare_again")
        await self._change(place, round_list.again)
        await self.entry.book.reopen(place.round_id)
        self.preparer.prepare(place.round_id)

    async def note(self, place: round_list.RoundPlace, *, text: str) -> None:
        """Add a note on a patient.

        Raises:
            RoundsListError: there are 50 already.
            ChartClosedError: the chart is not open to the caller now.
        """
        patient = await self.entry.enter_patient(place, "note_round")
        note = round_list.Note(by=place.principal, at=self._now, text=text)
        await self.entry.book.change_notes(
            place.round_id, patient.patient_id, lambda notes: _with_note(notes, note)
        )

    async def hand_over(self, place: round_list.RoundPlace, sign_out: round_list.SignOut) -> None:
        """Hand a patient over to a colleague, who finds them among their own lists.

        Raises:
            RoundsListError: to oneself, or the colleague may not open the chart.
            ChartClosedError: the chart is not open to who hands over.
        """
        to = sign_out.to
        patient = await self.entry.enter_patient(place, "hand_over_round")
        if to == place.principal:
            raise RoundsListError(
                "You have this patient already. Name the colleague who takes over."
            )
        if not await self.entry.guard.may_open(to, patient.patient_id):
            raise RoundsListError(
                "This patient's chart is not open to that colleague. Nothing was handed over."
            )
        await self.entry.book.change_notes(
            place.round_id, patient.patient_id, lambda notes: _with_sign_out(notes, sign_out)
        )
        await self.entry.book.share(place.round_id, to)
        given = {"handed_to": to, "handed_at": sign_out.at, "accepted_at": None}
        await self._set(place, given)

    async def accept(self, place: round_list.RoundPlace, *, synthesis: str) -> None:
        """Take a patient over who was handed to the caller, in the caller's own words.

        Raises:
            RoundsListError: the patient was not handed to the caller, or is taken over already.
        """
        patient = await self.entry.enter_patient(place, "accept_round")
        if patient.handed_to != place.principal or patient.accepted_at is not None:
            raise RoundsListError("Nobody waits for you to take this patient over.")
        await self.entry.book.change_notes(
            place.round_id, patient.patient_id, lambda notes: _with_synthesis(notes, synthesis)
        )
        await self._set(place, {"accepted_at": self._now})

    @property
    def _now(self) -> datetime:
        return self.preparer.reader.clock.now()

    async def _set(self, place: round_list.RoundPlace, changes: Mapping[str, object]) -> None:
        await self._change(place, lambda one: one.model_copy(update=dict(changes)))

    async def _change(
        self,
        place: round_list.RoundPlace,
        change: Callable[[round_list.RoundPatient], round_list.RoundPatient],
    ) -> None:
        def changed(now: round_list.RoundList) -> round_list.RoundList | None:
            row = now.patient(place.patient_id)
            return None if row is None else now.with_patient(change(row))

        await self.entry.book.change(place.round_id, changed)


def _with_note(notes: round_list.RoundNotes, note: round_list.Note) -> round_list.RoundNotes:
    if len(notes.notes) >= round_list.NOTES_LIMIT:
        raise RoundsListError(
            f"A patient takes {round_list.NOTES_LIMIT} notes on a round. Nothing was added."
        )
    return notes.model_copy(update={"notes": (*notes.notes, note)})


def _with_sign_out(
    notes: round_list.RoundNotes, sign_out: round_list.SignOut
) -> round_list.RoundNotes:
    kept = notes.sign_outs[-round_list.NOTES_LIMIT + 1 :]
    return notes.model_copy(update={"sign_outs": (*kept, sign_out)})


def _with_synthesis(notes: round_list.RoundNotes, synthesis: str) -> round_list.RoundNotes:
    if not notes.sign_outs:
        return notes
    last = notes.sign_outs[-1].model_copy(update={"synthesis": synthesis})
    return notes.model_copy(update={"sign_outs": (*notes.sign_outs[:-1], last)})
