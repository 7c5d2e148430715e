"""Finds the one entity that a message means, or says that it cannot (spec page 3.3).

Never a guess: a wrong single answer deletes the wrong thing. Works on values, without a model,
and changes nothing.

Two readings of the rules that are not plain:

* T4, T10, T11: fit is counted over the words of the message, and words of a name which the message
  leaves out cost nothing. So "the tumor board" fits "Tumor board" and "Tumor board Europe" alike
  and is asked about. Only a name in quotes, one said to be a name ("called Tumor board"), and the
  answer to the question "which one?" mean the entity of exactly that name.
* T3, T4: in "change Maria Kern's phone to …" the new value is where it goes, as with a move, and
  the field says that a contact is meant. Every other word must still fit a contact.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from data_models.chart_view import in_written_order
from data_models.tool_memory import EntityContext, EntityType, ToolMemory
from services.language.pointing.folding import tokens_of
from services.language.pointing.reader import Reader
from services.language.pointing.request import Asked, Request
from services.language.pointing.vocabulary import NUMBER_WORDS
from services.language.replies.references import number_alone_in
from services.language.requests.tool_requests import as_move, is_time_alone
from services.language.words.phrases import says
from services.language.words.talk_texts import day_near
from services.tool_memory.extractors import other_of, start_of
from services.tool_memory.resolution import (
    Ambiguous,
    Candidate,
    EntityIndex,
    NotFound,
    Resolution,
    Resolved,
    Scene,
    every_one,
    ids_of,
    several,
)
from services.tool_memory.selection import Selection, ids_in


class ContextResolver:
    """Resolves references against one entity_index in one scene."""

    def __init__(self, *, entity_index: EntityIndex, scene: Scene) -> None:
        self._entity_index = entity_index
        self._scene = scene
        self._selection = Selection(entity_index=entity_index, scene=scene)
        self._reader = Reader(now=scene.now, lexicon=entity_index.lexicon)

    def resolve(
        self,
        user_message: str,
        entity_type: EntityType | None = None,
        parameters: Mapping[str, Any] | None = None,
        *,
        asks_first: bool = False,
    ) -> Resolution:
        """Return what `user_message` means.

        Args:
            user_message: As typed.
            entity_type: Only entities of this kind, if the tool needs one.
            parameters: What a model filled in; ids in it count only if they are live.
            asks_first: The user is shown what is taken and says yes before anything is done.
        """
        asked = self._reader.read(as_move(user_message, shown=None))
        found = self._meant(asked, entity_type, parameters, asks_first=asks_first)
        is_time = isinstance(found, NotFound) and not asks_first and is_time_alone(user_message)
        used = self._entity_index.live.get(self._scene.focus or "") if is_time else None
        if used is not None and used.kind == entity_type:  # "tomorrow 8am", right behind it
            return Resolved(used.entity_id)
        return NotFound(is_named=asked.names_something) if isinstance(found, NotFound) else found

    def _meant(
        self,
        asked: Asked,
        entity_type: EntityType | None,
        parameters: Mapping[str, Any] | None,
        *,
        asks_first: bool,
    ) -> Resolution:
        if asked.negated:
            return NotFound()
        if asked.typed_ids:
            return self._typed(asked, entity_type)
        if asked.main.plural or asked.several:
            return self._plural(asked, entity_type)
        if (given := ids_in(parameters or {}, self._entity_index.live)) is None:
            return self._plural(asked, entity_type)
        found = self._with_given(asked, entity_type, given)
        if isinstance(found, NotFound) and len(given) == 1:
            return self._by_known_words(asked, entity_type, given[0], asks_first=asks_first)
        return found

    # -- ids ----------------------------------------------------------------------------------

    def _typed(self, asked: Asked, entity_type: EntityType | None) -> Resolution:
        found = [self._entity_index.live.get(one) for one in asked.typed_ids]
        live = [one for one in found if one is not None]
        if len(live) < len(found):
            return NotFound()
        if len(live) > 1 or asked.main.plural or asked.several:
            ids = [one.entity_id for one in live]
            is_fit = asked.every and all(entity_type in (None, one.kind) for one in live)
            return every_one(ids, several(ids)) if is_fit else several(ids)
        kinds = {entity_type, asked.main.noun if not asked.main.soft_noun else None} - {None}
        return Resolved(live[0].entity_id) if kinds <= {live[0].kind} else NotFound()

    def _with_given(
        self, asked: Asked, entity_type: EntityType | None, given: Sequence[str]
    ) -> Resolution:
        """Use a model's id where the user's words allow it; where they do not, ask."""
        said = self._answer(asked, entity_type)
        if not given or (isinstance(said, Resolved) and said.entity_id in given[:1]):
            return said
        allowed = [one for one in given if self._allows(asked, entity_type, one)]
        if len(allowed) == 1:
            return Resolved(allowed[0])
        if len(allowed) > 1:
            return several(allowed)
        if isinstance(said, Resolved):
            return several([said.entity_id, *given])
        return said

    def _by_known_words(
        self, asked: Asked, entity_type: EntityType | None, given: str, *, asks_first: bool
    ) -> Resolution:
        """Take a model's id where the words that mean anything here do not speak against it.

        People say more than names, in any language: what no entity is called says nothing. A word
        that is left has to speak for the id, and then the user is asked whether it is that one,
        unless they are asked before anything is done with it in any case.
        """
        main = self._known_of(asked.main)
        context = None if asked.context is None else self._known_of(asked.context)
        speaks_for = main.has_content or main.has_selector or not main.times.is_empty
        known = replace(asked, main=main, context=context)
        is_other = main.indefinite or not (asks_first or speaks_for)
        if is_other or not self._allows(known, entity_type, given):
            return NotFound()
        return Resolved(given) if asks_first else Ambiguous((given,))

    def _known_of(self, request: Request) -> Request:
        lexicon = self._entity_index.lexicon
        return replace(
            request,
            strict=[word for word in request.strict if lexicon.meanings(word)],
            words=[word for word in request.words if lexicon.meanings(word)],
        )

    def _allows(self, asked: Asked, entity_type: EntityType | None, entity_id: str) -> bool:
        request = asked.main
        context = asked.context
        if context is not None and (context.has_content or context.has_selector):
            return entity_id in ids_of(self._answer(asked, entity_type))
        if self._means_focus(request, entity_type):
            return entity_id == self._scene.focus
        pool = self._pool(asked, request, entity_type)
        if request.has_selector:
            return entity_id in ids_of(self._selection.choose(request, pool))
        return entity_id in {one.entity_id for one in self._selection.fitting(request, pool)}

    def _means_focus(self, request: Request, entity_type: EntityType | None) -> bool:
        """Whether only "it" or "that meeting" is said, of what was used last, even if it is gone.

        Then rules know what is meant, and no model's id overrules them.
        """
        says_more = request.has_content or request.has_selector or request.indefinite
        if self._scene.focus is None or says_more or not request.times.is_empty:
            return False
        if request.noun is None:
            return request.pronoun
        live = self._entity_index.live.get(self._scene.focus)
        is_deictic = request.pronoun or request.pointed
        return is_deictic and (live is None or live.kind in (entity_type, request.noun))

    # -- words --------------------------------------------------------------------------------

    def _answer(self, asked: Asked, entity_type: EntityType | None) -> Resolution:
        said = self._of(asked, asked.main, entity_type)
        context = asked.context
        if context is None or not (asked.main.pronoun or not asked.main.points):
            return said
        # Let a pronoun mean what another clause names: "the dentist is ill, cancel it".
        if not (context.has_content or context.noun or context.has_selector):
            return said if self._agrees(context, said) else NotFound()
        if context.plural:
            return said
        named = self._of(asked, context, entity_type)
        if isinstance(named, NotFound):
            sure = context.strict or context.phrases or context.noun or context.has_selector
            return named if sure else said
        if isinstance(said, Resolved) and self._scene.focus == said.entity_id:
            return several(dict.fromkeys([*ids_of(named), said.entity_id]))
        return named

    def _agrees(self, context: Request, said: Resolution) -> bool:
        if context.times.is_empty or not isinstance(said, Resolved):
            return True
        return self._selection.in_time(context, self._entity_index.live[said.entity_id])

    def _of(self, asked: Asked, request: Request, entity_type: EntityType | None) -> Resolution:
        if not request.points:
            return NotFound()
        found = self._selection.choose(request, self._pool(asked, request, entity_type))
        if isinstance(found, NotFound) and request.soft_noun:
            name = request.as_name()
            return self._selection.choose(name, self._pool(asked, name, entity_type))
        return found

    def _pool(
        self, asked: Asked, request: Request, entity_type: EntityType | None
    ) -> list[Candidate]:
        kinds = {entity_type, request.noun} - {None}
        excluded = self._excluded(asked)
        return [
            one
            for one in self._entity_index.live.values()
            if kinds <= {one.kind} and one.entity_id not in excluded
        ]

    def _excluded(self, asked: Asked) -> frozenset[str]:
        if not asked.excluded:
            return frozenset()
        bare = Asked()
        found = [ids_of(self._of(bare, request, None)) for request in asked.excluded]
        return frozenset(one for ids in found for one in ids)

    # -- many ---------------------------------------------------------------------------------

    def _plural(self, asked: Asked, entity_type: EntityType | None) -> Resolution:
        request = asked.main
        pool = self._pool(asked, request, entity_type)
        timely = [one for one in pool if self._in_any_time(request, one)]
        if words := _named_words(request):
            known = {token for word in words for token in self._entity_index.lexicon.meanings(word)}
            timely = [one for one in timely if known & one.tokens]
            is_plain = all(sum(word in one.tokens for one in timely) == 1 for word in known)
        elif request.places:
            placed = self._selection.placed(request, timely)
            return every_one(placed, NotFound()) if asked.every else several(placed)
        else:
            is_plain = True
            timely = self._listed(request, timely)
        if len(timely) < 2:
            return NotFound()
        which = self._selection.ask(timely)
        is_every = asked.every and is_plain and request.count in (None, len(timely))
        return every_one([one.entity_id for one in timely], which) if is_every else which

    def _listed(self, request: Request, timely: list[Candidate]) -> list[Candidate]:
        """Return those of the list shown last that "all", "both" or "the rest" mean."""
        if request.noun or not request.times.is_empty:
            shown = timely
        else:
            shown = [one for one in timely if one.entity_id in self._scene.last_list] or timely
        focus = self._scene.focus if request.rest else None
        order = {one: place for place, one in enumerate(self._scene.last_list)}
        left = [one for one in shown if one.entity_id != focus]
        return sorted(left, key=lambda one: order.get(one.entity_id, len(order)))

    def _in_any_time(self, request: Request, one: Candidate) -> bool:
        clocks = request.times.clocks
        if len(clocks) < 2:
            return self._selection.in_time(request, one)
        minute = one.start.hour * 60 + one.start.minute if one.start and one.has_time else -1
        return any(clock.has(minute) for clock in clocks)


def _named_words(request: Request) -> list[str]:
    phrases = [word for phrase in request.phrases for word in tokens_of(phrase)]
    words = [*request.strict, *request.words, *phrases]
    return [word for word in words if word not in NUMBER_WORDS]


# Which of the items that the user was asked about they pick. Pure.

_PICK_LIMIT_WORDS = 8
_NAME_LIMIT_CHARS = 120


@dataclass(frozen=True, slots=True)
class Picked:
    """The item that was picked, the request that it completes, and the agent that asked."""

    entity_id: str
    asked: str
    agent: str | None = None


def picked_from(
    payload: Mapping[str, Any], answer: str, memory: ToolMemory, *, local_now: datetime
) -> Picked | None:
    """Return the candidate that `answer` names: by number, order, name, day or time; else None."""
    candidates = [str(one) for one in payload.get("candidates", ())]
    words = answer.split()
    if not 0 < len(words) <= _PICK_LIMIT_WORDS or answer.rstrip().endswith("?"):
        return None
    if says(answer, "asks_something_new"):
        return None
    if (found := _meant(candidates, answer, memory, local_now)) is None:
        return None
    return Picked(found, str(payload.get("asked", "")), payload.get("agent"))


def choice_of(entity: EntityContext, now: datetime) -> str:
    """Return an entity as a choice names it at the user's `now`: *Tumor board*, Wed 2 Dec 15:00.

    A day of another year is told with it.
    """
    zone = now.tzinfo or UTC
    name = " ".join(in_written_order(entity.display_name).split())
    name = other_of(entity.entity_type) if entity.is_private else name
    name = name[:_NAME_LIMIT_CHARS].replace("*", "").replace("`", "")
    if (start := start_of(entity.entity_type, entity.data, zone)) is None:
        return f"*{name}*"
    return f"*{name}*, {day_near(start.local(zone), now, has_time=start.has_time)}"


def _meant(
    candidates: Sequence[str], answer: str, memory: ToolMemory, local_now: datetime
) -> str | None:
    if (place := number_alone_in(answer)) is not None:
        return candidates[place - 1] if 0 < place <= len(candidates) else None
    entities = [one for one in memory.entities if one.entity_id in candidates]
    entity_index = EntityIndex.of(entities, local_now)
    name = tuple(word for word in tokens_of(answer) if word not in ("the", "please"))
    named = [one.entity_id for one in entity_index.live.values() if tuple(one.name) == name]
    if len(named) == 1:
        return named[0]
    scene = Scene(now=local_now, last_list=tuple(candidates))
    resolver = ContextResolver(entity_index=entity_index, scene=scene)
    found = resolver.resolve(answer)
    return found.entity_id if isinstance(found, Resolved) else None
