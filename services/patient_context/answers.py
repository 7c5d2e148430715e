"""What a message answers to an open question about the patient. Pure."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from operator import attrgetter
from typing import Literal, TypeAlias

from rapidfuzz.distance import OSA

from data_models.conversations.conversation import OpenQuestion
from data_models.identifiers import PatientId
from services.identity.names.covers import name_words
from services.identity.names.index import NEAR_LEAST_CHARS
from services.identity.names.person import Person
from services.language.figures.full_dates import birth_years, full_dates, years_in
from services.language.people.ages_told import age_behind, age_told
from services.language.people.mentions import read_words
from services.language.replies.commands import command_in, without_outer_punctuation
from services.language.replies.yes_no import behind_yes_or_no, says_no, says_yes, yes_no_in
from services.language.words.folding import words_of
from services.language.words.people_words import of_people
from services.language.words.phrases import parts_in, says, without
from services.patient_context.reading.candidates import digits_of
from services.patient_context.reading.pattern import PatientIdPattern
from services.patient_context.reading.reading import OPTIONS_LIMIT, Ask

OPTIONS = "options"
"""Payload key: the ids offered."""
ASKED = "asked"
"""Payload key: the wish that waits for the answer, or a list of several; nobody else's."""
CARRIED = "carried"
"""Payload key: whether the wish is the question before, which was asked of somebody else."""
OPENS_ONLY = "opens_only"
"""Payload key: whether the wish is for the chart to be open, and no more."""
NAMES_THEM = "names_them"
"""Payload key: whether the wish names who is offered, and so is nobody else's."""
SAID = "said"
"""Payload key: the words that were asked about."""
NAMED = "named"
"""Payload key: who alone has the name that was asked about; "yes" means them."""
NUMBER = "number"
"""Payload key: the number that was asked about, which is nobody's."""
PASSED_BY = "passed_by"
"""Payload key: that a message was answered beside it once."""
_NAME_WORDS = 4
_DESCRIBING_WORDS = 6
_PLACES = ("first_of_them", "second_of_them", "third_of_them", "fourth_of_them", "fifth_of_them")


Answer: TypeAlias = Literal["clear", "no"]
"""A yes to clear, and a plain no."""


@dataclass(frozen=True, slots=True)
class PatientAnswer:
    """The one patient who was meant."""

    patient_id: PatientId


def read_answer(
    text: str, question: OpenQuestion, *, known: Sequence[PatientId], pattern: PatientIdPattern
) -> Answer | PatientAnswer | Ask | None:
    """Return what `text`, the next message of the user who was asked, answers; maybe ask again.

    None where it stands for itself. Ids need no reading here: an id alone is a change of patient
    whatever was asked.
    """
    if OPTIONS not in question.payload and (says_no(text) or says_yes(text)):
        return None  # whose a wish is; yes and no answer what an agent said beside it
    if refuses(text):
        return "no"
    if question.kind == "clear":
        return "clear" if says_yes(text) else None
    options = options_of(question)
    if question.kind == "subject" and (chosen := _by_place(text, options)) is not None:
        return PatientAnswer(chosen)
    if says_yes(text):
        by_name = question.payload.get(NAMED)
        meant = [one for one in options if by_name in (None, one)]
        return PatientAnswer(meant[0]) if len(meant) == 1 else _ask_among(options)
    if options and yes_no_in(text) == "yes" and not says(text, "next_in_round"):
        return _ask_among(options)  # "go on" says of nobody that it is meant
    digits = without_outer_punctuation(behind_yes_or_no(text))  # `no 21`
    if not (digits.isascii() and digits.isdigit()):
        return None
    return _of_digits(digits, options, known, pattern)


def refuses(text: str) -> bool:
    """Whether nobody of those offered is meant: "no", "scratch that", "none of them"."""
    return (
        says_no(text) or command_in(text) == "retract" or says(text, "lets_it_be", "none_offered")
    )


def told_among(
    text: str, people: Mapping[PatientId, Person], *, beside: PatientId | None, today: date
) -> list[PatientId]:
    """Return those of the ones offered whom an answer names, or the one whom it describes.

    By a record number or any part of a name, and nobody where it says anything else: "not Abdul".

    Args:
        beside: Whose chart is open; who describes somebody describes another where one is offered.
    """
    is_open = says(text, "open_of_them", "is_no_patient")
    if beside in people and (is_open or says(text, "other_of_them")):
        return [one for one in people if (one == beside) == is_open]
    everybody = [*people.values()]
    said = without_outer_punctuation(text)
    numbered = [one for one in everybody if any(each.value == said for each in one.numbers)]
    named = numbered if len(numbered) == 1 else _named_in(text, everybody)
    others = [person for one, person in people.items() if one != beside]
    described = None if named else _described_in(text, others, today)
    described = described or (None if named else _described_in(text, everybody, today))
    return [one for one in people if people[one] in named or people[one] is described]


def _named_in(text: str, people: Sequence[Person]) -> list[Person]:
    said_of, text = parts_in(text, "picks_one"), behind_yes_or_no(text)
    picked = said_of or parts_in(text, "picks_one") or {}
    men, women = of_people("titles_of_men"), of_people("titles_of_women")
    words = set(words_of(without(picked.get("who", text), "polite")))
    said = words - men - women - of_people("surely")
    if not said or len(said) > _NAME_WORDS:
        return []
    sex = "male" if words & men else "female" if words & women else None
    fitting = [one for one in people if is_of_sex(one, sex)]
    exact = [one for one in fitting if said <= name_words(one)]
    return exact or [
        one for one in fitting if all(are_near([word], name_words(one)) for word in said)
    ]


