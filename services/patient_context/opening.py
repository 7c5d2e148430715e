"""Opens the chart of whoever is meant, as far as the records know them, or asks whom."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType

from data_models.conversations.conversation import QuestionKind
from data_models.identifiers import PatientId
from services.identity.linking import SubjectLinker
from services.identity.names.person import Person
from services.identity.noted import facts_of
from services.identity.subject import Reason, Subject
from services.identity.wording import opened
from services.patient_context import who as whom
from services.patient_context import wording
from services.patient_context.answers import OPENS_ONLY, OPTIONS, Answer
from services.patient_context.beside import HasIll, NamesBeside, link_beside
from services.patient_context.decision import Outcome, go_to, unchanged
from services.patient_context.patient_turn import PatientTurn
from services.patient_context.reading.reading import Ask
from services.patient_context.rights import ChartRights
from services.patient_context.roster import with_active
from services.patient_context.verdict import PatientVerdict
from services.patient_context.who import Who

_UNKNOWN_LIMIT = 20
"""Of more namesakes whose charts are closed nobody is looked for any more."""
_OF_NOBODY: Mapping[Reason, Reason] = {"birth_date": "contradiction", "several": "several"}
"""Reasons to ask where nobody is found whom the user may know of; else a stranger is named."""
_CHANGES = ("SWITCH_EXISTING", "NEW_BLANK")
_UNCHECKED = "The records do not answer just now: what was noted before is shown."


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
    allows_unknown: bool
    has_ill: HasIll | None = None

    async def check(
        self, outcome: Outcome, who: Who, *, is_bare: bool, problem: str = ""
    ) -> PatientVerdict:
        """Return the verdict of `outcome` if the records know whose chart it opens."""
        turn, target = who.turn, outcome.patient_id
        if outcome.decision == "NEW_BLANK" and target is not None:
            found = whom.checked_id(target, who)
            if isinstance(found, Person) and found.patient_id is not None:
                merged = target if found.replaced_by or found.patient_id != target else ""
                outcome = go_to(found.patient_id, turn.reading)
                verdict = conclude(outcome, turn, who, is_bare=is_bare, problem=problem)
                return whom.said_merged(verdict, target, found) if merged else verdict
            if not who.linked.has_answered and not self.allows_unknown:
                return whom.unreachable(target, who)
            is_unknown = isinstance(found, Subject) and found.reason == "nobody"
            if isinstance(found, Subject) and not (is_unknown and self.allows_unknown):
                return await self.ask(found, who)
        offered = {} if outcome.ask is None else await self._offered(outcome.ask, who)
        return conclude(outcome, turn, who, is_bare=is_bare, problem=problem, offered=offered)

    async def _offered(self, ask: Ask, who: Who) -> Mapping[PatientId, Person]:
        """Return those whom the question is about, as far as the user may see them."""
        people = {one: person for one in ask.options if (person := who.person(one)) is not None}
        open_to = await self.rights.open_to(who.turn.user, list(people.values()))
        return {one: person for one, person in people.items() if person in open_to}

    async def ask(self, subject: Subject, who: Who) -> PatientVerdict:
        """Return the question; nobody is offered whose chart the user may not open."""
        offered = [*subject.people, *whom.roster_of(subject, who)]
        people = await self.rights.open_to(who.turn.user, offered)
        subject = replace(subject, people=tuple(people))
        return replace(whom.asking_whom(subject, who), people=who.linked.index)

    async def who(self, turn: PatientTurn, *, also: Sequence[PatientId] = ()) -> Who:
        """Return whom a message is about; those of `also` are looked up, too."""
        doubt = turn.reading.doubt
        also = (*also, *turn.reading.placed, *(() if doubt is None else doubt.options))
        link = partial(link_beside, self.linker, self.beside, turn, also=also, has_ill=self.has_ill)
        linked = first = await link()
        unknown: list[Person] = []
        while closed := await self.rights.closed_beside(linked, turn):
            if len(unknown) > _UNKNOWN_LIMIT:
                break
            unknown += closed
            linked = await link(unknown=unknown)
        if unknown and (closed or linked.subject.outcome == "same"):
            # Not even by an answer about the open patient is told that there is such a one.
            left = tuple(one for one in linked.subject.people if one not in closed)
            reason = linked.subject.reason if left else _OF_NOBODY.get(first.subject.reason)
            asked = Subject("unsure", reason or "stranger", left, said=first.subject.said)
            linked = replace(linked, subject=asked)
        return whom.who_of(linked, turn)


def conclude(
    outcome: Outcome,
    turn: PatientTurn,
    who: Who | None = None,
    *,
    is_bare: bool = False,
    problem: str = "",
    offered: Mapping[PatientId, Person] = MappingProxyType({}),
) -> PatientVerdict:
    """Return the verdict of `outcome`: what is said, asked and stored.

    Args:
        who: Who the patients are; None: nobody was looked up.
        is_bare: Whether the user asked for a change of patient and for nothing else.
        problem: What happened if a model failed, one sentence for the user.
        offered: Of those who are asked about, whom the user may see.
    """
    person = None if who is None else who.person(outcome.patient_id)
    reply = _said(outcome, person) if is_bare else None
    question = registry = None
    notice = ""
    if outcome.ask is not None:
        roster_size = len(turn.registry.patient_registry)
        reply = wording.asking(
            outcome.ask,
            pattern=turn.pattern,
            roster_size=roster_size,
            people=offered,
            problem=problem,
        )
        kind: QuestionKind = "clear" if outcome.ask.kind == "clear" else "which_patient"
        payload = {OPTIONS: list(outcome.ask.options), OPENS_ONLY: is_bare}
        question = turn.ask(kind, reply, payload)
    changes = outcome.decision in _CHANGES
    if changes and outcome.patient_id is not None:
        facts = None if person is None else facts_of(person)
        registry = with_active(turn.registry, outcome.patient_id, now=turn.now, facts=facts)
        said = opened(person) if person is not None and reply is None else ""
        is_unchecked = who is not None and not who.linked.has_answered
        notice = " ".join(filter(None, (said, _UNCHECKED if is_unchecked else "")))
    return PatientVerdict(
        decision=outcome.decision,
        patient_id=outcome.patient_id,
        reply=reply,
        question=question,
        is_bare_switch=changes and is_bare,
        registry=registry,
        person=person,
        notice=notice,
        people=None if who is None else who.linked.index,
    )


def conclude_answer(answer: Answer | Ask | None, turn: PatientTurn) -> PatientVerdict | None:
    """Return the verdict of an answer to the open question, None if it was not answered."""
    if answer is None:
        return None
    if answer == "no":
        kept = unchanged(turn.reading, restored=turn.restored)
        is_clear = turn.question is not None and turn.question.kind == "clear"
        reply = wording.declined(kept.patient_id, turn.pattern, is_clear=is_clear)
        return PatientVerdict(decision=kept.decision, patient_id=kept.patient_id, reply=reply)
    outcome = Outcome("CLEAR", None)
    if answer != "clear":
        outcome = Outcome("NEEDS_PATIENT_ID", turn.reading.active, answer)
    return conclude(outcome, turn, is_bare=True)


def _said(outcome: Outcome, person: Person | None) -> str | None:
    """Return the whole answer to a message that only changes the patient."""
    if outcome.patient_id is None:
        return None
    if outcome.decision == "UNCHANGED":
        return wording.already_active(outcome.patient_id, person)
    is_change = outcome.decision in _CHANGES
    return wording.switched(outcome.patient_id, person) if is_change else None
