"""The kernel through which every tool call of every agent goes."""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from opentelemetry import trace
from pydantic import PrivateAttr
from semantic_kernel import Kernel
from semantic_kernel.contents import ChatHistory, FunctionCallContent, FunctionResultContent
from semantic_kernel.filters.auto_function_invocation.auto_function_invocation_context import (
    AutoFunctionInvocationContext,
)
from semantic_kernel.functions.kernel_arguments import KernelArguments

from data_models.chart_view import ChartView
from data_models.clock import Clock, IdSource
from data_models.conversations import turn_events
from data_models.conversations.conversation import Begun, Effect
from data_models.errors import RecordsError, StoreUnavailableError, ToolInputError
from data_models.identifiers import hashed
from group_chat.drafts.citations import remember_rows
from group_chat.tools.function import (
    ARGUMENTS_LIMIT_CHARS,
    checked_arguments,
    compact_json,
    error_json,
    parsed,
    plain,
)
from group_chat.tools.tool import Tool, ToolOutput, ToolWatcher
from group_chat.turn_context import GroupChatLimits, TurnContext, action_key, changing, current_turn
from services.patient_context.reading.snapshot import neutralise
from services.records.views.lines import told
from services.tool_memory.session import FinishedRun

# Runs a tool that changes something outside: on record first, then once under its key.

_NOTE = (
    "this is what was begun before an interruption, and now it is done; call again only for what "
    "is still missing"
)


async def run_once(
    turn: TurnContext,
    tool: Tool,
    given: Mapping[str, Any],
    *,
    call_id: str,
    run: Callable[[Mapping[str, Any]], Awaitable[ToolOutput]],
) -> ToolOutput:
    """Have `run` do what `tool` changes; with an earlier attempt's arguments, where it began that.

    Raises:
        ToolInputError: the arguments do not fit, or nobody knows what an earlier attempt did.
        StoreError: the run is not on record, so nothing was changed.
    """
    arguments = checked_arguments(tool.arguments, given).model_dump(mode="json")
    begun = await _begin(turn, tool, arguments, call_id)
    succeeded = False
    try:
        with changing(begun.effect):
            result = await run(begun.arguments)
        succeeded = True
    finally:
        if not succeeded and turn.request.effects is not None:
            turn.request.effects.note_failure(begun)
    return {**plain(result), "note": _NOTE} if begun.is_other else result


async def _begin(
    turn: TurnContext, tool: Tool, arguments: Mapping[str, Any], call_id: str
) -> Begun:
    if (effects := turn.request.effects) is None:
        return Begun(Effect(action_key() or hashed(turn.request.run_id, call_id)), arguments)
    if key := action_key():
        return await effects.begin(tool.name, arguments, message=-1, key=key)
    return await effects.begin(tool.name, arguments, message=len(turn.said))


NAME_LIMIT_CHARS = 64
_PATIENT_ARGUMENTS = frozenset({
    "patient", "patientid", "patientidentifier", "patientref", "patientreference", "mrn", "subject",
})  # fmt: skip
_SAME_CALLS = 2
_TOO_SLOW = "tool_timeout"
_tracer = trace.get_tracer("rounds")


@dataclass(slots=True)
class _Call:
    """One call on its way through the kernel."""

    call_id: str
    tool: str
    began: float
    arguments: Mapping[str, Any] = field(default_factory=dict)
    content: str = ""
    data: Mapping[str, Any] | None = None
    output: ToolOutput | None = None
    error_code: str | None = None
    duration_ms: float = 0.0
    ends_message: bool = False
    has_changed: bool = False

    def fail(self, code: str, message: str) -> None:
        self.error_code, self.content = code, error_json(message)


async def _output_of(turn: TurnContext, tool: Tool, call: _Call) -> ToolOutput:
    async def run(arguments: Mapping[str, Any]) -> ToolOutput:
        named = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": tool.name}
        with _tracer.start_as_current_span(f"execute_tool {tool.name}", attributes=named):
            return await tool.run(turn, checked_arguments(tool.arguments, arguments))

    if not tool.changes:
        return await run(call.arguments)
    return await run_once(turn, tool, call.arguments, call_id=call.call_id, run=run)


