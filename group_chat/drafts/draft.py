"""An agent's message while it is being written."""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from data_models.chart_view import in_written_order
from data_models.chat_context import AgentMessage, CheckedStatement, MessageView
from data_models.conversations import turn_events
from group_chat.drafts.checked_output import CheckedOutput, CheckedPiece
from group_chat.drafts.citations import changes_told, citations_in, disputes_told
from group_chat.turn_context import TurnContext
from services.language.model_output.inert import InertStream, inert
from services.language.sentences.statement_parts import without_refs
from services.language.utterance import ChartQuestion
from services.language.words.own_texts import in_own_language
from services.patient_context.reading.line_filter import LineFilter
from services.records.answers.whole_chart import in_own_words


class OutputMeter:
    """Counts what all agents of one turn wrote, in UTF-8 bytes."""

    def __init__(self, *, limit_bytes: int) -> None:
        self._left_bytes = limit_bytes

    @property
    def is_empty(self) -> bool:
        """Whether nothing more may be written."""
        return self._left_bytes <= 0

    def take(self, text: str) -> str:
        """Return as much of `text` as may still be written, whole characters."""
        raw = text.encode()
        if len(raw) <= self._left_bytes:
            self._left_bytes -= len(raw)
            return text
        cut = raw[: self._left_bytes].decode(errors="ignore")
        self._left_bytes = 0
        return cut


