"""Answers the open question of a draft of an order: makes it or takes it back after a yes."""

from collections.abc import Mapping, Sequence
from typing import Any

import structlog

from data_models import errors
from data_models.conversations.conversation import OpenQuestion
from data_models.identifiers import PatientId
from services.language.replies.yes_no import says_yes
from services.language.requests.orders import things_joined_in
from services.language.words.own_texts import problem_told
from services.language.words.phrases import parts_in
from services.orders.draft_order import (
    ORDER_MADE,
    WITHDRAW,
    DraftOrder,
    cards_in,
    drafts_of,
    is_same_test,
    moment_shown,
    payload_of,
    question_text,
    said_in,
)
from services.orders.order_drafts import OrderDrafts
from services.tool_memory.session import FinishedRun
from services.turn.answers.own_deeds import GO_ON, finish_step
from services.turn.phases import GroundedTurn, LoadedTurn, QuestionOutcome
from services.turn.turn_step import TurnStep

logger = structlog.get_logger()
TAKEN_BACK = "order_taken_back"


class TurnOrders(TurnStep):
    """Carries out what the user was asked about a draft. Holds no state of any turn."""

    async def answer(
        self, turn: LoadedTurn, question: OpenQuestion, *, is_no: bool
    ) -> QuestionOutcome | None:
        """Return what came of it if this message says yes or no to a draft, else None.

        The question is this user's, alive, and of this conversation; a yes while another patient
        is open is none to it.
        """
        orders, patient_id = drafts_of(question.payload), turn.active_patient_id
        if not orders and question.payload.get("action") != WITHDRAW:
            return None
        agrees, left = says_yes(turn.answer), _left_of(turn.answer, orders, question.text)
        if not (agrees or is_no or left) or question.patient_id != patient_id:
            return None
        if patient_id is None:
            return None
        grounded = await self.documents.open(turn.stay(), patient_id)
        if left:
            return QuestionOutcome(grounded, _asked_of_those(grounded, left, question))
        text, result = await self._settle(grounded, orders, question, agrees=agrees)
        goes_on = grounded.record.question is None and finish_step(grounded)
        return QuestionOutcome(grounded, f"{text}{GO_ON if goes_on else ''}", result)

    async def _settle(
        self,
        turn: GroundedTurn,
        orders: Sequence[DraftOrder],
        question: OpenQuestion,
        *,
        agrees: bool,
    ) -> tuple[str, Mapping[str, Any]]:
        """Do what was asked about, or note the no; return what is told, and what was made."""
        drafts, payload, patient_id = self.tools.orders, question.payload, turn.patient_id
        result: dict[str, Any] = {"agreed": agrees}
        if not agrees or drafts is None or patient_id is None:  # switched off since
            await self.documents.access.record(turn, patient_id, action="order_declined")
            name = "declined" if orders else "stays"
            tests = ", ".join(one.test for one in orders) or str(payload["test"])
            return said_in(_language(payload), name, test=tests), result
        await self.documents.access.record(turn, patient_id, action="order_agreed")
        if not orders:
            return await self._take_back(turn, drafts, payload, patient_id), result
        replies = list[str]()
        for at in range(len(orders)):
            text, made = await self._make(turn, drafts, orders[at:], question, patient_id)
            replies.append(text)
            result |= made
            if turn.record.question is not None:  # nobody knows of this one: it and the rest wait
                break
        return "\n\n".join(dict.fromkeys(replies)), result

    def note_patient_change(self, turn: LoadedTurn) -> None:
        """End the questions of before; one of drafts waits until its patient is back."""
        turn.record.change_chart()
        asked = turn.open_question()
        if asked is not None and drafts_of(asked.payload) and turn.record.question is None:
            turn.ask(
                asked.kind,
                asked.text,
                patient_id=asked.patient_id,
                question_id=asked.question_id,
                payload=asked.payload,
            )

    async def _make(
        self,
        turn: GroundedTurn,
        drafts: OrderDrafts,
        orders: Sequence[DraftOrder],
        question: OpenQuestion,
        patient_id: PatientId,
    ) -> tuple[str, Mapping[str, Any]]:
        """Make the first of `orders`, and return what is told of it and what was made.

        All are asked about again if it is not known to be made.
        """
        order = orders[0]
        sender, began = turn.message.sender, self.clock.monotonic()
        details = {"test": order.test, "language": order.language}
        await turn.claim.hold()  # one that slept through its claim does nothing
        try:
            _refuse_without_role(turn, order.language)
            kept = await drafts.make(
                order, patient_id=patient_id, requester=sender.display_name or sender.principal_id
            )
        except (errors.RecordsError, errors.StoreError, errors.ToolInputError) as failure:
            problem = _problem(failure, order.language)
            self._record(turn, ORDER_MADE, order.agent, details, "", problem or "no answer", began)
            await self._outcome(turn, patient_id, "order_refused" if problem else "order_uncertain")
            if not problem:
                return self._asked_again(turn, orders, question), {}
            return said_in(order.language, "not_drafted", problem=problem), {}
        details |= {"order_id": kept.order_id}
        text = _state_in_words(order, kept.status, patient_id)
        self._record(turn, ORDER_MADE, order.agent, details, text, None, began)
        await self._outcome(turn, patient_id, "order_made")
        return text, {"order_id": kept.order_id}

    def _asked_again(
        self, turn: GroundedTurn, orders: Sequence[DraftOrder], question: OpenQuestion
    ) -> str:
        """Ask for the same drafts under the same keys: made twice each is still one."""
        tests = ", ".join(one.test for one in orders)
        text = said_in(orders[0].language, "ask_again", test=tests)
        turn.ask(question.kind, text, patient_id=question.patient_id, payload=payload_of(orders))
        return text

    async def _take_back(
        self,
        turn: GroundedTurn,
        drafts: OrderDrafts,
        payload: Mapping[str, Any],
        patient_id: PatientId,
    ) -> str:
        began, language = self.clock.monotonic(), _language(payload)
        test, order_id = str(payload.get("test", "")), str(payload.get("order_id", ""))
        details = {"test": test, "order_id": order_id}
        agent = str(payload.get("agent", ""))
        error: str | None = None
        await turn.claim.hold()
        try:
            _refuse_without_role(turn, language)
            await drafts.take_back(order_id, patient_id=patient_id, language=language)
            text = said_in(language, "back", test=test)
        except (errors.RecordsError, errors.StoreError, errors.ToolInputError) as failure:
            error = _problem(failure, language) or "no answer"
            name = "stays" if _problem(failure, language) else "unsure_back"
            text = said_in(language, name, test=test)
            if isinstance(failure, errors.ToolInputError):
                text = f"{text} ({failure})"
        self._record(turn, TAKEN_BACK, agent, details, text, error, began)
        await self._outcome(turn, patient_id, TAKEN_BACK if error is None else "order_refused")
        return text

    def _record(
        self,
        turn: GroundedTurn,
        tool: str,
        agent: str,
        details: Mapping[str, str],
        text: str,
        error: str | None,
        began: float,
    ) -> None:
        data = None if error is not None else {"result": text}
        took = (self.clock.monotonic() - began) * 1_000
        self.tools.open(turn).record(FinishedRun(tool, agent, details, data, error, took))

    async def _outcome(self, turn: GroundedTurn, patient_id: PatientId, action: str) -> None:
        """Put what became of a yes on the trail; the yes itself stands there already."""
        try:
            await self.documents.access.record(turn, patient_id, action=action)
        except errors.AuditUnavailableError:  # the user has to read what became of it all the same
            logger.warning("order_outcome_not_audited", action=action)


