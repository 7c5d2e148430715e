"""Dutch beside the languages that are shipped: one folder (`tests/extending/nl`), no code."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
READ = """
import json
from datetime import date
from services.language.charts.answer_words import answer_words
from services.language.questions.chart_questions import chart_questions
from services.language.replies.commands import command_in
from services.language.words.detection import language_of
from services.language.words.talk_texts import talk_text
from services.language.words.vocabulary import LANGUAGES
from services.language.replies.yes_no import yes_no_in

asked = chart_questions("Wat is haar laatste kalium?", today=date(2026, 12, 2), language="nl")
print(json.dumps({
    "languages": LANGUAGES,
    "language": language_of("Wat is haar laatste kalium?"),
    "yes": yes_no_in("ja graag"),
    "no": yes_no_in("nee bedankt"),
    "english_yes": yes_no_in("yes please"),
    "command": command_in("maak ongedaan"),
    "asked": [[one.tool, one.name, one.aspect] for one in asked],
    "nothing": answer_words("nl").say("nothing"),
    "thanked": talk_text("nl", "welcome"),
}))
"""


@pytest.mark.slow
def test_a_folder_of_words_is_all_that_a_language_needs(tmp_path: Path) -> None:
    for name in ("data_models", "services/language"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "services/__init__.py", tmp_path / "services")
    shutil.copytree(ROOT / "tests/extending/nl", tmp_path / "services/language/nl")
    done = subprocess.run(
        [sys.executable, "-c", READ], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    read = json.loads(done.stdout)
    assert "nl" in read.pop("languages")
    assert read == {
        "language": "nl",
        "yes": "yes",
        "no": "no",
        "english_yes": "yes",
        "command": "undo",
        "asked": [["results", "potassium", "latest"]],
        "nothing": "Staat niet in het dossier.",
        "thanked": "Graag gedaan.",
    }
