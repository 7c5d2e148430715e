"""On whose behalf charts are read, and with which client: said where a request or a turn begins."""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TypeAlias

from data_models.identifiers import PatientId
from services.records.fhir.fhir_client import FhirClient

_READER: ContextVar[str] = ContextVar("reader", default="")


@contextmanager
def reading_as(principal_id: str) -> Iterator[None]:
    """Have all that is read in the block, and in tasks begun in it, read for the principal."""
    before = _READER.set(principal_id)
    try:
        yield
    finally:
        _READER.reset(before)


def current_reader() -> str:
    """Return for whom charts are read just now; empty where nobody was named."""
    return _READER.get()


@dataclass(frozen=True, slots=True)
class ChartReader:
    """What reads a chart.

    Attributes:
        name: What one reader was shown is kept from all others; empty: the server's own.
    """

    name: str
    client: FhirClient


ReaderOf: TypeAlias = Callable[[PatientId], Awaitable[ChartReader]]
"""Returns who reads a chart.

Raises:
    RecordsError: nobody may just now.
"""