def _asked_of_those(
    turn: GroundedTurn, left: Sequence[tuple[DraftOrder, str]], question: OpenQuestion
) -> str:
    orders = [order for order, _ in left]
    text = question_text(orders, [card for _, card in left])
    turn.ask(question.kind, text, patient_id=turn.patient_id, payload=payload_of(orders))
    return text


def _left_of(
    said: str, orders: Sequence[DraftOrder], asked: str
) -> Sequence[tuple[DraftOrder, str]]:
    """Return the drafts, each with its card, that "just the CBC" or "not the BMP" leaves.

    None for any other words.
    """
    parts = parts_in(said, "leaves_of_several") or {}
    named = things_joined_in(parts.get("kept") or parts.get("left_out") or "")
    if not all(any(is_same_test(name, one.test) for one in orders) for name in named):
        return ()
    return [
        (one, card)
        for one, card in cards_in(asked, orders)
        if named and any(is_same_test(name, one.test) for name in named) == ("kept" in parts)
    ]


def _refuse_without_role(turn: GroundedTurn, language: str) -> None:
    """Return if whoever says yes may order.

    Raises:
        ToolInputError: they may not.
    """
    if not turn.message.sender.may_order:
        raise errors.ToolInputError(said_in(language, "no_role"))


def _state_in_words(order: DraftOrder, status: str, patient_id: PatientId) -> str:
    if status != "draft":
        return said_in(order.language, "odd", test=order.test, status=status)
    when = said_in(order.language, "at", when=moment_shown(order.occurs)) if order.occurs else ""
    patient = f"{order.patient} ({patient_id})"
    return said_in(order.language, "made", patient=patient, test=order.test, when=when)


def _problem(failure: Exception, language: str) -> str:
    """Return why nothing was written; "" where nobody knows whether it was."""
    match failure:
        case errors.ToolInputError():
            return problem_told(str(failure), language)
        case errors.RecordsRefusedError():
            return said_in(language, "refused")
        case errors.RecordChangedError():
            return said_in(language, "conflict")
        case errors.RecordNotAcceptedError():
            return said_in(language, "not_accepted", status=str(failure.status))
        case _:
            return ""


def _language(payload: Mapping[str, Any]) -> str:
    return str(payload.get("language", "en"))
