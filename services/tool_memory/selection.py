"""Picks from the entities that a request may mean: by words, focus, place in a list, date. Pure."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from services.language.pointing.folding import tokens_of
from services.language.pointing.lexicon import Lexicon
from services.language.pointing.request import Request
from services.tool_memory.resolution import (
    SHOWN_CANDIDATES,
    Candidate,
    EntityIndex,
    NotFound,
    Resolution,
    Resolved,
    Scene,
    agreed,
    several,
)

MARGIN = 0.1


class Selection:
    """Selects within one scene; gives the same answer for the same request."""

    def __init__(self, *, entity_index: EntityIndex, scene: Scene) -> None:
        self._live = entity_index.live
        self._gone = entity_index.gone
        self._lexicon = entity_index.lexicon
        self._scene = scene

    def in_time(self, request: Request, one: Candidate) -> bool:
        """Whether an entity starts when the request says (T7)."""
        return request.times.fits(
            one.start,
            one.end,
            has_time=one.has_time,
            now=self._scene.now,
            name=one.name,
            is_received=one.kind == "email",
        )

    def fitting(self, request: Request, pool: Sequence[Candidate]) -> list[Candidate]:
        """Return those of `pool` that fit by time and by words, the best only (T4, T7, T10)."""
        timely = [one for one in pool if self.in_time(request, one)]
        if not request.has_content:
            return timely
        return [fit.candidate for fit in best_of(fits_of(request, timely, self._lexicon))]

    def choose(self, request: Request, pool: Sequence[Candidate]) -> Resolution:
        """Return what `request` means among `pool`."""
        if not (fitting := self.fitting(request, pool)):
            return NotFound()
        if request.other:
            listed = [one for one in fitting if one.entity_id in self._scene.last_list]
            others = [one for one in listed if one.entity_id != self._scene.focus]
            return _found(others, self.ask)
        if request.number is not None:
            # Take "meeting 2" for a name that holds the number, or for a place in the list.
            named = [one for one in fitting if str(request.number) in one.tokens]
            placed = self._ordinal(replace(request, ordinal=request.number), pool, fitting)
            return agreed(_found(named, self.ask), placed)
        if request.ordinal is not None:
            return self._ordinal(request, pool, fitting)
        if request.order is not None:
            return self._ordered(request, pool, fitting)
        if request.has_content or not request.times.is_empty:
            ids = [one.entity_id for one in fitting]
            if len(ids) == 1:
                return Resolved(ids[0], (*request.strict, *request.words, *request.phrases))
            return self.ask(fitting)
        return self._by_focus(request, fitting)

    def _by_focus(self, request: Request, fitting: Sequence[Candidate]) -> Resolution:
        """Resolve "it", "that meeting" and "the meeting" (T5, T9)."""
        focus = None if request.indefinite else self._scene.focus
        if focus is not None and focus in {one.entity_id for one in fitting}:
            return Resolved(focus)
        if focus is not None and focus not in self._live and self._may_mean(focus, request):
            return NotFound()
        if focus in self._live and request.pronoun and request.noun is None:
            return self.ask(fitting)  # "it" is of another kind than what the tool changes
        if len(fitting) == 1:
            return Resolved(fitting[0].entity_id)
        if not request.pronoun:
            return self.ask(fitting)
        newest = max(one.turn for one in fitting)
        recent = [one for one in fitting if one.turn == newest]
        return Resolved(recent[0].entity_id) if len(recent) == 1 else self.ask(recent)

    def _may_mean(self, gone: str, request: Request) -> bool:
        kind = self._gone.get(gone)
        return request.noun is None or kind is None or kind == request.noun

    # -- lists and dates ----------------------------------------------------------------------

    def _ordinal(
        self, request: Request, pool: Sequence[Candidate], fitting: Sequence[Candidate]
    ) -> Resolution:
        """Take a position of the list shown last; where it may be counted in two ways, ask."""
        number = request.ordinal or 0
        shown = self._scene.last_list
        ids = {one.entity_id for one in fitting}
        if not shown:
            if number not in (1, -1) or request.times.is_empty:
                return NotFound()
            return self._extreme(fitting, latest=number == -1)
        kinds = {one.entity_id: one.kind for one in pool} | dict(self._gone)
        of_kind = [one for one in shown if request.noun in (None, kinds.get(one))]
        picks = [_at(shown, number), _at(of_kind, number)]
        narrowed = request.has_content or not request.times.is_empty
        if narrowed:
            picks.append(_at([one for one in shown if one in ids], number))
        found = list(dict.fromkeys(one for one in picks if one is not None and one in ids))
        if len(found) > 1:
            return several(found)
        # The place itself is taken by something gone: nothing else moves up.
        certain = picks[0] if picks[0] in ids else picks[1]
        return Resolved(found[0]) if found and (narrowed or certain == found[0]) else NotFound()

    def placed(self, request: Request, pool: Sequence[Candidate]) -> list[str]:
        """Return what stands at the places that are named: all of them, or nothing."""
        live = {one.entity_id for one in pool}
        kinds = {one.entity_id: one.kind for one in pool} | dict(self._gone)
        shown = [one for one in self._scene.last_list if request.noun in (None, kinds.get(one))]
        found = [_at(shown, place) for place in request.places]
        return [one for one in found if one is not None] if live.issuperset(found) else []

    def _ordered(
        self, request: Request, pool: Sequence[Candidate], fitting: Sequence[Candidate]
    ) -> Resolution:
        now = self._scene.now
        match request.order:
            case "latest":
                return self._extreme(fitting, latest=True)
            case "earliest":
                return self._extreme(fitting, latest=False)
            case "earlier" | "later":
                return self._compared(fitting, latest=request.order == "later")
            case "next":
                dated = [one for one in fitting if one.start is not None]
                ahead = [one for one in dated if _is_ahead(one, now)]
                return agreed(self._extreme(ahead, latest=False), self._after_focus(fitting))
            case _:
                return self._last(request, pool, fitting)

    def _last(
        self, request: Request, pool: Sequence[Candidate], fitting: Sequence[Candidate]
    ) -> Resolution:
        """The last one is the end of a list, the newest, or the one before now."""
        if self._scene.last_list:
            listed = self._ordinal(replace(request, ordinal=-1), pool, fitting)
            newest = self._extreme(fitting, latest=True)
            return listed if request.noun is None else agreed(newest, listed)
        gone_by = [one for one in fitting if one.start and not _is_ahead(one, self._scene.now)]
        newest = self._extreme(fitting, latest=True)
        return agreed(newest, self._extreme(gone_by, latest=True))

    def _compared(self, fitting: Sequence[Candidate], *, latest: bool) -> Resolution:
        """Take the earlier or later of two; of more nobody can tell."""
        listed = [one for one in fitting if one.entity_id in self._scene.last_list] or fitting
        return self._extreme(listed, latest=latest) if len(listed) <= 2 else self.ask(listed)

    def _after_focus(self, fitting: Sequence[Candidate]) -> Resolution:
        shown, ids = list(self._scene.last_list), {one.entity_id for one in fitting}
        focus = self._scene.focus
        if focus is None or focus not in shown:
            return NotFound()
        following = shown[shown.index(focus) + 1 :][:1]
        return Resolved(following[0]) if following and following[0] in ids else NotFound()

    def _extreme(self, fitting: Sequence[Candidate], *, latest: bool) -> Resolution:
        """Return the one with the last or first date; one without a date may be it as well."""
        dated = [one for one in fitting if one.start is not None]
        if not dated:
            return _found(fitting, self.ask)
        starts = [one.start for one in dated if one.start is not None]
        edge = max(starts) if latest else min(starts)
        kinds = {one.kind for one in dated}
        found = [one for one in fitting if one.start == edge]
        found += [one for one in fitting if one.start is None and one.kind in kinds]
        return _found(found, self.ask)

    def ask(self, candidates: Sequence[Candidate]) -> Resolution:
        """Return the candidates to choose from, those mentioned last first.

        Where not all can be named, those that lie ahead come before all others.
        """
        shown = {one: place for place, one in enumerate(self._scene.last_list)}
        ordered = sorted(
            candidates,
            key=lambda one: (
                -one.turn,
                shown.get(one.entity_id, len(shown)),
                str(one.start or ""),
                one.entity_id,
            ),
        )
        if len(ordered) > SHOWN_CANDIDATES:
            ordered.sort(key=lambda one: not _is_ahead(one, self._scene.now))
        return several([one.entity_id for one in ordered])


def _found(
    candidates: Sequence[Candidate], several: Callable[[Sequence[Candidate]], Resolution]
) -> Resolution:
    if not candidates:
        return NotFound()
    return Resolved(candidates[0].entity_id) if len(candidates) == 1 else several(candidates)


def _at(shown: Sequence[str], number: int) -> str | None:
    if number == 0:
        return shown[len(shown) // 2] if len(shown) % 2 else None
    index = number - 1 if number > 0 else len(shown) + number
    return shown[index] if 0 <= index < len(shown) else None


def _is_ahead(one: Candidate, now: datetime) -> bool:
    if one.start is None:
        return False
    return one.start >= now if one.has_time else one.start.date() >= now.date()


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
        missing = 2 * scores[len(strict) :].count(0.0)
        # Half of all is too little (T4): "the family dinner" is no family meeting.
        is_enough = missing <= len(words) and missing < max(1, len(by_word))
        if is_enough and all(scores[: len(strict)]):
            name = candidate.name
            found.append(Fit(candidate, tuple(scores), name in phrases, name in quoted))
    return [fit for fit in found if not request.has_content or any(fit.scores) or fit.is_whole_name]


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
