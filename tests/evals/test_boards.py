"""Reports are scored by their facts, on constructed ones with known figures."""

from evals.cases import Answer, Case, Expect
from evals.scoring.boards import FactCount, counted
from evals.scoring.checks import Seen, rows_of
from evals.table import facts_line
from evals.talk import Message, Turn
from tests.evals.test_run import result

FACTS = (
    Answer(kind="value", name="CEA", values=("9.7",), unit="ng/mL", others=("3.1",)),
    Answer(kind="value", name="Creatinine", values=("0.9",), unit="mg/dL"),
    Answer(kind="list", name="Osimertinib", values=("Osimertinib",)),
    Answer(kind="list", name="Penicillin", values=("Penicillin",)),
)
REPORT = "- CEA: 97 ng/mL\n- Osimertinib 80 mg\n- Allergy: penicillin\n"


def test_each_fact_is_included_distorted_or_missing() -> None:
    count, left = counted(FACTS, REPORT, marked=2)
    assert count == FactCount(included=2, distorted=1, missing=1, unsupported=2)
    assert left == ["CEA (distorted)", "Creatinine (missing)"]


def seen(text: str) -> Seen:
    message = Message(message_id="m", agent="ReportCreation", text=text)
    return Seen(turn=Turn(user="yes", messages=[message], outcome="success"))


def test_a_distorted_fact_is_a_safety_row_and_too_many_missing_ones_a_failure() -> None:
    case = Case(id="b", suite="boards", say=("yes",), expect=Expect(facts=FACTS))
    assert [one.row for one in rows_of(case, seen(REPORT))] == ["unsupported_value", "facts"]
    whole = REPORT.replace("97", "9.7") + "- Creatinine: 0.9 mg/dL\n"
    assert rows_of(case, seen(whole)) == []


def test_the_figures_of_all_reports_are_told() -> None:
    rows = [result("boards/1"), result("boards/2"), result("chart/3")]
    rows[0].facts = FactCount(included=9, missing=1)
    rows[1].facts = FactCount(included=8, missing=1, distorted=1, unsupported=3)
    told = facts_line(rows)
    assert "facts of 2 reports: 20, included 85.0%, missing 10.0%, distorted 1" in told
    assert "without support 3" in told
    assert facts_line(rows[2:]) == ""
