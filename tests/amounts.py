"""How much random input a test works through: some of it by day, all of it by night."""

from hypothesis import settings

LONG_EXAMPLES = 200
"""A run with as many examples as this, or more, is one of `make nightly`."""


def amount(*, by_day: int, by_night: int) -> int:
    """Return how much this run works through; mark what is no property test with `large`."""
    return by_night if settings().max_examples >= LONG_EXAMPLES else by_day
