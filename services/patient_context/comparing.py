"""Whether a message wants charts compared, whose, and the question that asks first. Pure."""

from collections.abc import Sequence

from data_models.conversations.conversation import OpenQuestion
from data_models.identifiers import PatientId
from services.identity.names.person import Person, distinct
from services.identity.wording import option_line
from services.language.words.folding import words_of
from services.language.words.phrases import parts_in, says
from services.patient_context.answers import ASKED, OPTIONS, SAID, is_of_sex, options_of, waiting_in
from services.patient_context.patient_turn import PatientTurn
from services.patient_context.verdict import PatientVerdict
from services.patient_context.who import Who

_SIDES, _ANSWER_WORDS = 2, 3
_TEXT = (
    "Lay these two charts side by side? Each is read by itself, the access is recorded for both, "
    "nothing of it enters either patient's memory, and no language model sees it."
)


def compared_people(who: Who) -> Sequence[Person]:
    """Return the two patients whom a message wants compared, in its order; empty for any other.

    Both are known for sure: by id, number or whole name, as the open patient who is spoken of, or
    as the only two of the conversation. Of two family names that one each bears, the question
    itself asks whether they are meant.
    """
    reading, subject = who.turn.reading, who.subject
    is_of_both = says(reading.text, "compares_both") and not says(reading.text, "pair_of_things")
    is_known = subject.is_sure or subject.outcome == "several"
    if not (who.linked.message.compares or is_of_both) or not is_known:
        return ()
    if reading.doubt is not None and reading.doubt.kind != "which":
        return ()
    named = [person for one in reading.named if (person := who.person(one)) is not None]
    if len(named) < len(reading.named):
        return ()
    people = _spoken_of(who, named) or (_the_two_of_the_roster(who) if is_of_both else [])
    found = distinct(one for one in people if one.patient_id is not None)
    return found if len(found) == _SIDES else ()


def compared_with(chosen: PatientId, who: Who, question: OpenQuestion) -> Sequence[Person]:
    """Return the open patient and the one who was chosen for "compare with Birgit"; else nobody."""
    other, said = who.person(chosen), set(words_of(str(question.payload.get(SAID, ""))))
    told = [parts_in(one, "compared_with") or {} for one in waiting_in(question)[-1:]]
    names_other = any(said & set(words_of(one.get("name", ""))) for one in told)
    if not names_other or who.open is None or other is None or other.same_as(who.open):
        return ()
    return who.open, other


def _spoken_of(who: Who, named: Sequence[Person]) -> list[Person]:
    """Return whom the message names or points at, the open patient first."""
    message, subject = who.linked.message, who.subject
    holds_name = who.linked.index.has_word_of(message, who.open)
    people = [*named, *(subject.people if subject.outcome in ("other", "several") else ())]
    if len(people) > _SIDES and message.pronoun_at is None and not holds_name:
        people = [one for one in people if not one.same_as(who.open)]
    if subject.reason == "pronoun" and message.spoken_sex == "both" and len(subject.people) == 1:
        people = list(subject.people)  # "his haemoglobin with hers": the open one and the other
    names_open = subject.outcome == "same" and subject.reason == "named"
    spoken_of = _whom_a_pronoun_fits(who)
    if spoken_of is not who.open and not holds_name:
        people = [one for one in people if not one.same_as(who.open)]
    if spoken_of is not None and (names_open or message.pronoun_at is not None or len(people) == 1):
        people.insert(0, spoken_of)
    return people


def _whom_a_pronoun_fits(who: Who) -> Person | None:
    """Return the open patient, or of another sex who alone is offered just now; else nobody."""
    sex, waits = who.linked.message.told_sex, who.turn.asks_whom
    if is_of_sex(who.open, sex):
        return who.open
    offered = [] if waits is None else [who.person(one) for one in options_of(waits)]
    fitting = [one for one in offered if one is not None and is_of_sex(one, sex)]
    return fitting[0] if len(fitting) == 1 else None


def _the_two_of_the_roster(who: Who) -> list[Person]:
    """Return the two patients of the conversation for "their CEA"; none where it has more.

    While it is open whom a message means, they are those who are offered: "both".
    """
    waits, registry = who.turn.asks_whom, who.turn.registry
    ids = list(registry.patient_registry) if waits is None else options_of(waits)
    known = [person for one in ids if (person := who.person(one))]
    return known if len(known) == len(ids) == _SIDES else []


def asking_to_compare(people: Sequence[Person], who: Who) -> PatientVerdict:
    """Return the verdict that asks whether both charts are to be laid side by side."""
    turn = who.turn
    today = turn.now.date()
    lines = [f"- {option_line(one, today)}" for one in people]
    payload = {OPTIONS: [one.patient_id for one in people], ASKED: _asked(turn)}
    question = turn.ask("compare", "\n".join([_TEXT, *lines, "\nyes / no"]), payload)
    return turn.saying(question.text, question)


def _asked(turn: PatientTurn) -> str:
    """Return what is asked of both: behind "both" what waited for the answer, the last of it."""
    waiting = () if turn.asks_whom is None else waiting_in(turn.asks_whom)
    is_answer = len(turn.reading.text.split()) <= _ANSWER_WORDS
    return waiting[-1] if waiting and is_answer else turn.reading.text


def names_none_after_comparing(who: Who) -> bool:
    """Whether a message after a comparison may be about either: it names nobody, and says more."""
    subject, reading = who.subject, who.turn.reading
    is_open = subject.reason in ("nobody_else", "pronoun")
    names_id = bool(reading.named) or reading.doubt is not None
    return is_open and not names_id and not reading.is_of_no_patient
