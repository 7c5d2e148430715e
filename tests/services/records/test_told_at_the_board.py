"""What users told stands in the board's summary, apart from what the record lacks."""

from services.records.answers.closing import summary_of


def test_what_was_told_stands_beside_what_the_record_lacks() -> None:
    said = summary_of(
        {"PatientStatus": "- **age**: 66\n\nNot in the record: allergies."},
        "en",
        told=["her K is 6.1 now", "her K is 6.1 now"],
    )
    assert "**Missing in the record**\n- allergies" in said
    told = "**As you said in this conversation, not from the record**\n- “her K is 6.1 now”\n\n"
    assert told in said


def test_nothing_is_said_of_what_nobody_told() -> None:
    assert "As you said" not in summary_of({"PatientStatus": "- **age**: 66"}, "de")
