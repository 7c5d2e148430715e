"""From the subject of a message to what happens: go on, open, or ask with candidates. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from data_models.identifiers import PatientId, hashed
from data_models.patient_context_models import Registry
from services.identity.linking import Linked, Situation
from services.identity.names.person import Person, both_identifiers, distinct
from services.identity.noted import person_of
from services.identity.said import is_after_the_open_one
from services.identity.subject import OPTIONS_LIMIT, Subject
from services.identity.wording import WAY_OUT, YES_OUT, asked, option_line, unknown_number
from services.language.people.descriptions import is_of_hers_alone
from services.language.people.patient_phrases import wording
from services.language.words.folding import words_of
from services.patient_context import answers
from services.patient_context.asking_again import is_nameless, with_what_waits
from services.patient_context.patient_turn import PatientTurn
from services.patient_context.reading.candidates import digits_of
from services.patient_context.reading.reading import Ask
from services.patient_context.reading.rules import is_bare_switch
from services.patient_context.verdict import PatientVerdict
from services.patient_context.wording import need_an_id

_BY_NAME = ("former", "nearly", "part")
"""Reasons by which words name somebody, so that a yes means the one who has that name."""


def noted_people(registry: Registry) -> Mapping[PatientId, Person | None]:
    """Return the roster with what was noted of each patient."""
    rows = registry.patient_registry.items()
    return {one: person_of(one, row.facts) if row.facts else None for one, row in rows}


@dataclass(frozen=True, slots=True)
class Who:
    """A message, its subject, and who is open.

    Attributes:
        open: The open patient as the directory, or else the registry's note, knows them.
    """

    linked: Linked
    turn: PatientTurn
    open: Person | None

    @property
    def subject(self) -> Subject:
        """Whom the message is about by its words."""
        return self.linked.subject

    @property
    def known(self) -> tuple[PatientId, ...]:
        """The open patient, whoever the message names by id, and the rest of the roster."""
        reading = self.turn.reading
        return (*filter(None, [reading.active]), *reading.named, *reading.others)

    def person(self, patient_id: PatientId | None) -> Person | None:
        """Return who carries an id, as far as it is known."""
        found = self.linked.index.with_id(patient_id)
        noted = noted_people(self.turn.registry)
        return found if found is not None or patient_id is None else noted.get(patient_id)

    def unclear(self, *, names_none: bool) -> Subject | None:
        """Return what keeps the message from being decided; None if it is clear whom it is about.

        Args:
            names_none: Whether it names nobody after two charts were side by side.
        """
        reading, compared = self.turn.reading, self.turn.registry.compared
        if compared and names_none:
            people = [self.person(one) or Person(one, "", ()) for one in compared]
            return Subject("unsure", "compared", tuple(people))
        if reading.named or reading.doubt is not None:
            return against_ids(self)
        # `the ef in 15`: the number of the open patient, where no bed is named.
        is_own = self.subject.reason == "described" and reading.digits == (reading.active,)
        is_own = is_own and wording("own_number").match(reading.shape) is not None
        is_told = self.subject.outcome in ("several", "unsure") and not is_own
        return self.subject if is_told else None

    @property
    def is_of_one_other(self) -> bool:
        """Whether another is surely meant, and each number that stands for an id is theirs.

        A record number that a chart of the folder is known by is read as its id: `SYN-000007 CEA`.
        """
        reading, subject = self.turn.reading, self.subject
        if subject.outcome != "other" or reading.doubt is not None:
            return False
        is_theirs = all(one == subject.people[0].patient_id for one in reading.named)
        return is_theirs and not (reading.named and wording("passing").search(reading.order))


def situation_of(
    turn: PatientTurn, *, also: Sequence[PatientId] = (), unknown: Sequence[Person] = ()
) -> Situation:
    """Return what a message is read beside; those of `also` are looked up, too."""
    return Situation(
        active=turn.reading.active,
        roster=noted_people(turn.registry),
        settled=turn.registry.settled,
        named=(*turn.reading.named, *also),
        today=turn.now.date(),
        is_of_one_user={*turn.registry.seen_by} <= {hashed(turn.user)},
        unknown=unknown,
    )


def who_of(linked: Linked, turn: PatientTurn) -> Who:
    """Return a linked message with who is open, as far as anybody knows them."""
    active = turn.reading.active
    found = linked.index.with_id(active)
    if found is None and active is not None:
        found = noted_people(turn.registry).get(active) or Person(active, "", ())
    # Whose number stands where a patient's does is asked about, if there is such a one.
    meant = [one for one in turn.reading.placed if linked.index.with_id(one) is not None]
    doubt = turn.reading.doubt
    if doubt is not None and doubt.kind == "meant" and linked.subject.reason == "part":
        # `case no 710985`: of no id, but how somebody's number ends
        doubt = doubt if linked.index.with_id(doubt.options[0]) is not None else None
    if meant:
        doubt = Ask("meant" if len(meant) == 1 else "which", tuple(meant[:OPTIONS_LIMIT]))
    is_led = wording("bare_switch_by_number").fullmatch(turn.reading.shape) is not None
    is_led |= wording("led_by_number").match(turn.reading.shape) is not None
    is_led |= turn.reading.order != turn.reading.shape and is_bare_switch(turn.reading)
    if turn.reading.placed and not meant and is_led and linked.has_answered:  # `and 99?`
        said = digits_of(turn.reading.placed[0])
        linked = replace(linked, subject=Subject("unsure", "nobody", said=said))
    reading = replace(turn.reading, doubt=doubt, placed=())
    return Who(linked, replace(turn, reading=reading), found)


def against_ids(who: Who) -> Subject | None:
    """Return what keeps a message that names ids from being decided by them; None if nothing does.

    Names beside an id must be that patient's.
    """
    reading, subject = who.turn.reading, who.subject
    if reading.doubt is not None:
        return None
    if subject.outcome == "same":
        names_both = subject.reason == "named" and any(
            one != reading.active for one in reading.named
        )
        names_both = names_both or _names_beside_the_open_one(who)
        people = [who.person(one) for one in (*reading.named, reading.active)]
        return Subject("several", "several", tuple(filter(None, people))) if names_both else None
    if subject.reason in ("stranger", "described", "unanswered", "nobody"):
        return None
    named = [person for one in reading.named if (person := who.person(one)) is not None]
    if subject.people and all(any(one.same_as(each) for each in named) for one in subject.people):
        return None if subject.reason != "contradiction" else subject
    sex = who.linked.message.spoken_sex
    if subject.reason == "pronoun" and named and all(one.sex == sex for one in named):
        return None  # "switch to patient_4, is she …" while a man's chart is open
    return Subject("several", "several", distinct([*named, *subject.people])[:OPTIONS_LIMIT])


def _names_beside_the_open_one(who: Who) -> bool:
    """Whether an id of another stands where the open patient is spoken of, too."""
    reading = who.turn.reading
    other = next((one for one in reading.named if one != reading.active), None)
    if other is None or reading.active is None:
        return False
    message = who.linked.message
    place = message.text.casefold().find(other.casefold())
    if place < 0:
        place = message.text.find(digits_of(other))
    return message.compares or is_after_the_open_one(message, place)


def checked_id(target: PatientId, who: Who) -> Person | Subject:
    """Return whose chart `target` opens, or why none does (spec page 10.1)."""
    hits = who.linked.index.with_number(target)
    alive = [hit.person for hit in hits if not hit.is_retired]
    if len(alive) == 1:
        person = alive[0]
        if not person.replaced_by:
            return person
        survivor = who.linked.index.survivor(person)
        return survivor or Subject("unsure", "merged", said=target)
    if hits:
        people = distinct(hit.person for hit in hits)
        return Subject("unsure", "part" if alive else "retired", people, said=target)
    near = [
        one
        for one in who.linked.index.people
        if one.patient_id is not None and _is_same_but_zeros(one.patient_id, target)
    ]
    return Subject(
        "unsure", "nearly" if near else "nobody", tuple(near[:OPTIONS_LIMIT]), said=target
    )


def elsewhere(who: Who, seen: PatientId) -> Subject:
    """Return whom to ask for where another window's switch, or a clear, came between."""
    is_known = seen in who.turn.reading.others
    people = (who.person(seen) or Person(seen, "", ()),) if is_known else ()
    return Subject("unsure", "elsewhere", people)


