"""Lists in `docs/rules.md` which tests cite which rule: `python -m scripts.rules_index`."""

import io
import re
import tokenize
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "rules.md"
HEADING = "## Where rules are tested"
RULE = re.compile(
    r"\b(?:E(?:[1-9]|1\d|2[0-6])|M(?:[1-9]|1\d|20)|R(?:[1-9]|[1-4]\d|5[0-6])|T(?:[1-9]|1[0-2]))\b"
)
CITED_PAGE = re.compile(r"\bpage (\d{1,2}(?:\.\d{1,2})?)\b")
_RULE_LINE = re.compile(rf"^- \*\*({RULE.pattern})\*\*", re.MULTILINE)
_SECTION = re.compile(r"^- \*\*(\d{1,2}\.\d{1,2}) |^## Page (\d{1,2}) ", re.MULTILINE)


def rules_of(page: str) -> frozenset[str]:
    """Return the rules that a page defines."""
    return frozenset(_RULE_LINE.findall(page))


def sections_of(page: str) -> frozenset[str]:
    """Return the pages and their parts that a page defines."""
    return frozenset(one or other for one, other in _SECTION.findall(page))


@cache
def prose_of(path: Path) -> str:
    """Return the comments and docstrings of a file: where rules are cited."""
    with tokenize.open(path) as file:
        text = file.read()
    return "\n".join(
        token.string
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type == tokenize.COMMENT
        or (token.type == tokenize.STRING and token.string.startswith('"""'))
    )


def citations(rules: frozenset[str]) -> Mapping[str, list[str]]:
    """Return the files below `tests` that cite each of `rules`, sorted."""
    found: dict[str, list[str]] = {}
    for path in sorted((ROOT / "tests").rglob("*.py")):
        for rule in set(RULE.findall(prose_of(path))) & rules:
            found.setdefault(rule, []).append(path.relative_to(ROOT).as_posix())
    return found


def index(page: str) -> str:
    """Return the page with its index made anew."""
    head = page.partition(HEADING)[0].rstrip()
    named = citations(rules_of(page))
    rows = (f"- {rule}: {', '.join(f'`{one}`' for one in named[rule])}" for rule in _sorted(named))
    return "\n".join(
        [head, "", HEADING, "", "Made by `python -m scripts.rules_index`.", "", *rows, ""]
    )


def _sorted(rules: Mapping[str, object]) -> Iterator[str]:
    yield from sorted(rules, key=lambda rule: (rule[0], int(rule[1:])))


if __name__ == "__main__":
    PAGE.write_text(index(PAGE.read_text("utf-8")), "utf-8")
