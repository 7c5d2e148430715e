"""Decides which patient a message is about, and what the registry becomes."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from data_models.chat_context import ChatContext
from data_models.clock import Clock, IdSource
from data_models.conversations.conversation import OpenQuestion
from data_models.conversations.incoming_message import Press
from data_models.errors import StaleQuestionError
from data_models.identifiers import PatientId
from data_models.patient_context_models import PatientContextDecision, Registry, TimingInfo
from services.chart_access.break_glass import Grant
from services.chart_access.chart_guard import ChartGuard
from services.identity.directory import NoDirectory
from services.identity.linking import Situation, SubjectLinker
from services.identity.names.person import Person
from services.language.words.phrases import says
from services.patient_context import answers, asking_again, comparing, rights
from services.patient_context.beside import HasIll, NamesBeside
from services.patient_context.decision import Outcome, decide, go_to
from services.patient_context.opening import ChartOpener, conclude, conclude_answer
from services.patient_context.patient_turn import PatientTurn
from services.patient_context.reading import rules
from services.patient_context.reading.analyzer import PatientContextAnalyzer
from services.patient_context.reading.pattern import PatientIdPattern
from services.patient_context.reading.reading import Ask, Reading, of_things, read_message
from services.patient_context.roster import as_noted, last_seen, last_used_first, with_settled
from services.patient_context.verdict import PatientVerdict
from services.patient_context.who import Who, elsewhere, noted_people
from services.patient_context.wording import whose

_NAME_LIMIT_CHARS, _OF_THINGS = 80, ("which_entity", "destructive_tool")


class PatientContextService:
    """The only place where the active patient changes. It holds no state of any turn."""

    def __init__(
        self,
        *,
        analyzer: PatientContextAnalyzer,
        pattern: PatientIdPattern,
        clock: Clock,
        ids: IdSource,
        guard: ChartGuard,
        linker: SubjectLinker | None = None,
        allow_unknown: bool = False,
        beside: tuple[NamesBeside, ...] = (),
        has_ill: HasIll | None = None,
    ) -> None:
        self._analyzer = analyzer
        # Without a directory nobody is known, so every id opens a chart of its own.
        self._linker = linker or SubjectLinker(directory=NoDirectory(), fits=pattern.matches)
        self._rights = rights.ChartRights(guard)
        self._opener = ChartOpener(
            linker=self._linker,
            beside=beside,
            rights=self._rights,
            allows_unknown=allow_unknown or linker is None,
            has_ill=has_ill,
        )
        self._pattern, self._clock, self._ids = pattern, clock, ids

    async def decide_and_apply(
        self,
        user_text: str,
        chat_ctx: ChatContext,
        *,
        registry: Registry,
        question: OpenQuestion | None,
        user: str,
        run_id: str,
        press: Press | None = None,
        registry_ms: float | None = None,
        seen: str | None = None,
        closed: Collection[PatientId] = (),
    ) -> tuple[PatientVerdict, TimingInfo]:
        """Return what `user_text` does to the conversation's patient; nothing is written.

        The roster of `chat_ctx` becomes the registry's. Its `patient_id` stays, because it names
        whose text the document holds: the pipeline swaps in the document of the verdict's patient.

        Args:
            user_text: What was typed; a press counts by its answer instead.
            chat_ctx: The document at hand; one of no patient, beside an active one in the registry,
                means that this turn restores that patient.
            question: The open question, of whatever kind; only who was asked can answer.
            press: The pressed button, if it is not a plan's.
            registry_ms: How long it took to read `registry`.
            seen: Who was active on the sender's screen, if the channel says so.
            closed: Whose charts of the conversation are closed to the sender; not in `registry`.

        Raises:
            StaleQuestionError: `press` belongs to no question that this user can answer now.
        """
        started = self._clock.monotonic()
        reading = self._reading(user_text if press is None else press.answer, registry)
        if question is not None and question.kind in _OF_THINGS and question.user == user:
            reading = of_things(reading)  # "the other one" is one of their things
        turn = PatientTurn(
            registry=registry,
            question=question,
            user=user,
            run_id=run_id,
            reading=reading,
            restored=chat_ctx.patient_id is None and registry.active_patient_id is not None,
            now=self._clock.now(),
            pattern=self._pattern,
            ids=self._ids,
            seen=seen or last_seen(registry, user),
        )
        answered = await self._answer_question(turn, press)
        decided = answered or await self._read(turn)
        verdict = await self._rights.check(decided, turn, closed=closed)
        verdict = as_noted(verdict, turn, is_answer=answered is not None)
        chat_ctx.patient_contexts = dict((verdict.registry or registry).patient_registry)
        return verdict, TimingInfo(
            analyzer_ms=decided.analyzer_ms,
            storage_fallback_ms=registry_ms if turn.restored else None,
            service_total_ms=(self._clock.monotonic() - started) * 1_000,
        )

    async def may_open(self, user: str, patient_id: PatientId) -> bool:
        """Whether `user` may open the chart of `patient_id`."""
        return await self._rights.may_see(user, patient_id)

    async def person(self, patient_id: PatientId) -> Person | None:
        """Return who carries an id; None for nobody.

        Raises:
            RecordsError: the directory did not answer in time.
        """
        return await self._linker.person(patient_id)

    def asking_whose(self) -> str:
        """Return the question to a wish that came before any patient."""
        return whose(self._pattern)

    def may_be_theirs(self, text: str, *, registry: Registry, is_chosen: bool = False) -> bool:
        """Whether the text names nobody else; whoever is chosen for it may be "the other one"."""
        reading = self._reading(text, registry)
        points = reading.points_elsewhere and not is_chosen
        return not replace(reading, points_elsewhere=points).may_name_another

    def names_id_of_another(self, text: str, *, registry: Registry) -> bool:
        """Whether the text has the id of somebody else than the active patient."""
        return any(one != registry.active_patient_id for one in self._reading(text, registry).named)

    def names_no_other(self, user_text: str, *, registry: Registry) -> bool:
        """Whether rules alone tell that the text is about nobody but the active patient."""
        meant = rules.decide_by_rules(self._reading(user_text, registry))
        return meant is not None and meant.action in ("NONE", "UNCHANGED")

    async def names_another(self, user_text: str, registry: Registry) -> bool:
        """Whether the text names, by whole name or number, others than the active patient."""
        beside = Situation(active=registry.active_patient_id, roster=noted_people(registry))
        linked = await self._linker.link(user_text, beside)
        return linked.subject.outcome in ("other", "several")

    def _reading(self, text: str, registry: Registry) -> Reading:
        known, active = last_used_first(registry), registry.active_patient_id
        return read_message(text, active=active, known=known, pattern=self._pattern)

    async def _answer_question(
        self, turn: PatientTurn, press: Press | None
    ) -> PatientVerdict | None:
        """Return the verdict of a message that answers the open question, None for any other."""
        question = turn.answerable
        if press is not None and (question is None or press.target_id != question.question_id):
            raise StaleQuestionError
        if question is None:
            return None
        if (closed := rights.closed_chart(question)) is not None:
            broken = await self._rights.break_glass(closed, turn, question)
            if not isinstance(broken, Grant):
                return broken
            who = await self._opener.who(turn, also=[closed])
            outcome = go_to(closed, self._reading(closed, turn.registry))
            opened = await self._opener.check(outcome, who, is_bare=True)
            return rights.opened_in_emergency(opened, broken)
        known, text = last_used_first(turn.registry), turn.reading.text
        answer = answers.read_answer(text, question, known=known, pattern=self._pattern)
        if isinstance(answer, answers.PatientAnswer):
            return await self._chosen(answer.patient_id, turn, question)
        if answer != "no" and (named := await self._named(turn, question)):
            return named
        if isinstance(answer, Ask) and (
            answer.kind == "meant" or answers.asks_same(answer, question)
        ):
            return await self._about_another(answer, turn, question)
        return conclude_answer(answer, turn)

    async def _about_another(
        self, answer: Ask, turn: PatientTurn, question: OpenQuestion
    ) -> PatientVerdict | None:
        """Return the verdict of a bare yes, which chooses nobody, or of a number not offered."""
        who = await self._opener.who(turn, also=answer.options)
        if answer.kind == "meant" and who.linked.index.with_id(answer.options[0]) is not None:
            outcome = Outcome("NEEDS_PATIENT_ID", turn.reading.active, answer)
            return await self._opener.check(outcome, who, is_bare=True)
        if not answers.asks_same(answer, question):
            return conclude_answer(answer, turn)
        # Whose number it is.
        return None if who.subject.people else asking_again.asked_again(question, turn)

    async def _named(self, turn: PatientTurn, question: OpenQuestion) -> PatientVerdict | None:
        """Return the verdict of one that names or describes those offered, None of another."""
        options, text = answers.options_of(question), turn.reading.text
        if question.kind == "clear" or len(text) > _NAME_LIMIT_CHARS or not options:
            return None
        if says(text, "asks_back") and not turn.reading.is_of_no_patient:
            return asking_again.asked_again(question, turn)
        index = (await self._opener.who(turn, also=options)).linked.index
        people = {one: person for one in options if (person := index.with_id(one)) is not None}
        meant = answers.told_among(text, people, beside=question.patient_id, today=turn.now.date())
        if len(meant) > 1:  # whose name it is, of several
            return asking_again.asked_again(question, turn, only=meant)
        return await self._chosen(meant[0], turn, question) if meant else None

    async def _chosen(
        self, chosen: PatientId, turn: PatientTurn, question: OpenQuestion
    ) -> PatientVerdict:
        """Return the verdict of the one who was meant; the words that were asked about are kept."""
        who = await self._opener.who(turn, also=[chosen])
        if asked := await self._compare(comparing.compared_with(chosen, who, question), who):
            return asked
        verdict = await self._opener.check(go_to(chosen, turn.reading), who, is_bare=True)
        said = asking_again.settles(turn.reading.text, question, verdict)
        if not said or verdict.patient_id is None:
            return verdict
        before = verdict.registry or turn.registry
        return replace(verdict, registry=with_settled(before, said, verdict.patient_id))

    async def _read(self, turn: PatientTurn) -> PatientVerdict:
        """Return the verdict of a message that stands for itself."""
        reading = turn.reading
        if (plain := rules.decide_by_rules(reading)) is not None and plain.action == "CLEAR":
            outcome = decide(plain, reading, restored=turn.restored, pattern=self._pattern)
            return conclude(outcome, turn)
        offered = answers.options_of(turn.asks_whom) if turn.asks_whom else ()
        who = await self._opener.who(turn, also=offered)
        turn, reading = who.turn, who.turn.reading
        plain = plain if reading.doubt is None else rules.decide_by_rules(reading)
        if asked := await self._compare(comparing.compared_people(who), who):
            return asked
        names_none = comparing.names_none_after_comparing(who)
        waits = turn.asks_whom if names_none and not reading.points_elsewhere else None
        if waits is not None and (beside := await self._beside_open_question(waits, plain, who)):
            return beside
        if (problem := who.unclear(names_none=names_none)) is not None:
            return await self._opener.ask(problem, who)
        if who.is_of_one_other:
            return await self._decide_named(who)
        if turn.seen_elsewhere is not None and plain is not None and plain.action != "CLEAR":
            return await self._opener.ask(elsewhere(who, turn.seen_elsewhere), who)
        verdict = await self._decide_by_meaning(plain, who)
        if turn.asks_whom is not None and reading.is_of_no_patient:
            return asking_again.still_asking(verdict, turn.asks_whom, turn)
        return verdict

    async def _compare(self, people: Sequence[Person], who: Who) -> PatientVerdict | None:
        """Return the question whether to compare two charts, if both are open to the user."""
        if not people or await self._rights.open_to(who.turn.user, people) != [*people]:
            return None
        return comparing.asking_to_compare(people, who)

    async def _beside_open_question(
        self, question: OpenQuestion, meant: PatientContextDecision | None, who: Who
    ) -> PatientVerdict | None:
        """Decide on a message that names nobody while it is open whom another one means.

        None where it is of nobody offered, or the question is left. What waits for the answer may
        be of somebody else than the one whom a pronoun fits, unless the name in it is theirs alone;
        where it names nobody, "the violin teacher", a pronoun means who was described.
        """
        turn, sex, options = who.turn, who.linked.message.spoken_sex, answers.options_of(question)
        people = {one: who.person(one) for one in (*options, *turn.registry.patient_registry)}
        fitting = asking_again.fitting_for(sex, question, people)
        if not set(fitting) & set(options) or asking_again.is_left(question, who.open):
            return None
        is_of_one = sex in ("male", "female") and len(fitting) == 1 and question.kind == "subject"
        is_of_one &= options != [turn.reading.active]  # "Miller's Hb", nobody's; "is he diabetic?"
        if not is_of_one or asking_again.is_nameless(question):
            return asking_again.asked_for_next(question, turn)
        if fitting[0] == turn.reading.active:
            verdict = await self._decide_by_meaning(meant, who)
            return asking_again.still_asking(verdict, question, turn)
        if asking_again.is_named_alone(fitting[0], question, people):
            chosen = await self._chosen(fitting[0], turn, question)
            return replace(chosen, pending=(turn.reading.text,))
        return await self._opener.check(go_to(fitting[0], turn.reading), who, is_bare=False)

    async def _decide_by_meaning(
        self, meant: PatientContextDecision | None, who: Who
    ) -> PatientVerdict:
        """Decide by ids and by what rules or a model read: the message names nobody else."""
        problem, analyzer_ms, read = "", None, None
        turn, reading = who.turn, who.turn.reading
        if meant is None and who.linked.is_plain and reading.the_named is not None:
            meant = rules.activation(reading, reading.the_named)
        if meant is None:
            asked = self._clock.monotonic()
            # Have the model read the message beside the patients whom the user may open.
            known = await self._rights.guard.open_to(turn.user, who.known)
            analysis = await self._analyzer.ask(reading, {one: who.person(one) for one in known})
            meant, problem, read = analysis.decision, analysis.problem, analysis.read
            analyzer_ms = (self._clock.monotonic() - asked) * 1_000
        outcome = decide(meant, reading, restored=turn.restored, pattern=self._pattern)
        stays = outcome.decision in ("UNCHANGED", "RESTORED_FROM_STORAGE")
        if stays and turn.seen_elsewhere is not None:
            verdict = await self._opener.ask(elsewhere(who, turn.seen_elsewhere), who)
            return replace(verdict, analyzer_ms=analyzer_ms)
        is_bare = rules.is_bare_switch(reading) or who.linked.is_plain
        verdict = await self._opener.check(outcome, who, is_bare=is_bare, problem=problem)
        is_plain = analyzer_ms is None and not verdict.reply
        is_of_active = is_plain and rules.concerns_active_only(reading)
        return replace(
            verdict, concerns_active_only=is_of_active, read=read, analyzer_ms=analyzer_ms
        )

    async def _decide_named(self, who: Who) -> PatientVerdict:
        """Return the verdict of a message about another patient, who is sure."""
        (person,) = who.subject.people
        if person.patient_id is None:
            part = replace(who.subject, outcome="unsure", reason="part")
            return await self._opener.ask(part, who)
        there = go_to(person.patient_id, who.turn.reading)
        return await self._opener.check(there, who, is_bare=who.linked.is_plain)
