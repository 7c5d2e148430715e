"""Texts for a channel: cut to its size, and inert."""

import json
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bots.connector import split_text, wire_size
from bots.incoming import MessageReader
from bots.reference import parse_activity
from services.language.model_output.inert import inert
from tests.tables import tables_beside, with_cases
from tests.work import counted_calls

HOSTS = frozenset({"pubmed.ncbi.nlm.nih.gov"})
HARMLESS: list[str] = tables_beside(Path(__file__))["harmless"]


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=2_000), st.integers(50, 400))
@pytest.mark.slow
def test_every_part_fits_and_nothing_is_lost(text: str, limit_bytes: int) -> None:
    parts = split_text(text, limit_bytes=limit_bytes)
    assert all(wire_size(part) <= limit_bytes for part in parts)
    assert "".join("".join(parts).split()) == "".join(text.split())


@pytest.mark.slow
@given(st.text(max_size=60))
def test_a_text_that_fits_stays_as_it_is(text: str) -> None:
    assert split_text(text, limit_bytes=2_000) == ([text] if text else [])


def test_a_text_is_cut_where_a_reader_would_pause() -> None:
    text = "First paragraph here.\n\nSecond one follows. It ends."
    assert split_text(text, limit_bytes=90) == [
        "First paragraph here.",
        "Second one follows. It ends.",
    ]


@pytest.mark.parametrize("text", HARMLESS)
def test_harmless_text_stays_as_it_is(text: str) -> None:
    assert inert(text, hosts=HOSTS) == text


@with_cases("text", "harm")
def test_harmful_text_is_disarmed(text: str, harm: str) -> None:
    assert harm not in inert(text, hosts=HOSTS)


@given(st.text(alphabet="<>![]()/:. ahtpsjvcrxw@\\\n", max_size=120))
def test_nothing_that_could_lead_away_is_left(text: str) -> None:
    found = inert(text, hosts=())
    assert "](" not in found
    assert "![" not in found
    assert re.search(r"[A-Za-z]://", found) is None, "without a scheme it is no address"
    assert not any(f"<{letter}" in found for letter in "ahtpsjvcrxw/!?")


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece",
    ["](", "](a", "](<", "[](", "![", "<", "<a", "www.", "data ", "a:", "a://", " ", "\n", "ß."],
)
def test_eighty_kilobytes_of_anything_take_as_much_work_as_they_are_long(piece: str) -> None:
    def calls(size: int) -> int:
        text = "](" + piece * (size // len(piece)) + "x" * (size // 2)
        with counted_calls() as made:
            split_text(inert(text, hosts=HOSTS))
        return made.count

    calls(10_000)  # what measures coverage calls from each line that did not run before
    # Eight times as long takes eight times the work; squared, 64 times.
    assert calls(80_000) < 24 * calls(10_000)


@pytest.mark.parametrize("piece", ["<at>", "<at ", "<at>x", "<AT></at"])
def test_mentions_that_never_end_are_read_in_one_pass(piece: str) -> None:
    body = {"type": "message", "id": "a", "channelId": "x", "conversation": {"id": "c"},
            "from": {"id": "u"}, "text": piece * (250_000 // len(piece))}  # fmt: skip
    reader = MessageReader(agents=["Radiology"], own="Orchestrator", addressed_agent=None)
    with counted_calls() as made:
        reader.read(parse_activity(json.dumps(body).encode()), now=datetime(2030, 1, 1, tzinfo=UTC))
    assert made.count < 500_000, "two a character"
