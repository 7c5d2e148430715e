"""The caps of one turn (spec page 7, R26); the operator may change them."""

from collections.abc import Callable
from dataclasses import dataclass

_CHARS_PER_TOKEN = 3.5
_RESULT_SHARE = 8


@dataclass(frozen=True, slots=True)
class GroupChatLimits:
    """How much one turn may do before it ends with an offer to continue.

    Attributes:
        window_chars: Characters of history that a prompt may hold.
        agent_messages: Messages of agents, those written by code among them.
        tool_rounds: Times one agent may call tools before it has to answer.
        tool_calls: Tool calls of all agents.
        tool_seconds: Longest run of one tool.
        tool_result_chars: Longest result of one tool.
        window_tokens: The model's window as it is known now; None where nobody says.
        output_bytes: UTF-8 bytes that all agents may write.
        link_hosts: Hosts that links in answers may lead to.
        answers_directly: Whether a plain look-up is answered without a call of the model.
    """

    window_chars: int = 6_000
    agent_messages: int = 30
    tool_rounds: int = 8
    tool_calls: int = 20
    tool_seconds: float = 30.0
    tool_result_chars: int = 6_000
    output_bytes: int = 200_000
    link_hosts: frozenset[str] = frozenset()
    answers_directly: bool = False
    window_tokens: Callable[[], int | None] = lambda: None

    @property
    def result_chars(self) -> int:
        """The longest result of one tool: at most an eighth of the model's window.

        So what was looked up before an agent is asked fits as it is, and rows are left out by a
        view, which keeps what is active, not by the cutting of a request that is too long.
        """
        if (window := self.window_tokens()) is None:
            return self.tool_result_chars
        return min(self.tool_result_chars, int(window * _CHARS_PER_TOKEN) // _RESULT_SHARE)
