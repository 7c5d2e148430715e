"""Sentences that call a disease by a broader name than its row: "lung cancer". Pure."""

from collections.abc import Sequence

from services.language.sentences.clauses import Clause
from services.language.words.statement_tables import saying
from services.language.words.statement_words import statement_words
from services.statements.rows.fit import fits
from services.statements.rows.known import KnownRows
from services.statements.rows.known_words import has_all
from services.statements.rows.rows import KnownRow

_SMALL_CHARS = 3
_MALIGNANT = "malignant"
_NARROWER = ("carcinoma", "sarcoma", "lymphoma", "melanoma", "leukemia", "myeloma", "karzinom")


def by_broader_name(clause: Clause, rows: KnownRows, names: Sequence[str]) -> Sequence[KnownRow]:
    """Return the problems that the clause calls so, if it says nothing else of them.

    "Her lung cancer is stage IVB" is what `Adenocarcinoma of lung, stage IVB` says; that it is
    small cell, or in remission, is more than that.
    """
    own = [name for name in names if name not in saying("cancer")]
    if len(own) == len(names):
        return ()
    said = {word for word in clause.words if len(word) > _SMALL_CHARS and word.isalpha()}
    said -= saying("cancer") | saying("says_no_more")
    said = said - statement_words().neutral - statement_words().translated
    said -= {word for row in rows.personal if row.kind == "patient" for word in row.name}
    return [
        row
        for row in (rows.about(own) if own else rows.rows)
        if row.kind == "problem"
        and (_MALIGNANT in row.words or any(word.endswith(_NARROWER) for word in row.words))
        and has_all(said, row.words)
        and fits(clause, row)
    ]


def is_cancer_of(names: Sequence[str]) -> bool:
    """Whether `names` are one thing: a colon's polyp and another's cancer are no colon cancer."""
    return not saying("cancer").isdisjoint(names)
