"""What procedures tell beside a list of its own kind."""

from tests.services.records.test_said_otherwise import row, said
from tests.tables import with_cases

_PREGNANCY = row("problem", "Normal pregnancy", "2019-09-04", status="resolved", end="2019-10-02")
_ENDED = row("procedure", "Induced termination of pregnancy", "2019-09-18")
_TOLD = row("procedure", "Counseling for termination of pregnancy", "2019-09-18")


@with_cases("text")
def test_how_a_pregnancy_ended_is_told_with_it(text: str) -> None:
    told = said(text, {"problems": (_PREGNANCY,), "procedures": (_ENDED, _TOLD)})
    assert "**Normal pregnancy**" in told
    assert "**Induced termination of pregnancy**" in told
    assert "Counseling" not in told


def test_who_is_asked_about_now_is_told_of_no_earlier_end() -> None:
    told = said("is she pregnant?", {"problems": (_PREGNANCY,), "procedures": (_ENDED,)})
    assert told.startswith("No longer")
    assert "termination" not in told


def test_a_coil_is_told_with_what_is_taken_against_pregnancy() -> None:
    pill = row("medication", "Kyleena 19.5 MG Intrauterine System", "2018-04-06", status="stopped")
    coil = row("procedure", "Insertion of intrauterine contraceptive device", "2018-04-10")
    told = said("which birth control has she had?", {"medications": (pill,), "procedures": (coil,)})
    assert "**Kyleena" in told
    assert "**Insertion of intrauterine contraceptive device**, 2018-04-10" in told


def test_a_coil_that_was_taken_out_is_no_yes() -> None:
    put_in = row("procedure", "Insertion of intrauterine contraceptive device", "2012-05-03")
    out = row("procedure", "Removal of intrauterine device", "2014-03-03")
    assert said("does she have a coil?", {"procedures": (put_in,)}).startswith("Yes")
    told = said("does she have a coil?", {"procedures": (out, put_in)})
    assert not told.startswith("Yes")
    assert "**Removal of intrauterine device**" in told
    gone = row("procedure", "Removal of subcutaneous contraceptive", "2014-12-04")
    assert said("has she had an implant removal?", {"procedures": (gone,)}).startswith("Yes")
