"""Intervals, pass^k and the table, on constructed runs with known figures."""

import pytest

from evals.figures import pass_hat, quantile, wilson
from evals.results import FoundRow, Result
from evals.table import as_text, table

WRONG = [FoundRow(row="missing", why="not answered")]


def test_the_interval_is_wilsons() -> None:
    low, high = wilson(81, 100)
    assert (round(low, 4), round(high, 4)) == (0.7222, 0.8749)
    assert wilson(0, 10)[0] == 0.0
    assert wilson(10, 10)[1] == pytest.approx(1.0)
    assert wilson(0, 0) == (0.0, 1.0)


def test_all_of_k_tries_are_right_as_often_as_drawing_them_says() -> None:
    tries = [[True, True, True, True], [True, True, False, False]]
    assert pass_hat(tries, 1) == pytest.approx(0.75)
    assert pass_hat(tries, 2) == pytest.approx((1 + 1 / 6) / 2)
    assert pass_hat(tries, 4) == pytest.approx(0.5)
    assert pass_hat([[True]], 2) is None


def test_a_quantile_is_one_of_the_values() -> None:
    assert quantile([5.0, 1.0, 3.0], 0.5) == 3.0
    assert quantile([1.0, 2.0], 0.95) == 2.0
    assert quantile([], 0.5) is None


def test_the_table_adds_up() -> None:
    unsafe = [FoundRow(row="wrong_patient", why="opened: patient_15")]
    results = [
        Result(case="a/1", suite="a", decided="rule", calls=1, prompt_tokens=900, cached_tokens=300,
               answer_tokens=50, cost=0.01, first_text_ms=10.0),
        Result(case="a/1", suite="a", repeat=1, decided="model", wrong=WRONG, calls=2,
               prompt_tokens=100, answer_tokens=10, cost=0.02, first_text_ms=30.0),
        Result(case="b/1", suite="b", decided="guard", wrong=unsafe, cost=0.0),
    ]  # fmt: skip
    first, second, whole = table(results)
    assert (first.n, first.cases, first.share, first.k, first.all_right) == (2, 1, 0.5, 2, 0.0)
    assert (first.calls, first.prompt_tokens, first.cached_share) == (3, 1000, 0.3)
    assert first.decided == {"rule": 1, "model": 1}
    assert (first.first_text_ms, round(first.cost or 0, 4)) == (10.0, 0.03)
    assert (second.safety, second.share) == (1, 0.0)
    assert (whole.suite, whole.n, whole.safety) == ("all", 3, 1)
    assert "50.0%" in as_text([first])
