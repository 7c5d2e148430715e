"""Tools that prepare drafts of orders. Nothing is written before the user confirms it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta

from pydantic import Field

from data_models.chart_view import ViewRow
from data_models.clock import IdSource
from data_models.errors import ToolInputError
from group_chat.tools.tool import Tool, ToolOutput, tools_of
from group_chat.turn_context import TurnContext
from services.group_chat_port import QuestionAsked
from services.language.pointing.when import when_of
from services.language.requests.orders import may_order_change
from services.orders import draft_order
from services.orders.draft_order import (
    WITHDRAW,
    DraftOrder,
    KeptDraft,
    is_same_test,
    payload_of,
    refusal_of,
    tests_in,
)
from services.orders.order_drafts import OrderDrafts
from services.records.big_charts import make_view
from services.records.concepts.words import words_of
from services.records.resources.ports import PatientRecords
from services.records.resources.record import PatientRecord
from services.records.views.demographics import demographics

STANDING = "order_drafts_of"
ORDER_TOOLS = ("draft_order", STANDING, WITHDRAW)
_EARLIER_MESSAGES = 2
_NAME_CHARS = 120
_TESTS = 4
"""So many cards can be read before one yes."""
_ASKED = "the user is asked to confirm; nothing is made yet; say no more"
_TELL = "; nothing is prepared; tell the user exactly that"


@dataclass(frozen=True, slots=True)
class OrderTools:
    """The tools over the patient's chart and the back end that takes drafts."""

    drafts: OrderDrafts
    records: PatientRecords
    ids: IdSource

    def tools(self) -> tuple[Tool, ...]:
        """Return the tools of this file."""
        return tools_of(self.draft_order, self.order_drafts_of, self.withdraw_order_draft)

    async def draft_order(
        self,
        turn: TurnContext,
        test: str = Field(
            min_length=1,
            max_length=_NAME_CHARS,
            description="The test, in the user's own words; all that they named, as they "
            "named them.",
        ),
    ) -> ToolOutput:
        """Asks the user to confirm drafts of orders, one for each test or examination of the
        sentence; they are made when they say yes. Never for drugs.
        """  # noqa: D205 - is told to models as it stands
        language = _may_begin(turn)
        earlier = [each.user_message for each in turn.request.history[-_EARLIER_MESSAGES:]]
        said, named = [turn.request.text, *reversed(earlier)], " ".join(test.split())
        record = await self.records.load(turn.patient_id)
        tests = await make_view(record, lambda one: tests_in(named, said=said, record=one))
        refusal = await make_view(record, lambda one: refusal_of(tests[0], said=said, record=one))
        if refusal is not None:
            raise _refused(language, refusal)
        _refuse_unasked(turn, language)
        if len(tests) > _TESTS:
            raise _refused(language, "few", number=str(_TESTS))
        occurs = [_occurrence(turn, one, said, language) for one in tests]
        if not await self.drafts.are_taken():
            raise _refused(language, "no_server")
        made = [
            await self._card(turn, record, one, when, language)
            for one, when in zip(tests, occurs, strict=True)
        ]
        if turn.questions:  # two calls at once
            raise _refused(language, "one")
        self._ask(turn, [order for order, _ in made], [card for _, card in made])
        return {
            "tests": tests,
            "when": occurs,
            "rests_on": [each for order, _ in made for each in order.rests_on],
            "asked": _ASKED,
        }

    async def _card(
        self, turn: TurnContext, record: PatientRecord, test: str, occurs: str, language: str
    ) -> tuple[DraftOrder, str]:
        """Return one draft and the card that shows it."""
        rows = await make_view(record, lambda one: draft_order.card_rows(one, test))
        shown: tuple[ViewRow, ...] = (*rows.results, *rows.before)
        order = DraftOrder(
            key=self.ids.new_id("order"),
            test=test,
            occurs=occurs,
            patient=_who(record, turn.request.now, language),
            rests_on=tuple(dict.fromkeys(source for row in shown for source in row.sources[:1])),
            agent=turn.agent,
            language=language,
        )
        return order, draft_order.card_text(order, rows, patient_id=turn.patient_id)

    def _ask(self, turn: TurnContext, orders: Sequence[DraftOrder], cards: Sequence[str]) -> None:
        text = draft_order.question_text(orders, cards)
        turn.ask(QuestionAsked("destructive_tool", text, payload_of(orders)))

    async def order_drafts_of(
        self,
        turn: TurnContext,
        test: str = Field(default="", max_length=_NAME_CHARS, description="The test, if named."),
    ) -> ToolOutput:
        """Tells which orders were drafted here, and which are open on record."""
        language = turn.language
        record = await self.records.load(turn.patient_id)
        kept = await self.drafts.list_drafts(turn.patient_id)
        rows = await make_view(record, lambda one: draft_order.card_rows(one, test))
        patient = f"{_who(record, turn.request.now, language)} ({turn.patient_id})"
        text = draft_order.standing_text(kept, rows, test, patient=patient, language=language)
        return {"told": text}

    async def withdraw_order_draft(
        self,
        turn: TurnContext,
        test: str = Field(default="", max_length=_NAME_CHARS, description="Its test, if named."),
    ) -> ToolOutput:
        """Asks the user to confirm; a draft of an order is taken back when they say yes."""
        language = _may_begin(turn)
        _refuse_unasked(turn, language)
        record = await self.records.load(turn.patient_id)
        kept = await self.drafts.list_drafts(turn.patient_id)
        draft = _meant(kept, " ".join([test, turn.request.text]), language)
        if turn.questions:  # two calls at once
            raise _refused(language, "one")
        patient = f"{_who(record, turn.request.now, language)} ({turn.patient_id})"
        payload = {
            "action": WITHDRAW,
            "order_id": draft.order_id,
            "test": draft.test,
            "agent": turn.agent,
            "language": language,
        }
        text = draft_order.said_in(language, "ask_back", test=draft.test, patient=patient)
        turn.ask(QuestionAsked("destructive_tool", text, payload))
        return {"test": draft.test, "asked": _ASKED}


