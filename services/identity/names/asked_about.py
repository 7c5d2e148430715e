"""Whether a name in a message stands where one asks about its bearer. Pure."""

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from services.identity.names.name_signs import asks_for_chart
from services.language.charts.chart_entries import chart_nouns
from services.language.people.mentions import Message
from services.language.people.signed_word import Word
from services.language.words.letters import APOSTROPHES
from services.language.words.people_words import of_people
from services.language.words.statement_tables import stem
from services.language.words.statement_words import is_clinical_name

_DASHES = frozenset("-–—")
_TITLES = ("titles_of_men", "titles_of_women", "titles_of_patients")
_CALLS = frozenset({":", ",", "-", "–"})
_PARTING = frozenset(',()"“”„')
_STATES = frozenset(".!;")
_OPENING_QUOTES, _CLOSING_QUOTES = '"“„«', '"“”»'


def is_asked_about(message: Message, span: tuple[Word, ...]) -> bool:
    """Whether a name stands where one asks about its bearer: as a heading, `of Doyle`, `Doyle's`.

    "Leave Doyle for later", "signed: Doyle", "in the bed next to Doyle" ask about nobody.
    """
    behind = message.words[span[-1].at + 1 :]
    # `Doyle, her aunt, called`
    is_kin = len(behind) > 1 and behind[0].is_in("owners") and behind[1].is_in("relatives")
    if is_kin or _is_shown(message, span) or _is_quoted(message, span):
        return False
    if span[-1].is_owner and asks_for_chart(span[-1]):
        return True
    at = span[0].at
    while at and message.words[at - 1].is_in(*_TITLES) and message.words[at].gap in (" ", ". "):
        at -= 1
    if not at:
        return True
    last = message.words[at - 1]
    ends = not span[-1].beyond  # `ruf Doyle auf`
    if span[-1].after in of_people("opened", *["called_up"][:ends]) and span[-1].before:
        return last.is_in("opening")  # `I thought I had Doyle open`
    is_parted = last.is_in("parting") and not last.is_in("joins")
    is_parted = is_parted or bool(message.words[at].gap.strip())
    # `now to Doyle`; `next to Doyle` is beside somebody
    leads = of_people("opening", "moves_on", "moving")
    only_opens = last.is_in("to") and leads.issuperset(one.text for one in message.words[:at])
    only_opens &= message.words[0].text != "next"
    return only_opens or _asks(last, is_parted=is_parted)


def _asks(last: Word, *, is_parted: bool) -> bool:
    """Whether the word before a name asks about its bearer; `is_parted` by a comma or colon."""
    if last.is_in("not_asked", "addressing"):
        return last.before == "next"  # `next call: Doyle`
    if last.is_in("to"):
        return last.before in of_people("moving", "opening_verbs")
    if last.text == "like":
        return last.before in of_people("would")
    return (
        is_parted or last.text in _before_who_is_asked_about() or is_clinical_name(stem(last.text))
    )


@lru_cache(maxsize=1)
def _before_who_is_asked_about() -> frozenset[str]:
    asking = of_people("before_names", "auxiliaries", "opening", "about", "lingers")
    return asking | of_people("person_verbs", "open_verbs", "chart_things") | chart_nouns()


def _is_shown(message: Message, span: tuple[Word, ...]) -> bool:
    """Whether the name is of whom something shown is: `that's Doyle's result, isn't it?`."""
    at = span[0].at
    last = [one.text for one in message.words[max(at - 2, 0) : at]]
    if last and last[-1] in of_people("copulas", "are"):
        last.pop()
    return bool(last) and last[-1] in of_people("shown") and bool(span[0].before)


def _is_quoted(message: Message, span: tuple[Word, ...]) -> bool:
    """Whether somebody's words with the name in them are quoted, and more is said beside them."""
    text = message.text
    start = max(text.rfind(one, 0, span[0].start) for one in _OPENING_QUOTES)
    ends = (text.find(one, span[-1].end) for one in _CLOSING_QUOTES)
    end = min((one for one in ends if one >= 0), default=-1)
    if min(start, end) < 0:
        return False
    inside = [one for one in message.words if start < one.start < end]
    return len(span) < len(inside) < len(message.words)


def is_kin_of(message: Message, span: tuple[Word, ...]) -> bool:
    """Whether the one spoken of is said to be somebody's relative: `she is Doyle's sister`."""
    before = [one for one in message.words if one.end <= span[0].start]
    while before and before[-1].is_in(*_TITLES):
        before.pop()
    is_said = len(before) > 1 and before[-1].is_in("copulas")
    return is_said and span[-1].is_owner and span[-1].after in of_people("relatives")