class ToolKernel(Kernel):
    """Runs the calls of Semantic Kernel's automatic function calling.

    One place counts, bounds and times them, takes the patient from the turn, tells the reader
    of the turn, and gives a failure to the model as a result. Semantic Kernel's own handler
    swallows every exception and logs what the model wrote; here a fault of ours ends the turn.
    """

    _tools: Mapping[str, Tool] = PrivateAttr()
    _clock: Clock = PrivateAttr()
    _ids: IdSource = PrivateAttr()
    _limits: GroupChatLimits = PrivateAttr()
    _watcher: ToolWatcher = PrivateAttr()

    def __init__(
        self,
        *,
        tools: Mapping[str, Tool],
        clock: Clock,
        ids: IdSource,
        limits: GroupChatLimits,
        watcher: ToolWatcher,
    ) -> None:
        super().__init__()
        self._tools = tools
        self._clock = clock
        self._ids = ids
        self._limits = limits
        self._watcher = watcher

    @property
    def tools(self) -> Mapping[str, Tool]:
        """What can be called, by name."""
        return self._tools

    async def invoke_function_call(
        self,
        function_call: FunctionCallContent,
        chat_history: ChatHistory,
        *,
        request_index: int | None = None,
        **_: Any,
    ) -> AutoFunctionInvocationContext | None:
        """Run one call and add its result to `chat_history`."""
        turn = current_turn()
        call = _Call(
            call_id=self._ids.new_id("call"),
            tool=(function_call.name or "unnamed")[:NAME_LIMIT_CHARS],
            began=self._clock.monotonic(),
        )
        given = function_call.arguments or "{}"
        text = given if isinstance(given, str) else json.dumps(dict(given), ensure_ascii=False)
        turn.emit(turn_events.ToolCallStarted(call.call_id, turn.agent, call.tool))
        turn.emit(turn_events.ToolCallArguments(call.call_id, text[:ARGUMENTS_LIMIT_CHARS]))
        turn.emit(turn_events.ToolCallEnded(call.call_id))
        with turn.line.place() as others_before:
            try:
                await self._run(turn, call, function_call, request_index or 0)
                # What changed something is filed at once; a scenario's run is within a call.
                if not call.has_changed and not action_key():
                    await others_before()
            except asyncio.CancelledError:
                call.fail("stopped", "the tool was stopped")
                self._tell_result(turn, call)
                raise
            self._keep(turn, call)
            await self._finish(turn, call)
            result = FunctionResultContent.from_function_call_content_and_result(
                function_call, call.content
            )
            chat_history.add_message(result.to_chat_message_content())
        return self._terminating(chat_history) if call.ends_message else None

    async def _run(
        self, turn: TurnContext, call: _Call, function_call: FunctionCallContent, round_index: int
    ) -> None:
        try:
            self._allow(turn, round_index)
            call.arguments = await self._arguments(turn, call.tool, function_call)
            self._refuse_again(turn, call)
            tool = self._tool(call.tool)
            async with asyncio.timeout(self._limits.tool_seconds):
                output = await _output_of(turn, tool, call)
        except TimeoutError:
            call.fail(_TOO_SLOW, f"no answer within {self._limits.tool_seconds:g} seconds")
        except ToolInputError as error:
            call.fail(error.code, str(error))
        except (RecordsError, StoreUnavailableError) as error:
            call.fail(error.code, error.user_message)
        else:
            call.output = output
            call.ends_message, call.has_changed = tool.ends_message, tool.changes
        call.duration_ms = self._elapsed_ms(call)

    def _keep(self, turn: TurnContext, call: _Call) -> None:
        """Keep the whole result for people and code, and write down what the model gets of it."""
        if (output := call.output) is None:
            return
        limit = self._limits.result_chars
        call.data = plain(output)
        if isinstance(output, ChartView):
            text, is_count = told(output, limit_chars=limit)
            own = {"view_id": call.call_id, "must_be_shown": is_count}
            turn.views.append(output.model_copy(update=own))
            call.content = neutralise(text)
            remember_rows(turn.sources, call.data.get("sources", ()))
        else:
            call.content = compact_json(call.data, limit_chars=limit)

    def _tool(self, name: str) -> Tool:
        if name not in self._tools:
            raise ToolInputError("you have no tool of that name")
        return self._tools[name]

    async def _arguments(
        self, turn: TurnContext, tool: str, function_call: FunctionCallContent
    ) -> dict[str, Any]:
        """Return the arguments without any that names this turn's patient.

        Raises:
            ToolInputError: they are no JSON object, or name another patient.
        """
        given = parsed(function_call.arguments)
        kept: dict[str, Any] = {}
        for name, value in given.items():
            if re.sub(r"[^a-z]", "", name.lower()) not in _PATIENT_ARGUMENTS:
                kept[name] = value
            elif value != turn.request.patient_id:
                await self._watcher.note_refused_patient(turn, tool)
                raise ToolInputError(
                    "tools work on the active patient only; call again without naming a patient"
                )
        return kept

    def _allow(self, turn: TurnContext, round_index: int) -> None:
        if turn.proposed is not None:
            raise ToolInputError("a plan waits for the user; no tool runs before the answer")
        turn.out_of_rounds = turn.out_of_rounds or round_index >= self._limits.tool_rounds
        turn.out_of_calls = turn.out_of_calls or turn.calls.count >= self._limits.tool_calls
        if turn.out_of_rounds or turn.out_of_calls:
            raise ToolInputError("no more tool calls are allowed; answer from what you have")
        turn.calls.count += 1

    def _refuse_again(self, turn: TurnContext, call: _Call) -> None:
        """Refuse what was called twice with the same arguments, and then end the message.

        Raises:
            ToolInputError: its result stands there already.
        """
        again = (call.tool, turn.agent, call.arguments)
        made = sum((one.tool, one.agent, one.parameters) == again for one in turn.ran)
        if made >= _SAME_CALLS and not action_key():  # a scenario's steps are no model's whim
            call.ends_message = made > _SAME_CALLS
            turn.out_of_rounds = turn.out_of_rounds or call.ends_message
            raise ToolInputError("you made this call twice: answer from what it returned")

    async def _finish(self, turn: TurnContext, call: _Call) -> None:
        if call.error_code is None:
            turn.tools_ok += 1
        else:
            turn.tools_failed += 1
        run = FinishedRun(
            tool=call.tool,
            agent=turn.agent,
            parameters=call.arguments,
            data=call.data,
            error=None if call.error_code is None else call.content,
            duration_ms=call.duration_ms,
            call_id=call.call_id,
            error_code=call.error_code,
            is_view=isinstance(call.output, ChartView),
        )
        turn.ran.append(run)
        if turn.works_beside_others:
            turn.unfiled.append(partial(self._watcher.note_run, run=run))
        else:
            await self._watcher.note_run(turn, run)
        self._tell_result(turn, call)

    def _tell_result(self, turn: TurnContext, call: _Call) -> None:
        is_error = call.error_code is not None
        duration_ms = call.duration_ms or self._elapsed_ms(call)
        turn.emit(turn_events.ToolCallResult(call.call_id, call.content, is_error, duration_ms))

    def _elapsed_ms(self, call: _Call) -> float:
        return (self._clock.monotonic() - call.began) * 1_000

    def _terminating(self, chat_history: ChatHistory) -> AutoFunctionInvocationContext:
        """Return what makes Semantic Kernel end the agent's message after this round."""
        # Without the function, which it asks nobody about: there may be none of that name.
        ended: dict[str, Any] = {"kernel": self, "chat_history": chat_history, "terminate": True}
        return AutoFunctionInvocationContext.model_construct(arguments=KernelArguments(), **ended)
