"""What a message says of people, and who is named in it only beside the patient. Pure."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from data_models.identifiers import PatientId
from services.identity.names import asked_about
from services.identity.names.covers import name_words
from services.identity.names.index import NumberHit
from services.identity.names.matching import Known, Mention
from services.identity.names.name_signs import contradicts
from services.identity.names.person import Person
from services.language.charts.chart_entries import words_of_questions
from services.language.figures.full_dates import FullDate
from services.language.people.ages_told import AgeTold
from services.language.people.mentions import Message
from services.language.people.signed_word import Word
from services.language.replies.commands import command_in
from services.language.replies.yes_no import yes_no_in
from services.language.several_requests import begun_before
from services.language.told.pasted_letters import is_letter
from services.language.words.letters import folded
from services.language.words.people_words import of_people
from services.language.words.phrases import parts_in, says

_PAIR, _CLOSING_WORDS = 2, 4


@dataclass(frozen=True, slots=True)
class NumberSaid:
    """A number of the message that is an identifier, or is meant as one."""

    text: str
    hits: Sequence[NumberHit]


@dataclass(frozen=True, slots=True)
class Said:
    """What a message says of people."""

    message: Message
    mentions: Sequence[Mention] = ()
    numbers: Sequence[NumberSaid] = ()
    dates: Sequence[FullDate] = ()
    birth_years: Sequence[str] = ()
    years: Sequence[int] = ()
    age: AgeTold | None = None


def without_set_against(said: Said) -> Said:
    """Leave out who is named only to say that another one is meant: `Grant, not Doyle`."""
    named = [one for one in said.mentions if one.span]
    against = asked_about.set_against(said.message, [one.span for one in named])
    left_out = {(span[0].start, span[-1].start) for span in against}
    kept = [one for one in named if (one.span[0].start, one.span[-1].start) not in left_out]
    unplaced = [one for one in said.mentions if not one.span]
    return replace(said, mentions=[*kept, *unplaced]) if kept else said


def is_of_other_sex(said: Said, others: Sequence[Person]) -> bool:
    """Whether pronouns speak of somebody else: `before I forget Mr Doyle: what is her sodium?`."""
    sex = said.message.told_sex
    sexes = {one.sex for one in others} & {"male", "female"}
    return sex in ("male", "female") and bool(sexes - {sex})


def is_stated_only(said: Said, others: Sequence[Person], known: Known) -> bool:
    """Whether the message says something of somebody and asks beside it, of whom nobody can tell.

    `Doyle is back. What did his CT show?` asks about Doyle where the open patient is a woman.
    """
    sex, own = said.message.told_sex, known.open
    if own is not None and sex in ("male", "female") and own.sex not in (sex, "unknown"):
        return False
    spans = _spans_of(said, others)
    return any(asked_about.is_stated_about(said.message, span[0].start) for span in spans)


def _spans_of(said: Said, others: Sequence[Person]) -> list[tuple[Word, ...]]:
    return [
        one.span
        for one in said.mentions
        if one.span and any(each.same_as(other) for each in one.people for other in others)
    ]


def is_in_passing(said: Said, others: Sequence[Person]) -> bool:
    """Whether somebody is named beside the patient: a relative, staff, `not Doyle`."""
    numbers = (said.message.text.find(one.text) for one in said.numbers)
    return any(asked_about.is_set_aside(said.message, place) for place in numbers) or any(
        span[0].title in ("relative", "staff")
        or asked_about.is_set_aside(said.message, span[0].start)
        or asked_about.is_kin_of(said.message, span)
        or not asked_about.is_asked_about(said.message, span)
        for span in _spans_of(said, others)
    )


def is_after_the_open_one(message: Message, place: int) -> bool:
    """Whether who is named at `place` stands beside the open patient, of whom is spoken, too.

    Not a change of patient: "Doyle is her husband", "her stage and Doyle's", "bp? and note Doyle".
    """
    is_later = message.pronoun_at is not None and message.pronoun_at < place
    is_later = is_later or begun_before(message.text, place)
    return is_later or asked_about.calls_relative(message, place)


def first_place(said: Said, others: Sequence[Person]) -> int:
    """Return where the first of `others` is named; 0 if that is not by name or number."""
    named = [span[0].start for span in _spans_of(said, others)]
    return min([*named, *(said.message.text.find(one.text) for one in said.numbers)], default=0)


def heads_message(said: Said, one: FullDate) -> bool:
    """Whether a date heads a message, alone or behind initials: `EH 30.01.07: CEA?`."""
    known = (of_people("letter_pairs"), words_of_questions())
    before = (word for word in said.message.words if word.start < one.start)
    return all(
        each.is_in("moves_on")
        or (len(each.raw) <= _PAIR and not any(each.text in one for one in known))
        for each in before
    )


def asks_which(said: Said, known: Known) -> bool:
    """Whether it is asked who of several patients is: "who has the low potassium?"."""
    is_of_one = said.message.pronoun_at is not None or len(known.roster) < 2
    return not is_of_one and says(said.message.text, "which_of_them")


def is_called_wrong(mention: Mention, message: Message) -> bool:
    """Whether a name is said to be the wrong one: "wrong Smith", "this isn't Smith, is it?"."""
    if not mention.span:
        return False
    first = mention.span[0]
    is_denied = says(message.text[: first.start], "is_not_theirs")
    return is_denied or first.before in of_people("wrong_one")


def is_kin_who_speaks(message: Message, mention: Mention, known: Known) -> bool:
    """Whether one of the open patient's name tells of them: `Frau Doyle ruft an, er hat Fieber`."""
    own, last = known.open, mention.span[-1]
    if own is None or not contradicts(mention.span, own) or last.text not in name_words(own):
        return False
    theirs = {"er", *of_people("he")} if own.sex == "male" else {"sie", *of_people("she")}
    does = of_people("people_do") & {last.after, last.beyond}
    is_of_own = message.told_sex in (None, own.sex) and bool(does)
    return is_of_own and any(one.text in theirs for one in message.words)


def is_passed_by(one: Mention, text: str, message: Message, roster: Collection[PatientId]) -> bool:
    """Whether a name is no patient's: of who signs, and if strange in a yes, a no, or a letter."""
    is_known = any(each.patient_id in roster for each in one.people)
    is_last = bool(one.span) and one.span[-1] in message.words[-_CLOSING_WORDS:]
    is_end = is_last and not one.span[-1].is_owner and "?" not in text[one.span[-1].end :]
    if is_end and not is_known and says(text[: one.span[0].start], "signs_off"):
        return True
    if one.strength != "stranger":
        return False
    is_reply = command_in(text) in ("retract", "undo", "stop", "help")  # "Streich das"
    is_reply = is_reply or yes_no_in(text) in ("yes", "no")  # "Klar"
    return is_reply or (is_last and is_letter(text))


def gone_back_to(said: Said, known: Known) -> Person | None:
    """Return the only other man or woman of the conversation: "back to the lady from before"."""
    text, person = said.message.text, known.open
    other = parts_in(text, "goes_back_to_other")
    if (parts := other or parts_in(text, "goes_back_to_one")) is None:
        return None
    is_man = folded(parts["who"]) in of_people("men")
    sex = "male" if is_man else "female" if folded(parts["who"]) in of_people("women") else None
    people = [known.index.with_id(one) for one in known.roster]
    others = [one for one in people if one is None or not one.same_as(person)]
    fitting = [one for one in others if one is None or one.sex in (sex, "unknown")]
    is_other = other is not None or person is None or person.sex != sex
    found = fitting[0] if len(fitting) == 1 and is_other else None
    return found if found is not None and found.sex == sex else None
