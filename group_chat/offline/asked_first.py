"""Puts what was asked for before all the rest that a tool gave. Pure."""

from collections.abc import Iterable, Sequence

from group_chat.offline.words import words_of
from services.language.folding import words_of as words_of_text

ROWS_LIMIT = 12
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
    return set(map(_stem, words_of_text(f"{_name_in(line)} {_kind_in(line)}")))


def _contains(line: str, wanted: Iterable[str]) -> bool:
    """Whether a name holds a long or a hyphened word within: "surgery" in radiosurgery, "pd-l1"."""
    name = _name_in(line).casefold()
    return any(stem in name for stem in wanted if len(stem) >= _STEM_CHARS)


def _name_in(line: str) -> str:
    """Return what stands between the first two pairs of stars."""
    return line.split("**")[1] if line.count("**") > 1 else ""


def _kind_in(line: str) -> str:
    """Return what stands in brackets behind the name."""
    behind = line.split("**", 2)[-1] if line.count("**") > 1 else ""
    return behind[2:].partition(")")[0] if behind.startswith(" (") else ""


def _stem(word: str) -> str:
    """Return what "allergy" and "allergies" share."""
    return word[:_STEM_CHARS] if len(word) > _STEM_CHARS else word.removesuffix("s")
