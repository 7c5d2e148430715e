"""Turn events as activities: one message for each agent's message (spec pages 1.9, 6.3)."""

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import NamedTuple

from bots.connector import TEXT_LIMIT_BYTES, split_text, wire_size
from bots.reference import Activity, abilities_of, place_of
from bots.rendering.cards import (
    Card,
    Sources,
    again_button,
    help_card,
    message_entity,
    numbered,
    plan_card,
    question_card,
    sources_line,
    undo_card,
    view_cards,
)
from data_models.chart_view import ChartView
from data_models.chat_context import AgentMessage
from data_models.conversations import turn_events
from data_models.conversations.incoming_message import IncomingMessage
from data_models.errors import is_retryable, is_users_own
from services.language.model_output.inert import inert, settled
from services.statements.shown import not_supported, pipe_table, repeats

# What the user may want to say next. Pure; every suggestion is understood without a model.

LIMIT = 3
_CHANGES = {"NEW_BLANK", "SWITCH_EXISTING", "CLEAR"}


def next_steps(
    before: turn_events.SharedState, after: turn_events.SharedState, *, patient_id_example: str
) -> tuple[str, ...]:
    """Return at most three short messages.

    There are some where a piece of work ended: the patient changed, a plan is done, nobody knows
    who is meant. In the midst of a talk they would only be in the way.
    """
    if after.question is not None:
        asks_who = after.question["kind"] == "which_patient"
        return after.all_patient_ids[:LIMIT] if asks_who else ()
    if not _ended(before, after) or (after.plan is not None and after.plan.is_open):
        return ()
    others = [one for one in after.all_patient_ids if one != after.patient_id]
    patient = after.patient_id or ("" if others else patient_id_example)
    board = (f"start tumor board for {patient}",) if patient and after.plan is None else ()
    switches = tuple(f"switch to {one}" for one in others[: LIMIT - 1])
    roster = ("which patients have we discussed?",) if others else ()
    return (*board, *switches, *roster)[:LIMIT]


def _ended(before: turn_events.SharedState, after: turn_events.SharedState) -> bool:
    """Tell whether this turn ended something."""
    if after.decision in _CHANGES or before.patient_id != after.patient_id:
        return True
    ran = before.plan is not None and before.plan.is_open
    return ran and after.plan is not None and not after.plan.is_open


TYPING: Activity = {"type": "typing"}
_OFFLINE = "*offline rules, not a language model*"
_FEEDBACK = {"feedbackLoop": {"type": "default"}}
_TRY_AGAIN = "Your message is kept. Try again, now or in a little while."
_TELL_SOMEBODY = "If this happens again, tell your administrator the reference."

Footer = Callable[[turn_events.SharedState], str]


class Look(NamedTuple):
    """What does not change from turn to turn.

    Attributes:
        footer: Makes the PT_CTX footer of every agent message.
        link_hosts: Hosts that links may lead to.
    """

    footer: Footer
    link_hosts: Collection[str] = ()
    patient_id_example: str = "patient_4"


def _in_passing(text: str) -> str:
    return f"*{inert(text, hosts=())}*"


