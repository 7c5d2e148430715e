"""Logs: useful to operators, silent about patients."""

import asyncio
import gc
import io
import json
import logging
import warnings
from collections.abc import Iterator
from typing import Any

import pytest
import structlog
from hypothesis import given
from hypothesis import strategies as st

from data_models.errors import RecordsUnavailableError
from data_models.identifiers import hashed
from services.telemetry.logs import TALKATIVE, WITHHELD, configure_logs, redacted
from tests.logged import everything_logged

CANARY = "Zebra Müller KRAS-G12C"


class Log:
    """What standard error would show."""

    def __init__(self, stream: io.StringIO) -> None:
        self.stream = stream

    @property
    def text(self) -> str:
        return self.stream.getvalue()

    @property
    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.text.splitlines()]


@pytest.fixture
def log() -> Iterator[Log]:
    with everything_logged() as stream:
        yield Log(stream)


def fail() -> None:
    try:
        int(CANARY)
    except ValueError as error:
        raise RecordsUnavailableError(CANARY) from error


def test_a_line_has_time_level_event_and_figures(log: Log) -> None:
    structlog.get_logger().info("turn_finished", run_id="run_1", total_ms=12.5, outcome="success")
    (line,) = log.lines
    assert line.pop("timestamp").endswith("Z")
    assert line == {
        "event": "turn_finished",
        "level": "info",
        "run_id": "run_1",
        "total_ms": 12.5,
        "outcome": "success",
    }


def test_ids_of_people_and_conversations_are_hashed_once(log: Log) -> None:
    name = hashed("conv 1")
    structlog.get_logger().info("a", conversation=name, user="ada@example", patient_id="patient_4")
    (line,) = log.lines
    assert line["conversation"] == name
    assert (line["user"], line["patient_id"]) == (hashed("ada@example"), hashed("patient_4"))


def test_nothing_said_reaches_the_log_whatever_the_key(log: Log) -> None:
    logger = structlog.get_logger()
    for key in ("content", "text", "prompt", "error", "reason", "where", "patient", "anything"):
        for value in (CANARY, [CANARY], {"a": CANARY}, OSError(CANARY), CANARY.encode()):
            logger.error("event", **{key: value})
    logger.warning(CANARY)
    structlog.contextvars.bind_contextvars(message=CANARY, where=CANARY)
    logger.info("bound")
    assert len(log.lines) == 42
    assert not any(word in log.text for word in CANARY.split())


def test_one_word_is_withheld_too_where_it_could_be_anybodys(log: Log) -> None:
    structlog.get_logger().info("event", name="Zebra", text="Zebra", items=["Zebra"])
    structlog.get_logger().info("Zebra")
    assert [line["event"] for line in log.lines] == ["event", WITHHELD]
    assert "Zebra" not in log.text


def test_an_address_is_shown_without_what_it_leads_to(log: Log) -> None:
    structlog.get_logger().info("listening", url="http://127.0.0.1:3978")
    structlog.get_logger().info("called", url="https://fhir.example/r4/Patient/4")
    structlog.get_logger().info("called", url="https://ada:key@fhir.example")
    assert [line["url"] for line in log.lines] == ["http://127.0.0.1:3978", WITHHELD, WITHHELD]


def test_an_exception_is_logged_by_type_and_place_only(log: Log) -> None:
    try:
        fail()
    except RecordsUnavailableError:
        structlog.get_logger().exception("broke")
    (line,) = log.lines
    assert (line["error"], line["cause"]) == ("RecordsUnavailableError", "ValueError")
    assert [place.split(":")[0] for place in line["where"]] == [
        "test_an_exception_is_logged_by_type_and_place_only",
        "fail",
    ]
    assert "Zebra" not in log.text


@pytest.mark.parametrize("name", [*TALKATIVE, "openai._base_client", "unknown.library", "root"])
def test_libraries_say_where_but_never_what(log: Log, name: str) -> None:
    library = logging.getLogger(name)
    library.debug("completion %s", CANARY)
    library.info("completion %s", CANARY)
    assert log.text == ""
    library.warning("completion %s", CANARY)
    library.error(f"completion {CANARY}", extra={"answer": CANARY})
    try:
        fail()
    except RecordsUnavailableError:
        library.exception(CANARY)
    library.warning("malformed %d", CANARY)
    assert [line["level"] for line in log.lines] == ["warning", "error", "error", "warning"]
    assert {line["event"] for line in log.lines} == {"library.message"}
    assert log.lines[0]["where"].startswith("test_logs:")
    assert not any(word in log.text for word in CANARY.split())


@pytest.mark.slow
async def test_a_task_that_nobody_awaited_is_logged_without_its_text(log: Log) -> None:
    async def broken() -> None:
        raise ValueError(CANARY)

    task = asyncio.create_task(broken())
    await asyncio.sleep(0)
    del task
    gc.collect()
    (line,) = log.lines
    assert (line["library"], line["error"]) == ("asyncio", "ValueError")
    assert "Zebra" not in log.text


def test_warnings_of_libraries_are_logged_without_their_text(log: Log) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        logging.captureWarnings(capture=False)
        logging.captureWarnings(capture=True)
        warnings.warn(CANARY, stacklevel=1)
    assert [line["library"] for line in log.lines] == ["py.warnings"]
    assert "Zebra" not in log.text


def test_the_level_holds_for_our_lines(log: Log) -> None:
    configure_logs(log_format="json", level="WARNING", stream=log.stream)
    structlog.get_logger().info("quiet")
    structlog.get_logger().warning("loud")
    assert [line["event"] for line in log.lines] == ["loud"]


def test_the_console_form_is_as_silent(log: Log) -> None:
    configure_logs(log_format="console", level="INFO", stream=log.stream)
    try:
        fail()
    except RecordsUnavailableError:
        structlog.get_logger().exception("broke", text=CANARY)
    assert "broke" in log.text
    assert "RecordsUnavailableError" in log.text
    assert "Zebra" not in log.text


def test_configuring_twice_logs_once(log: Log) -> None:
    configure_logs(log_format="json", level="INFO", stream=log.stream)
    logging.getLogger("x").warning("once")
    assert len(log.lines) == 1


@given(st.text(min_size=1, max_size=40), st.text(max_size=300) | st.lists(st.text(max_size=30)))
@pytest.mark.slow
def test_what_passes_is_a_word_a_number_or_a_hash(key: str, value: object) -> None:
    # What names an exception is left out, its place comes instead.
    passed = redacted({"event": "e", key: value}).get(key, [])
    for text in passed if isinstance(passed, list) else [passed]:
        assert text == WITHHELD or " " not in text
