"""The bench: what counts as missed, what fails the run, and how answers are counted."""

import orjson
import pytest

from bench.figures import Figure, Kind, exit_code, info, p50, p95, table
from bench.model import Asked, BenchModel, Orders, prompt_chars
from tests.fakes_openai import RecordedRequest
from tests.tables import with_cases


def figure(measured: float, *, bar: float | None, at_least: bool = False) -> Figure:
    return Figure("local", "a figure", measured, "ms", bar=bar, at_least=at_least)


@with_cases("measured", "bar", "at_least", "verdict")
def test_a_figure_is_held_against_its_bar(
    measured: float, bar: float | None, at_least: bool, verdict: str
) -> None:
    found = figure(measured, bar=bar, at_least=at_least)
    assert found.verdict == verdict
    assert found.as_json()["ok"] is (verdict != "MISSED")
    assert table([found]).rstrip().endswith(verdict)


@pytest.mark.parametrize(
    ("measured", "kind", "code"), [(2.0, "count", 1), (2.0, "time", 0), (1.0, "count", 0)]
)
def test_only_a_missed_bar_that_no_machine_excuses_fails_the_run(
    measured: float, kind: Kind, code: int
) -> None:
    missed = Figure("local", "a figure", measured, "x", bar=1.2, kind=kind)
    assert exit_code([info("local", "another", 5.0, "ms"), missed]) == code


def test_the_95th_percentile_is_a_measured_value_that_few_exceed() -> None:
    values = [float(number) for number in range(100, 0, -1)]
    assert (p95(values), p50(values)) == (95.0, 50.5)
    assert p95([7.0]) == 7.0


def test_prompts_are_counted_in_characters_of_all_messages() -> None:
    messages = [{"content": "ä" * 3}, {"content": None}, {"content": "four"}]
    assert prompt_chars({"messages": messages}) == 7


def test_new_orders_end_the_count_of_what_was_asked() -> None:
    model = BenchModel()
    body = orjson.dumps({"messages": [{"role": "user", "content": "hello"}]})
    request = RecordedRequest(path="/v1/chat/completions", head=b"", raw=body)
    model.obey(orjson.dumps({"chars": 8, "endings": ["?"]}))

    texts = [model.server.brain(request).text for _ in range(2)]
    asked = model.obey(b"{}")

    assert texts == ["The reco?", "The reco"]
    assert (asked.calls, asked.prompt_chars, asked.body_bytes) == (2, 10, 2 * len(body))
    assert (model.asked, model.orders) == (Asked(), Orders())
