"""The arithmetic of growing: what is computed by hand here must come out."""

from dataclasses import replace

import orjson
import pytest

from bench import scale

MEASURED = scale.Measured(
    cpu_ms=20.0,
    storage_operations=4.0,
    bytes_written=20_000.0,
    model_calls=1.0,
    prompt_chars=8_000.0,
    idle_mb=200.0,
)
# 100 turns a second at the busiest hour.
DEMAND = scale.Demand("by hand", turns_per_day=2_160_000, concurrent=10_000)
LIMITS, PRICES = scale.Limits(), scale.Prices()


def row(name: str, measured: float) -> dict[str, object]:
    return {"place": "azurite", "name": name, "measured": measured}


def test_the_figures_are_taken_by_their_names() -> None:
    rows = [
        row("8 at once: CPU of the server", 20.0),
        row("100 earlier messages: storage operations p50", 4.0),
        row("100 earlier messages: bytes written p50", 20_000.0),
        row("follow-up: model calls", 1.0),
        row("100 earlier messages: prompt characters", 8_000.0),
        row("RSS idle", 200.0),
        {"place": "local", "name": "RSS idle", "measured": 1.0},
    ]
    assert scale.Measured.of({"figures": rows}, "azurite") == MEASURED
    with pytest.raises(scale.MissingFigureError, match="RSS idle"):
        scale.Measured.of({"figures": rows[:5]}, "azurite")


def test_the_busiest_hour_is_the_mean_times_the_factor() -> None:
    assert DEMAND.turns_per_second == pytest.approx(100.0)


def test_needs_are_what_all_turns_take_together() -> None:
    found = scale.plan(MEASURED, DEMAND, LIMITS, PRICES)
    amounts = {need.name: need.amount for need in found.needs}
    queue = 100 * 0.5 * 2 + found.replicas / 2
    assert amounts["queue messages"] == pytest.approx(queue)
    assert amounts["storage requests"] == pytest.approx(400 + queue)
    assert amounts["storage traffic"] == pytest.approx(2_000_000)
    assert amounts["model tokens"] == pytest.approx(100 * 60 * (2_000 + 300))


def test_the_fullest_is_the_bottleneck() -> None:
    assert scale.plan(MEASURED, DEMAND, LIMITS, PRICES).bottleneck.name == "model tokens"
    slow = replace(LIMITS, storage_requests=100.0)
    found = scale.plan(MEASURED, DEMAND, slow, PRICES)
    assert found.bottleneck.name == "storage requests"
    assert found.bottleneck.units == 6


def test_replicas_follow_what_is_scarce() -> None:
    # 100 turns of 20 ms are two cores, at 60 % four; sockets need five of 2,000.
    assert scale.replicas_for(MEASURED, DEMAND, LIMITS) == 5
    assert scale.replicas_for(MEASURED, replace(DEMAND, concurrent=10), LIMITS) == 4
    assert (
        scale.replicas_for(MEASURED, replace(DEMAND, concurrent=10, turns_per_day=10), LIMITS) == 3
    )
    heavy = replace(LIMITS, kb_per_socket=1_000.0)
    # 1.2 GiB for use, less 200 MB, in sockets of 1 MB.
    assert scale.replicas_for(MEASURED, DEMAND, heavy) == 10


def test_money_is_turns_times_price() -> None:
    dollars = scale.plan(MEASURED, DEMAND, LIMITS, PRICES).dollars
    turns = 2_160_000 * 30
    prompt = turns * 2_000 / 1e6 * (0.3 * 0.55 + 0.7 * 2.20)
    assert dollars["models"] == pytest.approx(prompt + turns * 300 / 1e6 * 8.80)
    assert dollars["storage requests"] == pytest.approx(turns * 4 / 1e4 * 0.0625)
    assert dollars["stored, after a year"] == pytest.approx(turns * 12 * 4 / 1e6 * 0.023)


def test_twice_the_turns_cost_twice_the_models_and_no_more_a_turn() -> None:
    one = scale.plan(MEASURED, DEMAND, LIMITS, PRICES)
    two = scale.plan(MEASURED, replace(DEMAND, turns_per_day=4_320_000), LIMITS, PRICES)
    assert two.dollars["models"] == pytest.approx(2 * one.dollars["models"])
    assert two.dollars_per_turn <= one.dollars_per_turn * 1.001


def test_waits_are_none_with_room_and_long_without() -> None:
    with_room = scale.simulated_wait(rate=100, work_seconds=0.02, servers=20, seconds=30)
    tight = scale.simulated_wait(rate=100, work_seconds=0.02, servers=3, seconds=30)
    too_few = scale.simulated_wait(rate=100, work_seconds=0.02, servers=1, seconds=30)
    assert with_room == 0.0
    assert 0.0 < tight < 0.2
    assert too_few > 10.0


def test_the_simulation_agrees_with_the_known_formula_for_one_server() -> None:
    # M/M/1: the wait exceeds t with probability rho * exp(-(mu - lambda) t).
    wait = scale.simulated_wait(rate=50, work_seconds=0.01, servers=1, seconds=2_000)
    assert wait == pytest.approx(0.0782, rel=0.1)


def test_the_table_shows_every_demand() -> None:
    text = scale.table([scale.plan(MEASURED, demand, LIMITS, PRICES) for demand in scale.DEMANDS])
    for demand in scale.DEMANDS:
        assert demand.name in text
    assert "full first" in text


def test_the_page_shows_what_the_kept_figures_give() -> None:
    measured = scale.Measured.of(orjson.loads(scale.FIGURES.read_bytes()), "azurite")
    plans = [scale.plan(measured, demand, LIMITS, PRICES) for demand in scale.DEMANDS]
    page = scale.PAGE.read_text("utf-8")
    assert scale.on_page(page, scale.shown(measured, plans)) == page, "python -m bench.scale --page"
