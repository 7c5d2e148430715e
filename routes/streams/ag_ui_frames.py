"""Turn events as AG-UI 1.0 events, one in, one out, in the order of the run; or as whole messages.

Frames are built as plain dicts; tests hold each against the models of `ag-ui-protocol`.
"""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeAlias, assert_never

import jsonpatch
from pydantic import TypeAdapter

from data_models.chart_view import ChartView
from data_models.chat_context import AgentMessage
from data_models.clock import Clock
from data_models.conversations import turn_events
from data_models.conversations.incoming_message import IncomingMessage
from routes.requests.json_input import view_document
from services.language.model_output.inert import inert
from services.runs.hub import Run
from services.statements.shown import not_supported, pipe_table, repeats
from services.turn.reading import footer_of

_STATE = TypeAdapter(turn_events.SharedState)


def state_document(state: turn_events.SharedState) -> dict[str, Any]:
    """Return `state` as plain JSON values, the way every transport shows it."""
    found: dict[str, Any] = _STATE.dump_python(state, mode="json", exclude={"scenario": {"keys"}})
    return found | {"patient": None if state.patient is None else state.patient._asdict()}


PROTOCOL_VERSION = "1.0"
Frame: TypeAlias = dict[str, Any]
_ANSWER_SCHEMA: Frame = {
    "type": "object",
    "properties": {"answer": {"type": "string"}},
    "required": ["answer"],
}
_PLAN_SCHEMA: Frame = {
    "type": "object",
    "properties": {
        "answer": {"enum": ["confirm", "change", "cancel"]},
        "steps": {"type": "array", "items": {"type": "integer"}},
    },
    "required": ["answer"],
}


@dataclass(slots=True, kw_only=True)
class AgUiFrames:
    """Renders one run. Feed it every event from the first on, also those that are not sent.

    Attributes:
        thread_id: The client's name of the conversation.
        run_id: The client's name of the run.
        echo: What was asked, for a watcher who did not ask it.
        client_message_id: The client's own id of what it asked, so that it can tell runs apart.
        interrupts: Whether a question ends a run as an interrupt. Stock clients take no plain
            words after one; without, the run succeeds and the question is in the state.
    """

    thread_id: str
    run_id: str
    echo: IncomingMessage | None = None
    client_message_id: str | None = None
    interrupts: bool = True
    _early: turn_events.Notice | None = field(default=None, init=False)
    _state: turn_events.SharedState | None = field(default=None, init=False)
    _document: Frame = field(default_factory=dict, init=False)

    def frame(self, seq: int, event: turn_events.TurnEvent) -> Frame:
        """Return the frame of `event`, which is the run's `seq`-th."""
        if isinstance(event, turn_events.Notice | turn_events.RunStarted):
            event = self._in_order(event)
        frame = self._of_run(event)
        metadata = frame.setdefault("metadata", {})
        metadata["seq"] = seq
        metadata["runId"] = self.run_id
        if seq == 1 and self.client_message_id is not None:
            metadata["clientMessageId"] = self.client_message_id
        return frame

    def frames(
        self, seq: int, event: turn_events.TurnEvent, *, is_known: bool = False
    ) -> list[Frame]:
        """Return the same for a socket, where a notice may be told twice."""
        return [self.frame(seq, event)]

    def queued(self, notice: turn_events.Notice) -> Frame:
        """Return the frame that says at once that the run waits; it is none of the run's own."""
        metadata: Frame = {"runId": self.run_id}
        if self.client_message_id is not None:
            metadata["clientMessageId"] = self.client_message_id
        return {**_notice(notice), "metadata": metadata}

    def _in_order(
        self, event: turn_events.Notice | turn_events.RunStarted
    ) -> turn_events.TurnEvent:
        # Nothing may go before RUN_STARTED, so the notice that a message waits, which does,
        # changes places with it; RUN_STARTED's metadata carries it meanwhile.
        if isinstance(event, turn_events.Notice) and event.kind == "queued":
            self._early = event
            return turn_events.RunStarted(run_id=self.run_id, conversation_id=self.thread_id)
        if isinstance(event, turn_events.RunStarted) and self._early is not None:
            early, self._early = self._early, None
            return early
        return event

    def _of_run(self, event: turn_events.TurnEvent) -> Frame:
        match event:
            case turn_events.RunStarted():
                return self._started()
            case turn_events.StateChanged(state=state):
                return self._state_changed(state)
            case turn_events.RunFinished():
                return self._finished(event)
            case turn_events.RunFailed(code=code, text=text, ref=ref):
                metadata = {"ref": ref}
                return {"type": "RUN_ERROR", "code": code, "message": text, "metadata": metadata}
            case turn_events.StepStarted(step=step):
                return {"type": "STEP_STARTED", "stepName": step}
            case turn_events.StepFinished(step=step):
                return {"type": "STEP_FINISHED", "stepName": step}
            case turn_events.Notice():
                return _notice(event)
            case _:
                return _of_agent(event)

    def _started(self) -> Frame:
        frame: Frame = {"type": "RUN_STARTED", **self._ids(), "protocolVersion": PROTOCOL_VERSION}
        if self.echo is not None:
            asked = {"id": self.echo.message_id, "role": "user", "content": self.echo.text}
            frame["input"] = {**self._ids(), "messages": [asked]}
        if self._early is not None:
            frame["metadata"] = {"notice": _notice(self._early)["value"]}
        return frame

    def _ids(self) -> Frame:
        return {"threadId": self.thread_id, "runId": self.run_id}

    def _state_changed(self, state: turn_events.SharedState) -> Frame:
        before, self._document = self._document, state_document(state)
        first, self._state = self._state is None, state
        if first:
            return {"type": "STATE_SNAPSHOT", "snapshot": self._document}
        patch = jsonpatch.make_patch(before, self._document).patch
        return {"type": "STATE_DELTA", "delta": patch}

    def _finished(self, event: turn_events.RunFinished) -> Frame:
        outcome: Frame = {"type": event.outcome}
        if event.outcome == "interrupt" and self.interrupts:
            outcome["interrupts"] = [_interrupt(self._state, self.run_id)]
        elif event.outcome == "interrupt":
            outcome["type"] = "success"
        frame: Frame = {"type": "RUN_FINISHED", **self._ids(), "outcome": outcome}
        frame["result"] = {"timing": event.timing._asdict()}
        if event.is_repeatable:
            frame["metadata"] = {"isRepeatable": True}
        return frame


