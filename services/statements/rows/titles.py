"""Names of rows that read as something else: "Documentation of current medications". Pure.

No word of such a name names anything, and some say that medications are taken now. Where a sentence
has one whole, it stands as one word, which names the rows that are called so.
"""

from functools import lru_cache

from data_models.chart_view import ViewRow
from services.language.sentences.name_kinds import without_tag
from services.language.sentences.statements import read_sentence

_KINDS = frozenset({"procedure", "encounter", "care plan", "immunization", "problem"})
_DENIAL_CHARS = 9


def title_of(row: ViewRow) -> str:
    """Return the name of a row whose words name a kind alone, without its tag; "" for any other.

    So is that of a vaccine with figures, "23 valent": they are none of what is told of it; and that
    of an illness which says what it is not, "Essentielle Hypertonie, nicht näher bezeichnet".
    """
    return _title(row.name, row.kind) if row.kind in _KINDS else ""


@lru_cache(maxsize=1_024)
def _title(name: str, kind: str) -> str:
    plain = without_tag(name)
    clauses = read_sentence(plain).clauses
    is_named = any(one.names or one.objects for one in clauses)
    is_misread = not is_named and kind != "problem" and any(one.topics for one in clauses)
    if kind == "immunization":
        is_misread = any(one.quantities or one.counted for one in clauses)
    if kind in ("problem", "procedure"):
        begins = read_sentence(plain[:_DENIAL_CHARS]).cues  # "No evidence of recurrence" denies
        is_misread |= "no" not in begins and any("no" in one.cues for one in clauses)
    return plain if is_misread and " " in plain else ""
