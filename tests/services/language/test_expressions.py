"""Files of words and expressions."""

import re
from collections import Counter
from pathlib import Path

import pytest
import yaml

import services.language
from services.language.words.expressions import Expressions, expressions

FOLDER = Path(services.language.__path__[0])


def test_an_expression_names_words_and_others() -> None:
    file = Expressions(
        {"days": "mon monday", "verbs": ["set up", "make"]},
        {
            "on": "on {days}",
            "all": ["^{on}", "(?: {verbs_forms})$"],
            "each": {"a": "x", "b": "{on}"},
        },
    )
    assert file.compiled("all").pattern.startswith("^on (?:monday|mon)(?: (?:")
    assert file.compiled("all").match("on mon making")
    assert file.text("each") == "(?:x)|(?:on (?:monday|mon))"
    assert file.named("each") == {"a": "x", "b": "on (?:monday|mon)"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["en/pointing", "en/criteria", "patients", "orders", "appointments"]
)
def test_every_expression_of_a_file_can_be_compiled(name: str) -> None:
    file = expressions(name)
    for one, said in file.texts.items():
        forms = file.named(one).values() if isinstance(said, dict) else [file.text(one)]
        assert all(re.compile(form) for form in forms)


@pytest.mark.slow
def test_files_read_alike_without_the_loader_in_c() -> None:
    files = [*FOLDER.glob("*/*.yaml"), FOLDER / "patients.yaml", FOLDER / "units.yaml"]
    for file in files:
        text = file.read_text("utf-8")
        whole = yaml.load(text, Loader=yaml.SafeLoader)
        assert whole == yaml.load(text, Loader=yaml.CSafeLoader)


@pytest.mark.slow
def test_no_file_gives_a_name_twice() -> None:
    """The second would take the place of the first without a word."""
    twice = [
        f"{path.relative_to(FOLDER)}: {key}"
        for path in sorted(FOLDER.rglob("*.yaml"))
        for key, count in _keys_of(path).items()
        if count > 1
    ]
    assert twice == []


def _keys_of(path: Path) -> Counter[str]:
    document = yaml.compose(path.read_text("utf-8"), Loader=yaml.CSafeLoader)
    assert isinstance(document, yaml.MappingNode)
    return Counter(key.value for key, _ in document.value)
