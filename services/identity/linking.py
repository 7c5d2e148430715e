"""Links every message to its subject before anything else reads it (spec page 10.2)."""

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from itertools import pairwise

import structlog

from data_models.errors import RecordsError
from data_models.identifiers import PatientId
from services.identity.directory import Directory, NameSought, Sought
from services.identity.names.covers import name_words
from services.identity.names.index import PersonIndex
from services.identity.names.matching import Known, Mention, mentions_in
from services.identity.names.name_signs import contradicts, is_turned_to
from services.identity.names.person import Person
from services.identity.names.word_names import asks_values_alone
from services.identity.said import NumberSaid, Said
from services.identity.subject import Subject, subject_of
from services.language.figures.full_dates import birth_years, full_dates, years_in
from services.language.people import record_numbers
from services.language.people.ages_told import age_told
from services.language.people.mentions import Message, read_words
from services.language.people.name_runs import neighbours, with_joined_words
from services.language.people.patient_phrases import behind_leads
from services.language.people.signed_word import Word
from services.language.people.whom_about import headings_of, reported_in
from services.language.replies.commands import command_in
from services.language.replies.references import place_in
from services.language.replies.yes_no import yes_no_in
from services.language.requests.requests import names_alone
from services.language.told.pasted_letters import is_letter
from services.language.words.people_words import of_people
from services.language.words.phrases import says, without

DIRECTORY_SECONDS = 2.0
_BY_NAME = frozenset({"named", "number", "retired", "merged", "nearly", "part", "former"})
_SEARCHES_LIMIT, _CLOSING_WORDS = 8, 4
_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Situation:
    """Beside what a message is read.

    Attributes:
        roster: The conversation's patients, with what was noted of them when they were opened.
        settled: Whom the user has said that words mean, by those words folded.
        named: Ids that the message names in their own form.
        beside: Names of staff of the open record, and of the user's own contacts.
        today: The day by which ages are reckoned; None where nobody needs them.
        has_ill: Whether the open patient has the illness that stands for its bearer.
        is_of_one_user: Whether nobody else has written in the conversation.
    """

    active: PatientId | None
    roster: Mapping[PatientId, Person | None] = field(default_factory=dict)
    settled: Mapping[str, PatientId] = field(default_factory=dict)
    named: Collection[PatientId] = ()
    beside: Collection[str] = ()
    today: date | None = None
    has_ill: bool = False
    is_of_one_user: bool = False