class Draft:
    """Filters and sends one message piece by piece; `AgentMessage.text` is the sum of what it sent.

    The message begins with its first visible text, so a failure before it leaves nothing behind.

    Args:
        step: The plan's id and the number of the step that the message carries out.
    """

    def __init__(
        self,
        *,
        turn: TurnContext,
        agent: str,
        message_id: str,
        meter: OutputMeter,
        step: tuple[str, int] | None = None,
    ) -> None:
        self.agent = agent
        self._step = step
        self._turn = turn
        self._message_id = message_id
        self._meter = meter
        self._filter = LineFilter()
        self._inert = InertStream(hosts=turn.link_hosts)
        self._output = CheckedOutput(turn=turn, agent=agent)
        self._sent: list[str] = []
        self._length = 0
        self._first_run = len(turn.ran)
        self._statements: list[CheckedStatement] = []
        self._withheld: list[CheckedPiece] = []
        self._before_looking: list[CheckedPiece] | None = None
        self._unlooked: list[CheckedPiece] = []
        self._may_wait = True
        self._said_before: str | None = None
        self._tools_at_last_text = 0
        self._has_written = False
        self._is_models = False
        self.is_by_rules = False
        """Whether what is written is no model's, though there is one."""

    @property
    def text(self) -> str:
        """What was sent so far."""
        return "".join(self._sent)

    @property
    def is_blank(self) -> bool:
        """Whether nothing visible was sent."""
        return not any(piece.strip() for piece in self._sent)

    def write(self, text: str, *, calls: int | None = None) -> str:
        """Send `text` as far as the filter and the cap let it through; return that.

        Args:
            calls: How many tools had been called when it was said, where that is over.
        """
        if not text:
            return ""
        # A model may write half a character; nothing that stores or sends text takes it.
        text = in_written_order(text.encode(errors="replace").decode())
        tools = self._turn.calls_of_message if calls is None else calls
        if tools != self._tools_at_last_text and self._has_written:
            # What a model says before and after a tool call are two paragraphs.
            text = f"\n\n{text.lstrip()}"
        self._tools_at_last_text = tools
        self._has_written = self._has_written or bool(text.strip())
        return self._show(self._output.feed(self._inert.feed(self._filter.feed(text))))

    def tell(self, text: str) -> str:
        """Send the server's own text, unchecked, in the user's language; return what was sent."""
        return self.settle() + self._send(inert(self._own(text), hosts=self._turn.link_hosts))

    def repeat(self, rows: str) -> str:
        """Send what code repeats of the record; only what names another patient is checked."""
        return self.write(rows) if self._output.names_another(rows) else self.tell(rows)

    def _own(self, text: str) -> str:
        read = self._turn.request.utterance
        return text if read is None else in_own_language(text, read.language)

    def settle(self, *, may_wait: bool = False) -> str:
        """Send what was held because it might have gone on; return that.

        Args:
            may_wait: Whether sentences may wait for rows; whoever calls goes on by `waits_for`.
        """
        last = self._inert.feed(self._filter.finish()) + self._inert.finish()
        fed = self._output.feed(last)
        return self._show([*fed, *self._output.finish(may_wait=may_wait)])

    @property
    def waits_for(self) -> Sequence[ChartQuestion]:
        """What has to be looked up before the next sentence is shown."""
        return self._output.waits_for

    def resume(self) -> str:
        """Send what waited for rows that are looked up now; return that."""
        return self._show(self._output.resume())

    def leave_open_sentence(self) -> None:
        """Leave out a sentence that has no end: whoever speaks broke off."""
        self._filter = LineFilter()
        self._inert = InertStream(hosts=self._turn.link_hosts)
        self._output.leave_open_sentence()

    @property
    def withheld(self) -> Sequence[CheckedPiece]:
        """Sentences that the record contradicts, in order; nobody has seen them."""
        return tuple(self._withheld)

    @property
    def must_look(self) -> bool:
        """Whether it speaks of the record and nobody has looked: its tools come first."""
        return self._before_looking is not None

    def look_again(self) -> None:
        """Put by what was said without looking; what follows is shown, looked up or not."""
        self._unlooked, self._before_looking = self._before_looking or [], None
        self._may_wait = False

    def repair(self, text: str) -> str:
        """Add sentences that stand for those withheld; return what was sent.

        One that is withheld again, or that nothing stands for, stays on the list.
        """
        before, self._withheld = self._withheld, []
        known, gap = len(self._statements), "" if self.is_blank else "\n\n"
        self._said_before = self.text
        sent = self.write(f"{gap}{text.strip()}") + self.settle()
        self._said_before = None
        said = {ref for one in self._statements[known:] for ref in one.sources}
        missed = [one for one in before if said.isdisjoint(one.verdict.sources)]
        self._withheld = missed or self._withheld
        return sent

    @property
    def has_support(self) -> bool | None:
        """Whether the record supports a sentence of it; None where none is of the record."""
        states = {one.state for one in self._statements}
        return "supported" in states if states else None

    @property
    def ends_with_call(self) -> bool:
        """Whether nothing was written since the last tool call."""
        return self._turn.calls_of_message != self._tools_at_last_text

    @property
    def is_left_out(self) -> bool:
        """Whether something was written, and none of it may be shown."""
        lines = (one for one in self.text.splitlines() if not one.lstrip().startswith("```"))
        return bool(self._withheld) and not any(map(str.isalnum, "".join(lines)))

    @property
    def what_is_left(self) -> str:
        """What is said where nothing of a message may be shown; "" where something is."""
        if not self.is_left_out:
            return ""
        verdicts = [one.verdict for one in self._withheld]
        of_record = any(one.sources or one.is_withheld_whole for one in verdicts)
        return self._turn.text("nothing_left" if of_record else "nothing_done")

    def finish(self, *, now: datetime, is_whole: bool = True) -> AgentMessage | None:
        """End the message and return it, or None if it never began.

        Args:
            is_whole: Whether its last sentence ended; else that is left out.
        """
        if is_whole:
            self.settle()
            waited, self._before_looking, self._may_wait = self._before_looking or [], None, False
            self._show(waited)
            if self.is_blank and not self._withheld:
                self._show(self._unlooked)
        if self.is_left_out:
            self._send(f"\n\n{self.what_is_left}")
        self._tell_changes()
        if not (text := self.text):
            return None
        views = self._output.shown_views(text)
        message = AgentMessage(
            message_id=self._message_id,
            agent=self.agent,
            text=text,
            timestamp=now,
            citations=citations_in(text, self._turn.sources),
            plan_id=self._step[0] if self._step is not None else None,
            plan_step=self._step[1] if self._step is not None else None,
            made_by=self._maker,
            statements=[*self._statements, *self._left_out()],
            views=[MessageView(view_id=one.view_id, rows=len(one.rows)) for one in views],
        )
        if message.statements:
            self._turn.emit(turn_events.ClaimsChecked(self._message_id, tuple(message.statements)))
        for view in views:
            read = self._turn.request.utterance
            shown = in_own_words(view, "en" if read is None else read.language)
            self._turn.emit(turn_events.ViewShown(self._message_id, shown))
        self._turn.emit(turn_events.AgentMessageFinished(message))
        return message

    def _tell_changes(self) -> None:
        """Say what tools of this message changed, and where sources differ on what is told."""
        if not self._output.withholds:
            return
        runs = self._turn.ran[self._first_run :]
        for one in (changes_told(self._turn, runs), disputes_told(self._turn, self.text)):
            self._send(inert(f"\n\n{one}" if one else "", hosts=self._turn.link_hosts))

    def by_rules(self, text: str, *, now: datetime) -> AgentMessage | None:
        """Say `text`, which no model wrote, where nothing was said, and end the message."""
        self.is_by_rules = True
        self.write(text)
        return self.finish(now=now)

    @property
    def _maker(self) -> Literal["model", "rules"] | None:
        """Who wrote it: a model, if a word of it is shown, whatever rows stand behind it."""
        if (checking := self._turn.checking) is None:
            return None
        return "model" if checking.is_language_model and self._is_models else "rules"

    def _show(self, pieces: Sequence[CheckedPiece]) -> str:
        return "".join(self._show_one(piece) for piece in pieces)

    def _show_one(self, piece: CheckedPiece) -> str:
        if self._before_looking is not None or self._speaks_blindly(piece):
            self._before_looking = [*(self._before_looking or []), piece]
            return ""
        # Rows that code repeats are the record's own, whatever other rows say.
        is_row = self.is_by_rules and not piece.verdict.is_withheld_whole
        if piece.verdict.state == "contradicted" and self._output.withholds and not is_row:
            self._withheld.append(piece)
            return ""
        text = without_refs(piece.text, self._output.unknown_refs(piece.text))
        again, is_long = self._said_before, text.strip().count(" ") > 3
        if again is None and is_long and self._turn.calls_of_message and not self.is_by_rules:
            again = self.text  # a model says the same beside each call that it writes
        if again is not None and text.strip() in again:
            return ""  # a model that is asked to correct a sentence says all of them again
        start, shown = self._length, self._send(text)
        self._is_models = self._is_models or (bool(shown.strip()) and not self.is_by_rules)
        is_own = self.is_by_rules and piece.verdict.state != "supported"  # no model's words
        if self._output.marks(piece.verdict) and shown.strip() and not is_own:
            self._note(piece, shown, start)
        return shown

    def _note(self, piece: CheckedPiece, shown: str, start: int) -> None:
        start += len(shown) - len(shown.lstrip())
        self._statements.append(
            CheckedStatement(
                start=start,
                end=start + len(shown.strip()),
                state="supported" if piece.verdict.state == "supported" else "unsupported",
                sources=piece.verdict.sources,
                is_repair=self._said_before is not None,
            )
        )

    def _speaks_blindly(self, piece: CheckedPiece) -> bool:
        """Whether a sentence states what no row says, and whoever says it has not looked yet."""
        if not self._may_wait or not self._output.reads_records or self._output.has_looked:
            return False
        # Where nobody is open there is no record to look into.
        has_record = self._turn.request.patient_id is not None
        return has_record and piece.verdict.state in ("unsupported", "contradicted")

    def _left_out(self) -> list[CheckedStatement]:
        return [
            CheckedStatement(
                start=self._length,
                end=self._length,
                state="contradicted",
                sources=one.verdict.sources,
                record_says=self._own(one.verdict.record_says),
                text="" if one.verdict.is_withheld_whole else one.text.strip(),
            )
            for one in self._withheld
        ]

    def _send(self, text: str) -> str:
        if not self._sent:
            text = text.lstrip()
        text = self._meter.take(text) if text else ""
        if not text:
            return ""
        if not self._sent:
            self._turn.emit(turn_events.AgentMessageStarted(self._message_id, self.agent))
        self._sent.append(text)
        self._length += len(text)
        self._turn.emit(turn_events.AgentTextDelta(self._message_id, text))
        return text
