"""What the lists of common language take from a dictionary."""

from pathlib import Path

from scripts.ordinary_words import Ding, Uses

_LINES = """# a comment
Stuhl {m} (Kot) [med.] | Blut im Stuhl :: stool; stools | blood in the stool
Stuhl {m}; Sessel {m} [Ös.] | Stühle {pl} :: chair | chairs
etw. verwirren {vt} | verwirrt :: to confuse sth. | confused
"""


def test_forms_are_translated_by_forms_and_medicine_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "de-en"
    path.write_text(_LINES, "utf-8")

    ding = Ding(path=path)

    assert dict(ding.translations["stuhl"]) == {"stool": 1, "stools": 1, "chair": 1}
    assert dict(ding.translations["verwirrt"]) == {"confused": 1}
    assert ding.uses("stuhl") == Uses(entries=2, medical=1)
    assert ding.uses("verwirren") == Uses(entries=1, medical=0)
