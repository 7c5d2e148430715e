"""Splits a message into clauses and says which one carries the request. Pure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from services.language.pointing import vocabulary
from services.language.pointing.folding import tokens_of

_VERB = vocabulary.WORDS.text("verb")
_FLAGS = re.IGNORECASE
_TALK = re.compile(r"\b(?:i|i'm|we|thanks|can't|cannot|won't|couldn't|is|isn't|has|was)\b", _FLAGS)
_OWN_NAME = re.compile(r"\b(?:the|my|our|that|all|both)\s+\S+|[\ue100-\ue1ff]")
# "Cancel the dentist? No."
_NO_MORE = re.compile(r"\s*no(?: wait| stop| sorry)*\s*", _FLAGS)
_NEGATED = vocabulary.WORDS.compiled("negated")
_MIDDLE = re.compile(r"\bmiddle one\b|\bthe middle\b(?=\W*$)", _FLAGS)
_EITHER = re.compile(r",?\s+or (?:maybe |perhaps )?(?:the|my|our)\b", _FLAGS)
_MAKING = frozenset(vocabulary.WORDS.words("making"))


@dataclass(slots=True)
class Clauses:
    """A message in pieces.

    Attributes:
        main: The clause that carries the request, without its verb.
        verb: Its verb, folded, or "".
        others: Clauses without a request of their own, in order.
        excluded: What is said not to be meant.
        several: Another clause asks for something of its own.
        either: Two things are named of which one may be meant.
    """

    main: str = ""
    verb: str = ""
    others: list[str] = field(default_factory=list)
    excluded: list[str] = field(default_factory=list)
    negated: bool = False
    several: bool = False
    either: bool = False


def read_clauses(text: str) -> Clauses:
    """Return the clauses of `text`, in which names are marks."""
    text = re.sub(r"\b(dr|mr|mrs|ms|prof|st|appt)\.", r"\1", text, flags=_FLAGS)
    text = re.sub(r"(\d{1,2}(?:st|nd|rd|th)?),\s*(\d{4})\b", r"\1 \2", text)
    text = re.sub(r"\b([ap])\.\s?m\b\.?", r"\1m", text, flags=_FLAGS)
    text = re.sub(r"\b(that|it|this|there|what|who)'s\b", r"\1 is", text, flags=_FLAGS)
    text = re.sub(r"\be-mail", "email", text, flags=_FLAGS)
    text = re.sub(r"\bto-?\s?dos?\b(?! ?(?:it|that|this|so))", "todo", text, flags=_FLAGS)
    text = vocabulary.WORDS.compiled("backwards").sub("penultimate", text)
    text = _MIDDLE.sub("middlemost", text)
    text = vocabulary.WORDS.compiled("next_to_a_place").sub(_as_number, text)
    text = vocabulary.WORDS.compiled("numbered_places").sub(
        lambda one: re.sub(r"(\d+)", r"number \1", one["rest"]), text
    )
    text = _corrected(text)
    found = Clauses(either=_EITHER.search(text) is not None)
    for pattern in (vocabulary.WORDS.compiled("not_that"), vocabulary.WORDS.compiled("not_name")):
        text = _without_excluded(text, pattern, found)
    pieces = [piece for piece in _pieces(text) if piece.strip()]
    kept = [piece for piece in pieces if not _is_negated(piece)]
    if len(pieces) > 1 and _NO_MORE.fullmatch(pieces[-1]):
        found.negated = True
        return found
    found.negated = len(kept) < len(pieces)
    if found.negated:
        _keep_contrast(found, kept, [piece for piece in pieces if _is_negated(piece)])
    else:
        _choose(found, kept)
    return found


def _as_number(match: re.Match[str]) -> str:
    step = -1 if match["side"].casefold() == "before" else 1
    place = vocabulary.ORDINALS[match["place"].casefold()] + step
    return f"number {place}" if place else match[0]


def _corrected(text: str) -> str:
    """Return what is left of: cancel the dentist, no, I mean the lunch."""
    match = vocabulary.WORDS.compiled("corrected").search(text)
    tail = "" if match is None else match["tail"] or match["instead"]
    if match is None or _verb_of(tail)[0]:
        return text
    return f"{_verb_of(text[: match.start()])[0]} {tail}"


def _without_excluded(text: str, pattern: re.Pattern[str], found: Clauses) -> str:
    def note(match: re.Match[str]) -> str:
        if re.search(rf"\b{_VERB}\b", match["what"], _FLAGS):
            return match[0]
        found.excluded.append(match["what"])
        return " , "

    return pattern.sub(note, text)


def _pieces(text: str) -> Iterator[str]:
    for piece in vocabulary.WORDS.compiled("split").split(text):
        yield vocabulary.WORDS.compiled("reason").sub(" ", piece)


def _is_negated(piece: str) -> bool:
    if vocabulary.WORDS.compiled("no_negation").search(piece):
        return False
    return bool(_NEGATED.search(piece) or vocabulary.WORDS.compiled("dropped").search(piece))


def _keep_contrast(found: Clauses, kept: list[str], refused: list[str]) -> None:
    """Keep the second of: don't cancel the dentist, cancel the lunch."""
    asking = [piece for piece in kept if _verb_of(piece)[0] in vocabulary.TARGET_FORMS]
    if len(asking) == 1 and re.search(r"\b(?:the|my|our)\b|[\ue100-\ue1ff]", asking[0]):
        verb, rest = _verb_of(asking[0])
        if not re.search(r"\b(?:it|that|this|them)\b", rest, _FLAGS):
            found.negated, found.main, found.verb = False, rest, verb
            found.excluded += [_verb_of(_NEGATED.sub(" ", piece))[1] for piece in refused]


