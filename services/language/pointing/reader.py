"""Reads a message into what it asks for. Pure: a message, the names it may hold, and now."""

import re
from collections.abc import Sequence
from datetime import datetime

from services.language.pointing import vocabulary
from services.language.pointing.clauses import Clauses, is_making, is_relative, read_clauses
from services.language.pointing.clock_words import read_clock, read_evening
from services.language.pointing.day_words import STARTS_A_TIME, read_days
from services.language.pointing.draft_text import DraftText, without_marks
from services.language.pointing.folding import plain, tokens_of
from services.language.pointing.lexicon import Lexicon
from services.language.pointing.names_in_text import hide_names, hide_quotes, take_ids
from services.language.pointing.request import Asked, Order, Request
from services.language.replies.addressing import without_address
from services.language.words.in_english import in_english
from services.language.words.phrases import says

MESSAGE_READ_CHARS = 2_000
LONGEST_LIST = 12
_FLAGS = re.IGNORECASE
_TO = re.compile(r"\b(?:to|until|till|onto|into|as)\b", _FLAGS)
_FOR = re.compile(r"\b(?:for|by|on|at)\b", _FLAGS)
_HASH = re.compile(r"(?:^|\s)#(\d{1,2})\b")
_ORDERS: Sequence[tuple[Order, re.Pattern[str]]] = (
    ("earlier", re.compile(r"\b(?:earlier|sooner)\b", _FLAGS)),
    ("later", re.compile(r"\blater\b", _FLAGS)),
    ("latest", re.compile(r"\b(?:latest|most recent|newest)\b", _FLAGS)),
    ("earliest", re.compile(r"\b(?:earliest|oldest)\b", _FLAGS)),
    ("next", re.compile(r"\b(?:next|soonest)\b", _FLAGS)),
    ("last", re.compile(r"\b(?:last|final|previous)\b", _FLAGS)),
)
_PREPOSITION = frozenset(["with", "from", "by"])
_AFTER_NOUN = frozenset(vocabulary.WORDS.words("after_noun"))
_OBJECTS = frozenset(vocabulary.WORDS.words("objects"))
_COMPOUND = re.compile(rf"(?<=\w\w)-(?=(?:{'|'.join(vocabulary.TYPE_NOUNS)})\b)", _FLAGS)
_CALENDAR_WORDS = frozenset(vocabulary.WORDS.words("calendar_words"))
_EDITING = vocabulary.WORDS.forms("editing")
_PIECE = re.compile(r"[^\W_]+(?:['.:@/_-][^\W_]+)*|[\ue100-\ue1ff]|\x1f|[,.;!?]")
# Who is spoken to is not what is spoken of.
_ADDRESS = re.compile(r"^\s*(?:@[\w-]+[,:]?\s+|[A-Z]\w+:\s+)+")
_NUMBER_ONLY = re.compile(r"^\s*(?:the )?#?(\d{1,2})\s*[.!)]?\s*$")


class Reader:
    """Reads messages of one user at one moment."""

    def __init__(self, *, now: datetime, lexicon: Lexicon) -> None:
        self._now = now
        self._lexicon = lexicon

    def read(self, message: str) -> Asked:
        """Return what `message` asks for."""
        said = _ADDRESS.sub("", plain(in_english(without_address(message[:MESSAGE_READ_CHARS]))))
        said = _COMPOUND.sub(" ", said)
        said = f"{said} it" if says(message, "order_alone") else said
        said = without_marks(said)  # who writes all in capitals means no names by them
        text = DraftText(text=said.lower() if said.isupper() else said)
        hide_quotes(text)
        typed = take_ids(text, self._lexicon)
        hide_names(text, self._lexicon.names)
        clauses = read_clauses(text.rest)
        several = clauses.several or clauses.either
        asked = Asked(typed_ids=typed, negated=clauses.negated, several=several, every=not several)
        if clauses.negated:
            return asked
        beside = any(map(is_relative, (clauses.main, *clauses.others)))
        asked.negated = beside or is_making(clauses.verb, clauses.main)
        asked.main = self._request(text.part(clauses.main), clauses.verb)
        if (
            clauses.verb in vocabulary.CALLING_FORMS
            and asked.main.noun is None
            and asked.main.has_content
        ):
            asked.main.noun = "contact"
        is_order = clauses.verb in vocabulary.TARGET_FORMS
        if is_order and not (asked.main.points or asked.main.times.is_empty):
            asked.main.pointed = True  # "drop Thursday 10am"
        asked.excluded = [self._request(text.part(one), "") for one in clauses.excluded]
        asked.context = self._context(text, clauses, asked.main)
        return asked

    def _context(self, text: DraftText, clauses: Clauses, main: Request) -> Request | None:
        if main.has_content or main.has_selector or not clauses.others:
            return None
        return self._request(text.part(" , ".join(clauses.others)), "")

    def _request(self, text: DraftText, verb: str) -> Request:
        if (number := _NUMBER_ONLY.match(text.rest)) is not None:
            return Request(number=int(number[1]))
        found = Request()
        _drop_destination(text, verb)
        _read_field(text, verb, found)
        read_evening(text.rest, found.times)
        _read_ordinal(text, found)
        read_days(text, self._now, found.times)
        read_clock(text, found.times)
        partitive = vocabulary.WORDS.compiled("partitive").search(text.rest)
        rest = text.rest if partitive is None else text.rest.replace(partitive[0], " ")
        _read_count(rest, found)
        found.plural = bool(
            found.plural
            or len(found.places) > 1
            or vocabulary.WORDS.compiled("plural").search(rest)
            or vocabulary.WORDS.compiled("coordinated").search(rest)
        )
        clocks = [one for one in found.times.clocks if not one.word]
        found.plural = found.plural or len(set(clocks)) > 1
        if text.take(vocabulary.WORDS.compiled("other_one")):
            found.other = True
        for order, pattern in _ORDERS:
            if found.order is None and text.take(pattern):
                found.order = order
        _read_words(text, found)
        return found


