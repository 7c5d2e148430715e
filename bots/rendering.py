"""Turn events as activities: one message for each agent's message (spec pages 1.9, 6.3)."""

from collections.abc import Callable, Collection
from typing import Any

from bots.cards import Card, plan_card, question_card
from bots.inert import inert
from bots.reference import Activity
from bots.split import split_text
from data_models.chat_context import AgentMessage, Citation
from data_models.turn_events import (
    AgentMessageFinished,
    Notice,
    RunFailed,
    RunFinished,
    SharedState,
    StateChanged,
    TurnEvent,
)

CITATION_LIMIT = 10
NAME_LIMIT_CHARS = 80
ABSTRACT_LIMIT_CHARS = 160
TYPING: Activity = {"type": "typing"}
_TEAMS = "msteams"
_OFFLINE = "*offline rules, not a language model*"

Footer = Callable[[SharedState], str]


class TurnRenderer:
    """Renders one run for one channel. Pure but for the state it remembers."""

    def __init__(self, *, footer: Footer, channel_id: str, link_hosts: Collection[str]) -> None:
        self._footer = footer
        self._cites = channel_id == _TEAMS
        self._link_hosts = link_hosts
        self._state: SharedState | None = None

    def activities(self, event: TurnEvent) -> list[Activity]:
        """Return what the user is sent for `event`, in order; for most events nothing."""
        match event:
            case StateChanged(state=state):
                self._state = state
                return []
            case AgentMessageFinished(message=message):
                return self._spoken(message)
            case Notice(text=text):
                return [text_activity(f"*{text}*")]
            case RunFailed(text=text, ref=ref):
                return [text_activity(f"{text}\n\n*Reference: {ref}*")]
            case RunFinished(outcome="interrupt"):
                return self._cards()
            case _:
                return []

    def _spoken(self, message: AgentMessage) -> list[Activity]:
        texts = split_text(inert(message.text.strip(), hosts=self._link_hosts))
        parts = [self._part(message, text, at, len(texts)) for at, text in enumerate(texts)]
        if parts and self._state is not None:
            parts[-1]["text"] += f"\n\n{self._footer(self._state)}"
        return parts

    def _part(self, message: AgentMessage, text: str, at: int, count: int) -> Activity:
        head = f"**{message.agent}**"
        is_offline = self._state is not None and self._state.model_kind == "offline"
        if count > 1:
            head += f" ({at + 1} of {count})"
        if is_offline:
            head += f" · {_OFFLINE}"
        cited = message.citations[:CITATION_LIMIT] if self._cites and at == count - 1 else []
        marks = "".join(f" [{number}]" for number in range(1, len(cited) + 1))
        sources = f"\n\nSources:{marks}" if marks else ""
        return {
            **text_activity(f"{head}\n\n{text}{sources}"),
            "entities": [_message_entity(cited, by_model=not is_offline)],
        }

    def _cards(self) -> list[Activity]:
        state = self._state
        if state is None:
            return []
        if state.question is not None:
            card = question_card(state.question)
        else:
            proposed = state.plan is not None and state.plan.status == "proposed"
            card = plan_card(state.plan) if state.plan is not None and proposed else None
        return [] if card is None else [_card_activity(card)]


def text_activity(text: str) -> Activity:
    """Return a message of Markdown text."""
    return {"type": "message", "textFormat": "markdown", "text": text}


def _card_activity(card: Card) -> Activity:
    return {"type": "message", "attachments": [card]}


def _message_entity(citations: list[Citation], *, by_model: bool) -> dict[str, Any]:
    """Return the entity that names a message's sources and, if a model wrote it, says so."""
    entity: dict[str, Any] = {
        "type": "https://schema.org/Message",
        "@type": "Message",
        "@context": "https://schema.org",
        "@id": "",
    }
    if by_model:
        entity["additionalType"] = ["AIGeneratedContent"]
    if citations:
        entity["citation"] = [_claim(one, at) for at, one in enumerate(citations, start=1)]
    return entity


def _claim(citation: Citation, position: int) -> dict[str, Any]:
    name = citation.title or citation.ref
    abstract = citation.quote or " ".join(filter(None, [citation.ref, citation.date]))
    return {
        "@type": "Claim",
        "position": position,
        "appearance": {
            "@type": "DigitalDocument",
            "name": name[:NAME_LIMIT_CHARS],
            "abstract": abstract[:ABSTRACT_LIMIT_CHARS],
        },
    }
