"""Puts what was asked for before all the rest that a tool gave. Pure."""

import re
from collections.abc import Iterable, Sequence

from group_chat.offline.words import words_of

ROWS_LIMIT = 12
_NAMED = re.compile(r"\*\*(?P<name>[^*]+)\*\*(?: \((?P<kind>[\w ]+)\))?")
_SAME = {
    "meds": "medication",
    "mets": "metastasis",
    "med": "medication",
    "medicine": "medication",
    "medicines": "medication",
    "drugs": "medication",
    "allergic": "allergies",
    "performance": "ecog",
    "mutation": "egfr",
    "old": "age",
    "gender": "sex",
    "tnm": "clinical",
    "alive": "vital",
    "dead": "vital",
    "died": "vital",
    "death": "vital",
    "deceased": "vital",
}
# Words that name a whole report, not a row of it.
WHOLE = frozenset(
    {"status", "history", "timeline", "course", "chronology", "imaging", "pathology", "biomarkers"}
)
_STEM_CHARS = 5


def asked_first(asked: str, lines: Sequence[str]) -> list[str]:
    """Return the rows whose name or kind `asked` names; none where it names all or nothing."""
    wanted = {_stem(_SAME.get(word, word)) for word in words_of(asked) - WHOLE}
    found = [line for line in lines if wanted & _stems_of(line) or _contains(line, wanted)]
    is_some = 0 < len(found) <= min(ROWS_LIMIT, len(lines) // 2)
    return found if is_some else []


def _stems_of(line: str) -> set[str]:
    named = _NAMED.search(line)
    if named is None:
        return set()
    return set(map(_stem, _words(f"{named['name']} {named['kind'] or ''}")))


def _contains(line: str, wanted: Iterable[str]) -> bool:
    """Whether a name holds a long or a hyphened word within: "surgery" in radiosurgery, "pd-l1"."""
    named = _NAMED.search(line)
    name = named["name"].casefold() if named is not None else ""
    return any(stem in name for stem in wanted if len(stem) >= _STEM_CHARS)


def _words(text: str) -> Iterable[str]:
    return re.findall(r"[^\W_]+", text.casefold())


def _stem(word: str) -> str:
    """Return what "allergy" and "allergies" share."""
    return word[:_STEM_CHARS] if len(word) > _STEM_CHARS else word.removesuffix("s")