def said_merged(verdict: PatientVerdict, asked: PatientId, person: Person) -> PatientVerdict:
    """Say that a number led to another chart than its own."""
    text = f"`{asked}` leads to the chart of {both_identifiers(person)} ({person.patient_id})."
    if verdict.reply is not None:
        return replace(verdict, reply=f"{text} {verdict.reply}")
    return replace(verdict, notice=text)


def asking_whom(subject: Subject, who: Who) -> PatientVerdict:
    """Return the verdict that asks; nothing is opened and nothing of the message is stored.

    The message waits with the question, and runs in the chart that is chosen.
    """
    turn = who.turn
    people = [one for one in subject.people if one.patient_id is not None][: OPTIONS_LIMIT - 1]
    is_by_name = len(people) == 1 and subject.reason in _BY_NAME
    named = people[0].patient_id if is_by_name else None
    if who.open is not None and not any(one.same_as(who.open) for one in people):
        people.append(who.open)
    options = distinct(people)
    if subject.reason == "nobody" and turn.reading.named:
        # Whoever writes on takes that chart to be open; the number means nobody ever.
        text = unknown_number(subject.said)
        return _offering(text, options, who, said="", number=subject.said)
    if not options and who.open is None:
        text = f"{asked(subject, None)} {need_an_id(turn.pattern)}"
    else:
        text = asked(subject, who.open)
    is_theirs = subject.reason == "elsewhere" or who.subject.outcome == "several"
    return _offering(text, options, who, said=subject.said, named=named, is_theirs=is_theirs)