@dataclass(frozen=True, slots=True)
class Linked:
    """The subject, and who is who.

    Attributes:
        has_answered: Whether the directory could be asked.
        is_plain: Whether the message names somebody and asks for nothing: it opens a chart.
    """

    subject: Subject
    index: PersonIndex
    message: Message
    has_answered: bool = True
    is_plain: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SubjectLinker:
    """Reads messages against the directory. Holds no state of any conversation."""

    directory: Directory
    fits: Callable[[str], bool]
    seconds: float = DIRECTORY_SECONDS

    async def link(self, text: str, situation: Situation) -> Linked:
        """Return whom `text` is about; it fails closed: what is not answered in time is unsure.

        Whoever stands where only whom it is about does is read as a heading: `same for 82F`.
        """
        # Of "done with her. Next: Elvio Brandt" the first is not who it is about.
        text = without(text, "leaves_patient").strip(" .,;:-\u2013") or text
        text = _without_nobody(text)
        linked = await self._link(text, situation)
        is_open = linked.subject == Subject("same", "nobody_else")
        is_open &= not names_alone(text, "name_who_wrote")
        # "And the second?" is a visit, or a value, where no other patient was spoken of.
        is_open &= len(situation.roster) > 1 or not (place_in(text) or says(text, "value_before"))
        is_open &= situation.active is not None
        told = reported_in(text)
        for heading in (*told, *headings_of(text)) if is_open else ():
            of_frame = await self._link(heading, situation)
            # Of what is reported only names count: who is "he" depends on who tells it.
            is_named = of_frame.subject.reason in _BY_NAME or heading not in told
            if of_frame.subject.outcome != "same" and is_named:
                subject = replace(of_frame.subject, outcome="unsure")
                return replace(of_frame, subject=subject, is_plain=linked.is_plain)
        return linked

    async def _link(self, text: str, situation: Situation) -> Linked:
        message, dates = read_words(with_joined_words(text)), full_dates(text)
        tokens = list(record_numbers.number_tokens(message, dates))
        has_name = any(_looks_like_name(one) or one.raw[0].isupper() for one in message.words)
        born = (one for one in dates if one.is_birth or has_name)
        days = (day for one in born for day in sorted(one.readings))
        sought = Sought(
            ids=tuple(situation.roster),
            numbers=tuple(dict.fromkeys([*situation.named, *tokens])),
            names=tuple(names_sought(message))[:_SEARCHES_LIMIT],
            birth_dates=tuple(days)[:_SEARCHES_LIMIT],
        )
        index = await self._people(sought)
        has_answered = index is not None
        if index is None:
            index = PersonIndex(people=filter(None, situation.roster.values()))
        known = self._known(index, situation)
        mentions = [_settled(one, message, index, situation) for one in mentions_in(message, known)]
        mentions = [one for one in mentions if not _is_passed_by(one, text, message)]
        said = Said(
            message=message,
            mentions=mentions,
            numbers=list(self._numbers(message, tokens, index, situation, has_answered)),
            dates=dates,
            birth_years=birth_years(text),
            years=years_in(text),
            age=age_told(text),
        )
        subject = subject_of(said, known)
        is_unknown = subject.reason == "stranger" or (
            subject.outcome == "same" and _may_name(message, said)
        )
        if not has_answered and is_unknown:
            subject = Subject("unsure", "unanswered")
        is_plain = _is_plain(said, situation.named, is_born=bool(subject.people))
        return Linked(subject, index, message, has_answered, is_plain)

    async def person(self, patient_id: PatientId) -> Person | None:
        """Return who carries an id; None for nobody.

        Raises:
            RecordsError: the directory did not answer in time.
        """
        if (index := await self._people(Sought(ids=(patient_id,)))) is None:
            raise RecordsError("the directory of patients does not answer")
        return index.with_id(patient_id)

    async def _people(self, sought: Sought) -> PersonIndex | None:
        try:
            async with asyncio.timeout(self.seconds):
                return await self.directory.people_for(sought)
        except TimeoutError:
            _log.warning("directory_slow")
        except RecordsError as error:
            _log.warning("directory_down", code=error.code)
        return None

    def _known(self, index: PersonIndex, situation: Situation) -> Known:
        active = situation.active
        kept = None if active is None else situation.roster.get(active)
        found = index.with_id(active) or kept
        relatives = list(_names_of(() if found is None else found.beside))
        # Staff and contacts are seldom called by a first name alone, which may be a patient's.
        firsts = [one[:1] for one in relatives]
        others = frozenset(map(frozenset, (*relatives, *firsts, *_names_of(situation.beside))))
        return Known(index, found, situation.roster, others, situation.today, situation.has_ill)

    def _numbers(
        self,
        message: Message,
        tokens: Sequence[str],
        index: PersonIndex,
        situation: Situation,
        has_answered: bool,
    ) -> Iterable[NumberSaid]:
        labelled = set(record_numbers.labelled_numbers(message, tokens))
        for token in tokens:
            hits = index.with_number(token) or index.with_part(token)
            heads = record_numbers.is_heading_number(message, message.text.find(token), token)
            hits = hits or (index.with_end(token) if token in labelled or heads else ())
            if token in situation.named or self.fits(token):
                continue  # an id in its own form is decided on by its own rules
            is_part = any(
                one != token and token in one and (index.with_number(one) or index.has_form(one))
                for one in tokens
            )
            is_meant = (token in labelled and not is_part) or index.has_form(token)
            if record_numbers.is_bare_number(message, token):
                hits = [replace(one, is_part=True) for one in hits]  # it is asked about
                is_meant = False
            is_meant = is_meant or heads
            if hits or (is_meant and has_answered):
                yield NumberSaid(token, hits)


def _without_nobody(text: str) -> str:
    """Leave out what calls nobody, "is he allergic to …", but for "is he"."""
    if (kept := without(text, "names_nobody")) == text:
        return text
    said = read_words(text)
    lead = next((text[: one.end] for one in said.words if one.start == said.pronoun_at), "")
    return f"{lead} {kept}".strip() or "?"


def _is_passed_by(one: Mention, text: str, message: Message) -> bool:
    """Whether a strange name is no patient's: in a yes or a no, and of who signs a letter."""
    if one.strength != "stranger":
        return False
    is_last = bool(one.span) and one.span[-1] in message.words[-_CLOSING_WORDS:]
    is_reply = command_in(text) in ("retract", "undo", "stop", "help")  # "Streich das"
    is_reply = is_reply or yes_no_in(text) in ("yes", "no")  # "Klar"
    return is_reply or (is_last and is_letter(text))


def _names_of(names: Iterable[str]) -> Iterable[tuple[str, ...]]:
    """Return the words of each whole name, titles apart."""
    titles = of_people("staff")
    read = (read_words(name).words for name in names)
    found = (tuple(word.text for word in words if word.text not in titles) for words in read)
    return (one for one in found if len(one) > 1)


