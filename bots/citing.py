"""Sources as numbers in the text with a card each, in channels that know them (spec page 15)."""

from collections.abc import Mapping
from typing import Any

from data_models.chat_context import AgentMessage, Citation
from services.language.statement_parts import numbered_marks

CITATION_LIMIT = 10
"""Teams shows no more of one message."""
NAME_LIMIT_CHARS = 80
ABSTRACT_LIMIT_CHARS = 160


def numbered(text: str) -> str:
    """Return `text` with numbers for its sources; it reads the same whatever follows it."""
    return numbered_marks(text, most=CITATION_LIMIT)[0]


class Sources:
    """The sources of one message, numbered as its text names them, then those that it does not.

    Args:
        is_shown: Whether the channel knows them.
    """

    def __init__(self, *, message: AgentMessage, is_shown: bool) -> None:
        known = {one.ref: one for one in message.citations}
        named = numbered_marks(message.text, most=CITATION_LIMIT)[1]
        self._named = len(named)
        refs = dict.fromkeys((*named, *known)) if is_shown else {}
        self._numbered = {
            number: known[ref] for number, ref in enumerate(refs, start=1) if ref in known
        }

    def of(self, text: str, *, is_last: bool) -> Mapping[int, Citation]:
        """Return by number what a part of the message cites; its last one also what none names."""
        every = {
            number: one
            for number, one in self._numbered.items()
            if f"[{number}]" in text or (is_last and number > self._named)
        }
        return dict([*every.items()][:CITATION_LIMIT])


def sources_line(cited: Mapping[int, Citation]) -> str:
    """Return the line that ends a part; Microsoft's Playground opens no number within a list."""
    marks = "".join(f" [{number}]" for number in cited)
    return f"\n\nSources:{marks}" if marks else ""


def message_entity(cited: Mapping[int, Citation], *, by_model: bool) -> dict[str, Any]:
    """Return the entity that names a message's sources and, if a model wrote it, says so."""
    entity: dict[str, Any] = {
        "type": "https://schema.org/Message",
        "@type": "Message",
        "@context": "https://schema.org",
        "@id": "",
    }
    if by_model:
        entity["additionalType"] = ["AIGeneratedContent"]
    if cited:
        entity["citation"] = [_claim(one, number) for number, one in cited.items()]
    return entity


def _claim(citation: Citation, position: int) -> dict[str, Any]:
    name = citation.title or citation.ref
    abstract = citation.quote or " ".join(filter(None, [citation.ref, citation.date]))
    return {
        "@type": "Claim",
        "position": position,
        "appearance": {
            "@type": "DigitalDocument",
            "name": name[:NAME_LIMIT_CHARS],
            "abstract": abstract[:ABSTRACT_LIMIT_CHARS],
        },
    }
