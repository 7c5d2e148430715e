"""What code itself can read in a message, before anybody interprets it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from rapidfuzz.distance import OSA

from data_models.identifiers import PatientId
from services.language.people import near_ids
from services.language.people.patient_phrases import behind_leads, wording
from services.language.replies.commands import command_in
from services.language.replies.yes_no import says_no, says_yes
from services.language.requests.requests import is_of_own_things
from services.language.told.held_statements import withdrawn_value
from services.language.words.folding import with_plain_letters
from services.language.words.phrases import says
from services.patient_context.reading.candidates import Candidates, digits_of, find_candidates
from services.patient_context.reading.pattern import PatientIdPattern

# Tokens that are nearly patient ids: `pateint_15`, `patient_4-42`, `patient 4-42`. Pure.

# The word itself in other forms and languages: a number behind it is read by other rules.
_INFLECTED = frozenset(
    {
        *("patients", "patienten", "patientin", "patientinnen", "patiente", "patientes"),
        *("paciente", "pacientes", "paziente", "pazienti", "patience", "patent", "patents"),
    }
)
_SLIPS = 2
_OF_THE_TALK = (
    *("thanks", "greeting", "bare", "help_wanted", "roster", "of_knowledge"),
    *("next_in_round", "of_the_round"),
)
_SHOWN_CHARS = 64


def misspelt_id(text: str, pattern: PatientIdPattern) -> str | None:
    """Return the first token that is meant as an id and is none.

    It is an id that goes on behind a sign, or the word of our ids with a slip or two.
    """
    if (said := near_ids.number_in_words(text)) is not None:
        return said
    words = {word for one in pattern.examples if (word := near_ids.word_of_id(one))}
    found = (one for one in near_ids.tokens_like_ids(text) if _is_slip(one, words, pattern))
    return next((one.text[:_SHOWN_CHARS] for one in found), None)


def _is_slip(token: near_ids.TokenLikeId, words: set[str], pattern: PatientIdPattern) -> bool:
    if not any(OSA.distance(token.word, one) <= _SLIPS for one in words):
        return False
    if token.is_split:
        return True
    is_word = token.word in words or token.word in _INFLECTED
    return (token.goes_on or not is_word) and not pattern.matches_any_case(token.text)


OPTIONS_LIMIT = 10


@dataclass(frozen=True, slots=True)
class Ask:
    """A question to the user about the patient.

    Attributes:
        kind: `id`: for any id; `which`: of `options`; `meant`: whether `options[0]` is meant;
            `clear`: whether to clear the conversation.
        unfit: What was typed in place of an id, if that is known.
    """

    kind: Literal["id", "which", "meant", "clear"]
    options: tuple[PatientId, ...] = ()
    unfit: str = ""


@dataclass(frozen=True, slots=True)
class Reading:
    """A message beside the roster, as far as letters and digits say.

    Attributes:
        order: The shape without its polite beginning, on which plain wordings are matched.
        others: The roster but for the active patient, last used first.
        named: Patients whom the text names by id or by digits that stand for one.
        doubt: Why code cannot tell whom the text names, if it names anybody.
        digits: Patients whom any other number of the text could stand for.
        placed: Patients of none that was spoken of whose number stands where a patient's does.
        has_roster_digits: Whether any number of the text is a roster id's, counting or not.
        points_elsewhere: Whether the text speaks of another patient without naming one.
        is_of_things: Whether the user was just asked which event or task they mean.
    """

    text: str
    shape: str
    order: str
    active: PatientId | None
    others: tuple[PatientId, ...]
    named: tuple[PatientId, ...]
    doubt: Ask | None
    digits: tuple[PatientId, ...]
    placed: tuple[PatientId, ...]
    has_roster_digits: bool
    points_elsewhere: bool
    is_of_things: bool = False

    @property
    def the_named(self) -> PatientId | None:
        """The one patient named, None for nobody or several."""
        return self.named[0] if len(self.named) == 1 else None

    @property
    def may_name_another(self) -> bool:
        """Whether somebody other than the active patient may be meant."""
        return (
            self.doubt is not None
            or self.points_elsewhere
            or any(one != self.active for one in (*self.named, *self.digits, *self.placed))
        )

    @property
    def is_of_no_patient(self) -> bool:
        """Whether it is a yes, a no, thanks, "undo", or asks for the user's own day or the talk."""
        is_reply = says_yes(self.text) or says_no(self.text)
        is_reply = is_reply or command_in(self.text) in ("undo", "help", "where_are_we")
        return is_reply or is_of_own_things(self.text) or says(self.text, *_OF_THE_TALK)

    def knows(self, patient_id: PatientId) -> bool:
        """Whether `patient_id` is in the roster."""
        return patient_id == self.active or patient_id in self.others


def of_things(reading: Reading) -> Reading:
    """Return the reading of who was just asked which of their events or tasks they mean."""
    says_patient = wording("change_words").search(reading.shape) is not None
    points = reading.points_elsewhere and says_patient
    return replace(reading, is_of_things=True, points_elsewhere=points)