def refusals(code: str, text: str, *, ref: str, client_message_id: str | None) -> list[Frame]:
    """Return the frame for what never became a run: a bad frame, or a message that was refused."""
    metadata: Frame = {"seq": 1, "ref": ref}
    if client_message_id is not None:
        metadata["clientMessageId"] = client_message_id
    return [{"type": "RUN_ERROR", "code": code, "message": text, "metadata": metadata}]


def _notice(event: turn_events.Notice) -> Frame:
    text = inert(event.text, hosts=())
    value = {"kind": event.kind, "text": text, "details": event.details}
    return {"type": "CUSTOM", "name": "notice", "value": value}


def _interrupt(state: turn_events.SharedState | None, run_id: str) -> Frame:
    """Say what the run waits for; the prefix tells `routes.streams.ag_ui` what a resume answers."""
    if state is not None and state.question is not None:
        question = state.question
        reason, text = question.get("kind", "question"), question.get("text", "")
        asked = {"id": f"question:{question['id']}", "reason": reason, "message": text}
        return {**asked, "responseSchema": _ANSWER_SCHEMA}
    if state is not None and state.plan is not None and state.plan.status == "proposed":
        text = "Shall the plan be carried out?"
        asked = {"id": f"plan:{state.plan.plan_id}", "reason": "plan", "message": text}
        return {**asked, "responseSchema": _PLAN_SCHEMA}
    return {"id": f"input:{run_id}", "reason": "input", "responseSchema": _ANSWER_SCHEMA}


def not_read(run_id: str) -> Frame:
    """Return the frame that says that what a page sends besides the message is not read."""
    text = "Tools and context that this page sends are not read."
    value = {"kind": "not_read", "text": text, "details": {}}
    return {"type": "CUSTOM", "name": "notice", "value": value, "metadata": {"runId": run_id}}


def not_seen(run_id: str) -> list[Frame]:
    """Return the message that says that pictures and files are not looked at."""
    of = {"messageId": f"{run_id}-not-seen", "metadata": {"runId": run_id}}
    text = "I cannot see pictures or read files here; nothing of what I say is about them."
    return [
        {"type": "TEXT_MESSAGE_START", "role": "assistant", **of},
        {"type": "TEXT_MESSAGE_CONTENT", "delta": text, **of},
        {"type": "TEXT_MESSAGE_END", **of},
    ]


def _of_agent(event: turn_events.OfAgents) -> Frame:
    if isinstance(event, turn_events.ClaimsChecked):
        rows = [one.model_dump(mode="json", exclude={"text", "is_repair"}) for one in event.claims]
        value = {"message_id": event.message_id, "claims": rows}
        return {"type": "CUSTOM", "name": "claims", "value": value}
    if isinstance(event, turn_events.ViewShown):
        value = {"message_id": event.message_id, **view_document(event.view)}
        return {"type": "CUSTOM", "name": "view", "value": value}
    return _of_talk(event)


