"""Has the words of the check read before the first sentence is checked."""

from services.records.concepts.table import concept_table
from services.statements.check import MessageCheck
from services.statements.grounds import Grounds, Speaker
from services.statements.known import KnownRows


def read_words() -> None:
    """Have the words read from their files, so that no first sentence waits for them."""
    concept_table()
    rows = KnownRows()
    rows.add_text("Creatinine was 1.1 mg/dL on 2 March 2026.", date=None, sources=())
    check = MessageCheck(grounds=Grounds(rows=rows, has_name=True), speaker=Speaker())
    check.check("Mary Miller has creatinine of 97 umol/L since March 2026.")