def _drop_destination(text: DraftText, verb: str) -> None:
    """Cut where something goes to: it says nothing of what it is."""
    if verb in vocabulary.GIVING_FORMS:
        _cut_after(text, _TO)
    elif verb in vocabulary.ADDING_FORMS and (match := _TO.search(text.rest)) is not None:
        text.rest = text.rest[match.end() :]
    elif verb in vocabulary.MOVING_FORMS:
        if (pronoun := vocabulary.WORDS.compiled("it_then").match(text.rest)) is not None:
            text.cut(pronoun.end())
            return
        _cut_after(text, _TO)
        for match in _FOR.finditer(text.rest):
            if match[0].casefold() == "for" and STARTS_A_TIME.match(text.rest, match.end()):
                text.cut(match.start())
                break
        text.take(vocabulary.WORDS.compiled("by_length"))


def _cut_after(text: DraftText, pattern: re.Pattern[str]) -> None:
    match = pattern.search(text.rest)
    if match is not None and match.start() > 0 and text.rest[: match.start()].strip():
        text.cut(match.start())


def _read_ordinal(text: DraftText, found: Request) -> None:
    if (row := vocabulary.WORDS.compiled("in_a_row").search(text.rest)) is not None:
        count = vocabulary.NUMBER_WORDS.get(row["count"].casefold()) or int(row["count"])
        ends = range(1, count + 1) if row["end"].casefold() == "first" else range(-count, 0)
        found.places = tuple(ends)
        # The figure is no part of a name.
        text.rest = f"{text.rest[: row.start('count')]}two{text.rest[row.end('count') :]}"
    if (hashed := text.take(_HASH)) is not None:
        found.ordinal = int(hashed[1])
        return
    places = [
        match
        for match in vocabulary.WORDS.compiled("ordinal").finditer(text.rest)
        if not _is_of_a_date(match, text)
    ]
    if not places:
        return
    match = places[0]
    found.plural = len(places) > 1
    found.ordinal = _ordinal(match)
    found.places = tuple(map(_ordinal, places)) if found.plural else found.places
    if vocabulary.WORDS.compiled("and_the_last").search(text.rest, match.end()):
        found.places = (*(found.places or (found.ordinal,)), -1)
    for place in reversed(places[1:]):
        text.rest = f"{text.rest[: place.start()]} {text.rest[place.end() :]}"
    text.rest = f"{text.rest[: match.start()]} {text.rest[match.end() :]}"
    if re.match(r"\s*(?:one )?(?:of|in|from)\b", text.rest[match.start() :], _FLAGS):
        text.rest = vocabulary.WORDS.compiled("partitive_rest").sub(" ", text.rest)


def _is_of_a_date(match: re.Match[str], text: DraftText) -> bool:
    if match["digits"] is None:
        return False
    before, after = text.rest[: match.start()], text.rest[match.end() :]
    if int(match["digits"]) > LONGEST_LIST and not re.match(r" (?:one|item)", after, _FLAGS):
        return True
    months = r"\s*(?:of )?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)"
    return bool(
        re.match(months, after, _FLAGS)
        or re.search(
            r"(?:jan|feb|mar|apr|may|june?|july?|aug|sep|oct|nov|dec)\w*\.? (?:the )?$",
            before,
            _FLAGS,
        )
        or re.search(r"\bon the $", before, _FLAGS)
    )


