"""Decides which patient a message is about, and what the registry becomes."""

from dataclasses import replace

from data_models.chat_context import ChatContext
from data_models.clock import Clock, IdSource
from data_models.conversation import OpenQuestion
from data_models.errors import StaleQuestionError
from data_models.incoming_message import Press
from data_models.patient_context_models import Registry, TimingInfo
from services.patient_context.analyzer import PatientContextAnalyzer
from services.patient_context.answers import read_answer
from services.patient_context.conclusion import PatientTurn, conclude, conclude_answer
from services.patient_context.decision import Outcome, decide
from services.patient_context.heuristic import concerns_active_only
from services.patient_context.names import NoNames, RosterNames
from services.patient_context.pattern import PatientIdPattern
from services.patient_context.reading import OPTIONS_LIMIT, Ask, Reading, read_message
from services.patient_context.roster import last_used_first
from services.patient_context.rules import decide_by_rules, is_bare_switch
from services.patient_context.verdict import PatientVerdict
from services.patient_context.wording import whose


class PatientContextService:
    """The only place where the active patient changes. It holds no state of any turn."""

    def __init__(
        self,
        *,
        analyzer: PatientContextAnalyzer,
        pattern: PatientIdPattern,
        clock: Clock,
        ids: IdSource,
        names: RosterNames | None = None,
    ) -> None:
        self._analyzer = analyzer
        self._names = names or NoNames()
        self._pattern = pattern
        self._clock = clock
        self._ids = ids

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
    ) -> tuple[PatientVerdict, TimingInfo]:
        """Return what `user_text` does to the conversation's patient; nothing is written.

        The roster of `chat_ctx` becomes the registry's. Its `patient_id` stays, because it names
        whose text the document holds: the pipeline swaps in the document of the verdict's patient.

        Args:
            user_text: What was typed; a press counts by its answer instead.
            chat_ctx: The document at hand; one of no patient, beside an active one in the registry,
                means that this turn restores that patient.
            registry: Who is in the conversation and who is active.
            question: The open question, of whatever kind.
            user: Principal id of the sender; only who was asked can answer.
            run_id: This turn.
            press: The pressed button, if it is not a plan's.
            registry_ms: How long it took to read `registry`.
            seen: Who was active on the sender's screen, if the channel says so.

        Raises:
            StaleQuestionError: `press` belongs to no question that this user can answer now.
        """
        started = self._clock.monotonic()
        turn = PatientTurn(
            registry=registry,
            question=question,
            user=user,
            run_id=run_id,
            reading=self._reading(user_text if press is None else press.answer, registry),
            restored=chat_ctx.patient_id is None and registry.active_patient_id is not None,
            now=self._clock.now(),
            seen=seen,
        )
        answered = self._answered(turn, press)
        verdict, analyzer_ms = (answered, None) if answered else await self._read(turn)
        chat_ctx.patient_contexts = dict((verdict.registry or registry).patient_registry)
        return verdict, TimingInfo(
            analyzer_ms=analyzer_ms,
            storage_fallback_ms=registry_ms if turn.restored else None,
            service_total_ms=self._ms_since(started),
        )

    def asking_whose(self) -> str:
        """Return the question to a wish that came before any patient."""
        return whose(self._pattern)

    def may_be_theirs(self, user_text: str, *, registry: Registry) -> bool:
        """Whether nothing in the text names or points to anybody but the active patient."""
        return not self._reading(user_text, registry).may_name_another

    def concerns_nobody_else(self, user_text: str, *, registry: Registry) -> bool:
        """Whether rules alone tell that the text is about nobody but the active patient."""
        meant = decide_by_rules(self._reading(user_text, registry))
        return meant is not None and meant.action in ("NONE", "UNCHANGED")

    def _reading(self, text: str, registry: Registry) -> Reading:
        known = last_used_first(registry)
        active = registry.active_patient_id
        return read_message(text, active=active, known=known, pattern=self._pattern)

    def _answered(self, turn: PatientTurn, press: Press | None) -> PatientVerdict | None:
        """Return the verdict of a message that answers the open question, None for any other."""
        question = turn.answerable
        if press is not None and (question is None or press.target_id != question.question_id):
            raise StaleQuestionError
        if question is None:
            return None
        known = last_used_first(turn.registry)
        answer = read_answer(turn.reading.text, question, known=known, pattern=self._pattern)
        return conclude_answer(answer, turn, pattern=self._pattern, ids=self._ids)

    async def _read(self, turn: PatientTurn) -> tuple[PatientVerdict, float | None]:
        """Return the verdict of a message that stands for itself, and how long the model took."""
        reading, problem, analyzer_ms = turn.reading, "", None
        meant = decide_by_rules(reading)
        if meant is None:
            asked = self._clock.monotonic()
            analysis = await self._analyzer.ask(reading)
            meant, problem = analysis.decision, analysis.problem
            analyzer_ms = self._ms_since(asked)
        is_plain = analyzer_ms is None and concerns_active_only(reading)
        outcome = decide(meant, reading, restored=turn.restored, pattern=self._pattern)
        outcome = await self._unless_another(outcome, turn)
        verdict = conclude(
            outcome,
            turn,
            is_bare=is_bare_switch(reading),
            problem=problem,
            pattern=self._pattern,
            ids=self._ids,
        )
        return replace(verdict, concerns_active_only=is_plain and not verdict.reply), analyzer_ms

    async def _unless_another(self, outcome: Outcome, turn: PatientTurn) -> Outcome:
        """Return `outcome`, or who is meant where it stays though another patient may be.

        Another is named by name, or was on the sender's screen: a second one had gone on.
        """
        stays = outcome.decision in ("UNCHANGED", "RESTORED_FROM_STORAGE")
        active, others = outcome.patient_id, turn.reading.others
        if not stays or active is None or not others:
            return outcome
        seen = turn.seen_elsewhere
        named = await self._names.named_in(turn.reading.text, among=others, active=active)
        if not named and seen is None:
            return outcome
        options = dict.fromkeys((active, *([seen] if seen else ()), *named))
        ask = Ask("which", tuple(options)[:OPTIONS_LIMIT])
        return Outcome("NEEDS_PATIENT_ID", active, ask)

    def _ms_since(self, started: float) -> float:
        return (self._clock.monotonic() - started) * 1_000