def _of_talk(event: turn_events.TalkEvent) -> Frame:
    match event:
        case turn_events.AgentMessageStarted(message_id=message_id, agent=agent):
            start = {"messageId": message_id, "role": "assistant", "name": agent}
            return {"type": "TEXT_MESSAGE_START", **start}
        case turn_events.AgentTextDelta(message_id=message_id, text=text):
            return {"type": "TEXT_MESSAGE_CONTENT", "messageId": message_id, "delta": text}
        case turn_events.AgentMessageFinished(message=message):
            return _message_end(message)
        case turn_events.ToolCallStarted(call_id=call_id, tool=tool, agent=agent):
            start = {"toolCallId": call_id, "toolCallName": tool}
            return {"type": "TOOL_CALL_START", **start, "metadata": {"agent": agent}}
        case turn_events.ToolCallArguments(call_id=call_id, arguments=arguments):
            return {"type": "TOOL_CALL_ARGS", "toolCallId": call_id, "delta": arguments}
        case turn_events.ToolCallEnded(call_id=call_id):
            return {"type": "TOOL_CALL_END", "toolCallId": call_id}
        case turn_events.ToolCallResult():
            return _tool_result(event)
        case _:
            assert_never(event)


def _message_end(message: AgentMessage) -> Frame:
    metadata: Frame = {"timestamp": message.timestamp.isoformat(), "agent": message.agent}
    if message.made_by:
        metadata["madeBy"] = message.made_by
    if message.citations:
        metadata["citations"] = [one.model_dump(mode="json") for one in message.citations]
    if message.statements:
        # Without the words that were held back: nobody is to read them.
        rows = [one.model_dump(mode="json", exclude={"text"}) for one in message.statements]
        metadata["statements"] = rows
    return {"type": "TEXT_MESSAGE_END", "messageId": message.message_id, "metadata": metadata}


def _tool_result(event: turn_events.ToolCallResult) -> Frame:
    call = {"messageId": f"{event.call_id}-result", "toolCallId": event.call_id, "role": "tool"}
    metadata = {"isError": event.is_error, "durationMs": event.duration_ms}
    return {"type": "TOOL_CALL_RESULT", **call, "content": event.content, "metadata": metadata}


DONE: Frame = {"type": "done"}


@dataclass(slots=True, kw_only=True)
class PlainFrames:
    """Renders one run. Most events have no frame; the last one has two where it failed."""

    facilitator: str
    client_message_id: str | None
    clock: Clock
    _state: turn_events.SharedState | None = field(default=None, init=False)
    _views: list[ChartView] = field(default_factory=list, init=False)

    def frames(
        self, seq: int, event: turn_events.TurnEvent, *, is_known: bool = False
    ) -> list[Frame]:
        """Return what the client is sent for `event`, the run's `seq`-th, unless it was told."""
        if is_known:
            return []
        match event:
            case turn_events.StateChanged(state=state):
                self._state = state
                return []
            case turn_events.ViewShown(view=view):
                self._views.append(view)
                return []
            case turn_events.AgentMessageFinished(message=message):
                return [self._message(message)]
            case turn_events.Notice(text=text, kind=kind):
                harmless = inert(text, hosts=())
                at = self.clock.now()
                frame = self._frame(f"notice-{seq}", harmless, self.facilitator, at)
                return [{**frame, "notice": kind}]
            case turn_events.RunFailed(code=code, text=text, ref=ref):
                known = self.client_message_id
                return refusal(code, text, ref=ref, client_message_id=known)
            case turn_events.RunFinished():
                return [DONE]
            case _:
                return []

    def queued(self, notice: turn_events.Notice) -> Frame:
        """Return the frame that says, amid another run's, that this one waits."""
        return self.frames(1, notice)[0]

    def _message(self, message: AgentMessage) -> Frame:
        views, self._views = self._views, []
        tables = [pipe_table(view) for view in views if not repeats(message.text, view)]
        footer = footer_of(self._state) if self._state else ""
        parts = (message.text.rstrip(), *tables, not_supported(message), footer)
        text = "\n\n".join(part for part in parts if part)
        return self._frame(message.message_id, text, message.agent, message.timestamp)

    def _frame(self, frame_id: str, text: str, sender: str, at: datetime) -> Frame:
        return {
            "id": frame_id,
            "content": text,
            "sender": sender,
            "timestamp": at.isoformat(),
            "isBot": True,
            "mentions": None,
            "client_message_id": self.client_message_id,
        }


def refusal(code: str, text: str, *, ref: str, client_message_id: str | None) -> list[Frame]:
    """Return the frames for what was refused or failed; `ref` finds it in the log."""
    known: Frame = {} if client_message_id is None else {"client_message_id": client_message_id}
    return [{"error": text, "code": code, "ref": ref, **known}, DONE]


@dataclass(frozen=True, slots=True)
class Watch:
    """A run that a socket shows.

    Attributes:
        client_message_id: The client's own id of what it asked.
        after: Place of the last event that the client already has.
        echo: Say also what was asked, to a watcher who may not have asked it.
    """

    run: Run
    client_message_id: str | None = None
    after: int = 0
    echo: bool = False


RunView: TypeAlias = AgUiFrames | PlainFrames