def _ordinal(match: re.Match[str]) -> int:
    if match["back"]:
        return -vocabulary.ORDINALS[match["back"].casefold()]
    if match["word"]:
        return vocabulary.ORDINALS[match["word"].casefold()]
    if match["nw"]:
        return vocabulary.NUMBER_WORDS[match["nw"].casefold()]
    return int(match["digits"] or match["n"])


def _read_words(text: DraftText, found: Request) -> None:
    found.indefinite = vocabulary.WORDS.compiled("indefinite").search(text.rest) is not None
    found.pointed = bool(vocabulary.WORDS.compiled("pointed_noun").search(text.rest))
    pieces = _PIECE.findall(text.rest)
    after_preposition, at_start = False, True
    for index, piece in enumerate(pieces):
        if piece in "\x1f,.;!?":
            at_start = at_start or piece in ".;!?"
            continue
        if (phrase := text.phrase(piece)) is not None:
            found.phrases.append(phrase)
            found.quoted += [phrase] if phrase in text.quoted else []
        elif _takes_noun(found, pieces, index, after_preposition=_follows(pieces, index)):
            pass
        elif piece.casefold() in _CALENDAR_WORDS and _follows(pieces, index):
            found.words.append(piece.casefold())  # the mail about the agenda
        else:
            _take_word(found, piece, at_start=at_start, strict=after_preposition)
        lowered = piece.casefold()
        after_preposition = lowered in _PREPOSITION or (
            after_preposition and (lowered in vocabulary.STOP_WORDS)
        )
        at_start = False
    _read_bare_number(found)
    if not found.has_content:
        found.pronoun = bool(vocabulary.WORDS.compiled("pronoun_alone").search(text.rest))


def _read_bare_number(found: Request) -> None:
    """Let a small number alone be a place in a list: "event 2"."""
    alone = len(found.strict) == 1 and not (found.words or found.phrases or found.has_selector)
    if alone and found.strict[0].isdecimal() and 1 <= int(found.strict[0]) <= LONGEST_LIST:
        found.number = int(found.strict.pop())


def _follows(pieces: Sequence[str], index: int) -> bool:
    """Whether a preposition stands somewhere before: the noun is then not what is meant."""
    before = [piece.casefold() for piece in pieces[:index]]
    return any(
        one in ("about", "regarding", "re", "with", "for", "called", "titled")
        and "done" not in before[max(0, at - 1) : at]  # "done with the wheelchair task"
        for at, one in enumerate(before)
    )


def _takes_noun(
    found: Request, pieces: Sequence[str], index: int, *, after_preposition: bool
) -> bool:
    word = pieces[index].casefold().removesuffix("'s")
    kind = vocabulary.TYPE_NOUNS.get(word) or vocabulary.PLURAL_NOUNS.get(word)
    if kind is None or found.noun is not None or after_preposition:
        return False
    following = pieces[index + 1] if index + 1 < len(pieces) else ""
    if word in vocabulary.VERB_FORMS and following.casefold() in _OBJECTS:
        return False  # "the call him task"
    found.noun, found.noun_word = kind, word
    lowered = following.casefold()
    is_word = len(following) > 1 and following[0].isalpha() and following == lowered
    found.soft_noun = (
        is_word and lowered not in _AFTER_NOUN and lowered not in vocabulary.STOP_WORDS
    )
    return True


def _take_word(found: Request, piece: str, *, at_start: bool, strict: bool) -> None:
    bare = piece.removesuffix("'s")
    parts = tokens_of(bare)
    if "@" in bare:
        found.strict.append(bare.casefold())
        return
    for part in parts:
        if part in vocabulary.STOP_WORDS or (
            len(part) == 1 and part.isalpha() and not bare.isupper()
        ):
            continue
        has_digit = any(one.isdigit() for one in part)
        capital = bare[0].isupper() and not (at_start and bare[1:].islower())
        if has_digit or strict or capital:
            found.strict.append(part)
        else:
            found.words.append(part)


def _read_field(text: DraftText, verb: str, found: Request) -> None:
    """Take the field of a contact out of a change.

    It is no part of a name, and nothing but a contact has it: an event or a mail that names the
    same person is not what is meant.
    """
    if verb not in _EDITING:
        return
    if (match := vocabulary.WORDS.compiled("field_of").search(text.rest)) is None:
        return
    text.rest = f"{text.rest[: match.start()]} {text.rest[match.end() :]}"
    found.noun, found.noun_word = "contact", "contact"


def _read_count(text: str, found: Request) -> None:
    """Note in `found` how many `text` means ("both", "all three"), and if it means the rest."""
    if (counted := vocabulary.WORDS.compiled("counted").search(text)) is not None:
        count = (counted["count"] or "two").casefold()
        found.count = vocabulary.NUMBER_WORDS.get(count) or int(count)
    found.rest = vocabulary.WORDS.compiled("the_rest").search(text) is not None
