"""Which recorded allergies a substance or a kind of substances is named in. Pure."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from data_models.chart_view import ViewRow
from services.records.answers.choosing.said_words import has_words
from services.records.concepts.table import (
    concept_table,
    names_of_procedure,
    rows_called,
    words_listed,
)
from services.records.concepts.words import words_of
from services.records.rows.finding import classes_of_drug, holds, means

DRUGS: Final = "drug allergy"
"""What a question calls allergies to any drug."""
FOODS: Final = "food allergy"
_CONTRAST = "contrast"


def is_of_allergen(name: str, row: ViewRow) -> bool:
    """Whether a recorded allergy is to what `name` says, or to a kind that holds it.

    Of shrimp an allergy to shellfish tells, of shellfish one to shrimp; of amoxicillin one to
    penicillins. Of shrimp one to crab does not.
    """
    if name in (DRUGS, FOODS):
        foods = any(_names(one, row) for one in rows_called("allergens")["food"])
        return _is_drug(row) if name == DRUGS else foods
    parts = [one for one in name.split() if concept_table().named("drug", one) is not None]
    if len(parts) > 1:  # of two drugs in one, one is enough
        return is_named_so(name, row) or any(is_of_allergen(part, row) for part in parts)
    return is_named_so(name, row) or any(_names(kind, row) for kind in kinds_with(name))


def of_other_kinds(name: str, rows: Sequence[ViewRow]) -> list[str]:
    """Return the allergies beside those to drugs, or to food, where these are asked for.

    Of what kind a substance is may be read wrongly, and who asks is about to give one.
    """
    is_kind = name in (DRUGS, FOODS)
    return [row.name for row in rows if is_kind and not is_of_allergen(name, row)]


def is_of_some(row: ViewRow) -> bool:
    """Whether "none known" is said of some kinds alone: that of drugs is none of food."""
    return not words_listed("kinds_of_allergies").isdisjoint(words_of(row.name))


def is_named_so(name: str, row: ViewRow) -> bool:
    """Whether an allergy says the name itself, and not only a kind that holds it."""
    if name in (DRUGS, FOODS):
        return is_of_allergen(name, row)
    is_drug = means("drug", name, label=row.name, codes=row.code)
    of_kind = rows_called("allergens").get(" ".join(words_of(name)), ())
    is_said = has_words(row, *names_of_procedure(name))
    return is_drug or is_said or any(_names(one, row) for one in of_kind)


@lru_cache(maxsize=512)
def kinds_with(name: str) -> frozenset[str]:
    """Return the kinds that hold what `name` says, itself where it is one."""
    wanted = words_of(name)
    kinds = (
        kind
        for kind, members in rows_called("allergens").items()
        if any(holds(wanted, words_of(one)) for one in (kind, *members))
    )
    return classes_of_drug(name, ()) | {*kinds}


def _names(name: str, row: ViewRow) -> bool:
    return holds(words_of(row.name), words_of(name))


def _is_drug(row: ViewRow) -> bool:
    words = words_of(row.name)
    table = concept_table()
    return _CONTRAST in words or any(table.named("drug", word) is not None for word in words)
