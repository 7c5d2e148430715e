"""How well the words of a request fit entities. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from services.language.pointing.folding import tokens_of
from services.language.pointing.lexicon import Lexicon
from services.language.pointing.request import Request
from services.tool_memory.entity_index import Candidate

MARGIN = 0.1


@dataclass(frozen=True, slots=True)
class Fit:
    """A candidate whose words fit, and how well each word of the request does (0 to 1).

    Attributes:
        is_whole_name: Whether the request spells its name out.
        is_quoted: Whether it says that this is the name: in quotes, or as called so.
    """

    candidate: Candidate
    scores: tuple[float, ...]
    is_whole_name: bool
    is_quoted: bool


def fits_of(request: Request, candidates: Sequence[Candidate], lexicon: Lexicon) -> list[Fit]:
    """Return the candidates whose words fit: strict words all, of the others most (T4)."""
    phrases = [tuple(tokens_of(phrase)) for phrase in request.phrases]
    quoted = [tuple(tokens_of(phrase)) for phrase in request.quoted]
    strict = list(dict.fromkeys([*request.strict, *(one for phrase in phrases for one in phrase)]))
    words = list(dict.fromkeys(request.words))
    by_word = [lexicon.scores(word) for word in (*strict, *words)]
    if not all(by_word[: len(strict)]):
        return []
    found = []
    for candidate in candidates:
        scores = [row.get(candidate.entity_id, 0.0) for row in by_word]
        missing = scores[len(strict) :].count(0.0)
        if all(scores[: len(strict)]) and _is_enough(missing, len(words), len(strict)):
            name = candidate.name
            found.append(Fit(candidate, tuple(scores), name in phrases, name in quoted))
    return [fit for fit in found if _says_something(fit, request)]


def _is_enough(missing: int, words: int, strict: int) -> bool:
    """Whether so few words are missing that the rest still names something (T4).

    Half of all is too little: "the family dinner" is no family meeting.
    """
    return missing * 2 <= words and missing * 2 < max(1, words + strict)


def _says_something(fit: Fit, request: Request) -> bool:
    return not request.has_content or any(fit.scores) or fit.is_whole_name


def best_of(fits: Sequence[Fit]) -> list[Fit]:
    """Return those which no other beats in every word: a single one is no guess (T10).

    A quoted name is the one of that name. One that is only spelt out is not: people shorten
    "Tumor board Europe" to "the tumor board" as well.
    """
    quoted = [fit for fit in fits if fit.is_quoted]
    if len(quoted) == 1:
        return quoted
    return [fit for fit in fits if not any(_beats(other, fit) for other in fits)]


def _beats(other: Fit, fit: Fit) -> bool:
    pairs = list(zip(other.scores, fit.scores, strict=True))
    return all(mine >= theirs for mine, theirs in pairs) and any(
        mine - theirs >= MARGIN for mine, theirs in pairs
    )


def ids_in(parameters: Mapping[str, object], live: Mapping[str, Candidate]) -> list[str] | None:
    """Return the live ids that a model put into `parameters`; None if it named several at once."""
    found: list[str] = []
    for value in parameters.values():
        rows = value if isinstance(value, list) else [value]
        ids = [row for row in rows if isinstance(row, str) and row in live]
        if len(ids) > 1:
            return None
        found.extend(ids)
    return list(dict.fromkeys(found))
