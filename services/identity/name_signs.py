"""What the place of words in a message says of whether they are a name. Pure."""

from collections.abc import Sequence

from services.language.mentions import Word
from services.language.people_words import people_words
from services.language.statement_words import is_clinical_name, stem


def fills_a_clause(span: tuple[Word, ...]) -> bool:
    """Whether all the words stand where one name would: `open will grant`."""
    known = people_words()
    if span[0].is_first and span[-1].closes and len(span) > 1:
        return True
    opens = span[0].before in known.opening_verbs or span[0].before in known.before_names
    return len(span) > 1 and opens and span[-1].closes


def is_sure_sign(span: tuple[Word, ...]) -> bool:
    """Whether a title, a possessive or a heading says that words are a name."""
    return any(one.title in ("man", "woman", "patient") or one.is_owner for one in span) or (
        span[0].is_heading
    )


def stands_where_names_do(span: tuple[Word, ...]) -> bool:
    """Whether a word that nobody knows begins the message or follows what names follow."""
    known = people_words()
    first = span[0]
    is_unknown = not is_clinical_name(stem(first.text)) and first.text not in known.eponyms
    return is_unknown and (first.is_first or first.before in known.before_names)


def stands_alone(span: tuple[Word, ...]) -> bool:
    """Whether none of the words is common and one stands as a name."""
    return not any(one.is_common for one in span) and any(one.stands_as_name for one in span)


def is_unknown_full_name(first: Word, last: Word) -> bool:
    """Whether two words of no language stand as somebody's name: `Ottoline Featherstone's`."""
    is_owned = last.is_owner and first.gap.strip() != "-" and last.gap == " "
    return is_owned and all(
        one.is_capital
        and one.title is None
        and not one.is_common
        and not one.is_eponym
        and not is_clinical_name(stem(one.text))
        and not one.raw.isupper()
        for one in (first, last)
    )


def is_changed_contact(run: Sequence[Word], name: Word) -> bool:
    """Whether the user changes an entry of their own: `change Maria Kern's phone to …`."""
    known = people_words()
    first = run[0]
    return first.is_first and first.text in known.changes and name.after in known.contact_parts
