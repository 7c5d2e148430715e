"""The lists of words by which something is told: each is read, and what is read is there."""

import ast
import re
from collections import Counter
from pathlib import Path

import pytest
import yaml

from services.language.charts.answer_words import answer_words
from services.language.charts.chart_entries import shared_in
from services.language.charts.chart_file import ChartWords
from services.language.words.statement_tables import read_table, saying
from services.language.words.vocabulary import LANGUAGES, read_words

SERVICES = Path(__file__).parents[3] / "services"
_CALL = re.compile(r"\b(?:saying|clause\.says|last\.says|one\.says)\(([^()]*)\)")
_NAME = re.compile(r"\"([\w ]+)")


class _Once(yaml.SafeLoader):
    """Refuses a key that stands twice: the latter would take the words of the former away."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[object, object]:
        keys = [(key.tag, str(key.value)) for key, _ in node.value]
        assert len(set(keys)) == len(keys), (node.start_mark, Counter(keys).most_common(1))
        return super().construct_mapping(node, deep)


@pytest.mark.parametrize("file", sorted(SERVICES.rglob("*.yaml")), ids=str)
def test_no_key_stands_twice(file: Path) -> None:
    list(yaml.load_all(file.read_text(), _Once))


def _named() -> set[str]:
    texts = [file.read_text() for file in SERVICES.rglob("*.py")]
    calls = [each for text in texts for each in _CALL.findall(text)]
    return {name for each in calls for name in _NAME.findall(each)}


def test_each_list_is_read_somewhere() -> None:
    files = [*(SERVICES / "language").glob("*/word_lists.yaml")]
    listed = {name for file in files for name in read_table(file)}
    assert len(files) > 1
    assert {name for name in listed if not name.startswith("seen by ")} == _named() - {"seen by "}


def test_a_list_is_of_all_languages() -> None:
    assert saying("than") == {"than", "als"}


def test_a_list_that_is_not_there_is_no_empty_one() -> None:
    with pytest.raises(KeyError):
        saying("nothing of the kind")


def test_each_list_beside_names_is_read_somewhere() -> None:
    listed = read_table(SERVICES / "language" / "people_words.yaml").keys()
    read = {
        name
        for file in SERVICES.rglob("*.py")
        for call in re.findall(r"\b(?:of_people|is_in)\(([^()]*)\)", file.read_text())
        for name in re.findall(r'"(\w+)"', call)
    }
    assert listed == read | {"titles_of_men", "titles_of_women", "titles_of_patients"}


_LARGE = {"chart_nouns", "drug_words", "first_parts", "measured_nouns", "names_that_are_words"}
_LARGE |= {"ordinary_words", "values_asked", "words_of_questions"}


def _joins_large(node: ast.AST) -> bool:
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.BitOr | ast.Sub):
        return False
    sides = [node.left, *([node.right] if isinstance(node.op, ast.BitOr) else [])]
    return any(isinstance(one, ast.Call) and ast.unparse(one.func) in _LARGE for one in sides)


def test_lists_of_thousands_are_joined_once_and_not_for_each_word() -> None:
    functions = (
        (file.name, one)
        for file in SERVICES.rglob("*.py")
        for one in ast.walk(ast.parse(file.read_text()))
        if isinstance(one, ast.FunctionDef)
        and not any("cache" in ast.unparse(each) for each in one.decorator_list)
    )
    joining = [(f, one.name) for f, one in functions if any(map(_joins_large, ast.walk(one)))]
    assert joining == []


def test_each_list_of_stems_is_there() -> None:
    files = (SERVICES / "language").glob("*/statements.yaml")
    listed = {name for file in files for name in read_table(file)}
    texts = [file.read_text() for file in SERVICES.rglob("*.py")]
    read = {name for text in texts for name in re.findall(r'\bstems_told\("(\w+)"\)', text)}
    assert read
    assert read <= listed


@pytest.mark.slow
def test_each_text_around_rows_is_said_in_every_language_and_said_somewhere() -> None:
    texts = [file.read_text() for file in SERVICES.rglob("*.py")]
    read = {name for text in texts for name in re.findall(r"\bsay\(\s*['\"](\w+)['\"]", text)}
    every = [answer_words(one).said.keys() for one in LANGUAGES]
    assert all(one == every[0] for one in every)
    assert every[0] <= read


def test_german_asks_for_everything_that_english_asks_for() -> None:
    english, german = (read_words(one, "chart", ChartWords) for one in ("en", "de"))
    asked = [{(one.tool, one.name) for one in words.topics} for words in (english, german)]
    genes = [one.value for _, one in shared_in(english) if one.kind == "topic"]
    assert asked[0] - asked[1] - {(one.tool, one.name) for one in genes} == set()
    assert english.frames.keys() - german.frames.keys() == set()
