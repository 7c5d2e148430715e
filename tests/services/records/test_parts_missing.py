"""What is said of a part that is asked for and that no row tells."""

import pytest

from data_models.chart_view import ViewRow
from tests.services.records.test_said_otherwise import row, said


@pytest.mark.parametrize(
    ("text", "tool", "found", "missing"),
    [
        ("which ankle was sprained?", "problems", row("problem", "Sprain of ankle"), "which side"),
        ("why did she stop smoking?", "results",
         row("social history", "Tobacco smoking status NHIS", value="Former smoker"), "the reason"),
        ("why is she anemic?", "problems", row("problem", "Anemia", status="active"), "the reason"),
        ("any vaccine reactions?", "immunizations", row("immunization", "MMR"), "the reaction"),
        ("was the coil removed?", "procedures",
         row("procedure", "Insertion of intrauterine contraceptive device"), "when it ended"),
        ("how much naproxen does he take?", "medications", row("medication", "Naproxen"),
         "how much of it is taken"),
        ("what did the colonoscopy show", "procedures", row("procedure", "Colonoscopy"),
         "what it showed"),
        ("how was his last colonoscopy", "procedures", row("procedure", "Colonoscopy"),
         "what it showed"),
        ("Ergebnis der Koloskopie?", "procedures", row("procedure", "Colonoscopy"), "das Ergebnis"),
        ("whats the im injection for", "procedures", row("procedure", "Intramuscular injection"),
         "the reason"),
    ],
)  # fmt: skip
def test_a_part_that_no_row_tells_is_said_to_be_missing(
    text: str, tool: str, found: ViewRow, missing: str
) -> None:
    assert missing in said(text, {tool: (found,)}).splitlines()[-1]
