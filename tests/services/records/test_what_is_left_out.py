"""Words that limit what is asked: they are kept to, or it is said that they are not."""

from tests.services.records.test_said_otherwise import row, said
from tests.tables import with_cases

DRUGS = {
    "medications": (
        row("medication", "Insulin human", "2004-09-09", status="active", detail="by Dr. Ann Fay"),
        row("medication", "Metformin 500 MG", "1991-04-18", status="active",
            detail="9 prescriptions since 1991-04-18, last 2019-04-18; by Dr. Bo Kern"),
    )
}  # fmt: skip


@with_cases("text", "kept", "gone")
def test_only_what_is_not_left_out_is_told(text: str, kept: str, gone: str) -> None:
    told = said(text, DRUGS)
    assert kept in told
    assert gone not in told