def is_name_of(said: str, person: Person | None) -> bool:
    """Whether one of the words is a name of `person`, perhaps with a slip."""
    return person is not None and are_near(words_of(said), name_words(person))


def are_near(words: Collection[str], names: Collection[str]) -> bool:
    """Whether one of the words is a name, perhaps with a slip; short ones are other names then."""
    slips = {one: len(one) >= NEAR_LEAST_CHARS for one in words}
    return any(OSA.distance(one, name) <= slips[one] for one in words for name in names)


def _described_in(text: str, people: Sequence[Person], today: date) -> Person | None:
    # By sex, age, birth date or birth year: "the younger one", "the woman", "*1956".
    days, typed, text = full_dates(text), text, behind_yes_or_no(text)  # which leaves no signs
    if len(text.split()) > _DESCRIBING_WORDS:
        return None
    if (is_last := says(text, "younger_of_them")) or says(text, "older_of_them"):
        born = sorted((one for one in people if one.birth_date), key=attrgetter("birth_date"))
        is_told = len(born) == len(people) > 1
        is_told = is_told and not born[-1].birth_date.startswith(born[0].birth_date)
        return born[-1 if is_last else 0] if is_told else None
    age = age_told(text)
    years = [] if days else [*map(str, years_in(text)), *birth_years(text)]
    sexes = ((one, f"{one}_of_them") for one in ("male", "female"))  # `la señora`
    sex = next((one for one, said in sexes if says(text, said) or says(typed, said)), None)
    if not (days or years or age or sex):
        return None
    found = [
        one
        for one in people
        if (not days or any(one.is_born_on(each.readings) for each in days))
        and (not years or any(one.birth_date[:4].endswith(each) for each in years))
        and (age is None or (one.born_on is not None and age.fits(one.born_on, today)))
        and sex in (None, one.sex)
    ]
    return found[0] if len(found) == 1 else None


def is_of_another_birth(text: str, person: Person | None, today: date) -> bool:
    """Whether `text` tells a birth date, a year of birth or an age that is not that of `person`."""
    if person is None or person.born_about is None:
        return False
    days = [one.readings for one in full_dates(text) if one.is_birth]
    named = (one.end for one in read_words(text).words if one.text in name_words(person))
    ages = filter(None, (age_told(text), *(age_behind(text, end) for end in named)))
    born = person.born_about
    is_other = any(one.unit == "year" and not one.is_near(born, today) for one in ages)
    is_other |= any(person.is_born_on(one) is False for one in days)
    return is_other or not all(map(person.birth_date[:4].endswith, birth_years(text)))


def is_of_sex(person: Person | None, sex: str | None) -> bool:
    """Whether somebody, as far as they are known, may be spoken of as one of `sex`."""
    return person is None or {person.sex, sex} != {"male", "female"}


def _by_place(text: str, options: Sequence[PatientId]) -> PatientId | None:
    """Return the option with the number that was said; its line stands beside it."""
    said = without_outer_punctuation(text)
    for number, name in enumerate(_PLACES):
        if says(text, name):
            return options[number] if number < len(options) else None
    is_place = said.isascii() and said.isdigit() and len(said) < 3
    return options[int(said) - 1] if is_place and 0 < int(said) <= len(options) else None


def _of_digits(
    digits: str, options: Sequence[PatientId], known: Sequence[PatientId], pattern: PatientIdPattern
) -> Answer | PatientAnswer | Ask | None:
    for offered in (options, known):
        fitting = [one for one in offered if digits_of(one) == (digits.lstrip("0") or "0")]
        if len(fitting) == 1:
            return PatientAnswer(fitting[0])
        if fitting:
            return _ask_among(fitting)
    if (chosen := _by_place(digits, options)) is not None:
        return PatientAnswer(chosen)
    new = pattern.with_digits(digits)
    return Ask("id", unfit=digits[:64]) if new is None else Ask("meant", (new,))


def _ask_among(options: Sequence[PatientId]) -> Ask:
    return Ask("which", tuple(options)[:OPTIONS_LIMIT]) if options else Ask("id")


def waiting_in(question: OpenQuestion) -> tuple[str, ...]:
    """Return the messages that wait for the answer to `question`, in the order they were sent."""
    waiting = () if question.payload.get(OPENS_ONLY) else question.payload.get(ASKED, ())
    return tuple(filter(None, (waiting,) if isinstance(waiting, str) else map(str, waiting)))


def as_waiting(messages: Sequence[str]) -> str | list[str]:
    """Return messages as the payload has them: one as such, as servers before lists read it."""
    return messages[0] if len(messages) == 1 else [*messages]


def with_waiting(question: OpenQuestion, messages: Sequence[str]) -> OpenQuestion:
    """Return the question, for whose answer these messages wait."""
    return question.noting({ASKED: as_waiting(messages), OPENS_ONLY: False})


def options_of(question: OpenQuestion) -> list[PatientId]:
    """Return the ids that a question offers, in the order of its lines."""
    offered = question.payload.get(OPTIONS, [])
    return [PatientId(one) for one in offered if isinstance(one, str)]


def asks_same(answer: Ask, question: OpenQuestion) -> bool:
    """Whether an answer that has to be asked about leaves the choice that the question offers."""
    return question.kind == "subject" or list(answer.options) == options_of(question)
