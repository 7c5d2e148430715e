"""Whom the words of a message name: mentions, each with the people who may be meant. Pure."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date
from operator import itemgetter
from typing import Literal, TypeAlias

from data_models.identifiers import PatientId
from services.identity.names import covers as covering
from services.identity.names import name_signs as signs
from services.identity.names.beside import is_beside, is_name_beside
from services.identity.names.covers import Cover
from services.identity.names.first_names import has_another_first_name, is_first_name_here
from services.identity.names.index import NameHit, PersonIndex
from services.identity.names.person import Person, distinct
from services.identity.names.strangers import strangers_in
from services.identity.names.word_names import is_another_subject, is_beside_a_value, is_told_closer
from services.language.people.mentions import Message
from services.language.people.name_runs import is_behind_letter, neighbours
from services.language.people.signed_word import Word
from services.language.people.strange_words import is_strange, left_over_in
from services.language.words.people_words import of_people

Strength = Literal["full", "family", "given", "near", "former", "stranger"]
_Run: TypeAlias = Sequence[Word]
_Span: TypeAlias = tuple[Word, ...]
_FEW_WORDS, _SOME_WORDS = 5, 10  # of a longer message each word may be one by chance


@dataclass(frozen=True, slots=True)
class Mention:
    """Words that name somebody.

    Attributes:
        words: As typed, one blank between.
        people: Who may be meant, the open patient not among them.
        strength: `full` given and family name; `near` with a slip; `stranger` nobody known.
        names_open: Whether the open patient may be meant.
    """

    words: str
    people: tuple[Person, ...]
    strength: Strength
    names_open: bool = False
    span: _Span = ()


@dataclass(frozen=True, slots=True)
class Known:
    """What a message is read against.

    Attributes:
        open: The open patient, if the directory knows them.
        roster: Ids of the conversation and the worklist: no evidence removes their exact names.
        others: Folded words of each name of relatives, contacts and staff of the open patient, and
            of the user's own contacts.
        has_ill: Whether the open patient has what stands for its bearer: "the hip fracture's BP".
    """

    index: PersonIndex
    open: Person | None
    roster: Collection[PatientId]
    others: frozenset[frozenset[str]] = field(default=frozenset())
    today: date | None = None
    has_ill: bool = False


def mentions_in(message: Message, known: Known) -> Sequence[Mention]:
    """Return who is named in `message`, in its order."""
    found = [one for run in neighbours(message.words) for one in _mentions_of(message, run, known)]
    found += _unspaced(message, known)
    parted = covering.parted_names(message.words, known.index, known.open)
    return [*found, *(Mention(_typed(at), who, "near", open_, at) for at, who, open_ in parted)]


def _unspaced(message: Message, known: Known) -> Iterable[Mention]:
    by_person: dict[int, list[NameHit]] = {}
    for hit in known.index.in_unspaced(message.text):
        by_person.setdefault(id(hit.person), []).append(hit)
    for hits in by_person.values():
        person = hits[0].person
        is_open = person.same_as(known.open)
        is_full = {hit.part for hit in hits} == {"family", "given"} or not person.names[0].given
        if is_open or is_full or person.patient_id in known.roster:
            people = () if is_open else (person,)
            yield Mention(person.name, people, "full" if is_full else "family", is_open)


def _mentions_of(message: Message, run: _Run, known: Known) -> Iterable[Mention]:
    free, unnamed = set(range(len(run))), set[int]()
    hits = {place: covering.hits_of(run, place, known.index) for place in free}
    found: list[tuple[int, int, Mention]] = []
    for part in covering.apart(covering.covers_of(run, hits, free)):
        near = {place: hits[place] for place in part}
        while covers := [*covering.covers_of(run, near, free)]:
            best = max(one.score for one in covers)
            chosen = covering.same_words([one for one in covers if one.score == best])
            places = chosen[0].places
            free -= places
            if one := _mention(message, run, chosen, covers, known) or _unread(
                message, run, chosen, known
            ):
                found.append((-best, min(places), one))
            elif not chosen[0].is_exact or is_behind_letter(run, max(places)):
                unnamed |= places
    yield from (one for *_, one in sorted(found, key=itemgetter(0, 1)))
    exact = {place for place, found in hits.items() if any(hit.is_exact for hit in found)}
    roster = [*filter(None, map(known.index.with_id, known.roster))]
    roster += known.index.with_initials(one.raw for one in run if one.heads)
    spans = strangers_in(message, run, free | unnamed, exact, known.others, known.open, roster)
    yield from (Mention(_typed(span), (), "stranger", span=span[-1:]) for span in spans)


def _mention(
    message: Message, run: _Run, chosen: Sequence[Cover], all_of: Sequence[Cover], known: Known
) -> Mention | None:
    span = tuple(run[place] for place in sorted(chosen[0].places))
    open_one, best = known.open, chosen[0]
    is_whole_name = best.has_family and best.has_given and best.is_exact
    if not is_whole_name and is_name_beside(run, span, known.others):
        return None
    is_fit = open_one is not None and not signs.contradicts(span, open_one)
    of_open = [one for one in all_of if is_fit and one.is_exact and one.person.same_as(open_one)]
    of_open = [one for one in of_open if one.places >= best.places]
    # A name that they share with the open patient means the open one, unless more is said.
    has_another = has_another_first_name(run, span, known.index, open_one) if of_open else True
    if not (span[0].is_another or has_another):
        is_left = best.has_family and span[0].text in left_over_in(message.text)
        is_left = is_left and not is_beside(run, span, "family", known.others)
        namesakes = [
            one
            for one in _namesakes(run, span, chosen, of_open[0], known)
            if is_left or _counts(run, span, one, _strength(chosen), best, known)
        ]
        kind: Strength = "family" if namesakes else "full"
        return Mention(_typed(span), tuple(namesakes), kind, not namesakes, span)
    covers = [one for one in chosen if not one.person.same_as(open_one)]
    if is_fit and open_one is not None and not best.is_exact and len(covers) < len(chosen):
        # `peggy bell`, of two who are called Margaret Bell
        covers = [one for one in covers if not one.person.is_namesake_of(open_one)]
    covers = [one for one in covers if not signs.contradicts(span, one.person)] or covers
    people = distinct(one.person for one in covers)
    if not people:
        return None if open_one is None else _nearly_open(run, span, chosen, open_one)
    is_told_apart = not signs.is_half_of_a_name(run, span) and _is_told_apart(
        run, span, chosen, known
    )
    strength: Strength = "full" if is_told_apart else _strength(covers)
    if message.text[span[-1].end :][:2] == " (" and span[-1].after in of_people("staff"):
        people = tuple(one for one in people if one.patient_id in known.roster)  # `mr X (surgeon)`
    accepted = [one for one in people if _counts(run, span, one, strength, chosen[0], known)]
    if not accepted:
        return None
    if strength == "full" and signs.may_be_no_name(run, span):
        strength = "family"
    return Mention(_typed(span), tuple(accepted), strength, span=span)


def _unread(message: Message, run: _Run, chosen: Sequence[Cover], known: Known) -> Mention | None:
    """Return a name to which no answer goes back: `medis heute bauer?`, `braun, 87: ekg`."""
    span = tuple(run[place] for place in sorted(chosen[0].places))
    is_month = span[0].is_in_date
    found = distinct(one.person for one in chosen if one.is_exact and (one.has_family or is_month))
    people = [one for one in found if not (one.same_as(known.open) or signs.contradicts(span, one))]
    is_told = is_told_closer(message.text, span[-1], people, known.today)
    is_by_value = is_beside_a_value(span)
    is_named = is_by_value or (span[0].is_first and not span[0].has_number)
    is_word = span[0].is_in("qualities", "seasons") and not is_named
    if (is_month or is_word or span[0].is_in("verbs_too", "organs")) and not is_told:
        people = [one for one in people if one.patient_id in known.roster]
    has_day = span[0].has_number or span[0].gap.rstrip(" .,-")[-1:].isdigit()
    is_word = is_month and (has_day or span[0].before in of_people("before_months"))
    is_word |= message.pronoun_at is not None or len(span) > 1
    is_word |= len(message.words) > (_SOME_WORDS if is_by_value else _FEW_WORDS)
    is_word |= span[0].before in of_people("articles")  # `a bird fancier?`
    is_word |= not is_told and (_is_thing(span[0]) or span[-1].after in of_people("particles"))
    is_aside = is_name_beside(run, span, known.others) or is_beside(
        run, span, "family", known.others
    )
    is_read = not is_told and span[0].text not in left_over_in(message.text)
    named = () if is_word or is_aside or is_read else tuple(people)
    return Mention(_typed(span), named, "family", span=span) if named else None


def _is_told_apart(run: _Run, span: _Span, chosen: Sequence[Cover], known: Known) -> bool:
    """Whether a title tells one of two namesakes of the conversation from the other.

    "Mrs Moen", where a man and a woman of that name were spoken of and no other woman has it; and
    "back to Fatima", where only one patient has that first name, and was spoken of.
    """
    people = distinct(one.person for one in chosen if one.is_exact)
    is_all_known = all(one.patient_id in known.roster for one in people)
    if not chosen[0].has_family:
        return (
            len(people) == 1
            and is_all_known
            and not span[0].title
            and signs.is_turned_to(run, span)
        )
    meant = [one for one in people if not signs.contradicts(span, one)]
    is_of_known_sex = all(one.sex in ("male", "female") for one in people)
    return is_all_known and is_of_known_sex and len(meant) == 1 < len(people)


def _namesakes(
    run: _Run, span: _Span, chosen: Sequence[Cover], of_open: Cover, known: Known
) -> tuple[Person, ...]:
    """Return others whom the words mean better than the open patient, or a part of a name as well.

    A part of a name means only who is of the conversation; behind a title it is a family name.
    """
    is_titled = span[0].title in ("man", "woman") and len(span) == 1 and not of_open.has_family

    def is_meant(one: Cover) -> bool:
        if one.has_family and one.has_given:
            return covering.fits_better(one.person, of_open.person, run, span)
        return one.person.patient_id in known.roster or (is_titled and one.has_family)

    return distinct(
        one.person
        for one in chosen
        if one.is_exact
        and not one.person.same_as(of_open.person)
        and is_meant(one)
        and not signs.contradicts(span, one.person)
    )


def _nearly_open(
    run: _Run, span: _Span, chosen: Sequence[Cover], open_one: Person
) -> Mention | None:
    """Return what words are that are the open patient's, but for a slip, a title or a name."""
    if all(one.is_exact for one in chosen):
        return _stranger_with_open_name(run, span)
    is_other = covering.has_another_name(span, open_one)
    strength: Strength = "stranger" if is_other else "near"
    return Mention(_typed(span), (), strength, names_open=not is_other, span=span)


