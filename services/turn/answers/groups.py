"""What changes for everybody in a group is asked of who said it, and told to all."""

from data_models.conversations.conversation import OpenQuestion
from services.group_chat_port import GroupChatEvent, PlanChanged
from services.identity.names.person import both_identifiers
from services.language.replies.yes_no import says_yes
from services.patient_context.answers import OPTIONS, waiting_in
from services.patient_context.asking_again import not_answered
from services.patient_context.wording import whether_to_clear
from services.turn.phases import GroundedTurn, LoadedTurn, UnderstoodTurn
from services.turn.turn_step import TurnStep

_SOMEBODY = "Somebody"
_OF_DEEDS = frozenset({"destructive_tool", "which_entity", "retire_statement"})
_OWN_IS_OVER = "What you were asked before this chart was opened is over; nothing was done."
_ANOTHERS_IS_OVER = (
    "What somebody else here was asked is over with the chart before; nothing was done."
)


class TurnGroups(TurnStep):
    """Does nothing where one user talks alone. Holds no state of any turn."""

    async def asks_before_clear(self, turn: LoadedTurn) -> bool:
        """Whether the sender was asked whether to clear everybody's talk, and nothing was done."""
        question = turn.open_question()
        confirms = question is not None and question.kind == "clear" and says_yes(turn.answer)
        if not turn.message.is_group or confirms:
            return False
        registry = turn.registry
        asked = whether_to_clear(len(registry.patient_registry))
        grounded = await self.documents.open(turn.stay(), None)
        text = f"{_name(turn)}, this group shares one conversation. {asked}"
        self.replies.ask(
            grounded, "clear", text, patient_id=registry.active_patient_id, payload={OPTIONS: []}
        )
        return True

    def wording_of_clear(self, turn: LoadedTurn, text: str) -> str:
        """Return what is said of a clear: in a group with the name of who did it."""
        by = f"{_name(turn)} cleared this conversation for everybody. "
        return f"{by}{text}" if turn.message.is_group else text

    def tell_switch(self, turn: UnderstoodTurn, left: UnderstoodTurn) -> None:
        """Say what ends with the chart before, and to a group who opened another one for all."""
        after, verdict = turn.verdict.patient_id, turn.verdict
        if after is None or left.opened_patient_id == after:
            return
        for asked in turn.claim.conversation.questions:
            is_alive = asked.is_alive(epoch=turn.claim.epoch, now=turn.now)
            is_own = asked.user == turn.message.sender.principal_id
            said = "" if asked.is_set_aside(after) else _over(asked, is_own=is_own)
            if is_alive and said:
                self.replies.notify(turn, said, kind="restored")
        if not turn.message.is_group or left.opened_patient_id is None:
            return
        who = "" if verdict.person is None else f"{both_identifiers(verdict.person)}, "
        before = left.active_patient_id or "–"
        text = (
            f"{_name(turn)} opened another chart for this group: {who}{after} (before: {before})."
        )
        self.replies.notify(turn, text)

    def tell_plan(self, turn: GroundedTurn, event: GroupChatEvent) -> None:
        """Tell a group that one of them ended the plan of another; most events end none."""
        if not isinstance(event, PlanChanged):
            return
        plan, before = event.plan, turn.document.plan
        ends = plan.status in ("cancelled", "replaced") or (
            before is not None and plan.plan_id != before.plan_id
        )
        if not turn.message.is_group or before is None or not before.is_open or not ends:
            return
        history = turn.document.chat_history
        asked_by = next((one.user for one in history if one.run_id == before.run_id), "")
        if asked_by != turn.message.sender.display_name:
            text = f"{_name(turn)} ended the plan that {asked_by or 'another member'} asked for."
            self.replies.notify(turn, text)


def _over(asked: OpenQuestion, *, is_own: bool) -> str:
    """Return what is said of a question that ends with the chart it was asked beside.

    "" of an own one that the chart may be the answer to. No item is named, as it may be about the
    patient before.
    """
    if is_own:
        return _OWN_IS_OVER if asked.kind in _OF_DEEDS else ""
    waits = waiting_in(asked)
    return not_answered(waits) if waits else _ANOTHERS_IS_OVER


def _name(turn: LoadedTurn) -> str:
    return turn.message.sender.display_name or _SOMEBODY
