"""Every finding of a review above "low" has a test that fails on what was found."""

import re
from pathlib import Path

import pytest
import yaml

from tests.tables import tables_beside

TESTS = Path(__file__).parent
FINDINGS = {
    f"{review}: {finding}": tests
    for review, findings in yaml.safe_load((TESTS / "findings.yaml").read_text("utf-8")).items()
    for finding, tests in findings.items()
}


@pytest.mark.parametrize("finding", FINDINGS)
def test_the_tests_of_a_finding_are_there(finding: str) -> None:
    assert FINDINGS[finding]
    missing = [one for one in FINDINGS[finding] if not _is_there(one)]
    assert missing == []


def _is_there(name: str) -> bool:
    path, _, test = name.partition("::")
    test, _, row = test.removesuffix("]").partition("[")
    if row and row not in tables_beside(TESTS / path)[test.removeprefix("test_")]:
        return False
    text = (TESTS / path).read_text("utf-8") if (TESTS / path).is_file() else ""
    return re.search(rf"^(?:async )?def {re.escape(test)}\(", text, re.MULTILINE) is not None
