"""Asks for what is to be there."""

from typing import TypeVar

T = TypeVar("T")


def present(value: T | None) -> T:
    """Return what may be missing elsewhere, and must not be here."""
    assert value is not None
    return value
