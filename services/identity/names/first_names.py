"""First names in a message: of a patient, alone, and of others beside a family name. Pure."""

from collections.abc import Sequence

from services.identity.names import name_signs
from services.identity.names.covers import has_another_initial, is_looked_up
from services.identity.names.index import PersonIndex
from services.identity.names.person import Person
from services.language.figures.full_dates import month_numbers
from services.language.people.name_runs import leads_a_name
from services.language.people.named_person import is_known_name, is_ordinary_name
from services.language.people.signed_word import Word
from services.language.people.strange_words import is_strange
from services.language.words.people_words import of_people


def is_first_name_here(run: Sequence[Word], span: tuple[Word, ...]) -> bool:
    """Whether words that are a patient's first name, and perhaps common words, name somebody."""
    is_word = any(one.is_common for one in span)
    # `send it to Hannah Brown`, whom nobody knows
    has_strange_family = name_signs.stands_before_a_name(run, span)
    if span[0].is_in("verbs_too") and span[0].before in of_people("speakers"):
        return False  # `i drew blood cultures`
    if span[0].before in of_people("saints") and span[-1].is_owner:
        return False  # `st mary's discharge letter`
    if span[0].is_in_date and span[0].has_number and span[0].title is None:
        return False  # `jun 12 labs`
    return (
        name_signs.is_sure_sign(span)
        or (span[0].is_capital and not (span[0].is_in_date or has_strange_family))
        # Whoever says but a first name, and writes on, takes that chart to be open.
        or name_signs.is_spoken_of(run, span)
        or _is_dealt_with(run, span)
        or name_signs.is_before_a_family_name(run, span)
        or name_signs.is_turned_to(run, span)
        or name_signs.stands_for_somebody(run, span[-1])
        # `has mark had a flu shot?`
        or (run[0].is_in("auxiliaries") and [*run[1:-1]][:1] == [span[0]])
        or is_looked_up(run, span[0])
        or (not is_word and any(one.stands_as_name or _is_only_a_name(one) for one in span))
    )


def _is_dealt_with(run: Sequence[Word], span: tuple[Word, ...]) -> bool:
    """Whether something is for, about or of somebody alone: `letter for joy`, `joy history`."""
    is_day = span[0].is_in_date or span[0].text in month_numbers()
    is_for = span[0].before in of_people("for_whom", "concerning") and span[-1].stands_as_name
    is_all = (
        len(run) == len(span) + 1
        and span[0].is_first
        and span[-1].after in of_people("plain_charts")
    )
    return not is_day and (is_for or is_all)


def _is_only_a_name(word: Word) -> bool:
    """Whether a word in small letters is a name and nothing else: `no i meant abdul`."""
    is_term = word.is_eponym or name_signs.is_clinical(word.text) or word.is_derived
    is_name = is_known_name(word.text) or is_strange(word.text)
    return is_name and not (is_ordinary_name(word.text) or is_term)


def has_another_first_name(
    run: Sequence[Word], span: tuple[Word, ...], index: PersonIndex, own: Person | None
) -> bool:
    """Whether another first name stands beside a family name that the open patient has, too."""
    hits = index.exactly(span[0].text)
    of_open = [hit for hit in hits if hit.person.same_as(own)]
    is_given, at = all(hit.part == "given" for hit in of_open), span[0].at - run[0].at
    if len(span) == 1 and not is_given and has_another_initial(run, at, of_open[0].person):
        return True
    if len(span) > 1 or span[0].title is not None:
        return span[0].title == "relative" and span[-1].heads  # `Cousin Marco Bosco: PSA`
    if is_given:
        return name_signs.is_before_a_family_name(run, span)
    if is_led := at > 0 and leads_a_name(run[at - 1], run[at]):
        at -= 1  # `Mary D'Angelo`: the first name stands before the D
    before = run[at - 1] if at else None
    if before is None or "," in run[at].gap or len(before.raw) < 3:
        return False
    is_term = name_signs.is_clinical(before.text)
    is_french = is_led and (before.raw.isupper() or is_term)  # `l'INR d'Angelo`
    if is_french or (before.is_common and not name_signs.is_first_name_before(before, span[0])):
        return False
    is_given = any(hit.part == "given" for hit in index.exactly(before.text))
    is_name = before.raw[0].isupper() or span[0].is_owner or name_signs.is_surely_name(before, own)
    is_word = before.is_eponym or name_signs.is_compound(before) or is_term
    return is_given or (is_name and not is_word)
