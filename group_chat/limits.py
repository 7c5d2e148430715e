"""The caps of one turn (spec page 7, R26); the operator may change them."""

from dataclasses import dataclass


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
        output_bytes: UTF-8 bytes that all agents may write.
    """

    window_chars: int = 6_000
    agent_messages: int = 30
    tool_rounds: int = 8
    tool_calls: int = 20
    tool_seconds: float = 30.0
    tool_result_chars: int = 6_000
    output_bytes: int = 200_000