def _choose(found: Clauses, pieces: list[str]) -> None:
    rows = [(_verb_of(piece), piece) for piece in pieces]
    asking = [index for index, ((verb, _), _) in enumerate(rows) if verb in vocabulary.TARGET_FORMS]
    leading = asking or [index for index, ((verb, _), _) in enumerate(rows) if verb]
    main = leading[0] if leading else 0
    for index, ((verb, rest), piece) in enumerate(rows):
        if index == main:
            found.verb, found.main = verb, rest if verb else piece
        elif not (verb or index <= main or _TALK.search(piece) or len(tokens_of(piece)) > 5):
            # "the dentist, tomorrow at 3": it goes on.
            found.main += f" , {piece}"
        elif index in asking and _OWN_NAME.search(rest):
            found.several = True
        elif index < main or not verb:
            found.others.append(rest if verb else piece)


def _verb_of(piece: str) -> tuple[str, str]:
    """Return the clause's verb and what follows it; no verb and "" if it asks for nothing."""
    match = vocabulary.WORDS.compiled("lead").match(piece)
    if match is None or _is_noun(match["verb"], piece[match.end() :]):
        match = vocabulary.WORDS.compiled("late_verb").search(piece) or vocabulary.WORDS.compiled(
            "any_verb"
        ).match(piece)
    if match is None:
        return "", piece
    return match["verb"].casefold(), piece[match.end() :]


def _is_noun(verb: str, rest: str) -> bool:
    if verb.casefold() in vocabulary.TARGET_VERBS and verb.casefold() != "invite":
        return False
    return not rest.strip() or bool(re.match(r"\s+(?:with|at|on|from|about|in|by)\b", rest, _FLAGS))


def is_relative(text: str) -> bool:
    """Whether something is meant by what it stands next to: "the meeting after the clinic"."""
    return vocabulary.WORDS.compiled("beside").search(text) is not None


def is_making(verb: str, rest: str) -> bool:
    """Whether it asks for something new, which is not among what is there, or for two at once."""
    return verb.startswith("swap") or (
        verb in _MAKING
        and re.match(r"\s*(?:me\s+)?(?:an?|another|new)\b", rest, _FLAGS) is not None
    )