class TurnRenderer:
    """Renders one run for one channel. Pure but for the state it remembers."""

    def __init__(self, *, look: Look, asked: IncomingMessage) -> None:
        self._look = look
        self.abilities = abilities_of(place_of(asked))
        self._asked = asked
        self._first: turn_events.SharedState | None = None
        self._state: turn_events.SharedState | None = None
        self._told_place: str | None = None
        self.proposed = ""
        """The plan whose card went with the message that proposes it; empty if none did."""
        self._views: dict[str, list[ChartView]] = {}
        self._told: list[str] = []
        self._told_with: dict[str, list[str]] = {}

    def activities(self, event: turn_events.TurnEvent) -> list[Activity]:
        """Return what the user is sent for `event`, in order; for most events nothing."""
        if isinstance(event, turn_events.ViewShown):
            self._views.setdefault(event.message_id, []).append(event.view)
            return []
        return self._activities(event)

    def _activities(self, event: turn_events.TurnEvent) -> list[Activity]:
        match event:
            case turn_events.StateChanged(state=state):
                if self._first is None:
                    self._first, self._told_place = state, _place_of(state)
                self._state = state
                return []
            case turn_events.AgentMessageFinished(message=message):
                return self.spoken(message)
            case turn_events.Notice(kind="told", text=text):
                self._told.append(_in_passing(text))
                return []
            case turn_events.Notice(text=text):
                return [text_activity(_in_passing(text))]
            case turn_events.RunFailed():
                return [*self._untold(), self._failure(event)]
            case turn_events.RunFinished(outcome=outcome):
                return [*self._untold(), *self._ending(outcome)]
            case _:
                return []

    def spoken(self, message: AgentMessage, *, shown: str = "") -> list[Activity]:
        """Return an agent's message in parts that the channel takes.

        Args:
            shown: How the first part has to begin, because the user sees that already.
        """
        head = self._head(message.agent)
        body = self._body(message)
        first_chars = max(len(shown) - len(head), 0)
        texts = split_text(body, first_chars=first_chars)
        return self._parts(message, texts)

    def rest(self, message: AgentMessage, *, shown: str) -> list[Activity]:
        """Return what is still due of an agent's message after another, which says `shown`."""
        head = self._head(message.agent)
        body = self._body(message)
        left = f"{head}{body}".removeprefix(shown) if shown else body
        return self._parts(message, split_text(left.strip()))

    def _body(self, message: AgentMessage) -> str:
        """Return a message's text with its tables and what the record does not support.

        What was told before it stands beneath: a message less, and a stream goes on as it began.
        """
        drawn = [] if self.abilities.draws_tables else self._drawn(message)
        tables = [pipe_table(view) for view in drawn]
        if self._told:
            self._told_with[message.message_id], self._told = self._told, []
        told = self._told_with.get(message.message_id, ())
        parts = (message.text.strip(), *tables, not_supported(message))
        return "\n\n".join([self._shown("\n\n".join(filter(None, parts))), *told])

    def _ending(self, outcome: str) -> list[Activity]:
        cards = self._cards() if outcome == "interrupt" else []
        return [*cards, *self._invitation()] if outcome in ("interrupt", "success") else []

    def _untold(self) -> list[Activity]:
        """Return what was told and no message followed."""
        told, self._told = self._told, []
        return [text_activity(line) for line in told]

    def _shown(self, text: str) -> str:
        """Return what the channel may render of `text`; where it cites, sources are numbers."""
        shown = inert(text, hosts=self._look.link_hosts)
        return numbered(shown) if self.abilities.cites else shown

    def _drawn(self, message: AgentMessage) -> list[ChartView]:
        views = self._views.get(message.message_id, [])
        return [view for view in views if not repeats(message.text, view)]

    def being_written(self, agent: str, text: str) -> str:
        """Return how an agent's message begins, whatever follows `text`; once too long nothing."""
        body = self._shown(settled(text.lstrip()).rstrip())
        fits = body and wire_size(body) <= TEXT_LIMIT_BYTES
        return f"{self._head(agent)}{body}" if fits else ""

    def to_be_continued(self, shown: str) -> Activity:
        """Return the end of a message whose time is up before it is complete."""
        waits = "*The answer follows in a new message.*"
        return text_activity(f"{shown}\n\n{waits}" if shown else waits)

    @property
    def _is_offline(self) -> bool:
        return self._state is not None and self._state.model_kind == "offline"

    def _head(self, agent: str, place: str = "") -> str:
        return f"**{agent}**{place}" + (f" · {_OFFLINE}" if self._is_offline else "") + "\n\n"

    def _parts(self, message: AgentMessage, texts: list[str]) -> list[Activity]:
        sources = Sources(message=message, is_shown=self.abilities.cites)
        parts = [
            self._part(text, at, len(texts), message=message, sources=sources)
            for at, text in enumerate(texts, 1)
        ]
        if parts and self._state is not None:
            parts[-1]["text"] += f"{self._new_place()}\n\n{self._footer(self._state)}"
            parts[-1] |= self._proposal(self._state)
        drawn = self._drawn(message) if self.abilities.draws_tables else []
        return [
            *parts,
            *(card_activity(one, summary=v.title) for v in drawn for one in view_cards(v)),
        ]

    def _footer(self, state: turn_events.SharedState) -> str:
        shown = replace(state, conversation_id="") if self.abilities.is_quiet else state
        return self._look.footer(shown)

    def _proposal(self, state: turn_events.SharedState) -> Activity:
        """Return the card of a plan that is proposed in this turn, where it goes with the words."""
        plan, known = state.plan, None if self._first is None else self._first.plan
        is_new = plan is not None and plan.plan_id not in (self.proposed, known and known.plan_id)
        if plan is None or not (is_new and plan.status == "proposed" and self.abilities.is_quiet):
            return {}
        self.proposed = plan.plan_id
        card = plan_card(plan, patient_id=state.patient_id, patient=state.patient)
        return {"attachments": [card]}

    def _new_place(self) -> str:
        """Return a line that says where the patient's scenario is, where that has changed."""
        place = None if self._state is None else _place_of(self._state)
        if place is None or place == self._told_place:
            return ""
        self._told_place = place
        return f"\n\n*{inert(place, hosts=())}*"

    def _part(
        self, text: str, number: int, count: int, *, message: AgentMessage, sources: Sources
    ) -> Activity:
        is_last = number == count
        # How the first part begins may have been shown before it was known that others follow.
        head = self._head(message.agent, f" ({number} of {count})" if number > 1 else "")
        cited = sources.of(text, is_last=is_last)
        goes_on = "" if is_last else f"\n\n*({number} of {count})*"
        part = {
            **text_activity(f"{head}{text}{sources_line(cited)}{goes_on}"),
            "entities": [message_entity(cited, by_model=not self._is_offline)],
        }
        takes_feedback = is_last and self.abilities.takes_feedback
        return {**part, "channelData": _FEEDBACK} if takes_feedback else part

    def _invitation(self) -> list[Activity]:
        """Return buttons for what the user may say next, where a piece of work has ended.

        In a message of their own: some clients show the text beside such buttons unformatted.
        """
        if self._state is None or self._first is None or not self.abilities.suggests:
            return []
        example = self._look.patient_id_example
        said = next_steps(self._first, self._state, patient_id_example=example)
        actions = [{"type": "imBack", "title": one, "value": one} for one in said]
        invitation = {**text_activity("What next?"), "suggestedActions": {"actions": actions}}
        return [invitation] if actions else []

    def _failure(self, event: turn_events.RunFailed) -> Activity:
        again = is_retryable(event.code)
        if is_users_own(event.code) and not again:
            return text_activity(event.text)
        button = again_button(self._asked.text, self._asked.press) if again else None
        hint = _TRY_AGAIN if again else _TELL_SOMEBODY
        return {
            **text_activity(event.text),
            "attachments": [help_card(hint, ref=event.ref, again=button)],
        }

    def _cards(self) -> list[Activity]:
        if (state := self._state) is None:
            return []
        if state.question is not None:
            who = state.patient
            about = "" if who is None else f"{who.label} ({state.patient_id})"
            card = question_card(state.question, about=about)
            return [] if card is None else [card_activity(card, summary="Please answer")]
        if state.undo is not None:
            return [card_activity(undo_card(state.undo), summary="The clear can be undone")]
        if state.plan is None or state.plan.status != "proposed":
            return []
        if state.plan.plan_id == self.proposed:  # it went with the words
            return []
        card = plan_card(state.plan, patient_id=state.patient_id, patient=state.patient)
        return [card_activity(card, summary="A plan waits for your yes")]


def _place_of(state: turn_events.SharedState) -> str | None:
    """Return where the patient's scenario is, in words."""
    if (place := state.scenario) is None:
        return None
    return f"{place.scenario}: {place.step}, {place.done} of {place.total} steps done"


def text_activity(text: str) -> Activity:
    """Return a message of Markdown text."""
    return {"type": "message", "textFormat": "markdown", "text": text}


def card_activity(card: Card, *, summary: str) -> Activity:
    """Return a message that is a card; `summary` is what a notification says."""
    return {"type": "message", "summary": summary, "attachments": [card]}
