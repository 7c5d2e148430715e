"""Shares with their intervals, and pass^k. Pure."""

from collections.abc import Iterable, Sequence
from math import comb, sqrt

Z_95 = 1.959963984540054


def wilson(good: int, n: int) -> tuple[float, float]:
    """Return the 95 % interval of a share after Wilson; (0, 1) where nothing was tried."""
    if n == 0:
        return 0.0, 1.0
    share, square = good / n, Z_95 * Z_95
    middle = (share + square / (2 * n)) / (1 + square / n)
    half = Z_95 / (1 + square / n) * sqrt(share * (1 - share) / n + square / (4 * n * n))
    return max(0.0, middle - half), min(1.0, middle + half)


def pass_hat(results: Iterable[Sequence[bool]], k: int) -> float | None:
    """Return the chance that `k` tries of a case are all right, averaged over the cases.

    Each case gives C(right, k) / C(tries, k), the unbiased estimate; None where no case was tried
    `k` times.
    """
    rows = [row for row in results if len(row) >= k]
    if not rows or k < 1:
        return None
    return sum(comb(sum(row), k) / comb(len(row), k) for row in rows) / len(rows)


def quantile(values: Sequence[float], share: float) -> float | None:
    """Return the value that `share` of the values do not exceed; None without values."""
    ordered = sorted(values)
    if not ordered:
        return None
    return ordered[min(len(ordered) - 1, max(0, -int(-len(ordered) * share // 1) - 1))]