def _may_begin(turn: TurnContext) -> str:
    """Return the language of whoever may order.

    Raises:
        ToolInputError: they may not, or are asked about something already.
    """
    language = turn.language if turn.language in draft_order.LANGUAGES else "en"
    if not turn.request.may_order:
        raise _refused(language, "no_role")
    if turn.questions:
        raise _refused(language, "one")
    return language


def _refuse_unasked(turn: TurnContext, language: str) -> None:
    """Return if the user's own words may ask for an order.

    Raises:
        ToolInputError: they do not; a model may have read it in a note.
    """
    if not may_order_change(turn.request.text):
        raise _refused(language, "not_asked")


def _refused(language: str, name: str, **fields: str) -> ToolInputError:
    return ToolInputError(f"{draft_order.said_in(language, name, **fields)}{_TELL}")


def _occurrence(turn: TurnContext, test: str, said: Sequence[str], language: str) -> str:
    """Return when the user wants it, as FHIR writes it; "" where they said nothing of it.

    Raises:
        ToolInputError: it has passed, or several days may be meant.
    """
    memory = turn.request.tool_memory
    now = turn.request.now.astimezone(UTC) if memory is None else memory.now
    back_to = next((at for at, text in enumerate(said) if is_same_test(test, text)), 0)
    found = next(
        (
            when
            for text in said[: back_to + 1]
            if (when := when_of(text, now, is_ahead=True)) is not None
        ),
        None,
    )
    if found is None:
        return ""
    if found.first != found.last:
        raise _refused(language, "days")
    day = found.first or now.date()
    if found.minute is None:
        if day < now.date():
            raise _refused(language, "past_day")
        return day.isoformat()
    at = datetime.combine(day, time(), now.tzinfo) + timedelta(minutes=found.minute)
    if at < now:
        raise _refused(language, "past_time")
    return at.isoformat(timespec="seconds")


def _who(record: PatientRecord, now: datetime, language: str) -> str:
    """Return name and birth date as the card shows them beside the id."""
    found = demographics(record, today=now.date())
    name = found.name or draft_order.said_in(language, "unnamed")
    day = found.birth_date or draft_order.said_in(language, "unborn")
    return draft_order.said_in(language, "who", name=name, day=day)


def _meant(kept: Sequence[KeptDraft], said: str, language: str) -> KeptDraft:
    words = frozenset(words_of(said))
    named = [each for each in kept if words.issuperset(words_of(each.test))]
    fitting = named or list(kept)
    if not fitting:
        raise _refused(language, "gone")
    if len(fitting) > 1:
        names = "; ".join(f"{each.test} {each.occurs}".strip() for each in fitting)
        raise _refused(language, "which", names=names)
    return fitting[0]