def names_sought(message: Message) -> Iterable[NameSought]:
    """Yield what a server is searched for: full names, and family names with a sign."""
    for run in neighbours(message.words):
        named = [one for one in run if _looks_like_name(one)]
        for place, word in enumerate(named):
            if word.title in ("man", "woman", "patient") or word.is_owner:
                yield NameSought(word.raw)
            if place + 1 < len(named):
                after = named[place + 1]
                pair = word.raw, after.raw
                yield NameSought(*(pair if "," in after.gap else pair[::-1]))


def _looks_like_name(word: Word) -> bool:
    is_name = word.stands_as_name or not (word.is_common or word.is_eponym)
    return is_name and word.title not in ("staff", "relative")


def _settled(mention: Mention, said: Message, index: PersonIndex, at: Situation) -> Mention:
    """Return the mention as the user has said before that these words are meant.

    What was said of "Mr Moen" says nothing of "Mrs Moen", and nothing of "the other Moen"; "no, I
    meant Moen" means another one than is open.
    """
    meant = at.settled.get(mention.words.casefold())
    known = {one.patient_id for one in mention.people if one.patient_id in at.roster}
    # Of two Koepps it may be either, whoever is open, but for a value asked of the one just chosen.
    is_either = bool(known - {meant}) and not (
        meant == at.active and at.is_of_one_user and asks_values_alone(said.words, mention.span)
    )
    if meant is None or any(one.is_another for one in mention.span) or is_either:
        return mention
    person = index.with_id(meant) or at.roster.get(meant)
    if person is not None and contradicts(mention.span, person):
        return mention
    if meant == at.active:
        if mention.people and mention.span and is_turned_to(said.words, mention.span):
            return mention
        return replace(mention, people=(), names_open=True, strength="full")
    # Nobody's name, once left where it stood, opens no chart.
    if person is None or mention.strength == "stranger" or mention.names_open:
        return mention
    return replace(mention, people=(person,), strength="full")


def _is_plain(said: Said, ids: Collection[PatientId], *, is_born: bool) -> bool:
    """Whether nothing stands beside the name, number and birth date but words that open a chart.

    Args:
        ids: What of it is an id in its own form.
        is_born: Whether a date may be read as somebody's birth date, and is no other day.
    """
    named = {one.start for each in said.mentions for one in each.span}
    text = said.message.text
    opening = of_people("opening", "moves_on", "reasons_to_open", "others", "topics")
    opening |= of_people("lingers", "within", "called_patients")
    begins = behind_leads(text)
    spans = [(one.start, one.end) for one in said.dates]
    for number in (*(one.text for one in said.numbers), *ids):
        at = text.casefold().find(number.casefold())
        spans += [(at, at + len(number))] if at >= 0 else []
    words = said.message.words
    of_names = {one for each in said.mentions for who in each.people for one in name_words(who)}
    # `Grant, not Doyle`, `hr Doyle`
    against = of_people("set_against", "titles_of_men", "titles_of_women")
    aside = {
        one.start
        for one, next_one in pairwise(words)
        if next_one.start in named and one.text in against
    }
    left = [
        one
        for one in words
        if one.start >= begins
        and one.start not in aside | named
        and one.text not in of_names
        and not (one.is_in("places") and one.has_number)
        and not (one.text == "call" and one.before == "next")
        and not any(start <= one.start < end for start, end in spans)
    ]
    who_is_named = max([*named, *(start for start, _ in spans)], default=len(text))
    if left and left[-1].start > who_is_named and left[-1].text == "on":  # `what is Doyle on?`
        return False
    is_dated = bool(spans) and (not words or any(one.is_birth for one in said.dates))
    is_told = (
        (is_dated and is_born)
        or said.message.is_placed
        or bool(named or of_names or spans[len(said.dates) :])
    )
    is_more = says(" ".join(one.text for one in left), "same_question")
    return is_told and not is_more and all(one.text in opening for one in left)


def _may_name(message: Message, said: Said) -> bool:
    """Whether anything in the message would have been looked up beyond what is known."""
    if any(one.is_birth for one in said.dates) or any(
        record_numbers.labelled_numbers(message, [one.text for one in said.numbers])
    ):
        return True
    explained = {id(word) for one in said.mentions for word in one.span}
    left = [one for one in message.words if id(one) not in explained and _looks_like_name(one)]
    left = [one for one in left if not one.raw.isupper() or len(one.raw) == 1]
    is_signed = any(one.is_capital or one.is_owner or one.is_heading or one.title for one in left)
    return is_signed or any(one.raw[0].isupper() and not one.is_common for one in left)
