"""Whether a name in a message stands where one asks about its bearer. Pure."""

from functools import lru_cache
from itertools import pairwise

from services.identity.name_signs import asks_for_chart
from services.language.chart_words import chart_nouns
from services.language.letters import APOSTROPHES
from services.language.mentions import Message, Word
from services.language.people_words import people_words
from services.language.statement_words import is_clinical_name, stem

_LIKE = frozenset({"as", "wie", "comme", "como", "come"})
_LIKE_WITH = frozenset({"bei"})
_LIKED = frozenset({"like"})
_WOULD = frozenset({"would", "d", "i'd", "we'd"})


def is_asked_about(message: Message, span: tuple[Word, ...]) -> bool:
    """Whether a name stands where one asks about its bearer: as a heading, `of Doyle`, `Doyle's`.

    "Leave Doyle for later", "signed: Doyle", "in the bed next to Doyle" ask about nobody.
    """
    known = people_words()
    if span[-1].is_owner and asks_for_chart(span[-1]):
        return True
    at = next(place for place, one in enumerate(message.words) if one.start == span[0].start)
    titles = known.titles_of_men | known.titles_of_women | known.titles_of_patients
    while (
        at and message.words[at - 1].text in titles and message.words[at].gap.strip() in ("", ".")
    ):
        at -= 1
    if not at:
        return True
    last, before_last = message.words[at - 1], message.words[at - 1].before
    if last.text in known.not_asked | known.addressing:
        return False
    if last.text in known.to:
        return before_last in known.moving | known.opening_verbs
    if last.text in _LIKED:
        return before_last in _WOULD
    if message.words[at].gap.strip():
        return True
    return last.text in _before_who_is_asked_about() or is_clinical_name(stem(last.text))


@lru_cache(maxsize=1)
def _before_who_is_asked_about() -> frozenset[str]:
    known = people_words()
    asking = known.before_names | known.auxiliaries | known.opening | known.about
    return asking | known.person_verbs | known.open_verbs | known.chart_things | chart_nouns()


def is_set_aside(message: Message, start: int) -> bool:
    """Whether a negation or a likeness stands before: `not Doyle`, `I don't mean Mr Doyle`.

    Args:
        start: Where the name, or the number, begins in the text.
    """
    known, words = people_words(), message.words
    at = next((place for place, one in enumerate(words) if one.start == start), 0)
    titles = known.titles_of_men | known.titles_of_women | known.titles_of_patients
    place = at - 1
    while place >= 0 and words[place].text in titles:
        place -= 1
    first = place
    while place >= 0 and words[place].text in known.of_meaning and words[place + 1].before:
        place -= 1
    if place < 0 or not words[place + 1].before:
        return False
    word = words[place]
    if place < first and word.text in _LIKE and words[place + 1].text not in _LIKE_WITH:
        return False
    return word.text in known.set_aside or (word.text == "t" and word.gap in APOSTROPHES)


def points_at_open(message: Message) -> bool:
    """Whether the open patient is pointed at: `this lady's sodium`, `what does this one take?`."""
    known = people_words()
    people = known.people | known.titles_of_patients | {"one"}
    return any(
        first.text in known.here and second.text in people
        for first, second in pairwise(message.words)
    )
