"""Whether the first name of a patient, alone, is a name where it stands in a message. Pure."""

from collections.abc import Sequence

from services.identity.names import name_signs
from services.identity.names.covers import is_looked_up
from services.language.people.named_person import is_known_name, is_ordinary_name
from services.language.people.signed_word import Word
from services.language.people.strange_words import is_strange


def is_first_name_here(run: Sequence[Word], span: tuple[Word, ...]) -> bool:
    """Whether words that are a patient's first name, and perhaps common words, name somebody."""
    is_word = any(one.is_common for one in span)
    return (
        name_signs.is_sure_sign(span)
        or (span[0].is_capital and not span[0].is_in_date)
        # Whoever says but a first name, and writes on, takes that chart to be open.
        or (not is_word and name_signs.is_all_said(run, span))
        or name_signs.is_before_a_family_name(run, span)
        or name_signs.is_turned_to(run, span)
        or name_signs.is_told_something(run, span)
        or name_signs.stands_for_somebody(run, span[-1])
        # `has mark had a flu shot?`
        or (run[0].is_in("auxiliaries") and [*run[1:-1]][:1] == [span[0]])
        or is_looked_up(run, span[0])
        or (not is_word and any(one.stands_as_name or _is_only_a_name(one) for one in span))
    )


def _is_only_a_name(word: Word) -> bool:
    """Whether a word in small letters is a name and nothing else: `no i meant abdul`."""
    is_term = word.is_eponym or name_signs.is_clinical(word.text) or word.is_derived
    is_name = is_known_name(word.text) or is_strange(word.text)
    return is_name and not (is_ordinary_name(word.text) or is_term)