def is_set_aside(message: Message, start: int) -> bool:
    """Whether a negation or a likeness sets a name, or a number, aside.

    `not Doyle`, `no data of Doyle`, `Doyle is not the one I mean`, `as Doyle gets`. In a question a
    negation counts directly before the name only: `why is there no CT of Doyle?` asks about Doyle.

    Args:
        start: Where the name, or the number, begins in the text.
    """
    before, behind, sign = _clause_around(message, start)
    if not before:
        return sign != "?" and any(map(_is_negation, behind))
    leads = of_people("asking", "copulas")
    if any(one.text in leads for one in before) and any(one.is_in("was_shown") for one in behind):
        return True
    near = before[-2] if before[-1].text == "bei" and len(before) > 1 else before[-1]
    looked = before if sign != "?" else [near]
    return near.is_in("like") or any(map(_is_negation, looked))


def set_against(message: Message, spans: Sequence[tuple[Word, ...]]) -> Sequence[tuple[Word, ...]]:
    """Return the names that a negation directly before them sets against another one of `spans`.

    `Grant, not Doyle`, `not Doyle but Grant`; of `not Doyle and Grant` nobody can tell.
    """
    leads = [_lead(message, span[0].at) for span in spans]
    joined = [at > 0 and message.words[at - 1].is_in("joins") for at in leads]
    number = sum(joined)
    ends, found = {span[-1].start for span in spans}, list[tuple[Word, ...]]()
    for span, at, is_joined in zip(spans, leads, joined, strict=True):
        sign = message.words[at - 1]
        if not at or len(spans) < 2 or number > is_joined or not sign.is_in("set_against"):
            continue
        earlier = message.words[at - 2] if at > 1 else sign
        is_first = at == 1 or _begins_clause(sign) or earlier.is_in("parting")
        if is_first or earlier.start in ends:
            found.append(span)
    return found


def _lead(message: Message, at: int) -> int:
    """Return the place at which a name begins, with its title and what leads to it: `of Mr`."""
    leads = of_people(*_TITLES, "about", "to", "for_whom")
    while at and message.words[at - 1].text in leads and not _begins_clause(message.words[at]):
        at -= 1
    return at


def is_stated_about(message: Message, start: int) -> bool:
    """Whether a sentence says something of somebody before another one: `Doyle can wait. BP?`.

    Args:
        start: Where the name begins in the text.
    """
    before, behind, sign = _clause_around(message, start)
    verbs = of_people("copulas", "auxiliaries", "person_verbs", "verbs_of_plans")
    is_last = not behind or behind[-1] is message.words[-1]
    states = all(one.is_in("parting") for one in before) and any(
        one.text in verbs for one in behind
    )
    return states and not is_last and sign in _STATES


def _clause_around(message: Message, start: int) -> tuple[Sequence[Word], Sequence[Word], str]:
    """Return the words of a clause before and behind `start`, and the sign that ends it."""
    words, titles = message.words, of_people(*_TITLES)
    at = next((place for place, one in enumerate(words) if one.start >= start), len(words))
    first = at
    while first > 0 and not (
        first < len(words) and words[first].start <= start and _begins_clause(words[first])
    ):
        first -= 1
    end = next((i for i in range(at + 1, len(words)) if _begins_clause(words[i])), len(words))
    rest = message.text[words[end - 1].end :] if words else ""
    sign = next((one for one in rest.lstrip("'’s)\"”") if not one.isspace()), "")
    before = [one for one in words[first:at] if one.text not in titles]
    return before, words[at:end], sign


def _begins_clause(word: Word) -> bool:
    is_dash = word.gap.strip() in _DASHES and word.gap.strip() != word.gap
    parts = not word.before or is_dash or not _PARTING.isdisjoint(word.gap)
    return parts or word.is_in("parting")


def _is_negation(word: Word) -> bool:
    is_nt = word.text == "t" and word.gap != "" and word.gap in APOSTROPHES
    return is_nt or word.is_in("set_aside")


def points_at_open(message: Message) -> bool:
    """Whether the open patient is pointed at: `this lady's sodium`, `whose chart is open?`."""
    people = of_people("people", "titles_of_patients") | {"one"}
    return any(one.is_in("whose") for one in message.words) or any(
        first.is_in("here") and second.text in people for first, second in pairwise(message.words)
    )


def calls_relative(message: Message, place: int) -> bool:
    """Whether who is named at `place` is called a relative: `is her husband`, `Mother: Doyle`."""
    return any(_calls_relative(message.words, at, place) for at in range(len(message.words)))


def _calls_relative(words: Sequence[Word], at: int, place: int) -> bool:
    kind = words[at]
    if not kind.is_in("relatives", "contacts"):
        return False
    is_owned = at > 1 and words[at - 1].is_in("owners")
    if is_owned and words[at - 2].is_in("copulas"):
        return True
    if any(one.is_in("titles_of_patients") for one in words[at + 1 : at + 4]):
        return True
    sign = words[at + 1].gap.strip() if at + 1 < len(words) else "."
    if is_owned and place < kind.start:
        return False  # `Doyle: her son is Tom`
    return sign in _CALLS or kind.is_owner or (not sign and kind.after in of_people("copulas"))
