# ruff: noqa: E501 - the pieces read as lists
"""Nothing that is shown loads, runs or leads away, by the judgement of a CommonMark parser."""

import os
from datetime import UTC, datetime
from urllib.parse import urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from data_models.chart_view import ChartView, ViewRow
from data_models.chat_context import AgentMessage, Turn
from data_models.conversations.turn_events import AgentMessageFinished, AgentTextDelta, Notice
from group_chat.drafts.draft import Draft, OutputMeter
from group_chat.turn_context import TurnContext
from routes.export import History, as_markdown
from routes.streams.ag_ui_frames import AgUiFrames, PlainFrames
from services.language.model_output.inert import InertStream, inert
from services.statements.shown import pipe_table
from tests.fakes import FixedClock
from tests.tables import with_cases

HOSTS = frozenset({"pubmed.ncbi.nlm.nih.gov"})
EXAMPLES = int(os.environ.get("ROUNDS_FILTER_EXAMPLES", "2000"))
"""The nightly run sets 100000."""
_PIECES = (
    "<script>", "</script>", "<img src=x onerror=y>", "<", ">", "<a href='x'>", "<!--", "-->", "<?x?>",
    "![x](", "[x](", "[x]", "[x][y]", "[y]: ", "](", ")", "(", "!", "[", "]", "\\", "`", "```\n", "~~~\n",
    "http://", "https://evil.example/p?d=1", "https://pubmed.ncbi.nlm.nih.gov/1", "//evil.example",
    "javascript:", "JaVaScRiPt :", "data:text/html,x", "vbscript:", "file:///etc/passwd", "www.evil.example",
    "&lt;", "&#60;", "&#x3c;", "&colon;", "&#106;avascript:", "<https://evil.example>", "<a@b.example>",
    "<details open ontoggle=x>", "<![CDATA[", "]]>", "<svg/onload=x>", "<\n", "<\tb>", "\u200b", "\u202e",
    "PSA", " ", "\n", "\n\n", "    ", "> ", "- ", "1. ", "| a | b |\n|---|---|\n", "# ", "**", "_", "'", '"',
    "ä", "日本", "[Observation/x-1]",
)  # fmt: skip
TEXTS = st.one_of(
    st.lists(st.sampled_from(_PIECES), max_size=14).map("".join),
    st.text(alphabet="<>![]()/:. ahtpsjvcrxw@\\\n`'\"&;#", max_size=80),
)
NOW = datetime(2030, 1, 2, tzinfo=UTC)


_PARSER = MarkdownIt("commonmark")


def is_dead(text: str, *, hosts: frozenset[str] = HOSTS) -> bool:
    """Judge by a parser that reads everything, whatever the filter thinks worth a look."""
    waiting = list(_PARSER.parse(text))
    while waiting:
        token = waiting.pop()
        waiting += token.children or []
        if token.type in ("html_block", "html_inline", "image") or _leads_away(token, hosts):
            return False
    return "<script" not in text.lower() and "![" not in text


def _leads_away(token: Token, hosts: frozenset[str]) -> bool:
    if token.type != "link_open":
        return False
    parts = urlsplit(str(token.attrGet("href") or ""))
    return parts.scheme != "https" or parts.hostname not in hosts


@pytest.mark.slow
@settings(max_examples=EXAMPLES, deadline=None)
@given(TEXTS)
def test_whatever_is_said_nothing_of_it_is_alive_and_twice_is_once(text: str) -> None:
    found = inert(text, hosts=HOSTS)
    assert is_dead(found)
    assert inert(found, hosts=HOSTS) == found


@pytest.mark.slow
@settings(max_examples=EXAMPLES, deadline=None)
@given(TEXTS, st.lists(st.integers(1, 12), min_size=1, max_size=10))
def test_however_a_message_is_cut_it_is_dead_and_the_same(text: str, cuts: list[int]) -> None:
    whole, piecewise = InertStream(hosts=HOSTS), InertStream(hosts=HOSTS)
    expected = whole.feed(text) + whole.finish()
    found, rest = "", text
    for cut in cuts * (len(text) // max(sum(cuts), 1) + 1):
        found, rest = found + piecewise.feed(rest[:cut]), rest[cut:]
    found += piecewise.feed(rest) + piecewise.finish()
    assert is_dead(found)
    assert found == expected


def message(text: str) -> AgentMessage:
    return AgentMessage(message_id="m", agent="Radiology", text=text, timestamp=NOW)


@pytest.mark.slow
@settings(max_examples=EXAMPLES // 4, deadline=None)
@given(TEXTS)
def test_on_no_surface_is_anything_alive(text: str) -> None:
    events: list[object] = []
    turn = TurnContext(None, events.append, link_hosts=HOSTS)  # type: ignore[arg-type]
    draft = Draft(
        turn=turn, agent="Radiology", message_id="m", meter=OutputMeter(limit_bytes=9_999)
    )
    for place in range(0, len(text), 5):
        draft.write(text[place : place + 5])
    said = draft.finish(now=NOW)
    shown = "".join(one.text for one in events if isinstance(one, AgentTextDelta))
    assert is_dead(shown)
    if said is not None:
        assert is_dead(said.text), "as it is stored"
        plain = PlainFrames(facilitator="O", client_message_id=None, clock=FixedClock())
        for frame in plain.frames(1, AgentMessageFinished(said)):
            assert is_dead(frame["content"])
    for frame in PlainFrames(facilitator="O", client_message_id=None, clock=FixedClock()).frames(
        1, Notice("progress", text)
    ):
        assert is_dead(frame["content"])
    streamed = AgUiFrames(thread_id="t", run_id="r").frame(1, Notice("progress", text))
    assert is_dead(streamed["value"]["text"])
    turn_said = Turn(
        turn_id=1, timestamp=NOW, user_message=text, run_id="r", user="u",
        agent_responses=[message(text)],
    )  # fmt: skip
    assert is_dead(as_markdown(History([turn_said], patient_id="patient_4"), HOSTS))
    view = ChartView(
        view_id="v", tool="t", kind="table", title=text or "t", rows=(ViewRow(name=text or "n"),)
    )
    assert is_dead(pipe_table(view))


@with_cases("text")
def test_what_clinicians_write_stays_as_it_is(text: str) -> None:
    assert inert(text, hosts=HOSTS) == text
