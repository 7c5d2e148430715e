"""Opens the chart of whoever is meant, as far as the records know them, or asks whom."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from data_models.clock import IdSource
from data_models.identifiers import PatientId
from services.identity.linking import SubjectLinker
from services.identity.names.person import Person
from services.identity.subject import Reason, Subject
from services.patient_context.beside import HasIll, NamesBeside, link_beside
from services.patient_context.conclusion import PatientTurn, conclude
from services.patient_context.decision import Outcome, go_to
from services.patient_context.reading.pattern import PatientIdPattern
from services.patient_context.rights import ChartRights
from services.patient_context.verdict import PatientVerdict
from services.patient_context.who import (
    Who,
    asking_whom,
    checked_id,
    roster_of,
    said_merged,
    unreachable,
    who_of,
)

_CLOSED: Mapping[Reason, Reason] = {
    "part": "stranger",
    "nearly": "stranger",
    "former": "stranger",
    "retired": "nobody",
}
"""As what is asked about whose chart is closed: as where nobody is called so."""


@dataclass(slots=True, kw_only=True)
class ChartOpener:
    """Turns what was decided into a verdict. It holds no state of any turn.

    Attributes:
        beside: Who else bears a name that a message is asked about.
        allows_unknown: Whether an id that nobody carries opens a blank chart.
        has_ill: Whether who is told by an illness may be the open patient; without it, is asked.
    """

    linker: SubjectLinker
    beside: tuple[NamesBeside, ...]
    rights: ChartRights
    pattern: PatientIdPattern
    ids: IdSource
    allows_unknown: bool
    has_ill: HasIll | None = None

    async def check(
        self, outcome: Outcome, who: Who, *, is_bare: bool, problem: str = ""
    ) -> PatientVerdict:
        """Return the verdict of `outcome` if the records know whose chart it opens."""
        turn, target = who.turn, outcome.patient_id
        if outcome.decision == "NEW_BLANK" and target is not None:
            found = checked_id(target, who)
            if isinstance(found, Person) and found.patient_id is not None:
                merged = target if found.replaced_by or found.patient_id != target else ""
                outcome = go_to(found.patient_id, turn.reading)
                verdict = self.conclude(outcome, turn, who, is_bare=is_bare, problem=problem)
                return said_merged(verdict, target, found) if merged else verdict
            if not who.linked.has_answered and not self.allows_unknown:
                return unreachable(target, await self._as_seen(who), ids=self.ids)
            is_unknown = isinstance(found, Subject) and found.reason == "nobody"
            if isinstance(found, Subject) and not (is_unknown and self.allows_unknown):
                return await self.ask(found, who)
        offered = await self._offered(outcome, who)
        return self.conclude(outcome, turn, who, is_bare=is_bare, problem=problem, offered=offered)

    async def _offered(self, outcome: Outcome, who: Who) -> Mapping[PatientId, Person]:
        """Return those whom the question is about, as far as the user may see them."""
        asked = () if outcome.ask is None else outcome.ask.options
        people = {one: person for one in asked if (person := who.person(one)) is not None}
        open_to = await self.rights.open_to(who.turn.user, list(people.values()))
        return {one: person for one, person in people.items() if person in open_to}

    def conclude(
        self,
        outcome: Outcome,
        turn: PatientTurn,
        who: Who | None = None,
        *,
        is_bare: bool = False,
        problem: str = "",
        offered: Mapping[PatientId, Person] = MappingProxyType({}),
    ) -> PatientVerdict:
        """Return the verdict of `outcome` with who the patients are; see `conclusion.conclude`."""
        person = None if who is None else who.person(outcome.patient_id)
        verdict = conclude(
            outcome,
            turn,
            is_bare=is_bare,
            problem=problem,
            pattern=self.pattern,
            ids=self.ids,
            person=person,
            offered=offered,
            is_unchecked=who is not None and not who.linked.has_answered,
        )
        return verdict if who is None else replace(verdict, people=who.linked.index)

    async def ask(self, subject: Subject, who: Who) -> PatientVerdict:
        """Return the question; nobody is offered whose chart the user may not open."""
        offered = [*subject.people, *roster_of(subject, who)]
        people = await self.rights.open_to(who.turn.user, offered)
        if subject.people and not people and subject.reason in _CLOSED:
            subject = replace(subject, reason=_CLOSED[subject.reason])
        subject = replace(subject, people=tuple(people))
        seen = await self._as_seen(who)
        verdict = asking_whom(subject, seen, pattern=self.pattern, ids=self.ids)
        return replace(verdict, people=who.linked.index)

    async def _as_seen(self, who: Who) -> Who:
        """Return the message without the open patient where the user may not see that chart."""
        may_see = await self.rights.may_see(who.turn.user, who.turn.reading.active)
        return who if may_see else replace(who, open=None)

    async def who(self, turn: PatientTurn, *, also: Sequence[PatientId] = ()) -> Who:
        """Return whom a message is about; those of `also` are looked up, too."""
        also = (*also, *turn.reading.placed)
        linked = await link_beside(self.linker, self.beside, turn, also=also, has_ill=self.has_ill)
        return who_of(linked, turn)
