"""Finds the sources that an agent's text names among those that tools gave."""

import re
from collections.abc import Iterable, Mapping

from data_models.chat_context import Citation
from services.memory_blocks.limits import one_line

TITLE_LIMIT_CHARS = 80
QUOTE_LIMIT_CHARS = 160
MESSAGE_LIMIT = 40

_REF = re.compile(r"\b[A-Z][A-Za-z]{2,40}/[A-Za-z0-9][A-Za-z0-9.-]{0,63}")


def citations_in(text: str, sources: Mapping[str, Citation]) -> list[Citation]:
    """Return the citations of the source ids in `text`, in order, each once, at most 40.

    An id that no tool gave is no citation: the model may have made it up.
    """
    refs = dict.fromkeys(found.rstrip(".-") for found in _REF.findall(text))
    return [sources[ref] for ref in refs if ref in sources][:MESSAGE_LIMIT]


def remember_rows(sources: dict[str, Citation], rows: Iterable[Mapping[str, str]]) -> None:
    """Add the sources of a view; one with the words it says is not lost to one without."""
    for row in rows:
        ref, quote = row["ref"], row.get("quote", "")
        if "title" in row and (quote or ref not in sources):
            sources[ref] = Citation(
                ref=ref,
                title=one_line(row["title"], TITLE_LIMIT_CHARS),
                date=row.get("date") or None,
                quote=one_line(quote, QUOTE_LIMIT_CHARS) if quote else None,
            )