def read_message(
    text: str, *, active: PatientId | None, known: Sequence[PatientId], pattern: PatientIdPattern
) -> Reading:
    """Read `text` against the roster `known`, which lists the last used first."""
    roster = known if active is None or active in known else (*known, active)
    found = find_candidates(text, pattern=pattern, roster=roster)
    numbers = _Numbers(shape=found.shape, roster=roster)
    named, doubt = _named(found, numbers.strong(), pattern)
    if text.isascii() and (misspelt := misspelt_id(text, pattern)) is not None:
        digits = "".join(one if one.isdecimal() else " " for one in misspelt).split()
        new = pattern.with_digits(digits[0]) if len(digits) == 1 else None  # `pateint_15`
        doubt = doubt or (Ask("meant", (new,)) if new else Ask("id", unfit=misspelt))
    if not text.isascii():
        doubt = doubt or _look_alikes(text, found, named, roster=roster, pattern=pattern)
    others = tuple(one for one in roster if one != active)
    return Reading(
        text=text,
        shape=found.shape,
        order=_without_leads(found.shape),
        active=active,
        others=others,
        named=named,
        doubt=doubt,
        digits=numbers.weak(),
        placed=() if named or doubt else numbers.placed(pattern),
        has_roster_digits=numbers.any_known(),
        points_elsewhere=bool(others)
        and withdrawn_value(text) is None  # "forget the fall, that was another patient"
        and (
            says(text, "another_patient")
            or any(wording(one).search(found.shape) for one in ("other_patient", "other_one"))
        ),
    )


class _Numbers:
    """The numbers of a shape, and which ids they may be short for."""

    def __init__(self, *, shape: str, roster: Sequence[PatientId]) -> None:
        self._shape = shape
        self._by_digits: dict[str, list[PatientId]] = {}
        if wording("any_number").search(shape):
            for one in roster:
                self._by_digits.setdefault(digits_of(one), []).append(one)

    def strong(self) -> Mapping[str, Sequence[PatientId]]:
        """Return what stands in place of an id, and the roster's ids for it."""
        return {digits: self._known(digits) for digits in self._within("strong_numbers")}

    def placed(self, pattern: PatientIdPattern) -> tuple[PatientId, ...]:
        """Return the ids of nobody in the roster whose number stands where a patient does."""
        new = (one for one in self._within("placed_number") if not self._known(one))
        return tuple(filter(None, map(pattern.with_digits, new)))

    def _within(self, kind: str) -> Iterator[str]:
        for phrase in wording(kind).finditer(self._shape):
            yield from wording("any_number").findall(phrase.group())

    def weak(self) -> tuple[PatientId, ...]:
        """Return the roster's ids that numbers may stand for, other than measures."""
        return tuple(dict.fromkeys(self._all(wording("weak_number"))))[:OPTIONS_LIMIT]

    def any_known(self) -> bool:
        """Whether any number has the digits of a roster id."""
        return any(True for _ in self._all(wording("any_number")))

    def _all(self, kind: re.Pattern[str]) -> Iterator[PatientId]:
        for digits in kind.findall(self._shape):
            yield from self._known(digits)

    def _known(self, digits: str) -> Sequence[PatientId]:
        return self._by_digits.get(digits.lstrip("0") or "0", ())


def _named(
    found: Candidates, strong: Mapping[str, Sequence[PatientId]], pattern: PatientIdPattern
) -> tuple[tuple[PatientId, ...], Ask | None]:
    """Return who is named, and what keeps that from being clear."""
    sure = [known[0] for known in strong.values() if len(known) == 1]
    named = tuple(dict.fromkeys([*found.ids, *sure]))
    if len(named) > 1:
        return named, Ask("which", named[:OPTIONS_LIMIT])
    unfit = next((one for one in found.unfit if any(c.isdigit() for c in one)), None)
    if (
        unfit is None
        and found.unfit
        and wording("unfit_target").search(_without_leads(found.shape))
    ):
        unfit = found.unfit[0]
    if unfit is not None:
        return named, Ask("id", unfit=unfit)
    unsure = (_unsure(digits, known, pattern) for digits, known in strong.items())
    asks = [ask for ask in unsure if ask is not None]
    new = (one for ask in asks if ask.kind == "meant" for one in ask.options)
    if len(meant := (*named, *new)) > 1:  # "open 103 and 104"
        return named, Ask("which", meant[:OPTIONS_LIMIT])
    return named, next(iter(asks), None)


def _unsure(digits: str, known: Sequence[PatientId], pattern: PatientIdPattern) -> Ask | None:
    if len(known) == 1:
        return None
    if known:
        return Ask("which", tuple(known)[:OPTIONS_LIMIT])
    new = pattern.with_digits(digits)
    return Ask("id", unfit=digits) if new is None else Ask("meant", (new,))


def _look_alikes(
    text: str,
    found: Candidates,
    named: tuple[PatientId, ...],
    *,
    roster: Sequence[PatientId],
    pattern: PatientIdPattern,
) -> Ask | None:
    """Ask where foreign letters, digits or invisible characters hide an id: never guess it."""
    plain_text = with_plain_letters(text)
    if plain_text == text:
        return None
    plain = find_candidates(plain_text, pattern=pattern, roster=roster)
    seen, doubt = _named(plain, _Numbers(shape=plain.shape, roster=roster).strong(), pattern)
    if set(seen) == set(named) and set(plain.unfit) <= set(found.unfit):
        return doubt
    options = tuple(dict.fromkeys([*seen, *named]))[:OPTIONS_LIMIT]
    if len(options) == 1:
        return Ask("meant", options)
    return Ask("which", options) if options else doubt


def _without_leads(shape: str) -> str:
    return shape[behind_leads(shape) :]
