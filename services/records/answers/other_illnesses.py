"""Whether an illness that was found by a name is another one or a wider one. Pure."""

from data_models.chart_view import ViewRow
from services.records.answers.asked_rows import concept_of
from services.records.answers.said_words import has_words
from services.records.concepts.table import concept_table, names_of_less


def is_another(row: ViewRow, name: str) -> bool:
    """Whether an illness has words of `name` and is not it: pulmonary hypertension; COPD is less.

    That of an illness which nobody here knows is told as it is.
    """
    if name in names_of_less():
        return not has_words(row, name)
    table = concept_table()
    asked, own = table.named("problem", name), concept_of("problem", row)
    if not own or asked is None:
        return False
    return own not in {asked.name, *(leaf.name for leaf in table.leaves(asked))}
