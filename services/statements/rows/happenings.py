"""What happened to a thing, by a clause and by a row: `removed`, `declined`, `recurred`."""

from functools import cache

from services.language.sentences.clauses import Clause
from services.language.words.statement_tables import stem
from services.language.words.statement_words import statement_words
from services.records.concepts.table import words_listed
from services.statements.rows.rows import KnownRow

_LEFT = "discha"
_OPERATION, _REMOVED, _CUT_OUT = "operat", "remove", "ectomy"


def happenings(clause: Clause) -> list[str]:
    """Return the words of a clause that tell what happened to a thing."""
    known = statement_words().happening
    return [word for word in clause.words if word in known]


def has_happened(word: str, row: KnownRow) -> bool:
    """Whether a row says what happened by a word: `resected`, `resection`."""
    begun = statement_words().happening[word]
    if row.kind == "procedure" and _OPERATION in begun:
        return row.words.isdisjoint(_no_operations())
    if row.is_stay and row.ended is not None and _LEFT in begun:
        return True
    return any(
        one.startswith(begun) or (_REMOVED in begun and one.endswith(_CUT_OUT)) for one in row.words
    )


@cache
def _no_operations() -> frozenset[str]:
    """Return the stems of words of procedures that are no operations: `immobilization`."""
    return frozenset(map(stem, words_listed("not_operations")))
