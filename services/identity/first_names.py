"""Whether the first name of a patient, alone, is a name where it stands in a message. Pure."""

from collections.abc import Sequence

from services.identity.name_signs import (
    asks_for_chart,
    is_all_said,
    is_before_a_family_name,
    is_clinical,
    is_sure_sign,
    is_told_something,
    is_turned_to,
)
from services.language.chart_nouns import measured_nouns
from services.language.named_person import is_known_name, is_ordinary_name
from services.language.people_words import names_that_are_words, of_people
from services.language.signed_word import Word

_HAS = frozenset({"hat", "nimmt", "tiene", "toma", "prend"})


def is_first_name_here(run: Sequence[Word], span: tuple[Word, ...]) -> bool:
    """Whether words that are a patient's first name, and perhaps common words, name somebody."""
    is_word = any(one.is_common for one in span)
    is_owned = not is_word or span[-1].text.endswith("s")  # `hopes last bp`
    return (
        is_sure_sign(span)
        or (span[0].is_capital and not span[0].is_in_date)
        or _is_asked_about(run, span)
        or (is_owned and span[0].is_first and asks_for_chart(span[-1]))
        # Whoever says but a first name, and writes on, takes that chart to be open.
        or (not is_word and is_all_said(run, span))
        or is_before_a_family_name(run, span)
        or is_turned_to(run, span)
        or is_told_something(run, span)
        or (is_word and _is_asked_of_a_word(span))
        or (not is_word and _stands_alone(span))
    )


def _is_asked_about(run: Sequence[Word], span: tuple[Word, ...]) -> bool:
    """Whether a question begins with a verb and the name: `has mark had a flu shot?`."""
    is_second = len(run) > 2 and run[1] is span[0] and run[0].is_first
    return is_second and span[0].before in of_people("auxiliaries")


def _is_asked_of_a_word(span: tuple[Word, ...]) -> bool:
    """Whether a name that is a word stands for a patient: `christian sodium`, `hat Christian?`."""
    word = span[0]
    if word.text not in of_people("given_too") | names_that_are_words():
        return False
    if word.text in of_people("verbs_too", "qualities") or len(span) > 1:
        return False
    leads = of_people("about") | _HAS | {"for", "fur", "sobre", "para", "pour"}
    is_behind = word.closes and word.before in leads
    return is_behind or (word.is_first and word.after in measured_nouns())


def _stands_alone(span: tuple[Word, ...]) -> bool:
    """Whether one of the words stands as a name, also in `and elvis?`."""
    is_turned_to = span[0].before in of_people("moves_on") and span[-1].closes
    return is_turned_to or any(one.stands_as_name or _is_only_a_name(one) for one in span)


def _is_only_a_name(word: Word) -> bool:
    """Whether a word in small letters is a name and nothing else: `no i meant abdul`."""
    is_term = word.is_eponym or is_clinical(word.text) or word.is_derived
    return is_known_name(word.text) and not (is_ordinary_name(word.text) or is_term)
