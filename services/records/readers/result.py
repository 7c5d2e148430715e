"""What reading a document gives. Little is imported here: the worker needs it."""

from dataclasses import dataclass
from typing import Final

BYTES_LIMIT: Final = 30_000_000
PAGES_LIMIT: Final = 1_000
TEXT_LIMIT_CHARS: Final = 3_000_000
SECONDS_LIMIT: Final = 20
MEMORY_LIMIT_BYTES: Final = 1_500_000_000
UNPACKED_LIMIT_BYTES: Final = 50_000_000
DEPTH_LIMIT: Final = 200

PAGE_BREAK: Final = "\f"
"""Between the pages of a document in one text."""


@dataclass(frozen=True, slots=True)
class ReadDocument:
    """The text of a document, page by page; formats without pages have one.

    Attributes:
        pages: The text of each page; "" for one without any.
        problem: Why there is no text, or what of it is missing; "" if nothing is.
    """

    pages: tuple[str, ...] = ()
    problem: str = ""

    @property
    def text(self) -> str:
        """All pages, with a form feed between two; "" if no page has text."""
        return PAGE_BREAK.join(self.pages) if any(self.pages) else ""