def _stranger_with_open_name(run: _Run, span: _Span) -> Mention | None:
    """The open patient's family name with a title or a first name that is not theirs."""
    if (first := span[0]).title in ("staff", "relative") and not span[-1].heads:
        return None
    before = run[max(first.at - run[0].at - 1, 0)]
    is_given = first.gap == ". " if len(before.raw) == 1 else first.gap == " "
    is_given &= before.raw[0].isupper() and before.before not in of_people("before_letters")
    is_given &= len(before.raw) == 1 or not before.is_common
    said = (before, *span) if is_given and before is not first else span
    return Mention(_typed(said), (), "stranger", span=span)


def _strength(covers: Sequence[Cover]) -> Strength:
    one = covers[0]
    if not one.is_exact:
        return "near"
    if one.is_former and all(each.is_former for each in covers):
        return "former"
    if one.has_family and one.has_given and not one.by_initial:
        return "full"
    return "family" if one.has_family else "given"


def _counts(
    run: _Run, span: _Span, person: Person, strength: Strength, cover: Cover, known: Known
) -> bool:
    """Whether the words name `person`, by the signs beside them."""
    is_word = len(span) == 1 and span[0].is_in("titles_of_patients")
    if is_word and (span[0].has_number or span[0].before in of_people("definite")):
        return False  # "open patient_7", "the patient's sodium": one may be called Test Patient
    in_roster = person.patient_id is not None and person.patient_id in known.roster
    signed = signs.is_signed(run, span) or covering.has_particle(span, person)
    begins = len(span) > 1 and span[0].is_first
    common = [one.is_common for one in span if len(one.raw) > 1]  # `a. koepp`
    is_staff = span[0].title in ("staff", "relative") and not cover.has_family
    is_staff &= span[-1].after in of_people("people_do", "says")  # `Schwester Monika fragt`
    if in_roster and cover.is_exact and not is_staff:
        is_asked = signed or begins or not all(common) or _is_asked_of(run, span, cover)
        return is_asked or covering.has_family_initial(run, span, person)
    if is_beside(run, span, strength, known.others):
        return False
    if strength in ("full", "former") and cover.has_family and cover.has_given:
        return not cover.by_initial or signed or begins or not all(common)
    if all(one.is_eponym if strength == "near" else _is_thing(one) for one in span):
        return False
    if strength == "near":
        return _counts_nearly(run, span, cover, signed=signed, in_roster=in_roster)
    if strength in ("family", "former"):
        heads = span[-1].heads or span[-1].is_heading
        is_set_off = not {*":?"}.isdisjoint(span[0].gap)  # `Weiss: Na`, not `weiss K`
        is_all = span[0].is_first and heads and (is_set_off or span[0].raw[0].isupper())
        is_all = is_all or signs.is_spoken_of(run, span)
        is_all = is_all or signs.is_turned_to(run, span) or signs.begins_a_chart_question(run, span)
        is_all |= cover.by_initial and not span[-1].is_in("opening")
        is_all |= is_another_subject(run, span) or len(common) > 1  # `inr, smith-jones obs`
        return signed or is_all or not any(common)
    is_begun = run[0].is_first and covering.has_family_initial(run, span, person)  # `gale d weight`
    return (in_roster and signed) or is_begun or is_first_name_here(run, span)