def _offering(
    text: str,
    options: Sequence[Person],
    who: Who,
    *,
    said: str,
    number: str = "",
    named: PatientId | None = None,
    is_theirs: bool = False,
) -> PatientVerdict:
    turn = who.turn
    if not options:
        return turn.saying(text)
    today = turn.now.date()
    lines = [
        f"{place}. {option_line(one, today, is_open=one.same_as(who.open))}"
        for place, one in enumerate(options, start=1)
    ]
    offered = [one.patient_id for one in options]
    payload = {
        answers.OPTIONS: offered,
        answers.SAID: said,
        **({answers.NUMBER: number} if number else {}),
        **({answers.NAMED: named} if named else {}),
        answers.NAMES_THEM: is_theirs,
        **_waiting(who, offered, said),
    }
    text = "\n".join([f"{text} {YES_OUT if named else WAY_OUT}", *lines])
    return turn.saying(text, turn.ask("subject", text, payload))


def _waiting(who: Who, offered: Sequence[PatientId | None], said: str) -> Mapping[str, object]:
    """Return what waits for the answer: after the same question again, what waited for it, too."""
    turn, earlier = who.turn, who.turn.asks_whom
    opens_only = who.linked.is_plain or is_bare_switch(turn.reading)
    opens_only = opens_only or is_of_hers_alone([one.text for one in who.linked.message.words])
    before = {} if earlier is None else earlier.payload
    was_said = words_of(str(before.get(answers.SAID, "")))
    is_same = set(before.get(answers.OPTIONS, ())).issuperset(offered)
    is_same &= was_said == words_of(said) or answers.are_near(was_said, words_of(said))
    is_same = is_same and who.subject.reason != "described"  # `the pilot: hb?`, `the teacher: cea?`
    # Who answers with a name to "bed 12: bp" says whose that is.
    is_told = earlier is not None and opens_only and is_nameless(earlier)
    if earlier is None or not (is_same or is_told):
        return {answers.ASKED: turn.reading.text, answers.OPENS_ONLY: opens_only}
    if opens_only:
        return {key: earlier.payload.get(key, "") for key in (answers.ASKED, answers.OPENS_ONLY)}
    both, _ = with_what_waits(earlier, turn.reading.text)
    return {answers.ASKED: answers.as_waiting(both), answers.OPENS_ONLY: False}


def unreachable(target: PatientId, who: Who) -> PatientVerdict:
    """Return the verdict where nobody can tell whose the number is.

    Whoever writes on takes that chart to be open, so the open one is asked about first.
    """
    text = (
        f"The patient records do not answer just now, so `{target}` could not be looked up and "
        "nothing was opened. Please try again in a moment."
    )
    options = () if who.open is None else (who.open,)
    return _offering(text, options, who, said="")


def roster_of(subject: Subject, who: Who) -> list[Person]:
    """Return whom a description may mean besides: of the conversation, else who was offered."""
    turn = who.turn
    asked = turn.asks_whom if subject.reason in ("described", "pronoun") else None
    others = turn.reading.others if subject.reason == "described" else ()
    if not (others or subject.people or asked is None):
        others = tuple(one for one in answers.options_of(asked) if one != turn.reading.active)
    return [person for one in others if (person := who.person(one))]


def _is_same_but_zeros(one: PatientId, other: PatientId) -> bool:
    letters = [[each for each in who.casefold() if not each.isdigit()] for who in (one, other)]
    return letters[0] == letters[1] and digits_of(one) == digits_of(other)
