"""`search_record`: words and concepts, over everything that is recorded or written."""

from data_models.chart_view import ChartView
from services.records.concepts.table import concept_table
from services.records.concepts.words import words_of
from services.records.resources.record import PatientRecord
from services.records.resources.sorting import NUMBERS_OF_STATE
from services.records.search_index import index_of
from services.records.views.view import not_shown, quoted, view_of

SHOWN = 15
QUERY_LIMIT_CHARS = 400


def search_record(record: PatientRecord, query: str, *, limit: int = SHOWN) -> ChartView:
    """Return the rows and passages that hold words of `query` or other names, best first."""
    index = index_of(record)
    found = index.search(query[:QUERY_LIMIT_CHARS])
    made = (hit.make() for hit in found[:limit])
    said = {*words_of(query)}
    shown = [r for r in made if r.name not in NUMBERS_OF_STATE or {*words_of(r.name)} <= said]
    view = view_of(
        record,
        "search_record",
        f"Found for “{query[:80]}”",
        shown,
        kind="passages",
        left_out=[not_shown(len(found) - len(shown), "less fitting places", "a narrower query")],
        nothing=f"Nothing in the record holds “{query[:80]}”{_known_names(query)} "
        f"({len(index.hits)} entries and passages searched).",
    )
    return quoted(view)


def _known_names(query: str) -> str:
    """Say whether other names were looked for too: of an unknown word none are known."""
    others = concept_table().also_called(query) - {" ".join(words_of(query))}
    return " or another name for it" if others else "; other names for it are not known here"