def _is_asked_of(run: _Run, span: _Span, cover: Cover) -> bool:
    """Whether a word of common language stands where the name of one spoken of before would."""
    articles = of_people("articles", "definite")
    goes_on = not (span[0].is_in("qualities", "verbs_too") or span[0].before in articles)
    is_of_family = cover.has_family and (
        cover.has_given
        or span[0].before in of_people("auxiliaries")
        or signs.begins_a_chart_question(run, span)
        or is_beside_a_value(span)
    )
    return (
        is_of_family
        or span[0].is_another
        or signs.is_turned_to(run, span, goes_on=goes_on)
        or signs.stands_for_somebody(run, span[-1])
        or signs.is_alone(run, span)
        or signs.is_spoken_of(run, span)
    )


def _is_thing(word: Word) -> bool:
    return word.is_surely_eponym or (word.is_of_a_thing and not word.is_owner)


def _counts_nearly(run: _Run, span: _Span, cover: Cover, *, signed: bool, in_roster: bool) -> bool:
    common = [one.is_common for one in span]
    if cover.has_family and cover.has_given and len(span) > 1:
        return signed or not all(common)
    if span[0].before in of_people("owners") and not span[-1].is_owner:
        return False  # `ihre Wunde`
    is_name = in_roster or any(one.raw[0].isupper() or one.stands_as_name for one in span)
    is_name = is_name or (is_strange(span[0].text) and not span[0].is_in("eponyms"))
    is_word = any(common) or signs.is_clinical(span[0].text)  # `Schmerzen` is no slip in a name
    is_word = is_word and not (in_roster and covering.is_looked_up(run, span[0]))
    return (is_name and not is_word) or signs.is_sure_sign(span)


def _typed(span: Sequence[Word]) -> str:
    return " ".join(one.raw for one in span)
